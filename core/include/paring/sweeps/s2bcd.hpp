// Sparse semi-stochastic block steps (S2BCD-HTP; shared, ASBCD-HTP; thresholded at every step, the other asynchronous
// solvers): one text for dense and sparse rows, one worker and many.
//
//     delta = v_i slope_i(w) - v_i slope_i(anchor)                                                for a row i
//     w_j  <- (w_j - c_j (delta x_ij + D_j (mu_j - ridge anchor_j))) / (1 + c_j ridge D_j)        j stored in row i, in
//     S b    <- b - c_b (delta + mu_b)
//
// D_j = n / (rows where column j is stored). mu is the gradient at the anchor, with its ridge; the ridge's change since
// is taken implicitly, for D_j is large in rare columns. c_j = c / h_j, h_j = 1 without a scaling. A batch takes the
// slopes of its rows at one point, then each row's step in turn, c being step / batch.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "paring/loss.hpp"
#include "paring/sweeps/keep.hpp"
#include "paring/sweeps/share.hpp"

namespace paring {

// What stays the same in a round. w is row-major with its outputs side by side; the intercepts come last, and move by
// the same text: their numbers are those of a feature d that is 1 in every row.
struct S2bcd {
    const Loss* loss;
    const double* y;
    const double* v;
    const double* anchor;  // v_i slope_i at the anchor, of each output
    // Of each feature, outputs + 2 numbers: c_j;  1 / (1 + c_j ridge D_j);  c_j D_j (mu_j - ridge anchor_j).
    const double* moves;
    bool intercept;
};

// The rows of each step, `batch` of them together.
struct Steps {
    const Index* rows;
    Index count, batch;

    Steps part(Index begin, Index end) const { return {rows + begin * batch, end - begin, batch}; }
};

// -- S: which features move, beside the intercept
// ----------------------------------------------------------------------

using Label = std::int16_t;
inline constexpr Label in_every_block = -1, in_no_block = -2;

// Every feature stored in the row.
struct Everywhere {};
// Those of them in the step's block: the block of each feature, or one of the two above; the block of each step.
struct InBlocks {
    const Label* of_features;
    const Label* of_steps;
};
// Stored or not: `size` features of `circle`, a closed order of all d, from where the step begins. D_j is 1 then.
struct InWindows {
    const Index* circle;
    Index size;
    const Index* of_steps;
};
using Moving = std::variant<Everywhere, InBlocks, InWindows>;

// each(x, t, move): move(j, x_ij) of the features that step t moves.
template <class S>
class Mover;

template <>
class Mover<Everywhere> {
  public:
    Mover(const Everywhere&, Index, Index) {}

    void each(const auto& x, Index, auto&& move) {
        for (Index p = 0; p < x.size; ++p) move(x.column(p), x.value(p));
    }
};

// They are gathered first, without branches: which they are cannot be foreseen, and a processor that guesses is often
// wrong. Measured, 10 blocks and 71 nonzeros a row: 150 ns a step instead of 240.
template <>
class Mover<InBlocks> {
  public:
    Mover(const InBlocks& blocks, Index first_step, Index d)
        : of_features_(blocks.of_features),
          of_steps_(blocks.of_steps + first_step),
          places_(std::make_unique_for_overwrite<Index[]>(static_cast<std::size_t>(d))) {}

    void each(const auto& x, Index t, auto&& move) {
        const Label block = of_steps_[t];
        Index* const places = places_.get();
        Index count = 0;
        for (Index p = 0; p < x.size; ++p) {
            const Label label = of_features_[x.column(p)];
            places[count] = p;
            count += (label == in_every_block) | (label == block);
        }
        for (Index m = 0; m < count; ++m) move(x.column(places[m]), x.value(places[m]));
    }

