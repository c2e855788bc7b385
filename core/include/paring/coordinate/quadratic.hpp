// The quadratic model of the loss on a working set, with the penalty, and sweeps of block coordinate descent over it:
//
//     E(w) = g'(w - w0) + |u|^2 / (2 n) + penalty(w),      u = sum_j (w_j - w0_j) x~_j
//
// One weight alone is moved to its minimiser, w_j <- prox(w_j - slope_j / h_j, h_j); a block of several by a few
// proximal steps on its own Gram matrix. With an intercept the x~ are centred: E is then minimised over b too.
#pragma once

#include <span>
#include <vector>

#include "paring/coordinate/columns.hpp"
#include "paring/coordinate/penalty.hpp"

namespace paring {

enum class Over { All, Nonzero };  // blocks a sweep visits

struct Sweep {
    double violation =
        0;              // the largest distance of minus a slope from the penalty's subdifferential, as met on the way
    Index changes = 0;  // weights that became zero or ceased to be
};

class Quadratic {
  public:
    // g: slopes of the mean loss at w0, less mean_j times that in b; both one row of `outputs` numbers a feature.
    Quadratic(const Columns& columns, const Penalty& penalty, std::span<const Index> slots, std::vector<double> g,
              std::vector<double> w0);

    Sweep sweep(Over over);
    double energy() const;
    // The same with other weights and their u.
    double energy_at(const std::vector<double>& w, const std::vector<double>& u) const;
    // Slopes of the smooth part at a feature: of the mean loss alone.
    void slopes(Index feature, double* out) const;

    std::vector<double> w, u;

    const Columns& columns() const { return columns_; }
    const Penalty& penalty() const { return penalty_; }
    Index slot(Index feature) const { return slots_[static_cast<std::size_t>(feature)]; }
    double n() const { return n_; }
    // Nanoseconds of a sweep over all, about.
    double sweep_cost() const { return sweep_cost_; }

  private:
    struct BlockModel {  // of the blocks of several features
        std::vector<double> gram;
        double bound = 0;
    };
    BlockModel block_model(Index block) const;
    bool is_zero(Index block) const;
    void move_single(Index feature, Sweep& seen);
    void move_block(Index block, Sweep& seen);

    const Columns& columns_;
    const Penalty& penalty_;
    std::span<const Index> slots_;
    std::vector<double> g_, w0_;
    std::vector<BlockModel> models_;
    double n_, sweep_cost_ = 0;
};

// Anderson's extrapolation of the sweeps (Bertrand & Massias 2021): of the last points, the affine combination whose
// differences come nearest to zero; taken where it lowers E.
class Extrapolation {
  public:
    void clear() { w_.clear(), u_.clear(); }
    // To be called after each sweep; true where it moved the point.
    bool operator()(Quadratic& model);

  private:
    std::vector<std::vector<double>> w_, u_;
};

}  // namespace paring
