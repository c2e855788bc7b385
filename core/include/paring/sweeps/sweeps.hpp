// The sweeps of the stochastic solvers, one call a round.
#pragma once

#include <algorithm>
#include <span>

#include "paring/loss.hpp"
#include "paring/parallel.hpp"
#include "paring/rows.hpp"

namespace paring {

// Rows in the order of their visits; step t takes order[starts[t]] to order[starts[t + 1]].
struct Visits {
    std::span<const Index> order, starts;
    Index steps() const { return static_cast<Index>(starts.size()) - 1; }
    std::span<const Index> batch(Index t) const {
        const auto at = static_cast<std::size_t>(t);
        return order.subspan(static_cast<std::size_t>(starts[at]),
                             static_cast<std::size_t>(starts[at + 1] - starts[at]));
    }
    Index largest() const {
        Index most = 0;
        for (Index t = 0; t < steps(); ++t) most = std::max(most, static_cast<Index>(batch(t).size()));
        return most;
    }
};

struct RowLosses {
    const Loss* loss;
    const double *y, *v;
    Index n;
    const double* importance = nullptr;  // null: 1
    bool intercept = false;

    // v_i slope_i
    void slope(Index i, const double* z, double* out) const {
        loss->evaluate(z, y + i, 1, nullptr, out, nullptr);
        for (Index c = 0; c < loss->outputs(); ++c) out[c] *= v[i];
    }
    double share(Index i, std::size_t batch) const {
        const double importance_i = importance == nullptr ? 1.0 : importance[i];
        return importance_i / static_cast<double>(batch);
    }
};

// Where a sweep begins, and where it ended: w is d x outputs, b outputs.
struct Iterate {
    double *w, *b;
};

// What an iterate must keep to that is thresholded after every step.
struct Limits {
    Index d, k;
    const unsigned char *always = nullptr, *never = nullptr;  // d flags each; null: none
    double radius = infinity;                                 // |w| <= radius after H_k
    const double* h = nullptr;                                // d weights of the metric; null: 1
    double h_b = 1;                                           // that of the intercept
};

// The dense part of directions: nu (d x outputs), nu_b (outputs), the slopes that rows had (n x outputs); null: 0.
struct Drift {
    const double *nu = nullptr, *nu_b = nullptr, *slopes = nullptr;
};

// Columns in blocks, and the block of each step; null: all columns are one.
struct ColumnBlocks {
    const std::int32_t* block_of = nullptr;
    Index blocks = 1;
    const std::int32_t* chosen = nullptr;
};

// The same where the anchor's support moves in every step: group 0 always moves, group g > 0 when it is chosen, -1
// never.
struct Groups {
    const std::int32_t* of;
    Index count;  // with group 0
    const std::int32_t* chosen;
};

struct Sweep {
    RowLosses losses;
    double ridge;
    Limits limits;
    Visits visits;
    const double* lengths;  // of the steps
    Drift drift;
};

// `thresholded.hpp` says what they do. False where they were stopped: the iterate is then as it was.
bool sweep_frozen(const Rows& rows, const Sweep& sweep, const ColumnBlocks& blocks, Iterate at, const StopToken& stop);
bool sweep_by_rows(const Rows& rows, const Sweep& sweep, const double* often, Iterate at, const StopToken& stop);
// Also moves table (n x outputs), mean (d x outputs) and mean_b, which it leaves half moved when stopped.
bool sweep_moving(const Rows& rows, const Sweep& sweep, double* table, double* mean, double* mean_b, Iterate at,
                  const StopToken& stop);

// `blocks.hpp`: w is not thresholded.
bool sweep_blocks(const Rows& rows, const Sweep& sweep, const Groups& groups, Iterate at, const StopToken& stop);

}  // namespace paring
