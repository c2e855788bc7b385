// Sweeps that threshold after every step. One text:
//
//     z_i = x_i.w + b,   g = (1/|B|) sum_{i in B} importance_i (v_i slope_i(z_i) - slopes_i) x_i
//     w <- H_k(w - (c/h) (nu + ridge w) - (c/h) g),      b <- b - (c/h_b) (nu_b + the same sum without x_i)
//
// where a drift says what nu is and which coordinates a step moves (`drifts.hpp`):
//
//     SG-HT       slopes = 0, nu = 0
//     SVRG-HT     slopes and nu at the anchor: nu = mu - ridge anchor, the gradient of the loss alone
//     ASBCDHT     the same, on one block of columns a step
//     by rows     the same, on the columns that the rows touch: nu_j D_j, ridge implicitly
//     SAGA-HT     slopes: the table; nu: its mean, which moves after the step
//
// Off the support w is zero, so that a step leads there to -(c/h) (nu + g): what may enter is among the columns of g
// and those of largest |nu|. Cost of a step on sparse rows: O(k + entries of the batch).
#pragma once

#include "paring/loss.hpp"
#include "paring/parallel.hpp"
#include "paring/sweeps/batch.hpp"
#include "paring/sweeps/sweeps.hpp"

namespace paring {

// All p of the batch that may enter, and perhaps more: f(p). Of dense rows with one output only the blocks are looked
// at in which some |m nu_j + g_j| reaches the floor; the others are streamed past.
template <class Rows, class Width, class F>
void offer_touched(const double* nu, Members<Width>& members, Rows& batch, double c, double m, F&& f) {
    constexpr double rounding = 1e-12;
    if constexpr (Rows::touches_all && std::same_as<Width, One>) {
        batch.with_line([&](const auto* x, double a) {
            const Index d = batch.size();
            for (Index at = 0; at < d; at += reach_block) {
                const double bound = std::sqrt(members.current_floor()) / c * (1 - rounding);
                at = next_reaching(x, a, nu, m, members.reach(), bound, at, d);
                for (Index p = at; p < std::min(at + reach_block, d); ++p)
                    if (std::abs(a * static_cast<double>(x[p]) + (nu == nullptr ? 0.0 : m * nu[p])) *
                            (members.reach() == nullptr ? 1.0 : members.reach()[p]) >=
                        bound)
                        f(p);
            }
        });
    } else {
        for (Index p = 0; p < batch.size(); ++p) f(p);
    }
}

template <class View, class Width, class DriftOf>
class ThresholdedSweep {
  public:
    ThresholdedSweep(const View& rows, const Sweep& sweep, Width width, DriftOf& drift)
        : rows_(rows), sweep_(sweep), width_(width), drift_(drift) {}

    bool run(Iterate at, const StopToken& stop) {
        const Visits& visits = sweep_.visits;
        Members<Width> members(sweep_.limits, width_, at.w);
        Batch<View, Width> batch(rows_, visits.largest(), width_);
        std::vector<double> b(at.b, at.b + width_.count());
        for (Index p = 0; p < members.size(); ++p) drift_.join(members, members.feature(p), p);
        drift_.prepare(members, sweep_.lengths[0]);
        for (Index t = 0; t < visits.steps(); ++t) {
            if (stop.requested()) return false;
            if (t + 1 < visits.steps()) prefetch_row(rows_, visits.batch(t + 1).front());
            step(visits.batch(t), sweep_.lengths[t], t, members, batch, b.data());
        }
        members.write(at.w);
        std::copy(b.begin(), b.end(), at.b);
        return true;
    }

  private:
    void step(std::span<const Index> rows, double c, Index t, Members<Width>& members, Batch<View, Width>& batch,
              double* b) {
        const Index outputs = width_.count();
        drift_.begin(t, c);
        batch.begin();
        scratch_.assign(static_cast<std::size_t>(4 * outputs), 0.0);
        double *z = scratch_.data(), *slope = z + outputs, *delta = slope + outputs, *total = delta + outputs;
        for (const Index i : rows) {
            batch.score(i, members, z);
            for (Index o = 0; o < outputs; ++o) z[o] += b[o];
            sweep_.losses.slope(i, z, slope);
            const double share = sweep_.losses.share(i, rows.size());
            drift_.change(i, slope, delta);
            for (Index o = 0; o < outputs; ++o) total[o] += delta[o] *= share;
            batch.add(i, delta, share, members);
        }
        drift_.move(members, batch, c, sweep_.ridge);
        members.floor();
        drift_.offer(members, batch, c, sweep_.ridge);
        members.settle(
            [&](Index j, Index slot) {
                const Index at = batch.find(j);
                drift_.outside(j, at < 0 ? nullptr : batch.g(at), at < 0 ? 0.0 : batch.weight(at),
                               c * members.length(slot), sweep_.ridge, members.value(slot));
                drift_.join(members, j, slot);
            },
            [&](Index j) { drift_.leave(j); });
        if (sweep_.losses.intercept)
            for (Index o = 0; o < outputs; ++o) b[o] -= c / sweep_.limits.h_b * (drift_.intercept(o) + total[o]);
        drift_.end(rows, members);
    }

    const View& rows_;
    const Sweep& sweep_;
    Width width_;
    DriftOf& drift_;
    std::vector<double> scratch_;
};

}  // namespace paring
