// The sweep of SBCD-HTP, which does not threshold: w fills up, and H_k comes after the round.
//
//     on S = the anchor's support and one block of columns:
//     w_S <- w_S - (c/h) (nu + ridge w)_S - (c/h) g_S,      b <- b - (c/h_b) (nu_b + its sum)
//
// with g and nu of `thresholded.hpp`. Dense rows: each step runs over S. Sparse rows: a column is brought up to date
// when a row touches it. A column that has missed t of the steps of its group stands at
//
//     q^t w - nu (c/h) (1 + q + .. + q^(t-1)),      q = 1 - ridge c/h
//
// Cost of a step: O(d) a row and |S| on dense rows; O(entries of the batch) on sparse ones, and O(d) a round.
#pragma once

#include <cmath>
#include <vector>

#include "paring/sweeps/row.hpp"
#include "paring/sweeps/sweeps.hpp"

namespace paring {

// What t steps of one length do to a weight that no row touches.
class Lag {
  public:
    Lag(double length, double ridge, const double* h, Index steps) : length_(length), ridge_(ridge), h_(h) {
        if (h != nullptr) return;
        const double q = 1 - length * ridge;
        powers_.assign(1, 1.0);
        sums_.assign(1, 0.0);
        for (Index t = 0; t < steps; ++t) {
            powers_.push_back(q * powers_.back());
            sums_.push_back(q * sums_.back() + length);
        }
    }

    struct Both {
        double power, sum;  // w <- power w - sum nu
    };
    Both after(Index t, Index j) const {
        if (h_ == nullptr) return {powers_[static_cast<std::size_t>(t)], sums_[static_cast<std::size_t>(t)]};
        const double length = length_ / h_[j], decay = length * ridge_, times = static_cast<double>(t);
        if (decay == 0) return {1.0, times * length};
        if (decay > 0.5) {
            const double power = std::pow(1 - decay, times);
            return {power, (1 - power) / ridge_};
        }
        const double lost = -std::expm1(times * std::log1p(-decay));  // without cancellation
        return {1 - lost, lost / ridge_};
    }

  private:
    double length_, ridge_;
    const double* h_;
    std::vector<double> powers_, sums_;
};

template <class View, class Width>
class BlockSweep {
  public:
    BlockSweep(const View& rows, const Sweep& sweep, const Groups& groups, Width width)
        : rows_(rows), sweep_(sweep), groups_(groups), width_(width), d_(sweep.limits.d) {}

    bool run(Iterate at, const StopToken& stop) {
        const Visits& visits = sweep_.visits;
        const Lag lag(sweep_.lengths[0], sweep_.ridge, sweep_.limits.h, visits.steps());
        begin(at, visits.largest());
        for (Index t = 0; t < visits.steps(); ++t) {
            if (stop.requested()) return false;
            if (t + 1 < visits.steps()) prefetch_row(rows_, visits.batch(t + 1).front());
            step(visits.batch(t), groups_.chosen[t], lag);
        }
        if constexpr (touches_all) {
            std::copy(w_.begin(), w_.end(), at.w);
        } else {
            for (Index j = 0; j < d_; ++j) std::copy_n(caught_up(j, lag), outputs(), at.w + j * outputs());
        }
        std::copy(b_.begin(), b_.end(), at.b);
        return true;
    }

  private:
    static constexpr bool touches_all = decltype(row_of(std::declval<const View&>(), Index{}))::every;
    Index outputs() const { return width_.count(); }
    static std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

    // Of a column of sparse rows: its group, and how many of the group's steps it has taken.
    struct Column {
        std::int32_t group, taken;
    };

    void begin(Iterate at, Index largest) {
        b_.assign(at.b, at.b + outputs());
        z_.resize(size_of(outputs()));
        total_.resize(size_of(outputs()));
        deltas_.resize(size_of(largest * outputs()));
        if constexpr (touches_all) {
            w_.assign(at.w, at.w + d_ * outputs());
            members_.resize(size_of(groups_.count));
            for (Index j = 0; j < d_; ++j)
                if (groups_.of[j] >= 0) members_[size_of(groups_.of[j])].push_back(j);
        } else {
            w_.resize(size_of(2 * d_ * outputs()));
            for (Index j = 0; j < d_; ++j) {
                std::copy_n(at.w + j * outputs(), outputs(), w_.data() + 2 * j * outputs());
                std::copy_n(sweep_.drift.nu + j * outputs(), outputs(), w_.data() + (2 * j + 1) * outputs());
                columns_.push_back({groups_.of[j], 0});
            }
            done_.assign(size_of(groups_.count), 0);
        }
    }

