// The rows' own part of a direction: g = sum over a batch of coefficient_i x_i, where it is not zero.
//
//     score(i, members, z)                    of a row of the batch
//     begin(), add(i, coefficient, weight, members)
//     for_members(members, f)                 f(slot, g, weight) of the members that the batch touches
//     size(), column(p), g(p), weight(p)      the other columns that it touches (dense rows: every column)
//
// `weight` is how much of the dense part of a direction a row brings along, where rows bring it.
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

    void score(Index i, const Members<Width>& members, double* z) const {
        const auto x = row_of(rows_, i);
        const Index outputs = width_.count();
        if constexpr (std::same_as<Width, One>) {
            double a0 = 0, a1 = 0, a2 = 0, a3 = 0;  // four sums that need not wait for each other
            Index p = 0;
            const auto term = [&](Index q) { return x.value(q) * *members.value(members.slot(x.column(q))); };
            for (; p + 4 <= x.size; p += 4) {
                a0 += term(p);
                a1 += term(p + 1);
                a2 += term(p + 2);
                a3 += term(p + 3);
            }
            for (; p < x.size; ++p) a0 += term(p);
            *z = (a0 + a1) + (a2 + a3);
        } else {
            std::fill_n(z, outputs, 0.0);
            for (Index p = 0; p < x.size; ++p) {
                const double* w = members.value(members.slot(x.column(p)));
                for (Index c = 0; c < outputs; ++c) z[c] += x.value(p) * w[c];
            }
        }
    }

    void begin() {
        if (!seen_.empty())
            for (const List* list : {&inside_, &outside_})
                for (Index p = 0; p < list->size; ++p)
                    seen_[static_cast<std::size_t>(list->places[static_cast<std::size_t>(p)].column)] = 0;
        inside_.size = outside_.size = 0;
    }
    void add(Index i, const double* coefficient, double weight, const Members<Width>& members) {
        const auto x = row_of(rows_, i);
        inside_.reserve(x.size, width_.count());
        outside_.reserve(x.size, width_.count());
        for (Index p = 0; p < x.size; ++p) {
            const Index j = x.column(p), slot = members.slot(j);
            List& list = slot == members.nowhere() ? outside_ : inside_;
            if (!seen_.empty()) {
                std::int32_t& place = seen_[static_cast<std::size_t>(j)];
                if (place > 0) {
                    add_to(list, place - 1, coefficient, x.value(p), weight);
                    continue;
                }
                place = static_cast<std::int32_t>(list.size + 1);
            }
            list.places[static_cast<std::size_t>(list.size)] = {j, slot, 0.0};
            std::fill_n(list.at(list.size, width_.count()), width_.count(), 0.0);
            add_to(list, list.size++, coefficient, x.value(p), weight);
        }
    }

    // f(slot, g, weight) of each member that the batch touches.
    template <class F>
    void for_members(const Members<Width>&, F&& f) {
        for (Index p = 0; p < inside_.size; ++p) {
            const Place& place = inside_.places[static_cast<std::size_t>(p)];
            f(place.slot, inside_.at(p, width_.count()), place.weight);
        }
    }

    // The other columns that it touches.
    Index size() const { return outside_.size; }
    Index column(Index p) const { return outside_.places[static_cast<std::size_t>(p)].column; }
    double weight(Index p) const { return outside_.places[static_cast<std::size_t>(p)].weight; }
    const double* g(Index p) { return outside_.at(p, width_.count()); }

    // The place of column j, no member, among them, or -1.
    Index find(Index j) const {
        if (!seen_.empty()) return seen_[static_cast<std::size_t>(j)] - 1;
        const auto first = outside_.places.begin(), last = first + outside_.size;  // a row's columns ascend
        const auto at = std::lower_bound(first, last, j, [](const Place& place, Index k) { return place.column < k; });
        return at != last && at->column == j ? at - first : -1;
    }

  private:
    struct Place {
        Index column, slot;
        double weight;
    };
    struct List {
        std::vector<Place> places;
        std::vector<double> g;
        Index size = 0;

        double* at(Index p, Index outputs) { return g.data() + p * outputs; }
        void reserve(Index more, Index outputs) {
            const auto wanted = static_cast<std::size_t>(size + more);
            if (places.size() >= wanted) return;
            places.resize(2 * wanted);
            g.resize(2 * wanted * static_cast<std::size_t>(outputs));
        }
    };

    void add_to(List& list, Index p, const double* coefficient, double x, double weight) {
        list.places[static_cast<std::size_t>(p)].weight += weight;
        double* g = list.at(p, width_.count());
        for (Index c = 0; c < width_.count(); ++c) g[c] += coefficient[c] * x;
    }

    Sparse<T, I> rows_;
    Width width_;
    std::vector<std::int32_t> seen_;  // of each column: its place among those touched, + 1; for batches of several rows
    List inside_, outside_;
};

template <class T, class Width>
class Batch<Dense<T>, Width> {
  public:
    static constexpr bool touches_all = true;

    Batch(const Dense<T>& rows, Index, Width width)
        : rows_(rows), width_(width), g_(static_cast<std::size_t>(width.count())) {}

    void score(Index i, const Members<Width>& members, double* z) const {
        const auto x = row_of(rows_, i);
        const Index outputs = width_.count();
        if constexpr (std::same_as<Width, One>) {
            double a0 = 0, a1 = 0, a2 = 0, a3 = 0;
            Index p = 0;
            const auto term = [&](Index q) { return x.value(members.feature(q)) * *members.value(q); };
            for (; p + 4 <= members.size(); p += 4) {
                a0 += term(p);
                a1 += term(p + 1);
                a2 += term(p + 2);
                a3 += term(p + 3);
            }
            for (; p < members.size(); ++p) a0 += term(p);
            *z = (a0 + a1) + (a2 + a3);
            return;
        }
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
    void add(Index i, const double* coefficient, double weight, const Members<Width>&) {
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
        if (std::same_as<Width, One> && lines_.size() == 1) {
            g_[0] = coefficients_[0] * static_cast<double>(lines_[0][j]);
            return g_.data();
        }
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
    void for_members(const Members<Width>& members, F&& f) {
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