  private:
    const Label* of_features_;
    const Label* of_steps_;
    std::unique_ptr<Index[]> places_;
};

template <>
class Mover<InWindows> {
  public:
    Mover(const InWindows& windows, Index first_step, Index d)
        : circle_(windows.circle),
          size_(windows.size),
          of_steps_(windows.of_steps + first_step),
          x_(static_cast<std::size_t>(d)) {}

    template <class Row>
    void each(const Row& x, Index t, auto&& move) {
        const auto d = static_cast<Index>(x_.size());
        const auto walk = [&](auto&& value_of) {
            Index at = of_steps_[t];
            for (Index q = 0; q < size_; ++q, at = at + 1 == d ? 0 : at + 1) move(circle_[at], value_of(circle_[at]));
        };
        if constexpr (Row::every) return walk([&](Index j) { return x.value(j); });
        for (Index p = 0; p < x.size; ++p) x_[static_cast<std::size_t>(x.column(p))] = x.value(p);
        walk([&](Index j) { return x_[static_cast<std::size_t>(j)]; });
        for (Index p = 0; p < x.size; ++p) x_[static_cast<std::size_t>(x.column(p))] = 0;
    }

  private:
    const Index* circle_;
    Index size_;
    const Index* of_steps_;
    std::vector<double> x_;  // the row, with its zeros
};

// -- the sweep --------------------------------------------------------------------------------------------------------

// Cut off by `stop` it leaves whole steps.
template <class Matrix, class S, class Keep, Store Shared, class Width>
void sweep_s2bcd(const Matrix& X, const S2bcd& data, const Steps& steps, Mover<S>& mover, Keep& keep, Width width,
                 const StopToken& stop, Shared w) {
    constexpr Index soon = 2;  // rows ahead: what is fetched arrives in time, and is still there
    const Index all = steps.count * steps.batch, d = X.length, outputs = width.count();
    std::vector<double> deltas(static_cast<std::size_t>(steps.batch * outputs));
    std::vector<double> z(static_cast<std::size_t>(outputs)), slope(z);
    const auto move = [&](Index j, double x_ij, const double* delta) {
        const double* const numbers = data.moves + j * (outputs + 2);
        const double c_x = numbers[0] * x_ij, shrink = numbers[1];
        for (Index c = 0; c < outputs; ++c)
            w.change(j * outputs + c, [&](double w_jc) { return (w_jc - c_x * delta[c] - numbers[2 + c]) * shrink; });
    };
    for (Index t = 0; t < steps.count; ++t) {
        if (stop.requested()) return;
        const Index first = t * steps.batch;
        for (Index r = 0; r < steps.batch; ++r) {
            if (first + r + soon < all) prefetch_row(X, steps.rows[first + r + soon]);
            const Index i = steps.rows[first + r];
            score(row_of(X, i), w, width, z.data());
            if (data.intercept)
                for (Index c = 0; c < outputs; ++c) z[static_cast<std::size_t>(c)] += w.load(d * outputs + c);
            data.loss->evaluate(z.data(), data.y + i, 1, nullptr, slope.data(), nullptr);
            for (Index c = 0; c < outputs; ++c)
                deltas[static_cast<std::size_t>(r * outputs + c)] =
                    data.v[i] * slope[static_cast<std::size_t>(c)] - data.anchor[i * outputs + c];
        }
        for (Index r = 0; r < steps.batch; ++r) {
            const double* const delta = deltas.data() + r * outputs;
            mover.each(row_of(X, steps.rows[first + r]), t, [&](Index j, double x_ij) {
                move(j, x_ij, delta);
                keep.touch(j);
            });
            if (data.intercept) move(d, 1.0, delta);
        }
        keep.threshold(w);
    }
}

// w: the iterate, then its intercepts. largest null: no thresholding.
void run_s2bcd(const Rows& rows, const S2bcd& data, const Steps& steps, const Moving& moving, const Largest* largest,
               std::span<double> w, Sharing sharing, int workers, const Context& context);

}  // namespace paring
