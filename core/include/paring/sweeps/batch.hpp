// The rows' own part of a direction: g = sum over a batch of coefficient_i x_i, where it is not zero.
//
// Sparse rows: the columns that the batch touches, each once. Dense rows: every column; a batch of one row is not
// copied.
#pragma once

#include "paring/sweeps/members.hpp"

namespace paring {

template <class View, class Width>
class Batch;

template <class T, class I, class Width>
class Batch<Sparse<T, I>, Width> {
  public:
    static constexpr bool touches_all = false;

    Batch(const Sparse<T, I>& rows, Index largest, Width width)
        : rows_(rows), width_(width), seen_(largest > 1 ? static_cast<std::size_t>(rows.length) : 0) {}

    void score(Index i, Members<Width>& members, double* z) const {
        const auto x = row_of(rows_, i);
        const Index outputs = width_.count();
        std::fill_n(z, outputs, 0.0);
        for (Index p = 0; p < x.size; ++p) {
            const double* w = members.value(members.slot(x.column(p)));
            for (Index c = 0; c < outputs; ++c) z[c] += x.value(p) * w[c];
        }
    }

    void begin() {
        if (!seen_.empty())
            for (const Index j : columns_) seen_[static_cast<std::size_t>(j)] = 0;
        columns_.clear();
        g_.clear();
        weights_.clear();
    }
    // `weight`: how much of the dense part of the direction this row brings along, where rows bring it.
    void add(Index i, const double* coefficient, double weight) {
        const auto x = row_of(rows_, i);
        const Index outputs = width_.count();
        for (Index p = 0; p < x.size; ++p) {
            const Index j = x.column(p);
            double* g = nullptr;
            if (!seen_.empty()) {
                Index& place = seen_[static_cast<std::size_t>(j)];
                if (place > 0) {
                    weights_[static_cast<std::size_t>(place - 1)] += weight;
                    g = g_.data() + (place - 1) * outputs;
                } else {
                    place = size() + 1;
                }
            }
            if (g == nullptr) {
                columns_.push_back(j);
                weights_.push_back(weight);
                g_.resize(g_.size() + static_cast<std::size_t>(outputs), 0.0);
                g = g_.data() + (size() - 1) * outputs;
            }
            for (Index c = 0; c < outputs; ++c) g[c] += coefficient[c] * x.value(p);
        }
    }

    Index size() const { return static_cast<Index>(columns_.size()); }
    Index column(Index p) const { return columns_[static_cast<std::size_t>(p)]; }
    const double* g(Index p) const { return g_.data() + p * width_.count(); }
    double weight(Index p) const { return weights_[static_cast<std::size_t>(p)]; }

    // The place of column j, or -1.
    Index find(Index j) const {
        if (!seen_.empty()) return seen_[static_cast<std::size_t>(j)] - 1;
        const auto at = std::lower_bound(columns_.begin(), columns_.end(), j);  // a row's columns ascend
        return at != columns_.end() && *at == j ? at - columns_.begin() : -1;
    }

    // f(slot, g, weight) of each member that the batch touches.
    template <class F>
    void for_members(Members<Width>& members, F&& f) const {
        for (Index p = 0; p < size(); ++p) {
            const Index slot = members.slot(column(p));
            if (slot != members.nowhere()) f(slot, g(p), weight(p));
        }
    }

  private:
    Sparse<T, I> rows_;
    Width width_;
    std::vector<Index> seen_;  // of each column: its place among those touched, + 1; for batches of several rows
    std::vector<Index> columns_;
    std::vector<double> g_, weights_;
};

template <class T, class Width>
class Batch<Dense<T>, Width> {
  public:
    static constexpr bool touches_all = true;

    Batch(const Dense<T>& rows, Index, Width width)
        : rows_(rows), width_(width), g_(static_cast<std::size_t>(width.count())) {}

    void score(Index i, Members<Width>& members, double* z) const {
        const auto x = row_of(rows_, i);
        const Index outputs = width_.count();
        std::fill_n(z, outputs, 0.0);
        for (Index p = 0; p < members.size(); ++p) {
            const double value = x.value(members.feature(p));
            for (Index c = 0; c < outputs; ++c) z[c] += value * members.value(p)[c];
        }
    }

    void begin() {
        lines_.clear();
        coefficients_.clear();
        weight_ = 0;
    }
    void add(Index i, const double* coefficient, double weight) {
        lines_.push_back(rows_.line(i));
        coefficients_.insert(coefficients_.end(), coefficient, coefficient + width_.count());
        weight_ += weight;
    }

    Index size() const { return rows_.length; }
    Index column(Index p) const { return p; }
    Index find(Index j) const { return j; }
    double weight(Index) const { return weight_; }
    const double* g(Index j) const {
        const Index outputs = width_.count();
        std::fill(g_.begin(), g_.end(), 0.0);
        for (std::size_t r = 0; r < lines_.size(); ++r)
            for (Index c = 0; c < outputs; ++c)
                g_[static_cast<std::size_t>(c)] +=
                    coefficients_[r * static_cast<std::size_t>(outputs) + static_cast<std::size_t>(c)] *
                    static_cast<double>(lines_[r][j]);
        return g_.data();
    }
    // f(x, a) such that g = a x, of one output: a row as it lies, or the sum of several.
    template <class F>
    void with_line(F&& f) {
        if (lines_.size() == 1) return f(lines_[0], coefficients_[0]);
        sum_.assign(static_cast<std::size_t>(rows_.length), 0.0);
        for (std::size_t r = 0; r < lines_.size(); ++r) axpy(coefficients_[r], lines_[r], sum_.data(), rows_.length);
        f(static_cast<const double*>(sum_.data()), 1.0);
    }

    template <class F>
    void for_members(Members<Width>& members, F&& f) const {
        for (Index p = 0; p < members.size(); ++p) f(p, g(members.feature(p)), weight_);
    }

  private:
    Dense<T> rows_;
    Width width_;
    std::vector<const T*> lines_;
    std::vector<double> coefficients_, sum_;
    mutable std::vector<double> g_;
    double weight_ = 0;
};

}  // namespace paring
