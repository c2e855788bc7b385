// A step of dual variables that keeps their weighted sum, as a free intercept asks:
//
//     a_i = prox_{step loss*}(u_i - t),     t such that sum_i v_i a_i = total
#pragma once

#include <span>

#include "paring/loss.hpp"

namespace paring {

// Writes a. `total` is a sum the domain of loss* can reach; it is kept to the last bits of the sum. Cost: some ten to
// thirty times as many proxes as there are rows.
void balanced_prox(const Loss& loss, std::span<const double> u, const double* y, const double* v, double step,
                   double total, double* a);

}  // namespace paring