    double length(Index j) const {
        return sweep_.limits.h == nullptr ? sweep_.lengths[0] : sweep_.lengths[0] / sweep_.limits.h[j];
    }

    void step(std::span<const Index> rows, Index chosen, const Lag& lag) {
        std::fill(total_.begin(), total_.end(), 0.0);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const Index i = rows[r];
            double* delta = deltas_.data() + static_cast<Index>(r) * outputs();
            score_row(i, lag);
            for (Index c = 0; c < outputs(); ++c) z_[size_of(c)] += b_[size_of(c)];
            sweep_.losses.slope(i, z_.data(), delta);
            const double share = sweep_.losses.share(i, rows.size());
            for (Index c = 0; c < outputs(); ++c) {
                delta[c] = (delta[c] - sweep_.drift.slopes[i * outputs() + c]) * share;
                total_[size_of(c)] += delta[c];
            }
        }
        if constexpr (touches_all) {
            for (const Index j : members_[0]) move(j, rows);
            if (chosen > 0)
                for (const Index j : members_[size_of(chosen)]) move(j, rows);
        } else {
            ++done_[0];
            if (chosen > 0) ++done_[size_of(chosen)];
            for (std::size_t r = 0; r < rows.size(); ++r)
                scatter(rows[r], deltas_.data() + static_cast<Index>(r) * outputs(), chosen, lag);
        }
        if (sweep_.losses.intercept)
            for (Index c = 0; c < outputs(); ++c)
                b_[size_of(c)] -= sweep_.lengths[0] / sweep_.limits.h_b * (sweep_.drift.nu_b[c] + total_[size_of(c)]);
    }

    void score_row(Index i, const Lag& lag) {
        const auto x = row_of(rows_, i);
        if constexpr (touches_all) {
            score(x, Plain{w_.data()}, width_, z_.data());
        } else {
            std::fill(z_.begin(), z_.end(), 0.0);
            if constexpr (std::same_as<Width, One>) {
                double even = 0, odd = 0;  // two sums that need not wait for each other
                for (Index p = 0; p < x.size; ++p)
                    (p % 2 == 0 ? even : odd) += x.value(p) * *caught_up(x.column(p), lag);
                z_[0] = even + odd;
                return;
            }
            for (Index p = 0; p < x.size; ++p) {
                const double* w = caught_up(x.column(p), lag);
                for (Index c = 0; c < outputs(); ++c) z_[size_of(c)] += x.value(p) * w[c];
            }
        }
    }

    // One column of dense rows: the whole step.
    void move(Index j, std::span<const Index> rows) {
        const double step = length(j);
        for (Index c = 0; c < outputs(); ++c) {
            double g = 0;
            for (std::size_t r = 0; r < rows.size(); ++r)
                g += deltas_[r * size_of(outputs()) + size_of(c)] * row_of(rows_, rows[r]).value(j);
            double& w = w_[size_of(j * outputs() + c)];
            w -= step * (sweep_.drift.nu[j * outputs() + c] + sweep_.ridge * w) + step * g;
        }
    }

    // A sparse row's part of a step, once its columns have taken the rest of it.
    void scatter(Index i, const double* delta, Index chosen, const Lag& lag) {
        const auto x = row_of(rows_, i);
        for (Index p = 0; p < x.size; ++p) {
            const Index j = x.column(p), group = columns_[size_of(j)].group;
            if (group != 0 && group != chosen) continue;
            double* w = caught_up(j, lag);
            const double step = length(j) * x.value(p);
            for (Index c = 0; c < outputs(); ++c) w[c] -= step * delta[c];
        }
    }

    // The weights of a column, with all steps of its group.
    double* caught_up(Index j, const Lag& lag) {
        Column& column = columns_[size_of(j)];
        double* w = w_.data() + 2 * j * outputs();
        if (column.group < 0) return w;
        const std::int32_t missed = done_[size_of(column.group)] - column.taken;
        if (missed == 0) return w;
        column.taken += missed;
        const auto [power, sum] = lag.after(missed, j);
        for (Index c = 0; c < outputs(); ++c) w[c] = power * w[c] - sum * w[outputs() + c];
        return w;
    }

    const View& rows_;
    const Sweep& sweep_;
    const Groups& groups_;
    Width width_;
    Index d_;
    std::vector<double> w_;  // sparse rows: of each column w, then nu
    std::vector<double> b_, z_, total_, deltas_;
    std::vector<Column> columns_;              // sparse rows
    std::vector<std::int32_t> done_;           // the same: steps that each group has taken
    std::vector<std::vector<Index>> members_;  // dense rows: of each group
};

}  // namespace paring
