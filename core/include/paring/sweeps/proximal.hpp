// Sparse proximal steps of one score a row: one text for dense and sparse rows, one worker and many, features alone and
// units (groups) of them, variance reduced by an anchor or by a table of slopes.
//
//     delta = v_i slope_i(w) - s_i                                                   for a row i
//     u_j   = w_j - c (delta x_ij + D_j p_j)                                         j in the units that row i stores
//     w_g  <- prox of c D_g (omega_g |.|_2 + sum_j tau_j |.| + (ridge_j/2) .^2), within lower_j <= . <= upper_j, at u_g
//     b    <- b - c (delta + p_b)
//
// D_g = n / (rows that store a column of unit g): all features of a unit have the same. Anchored: s_i is the slope at
// the anchor, p the gradient of the mean loss there (both 0: plain stochastic steps). Table: s_i is the slope that row
// i had last, p the mean of s_i x_i; after the step p_j += delta x_ij / n, s_i += delta.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "paring/loss.hpp"
#include "paring/sweeps/row.hpp"
#include "paring/sweeps/share.hpp"

namespace paring {

// Units of several features, and the unit of each; no starts: each feature alone.
struct Units {
    const Index *of = nullptr, *starts = nullptr, *members = nullptr;
    Index count = 0;
};

struct Proximal {
    const Loss* loss;
    const double *y, *v;
    Index n;
    double c;
    const double* reach;                        // c D_j of each feature
    const double *tau, *ridge, *lower, *upper;  // of each feature
    const double* omega;                        // of each unit
    Units units;
    bool intercept;
};

// What s and p are. The shared vector is w, b, and what the kind keeps behind.
struct Anchored {
    const double *slopes, *pull;  // n; d + 1, that of b last. null: 0

    double before(Index i, auto) const { return slopes == nullptr ? 0.0 : slopes[i]; }
    double pull_of(Index j, auto) const { return pull == nullptr ? 0.0 : pull[j]; }
    void learn(Index, const auto&, double, double, bool, auto) const {}
};

struct Table {  // behind: p (d + 1), s (n)
    Index d;
    double n;

    double before(Index i, auto w) const { return w.load(2 * (d + 1) + i); }
    double pull_of(Index j, auto w) const { return w.load(d + 1 + j); }
    void learn(Index i, const auto& x, double fresh, double delta, bool intercept, auto w) const {
        for (Index p = 0; p < x.size; ++p) w.add(d + 1 + x.column(p), delta * x.value(p) / n);
        if (intercept) w.add(2 * d + 1, delta / n);
        w.store(2 * (d + 1) + i, fresh);
    }
};

inline double soft_threshold(double u, double t) { return u > t ? u - t : u < -t ? u + t : 0.0; }

template <class Matrix, class Kind, Store Shared>
class ProximalSweep {
  public:
    ProximalSweep(const Matrix& X, const Proximal& data, const Kind& kind, Shared w)
        : X_(X), data_(data), kind_(kind), w_(w), d_(X.length) {
        if (data.units.starts != nullptr) {
            x_.resize(static_cast<std::size_t>(d_));
            met_.resize(static_cast<std::size_t>(data.units.count));
        }
    }

    void step(Index i) {
        const auto x = row_of(X_, i);
        double z = dot(x, w_), slope = 0;
        if (data_.intercept) z += w_.load(d_);
        data_.loss->evaluate(&z, data_.y + i, 1, nullptr, &slope, nullptr);
        const double fresh = data_.v[i] * slope, delta = fresh - kind_.before(i, w_);
        if (data_.units.starts == nullptr)
            for (Index p = 0; p < x.size; ++p) move(x.column(p), delta * x.value(p));
        else
            move_units(x, delta);
        if (data_.intercept) w_.add(d_, -data_.c * (delta + kind_.pull_of(d_, w_)));
        kind_.learn(i, x, fresh, delta, data_.intercept, w_);
    }

