// Full passes over a matrix: each line with vectors (`dots`), weighted sums of lines (`combine`), and both
// with the two curvature sums a score needs (`moments_*`). float64 in and out whatever the matrix holds; all
// cores.
#pragma once

#include <span>

#include "paring/parallel.hpp"
#include "paring/rows.hpp"

namespace paring {

// out[l, :] = sum_e x[l, e] v[e, :];  v is length x m, out lines x m, both row-major.
void dots(const Rows& rows, const double* v, Index m, double* out, const Context& context);

// The same of these lines alone, in their order.
void dots_of(const Rows& rows, std::span<const Index> lines, const double* v, Index m, double* out,
             const Context& context);

// out[e, :] = sum_l u[l, :] x[l, e];  u is lines x m, out length x m.
void combine(const Rows& rows, const double* u, Index m, double* out, const Context& context);

// For each column j of X: slope = sum_i r_i x_ij, first = sum_i c_i x_ij, second = sum_i c_i x_ij^2.
// `lines_are_columns` tells which way the matrix is stored.
void column_moments(const Rows& rows, bool lines_are_columns, const double* r, const double* c, double* slope,
                    double* first, double* second, const Context& context);

}  // namespace paring
