// The penalty on the working set, block by block, in one form that all separable penalties take:
//
//     sum over blocks  omega_g |w_g|_2  +  sum_j (tau_j |w_j|_1 + (ridge_j / 2) |w_j|_2^2)
//
// within lower_j <= w_j <= upper_j. A block is a run of features with K weights each (the outputs). The l1 penalty:
// blocks of one feature, omega = 0 (for one weight alone tau says the same, and is faster); groups: tau = 0;
// multi-task: blocks of one feature with K weights. Finite bounds other than 0 only where omega = 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "paring/types.hpp"

namespace paring {

struct Penalty {
    Index outputs = 1;
    std::vector<Index> starts;                     // blocks + 1 of them
    std::vector<double> omega;                     // one a block
    std::vector<double> tau, ridge, lower, upper;  // one a feature

    Index blocks() const { return static_cast<Index>(starts.size()) - 1; }
    Index features() const { return starts.back(); }
    bool is_single(Index block) const {
        return outputs == 1 && omega[static_cast<std::size_t>(block)] == 0 &&
               starts[static_cast<std::size_t>(block) + 1] - starts[static_cast<std::size_t>(block)] == 1;
    }
    // Of one weight alone: argmin (h/2)(w - u)^2 + tau |w| within the bounds.
    double prox(Index feature, double u, double h) const {
        const auto j = static_cast<std::size_t>(feature);
        const double t = tau[j] / h, shrunk = u > t ? u - t : u < -t ? u + t : 0.0;
        return std::min(std::max(shrunk, lower[j]), upper[j]);
    }
    // Of a whole block, in place: argmin (h/2)|w - u|^2 + omega |w|_2 + tau |w|_1 within the bounds.
    void prox_block(Index block, double h, double* u) const;
    // omega |w_g| + tau |w_g|_1 + (ridge/2) |w_g|^2 of the block
    double value(Index block, const double* w) const;
    // How far minus the slopes (of all that is smooth, ridge included) lie from the subdifferential at w: 0 where the
    // block is optimal. Of one weight alone, and of a block: there the largest of its weights.
    double residual(Index feature, double slope, double w, double pull = 0) const;
    double residual_of_block(Index block, const double* slope, const double* w) const;
};

}  // namespace paring