  private:
    double gone(Index j, double w, double delta_x) const {
        return w - data_.c * delta_x - data_.reach[j] * kind_.pull_of(j, w_);
    }
    // The prox of one weight; a unit's norm shrinks what it leaves.
    double shrunk(Index j, double u) const {
        const double w = soft_threshold(u, data_.reach[j] * data_.tau[j]) / (1 + data_.reach[j] * data_.ridge[j]);
        return std::min(std::max(w, data_.lower[j]), data_.upper[j]);
    }
    // The norm's own part of a prox that ends with it.
    double left_of(Index j, double omega, double norm) const {
        const double pull = data_.reach[j] * omega / (1 + data_.reach[j] * data_.ridge[j]);
        return norm > pull ? 1 - pull / norm : 0.0;
    }
    void move(Index j, double delta_x) {
        const double omega = data_.omega[j];
        w_.change(j, [&](double w) {
            const double next = shrunk(j, gone(j, w, delta_x));
            return omega > 0 ? next * left_of(j, omega, std::abs(next)) : next;
        });
    }

    // Every feature of a touched unit moves, by what this worker read of it: if another moved it meanwhile, the change
    // is added to that.
    template <class Row>
    void move_units(const Row& x, double delta) {
        touched_.clear();
        for (Index p = 0; p < x.size; ++p) {
            const Index g = data_.units.of[x.column(p)];
            x_[static_cast<std::size_t>(x.column(p))] = x.value(p);
            if (met_[static_cast<std::size_t>(g)]) continue;
            met_[static_cast<std::size_t>(g)] = 1;
            touched_.push_back(g);
        }
        for (const Index g : touched_) {
            const Index first = data_.units.starts[g], size = data_.units.starts[g + 1] - first;
            const Index* const member = data_.units.members + first;
            read_.resize(static_cast<std::size_t>(size));
            next_.resize(static_cast<std::size_t>(size));
            double square = 0;
            for (Index a = 0; a < size; ++a) {
                const auto p = static_cast<std::size_t>(a);
                const Index j = member[a];
                read_[p] = w_.load(j);
                next_[p] = shrunk(j, gone(j, read_[p], delta * x_[static_cast<std::size_t>(j)]));
                square += next_[p] * next_[p];
                x_[static_cast<std::size_t>(j)] = 0;
            }
            const double left = data_.omega[g] > 0 ? left_of(member[0], data_.omega[g], std::sqrt(square)) : 1.0;
            for (Index a = 0; a < size; ++a) {
                const auto p = static_cast<std::size_t>(a);
                const double next = next_[p] * left, read = read_[p];
                w_.change(member[a], [&](double now) { return now == read ? next : now + (next - read); });
            }
            met_[static_cast<std::size_t>(g)] = 0;
        }
    }

    const Matrix& X_;
    const Proximal& data_;
    const Kind& kind_;
    Shared w_;
    Index d_;
    std::vector<double> x_, read_, next_;  // the row with its zeros; a unit before and after
    std::vector<unsigned char> met_;
    std::vector<Index> touched_;
};

// Cut off by `stop` it leaves whole steps.
template <class Matrix, class Kind, Store Shared>
void sweep_proximal(const Matrix& X, const Proximal& data, const Kind& kind, std::span<const Index> order,
                    const StopToken& stop, Shared w) {
    constexpr std::size_t soon = 2;  // rows ahead
    ProximalSweep<Matrix, Kind, Shared> sweep(X, data, kind, w);
    for (std::size_t t = 0; t < order.size(); ++t) {
        if (stop.requested()) return;
        if (t + soon < order.size()) prefetch_row(X, order[t + soon]);
        sweep.step(order[t]);
    }
}

// w: d weights, the intercept, and for a table its mean (d + 1) and its slopes (n).
void run_proximal(const Rows& rows, const Proximal& data, const Anchored& kind, std::span<const Index> order,
                  std::span<double> w, Sharing sharing, int workers, const Context& context);
void run_proximal(const Rows& rows, const Proximal& data, const Table& kind, std::span<const Index> order,
                  std::span<double> w, Sharing sharing, int workers, const Context& context);

}  // namespace paring
