// Sparse semi-stochastic block steps (S2BCD-HTP; shared, ASBCD-HTP; thresholded at every step, the other asynchronous
// solvers): one text for dense and sparse rows, one worker and many.
//
//     delta = v_i slope_i(w) - v_i slope_i(anchor)                                                for a row i
//     w_j  <- (w_j - c (delta x_ij + D_j (mu_j - ridge anchor_j))) / (1 + c ridge D_j)            j stored in row i, in
//     S b    <- b - c (delta + mu_b)
//
// D_j = n / (rows where column j is stored). mu is the gradient at the anchor, with its ridge; the ridge's change since
// is taken implicitly, for D_j is large in rare columns. A batch takes the slopes of its rows at one point, then each
// row's step in turn, c being step / batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "paring/loss.hpp"
#include "paring/parallel.hpp"
#include "paring/sweeps/keep.hpp"
#include "paring/sweeps/row.hpp"
#include "paring/sweeps/share.hpp"

namespace paring {

// What stays the same in a round.
struct S2bcd {
    const Loss* loss;
    const double* y;
    const double* v;
    const double* anchor;  // v_i slope_i at the anchor
    double c;
    const double* pulls;  // of each coordinate: c D_j (mu_j - ridge anchor_j), then 1 / (1 + c ridge D_j)
    bool intercept;       // it is w[d]
    double pull_b;        // c mu_b
};

// The rows of each step, `batch` of them together.
struct Steps {
    const Index* rows;
    Index count, batch;

    Steps part(Index begin, Index end) const { return {rows + begin * batch, end - begin, batch}; }
};

// -- S: which coordinates of a row move -------------------------------------------------------------------------------

// All.
struct Everywhere {
    template <class Row>
    void each(const Row& x, Index, auto&& move) const {
        for (Index p = 0; p < x.count; ++p) move(x.column(p), x.value(p));
    }
};

// Those labelled with the step's block or `in_every_block`. They are gathered first, without branches: a processor
// cannot foresee which they are, and would stumble at half of them.
class InBlocks {
  public:
    using Label = std::int16_t;
    static constexpr Label in_every_block = -1, in_none = -2;

    InBlocks(const Label* labels, const Label* blocks, Index d)
        : labels_(labels),
          blocks_(blocks),
          moved_(std::make_unique_for_overwrite<Index[]>(static_cast<std::size_t>(d))) {}

    template <class Row>
    void each(const Row& x, Index t, auto&& move) const {
        const Label block = blocks_[t];
        Index count = 0;
        for (Index p = 0; p < x.count; ++p) {
            const Label label = labels_[x.column(p)];
            moved_[static_cast<std::size_t>(count)] = p;
            count += (label == in_every_block) | (label == block);
        }
        for (Index m = 0; m < count; ++m) {
            const Index p = moved_[static_cast<std::size_t>(m)];
            move(x.column(p), x.value(p));
        }
    }

  private:
    const Label* labels_;
    const Label* blocks_;
    std::unique_ptr<Index[]> moved_;
};

// -- the sweep --------------------------------------------------------------------------------------------------------

// Cut off by `stop` it leaves whole steps.
template <class Matrix, Store S, class Mask, class Keep>
void sweep_s2bcd(const Matrix& X, const S2bcd& data, const Steps& steps, const Mask& mask, Keep& keep,
                 const StopToken& stop, S w) {
    constexpr Index soon = 2;  // rows ahead: what is fetched arrives in time, and is still there
    const Index all = steps.count * steps.batch, b = X.length;
    std::vector<double> changes(static_cast<std::size_t>(steps.batch));
    for (Index t = 0; t < steps.count; ++t) {
        if (stop.requested()) return;
        const Index first = t * steps.batch;
        const double intercept = data.intercept ? w.load(b) : 0.0;
        for (Index r = 0; r < steps.batch; ++r) {
            if (first + r + soon < all) fetch(X, steps.rows[first + r + soon]);
            const Index i = steps.rows[first + r];
            const double z = dot(row_of(X, i), w) + intercept;
            double slope;
            data.loss->evaluate(&z, data.y + i, 1, nullptr, &slope, nullptr);
            changes[static_cast<std::size_t>(r)] = data.c * (data.v[i] * slope - data.anchor[i]);
        }
        for (Index r = 0; r < steps.batch; ++r) {
            const double change = changes[static_cast<std::size_t>(r)];
            mask.each(row_of(X, steps.rows[first + r]), t, [&](Index j, double x_ij) {
                const double* pull = data.pulls + 2 * j;
                w.change(j, [&](double w_j) { return (w_j - change * x_ij - pull[0]) * pull[1]; });
                keep.touch(j);
            });
            if (data.intercept) w.add(b, -(change + data.pull_b));
        }
        keep.threshold(w);
    }
}

// -- on workers -------------------------------------------------------------------------------------------------------

// The block of each coordinate, or InBlocks::in_every_block, in_none; and the block of each step.
struct Blocks {
    const InBlocks::Label* labels;
    const InBlocks::Label* of_steps;
};

// H_k after every step: see KeepLargest.
struct Largest {
    Index k;
    std::span<const Index> support;
    const unsigned char* always;
};

// w: of each coordinate, then the intercept. blocks null: every coordinate of a row moves. largest null: no
// thresholding.
void run_s2bcd(const Rows& rows, const S2bcd& data, const Steps& steps, const Blocks* blocks, const Largest* largest,
               std::span<double> w, Sharing sharing, int workers, const Context& context);

}  // namespace paring
