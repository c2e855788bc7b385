// Products of a dense matrix with a few vectors, without packing: a BLAS copies the whole matrix first, which for so
// few vectors costs more than the product.
#pragma once

#include "paring/parallel.hpp"
#include "paring/rows.hpp"

namespace paring {

// out[a, l] = sum_e v[a, e] x[l, e]: each of m vectors (rows of v, contiguous) with each line of unit step.
// out is m x lines, row-major.
template <class T>
void inner_products(const Dense<T>& x, const double* v, Index m, double* out, const Context& context);

// out[a, e] += sum_l u[a, l] x[l, e]: weighted sums of lines of unit step. u is m x lines with leading dimension ldu,
// out m x length with leading dimension ldo.
template <class T>
void add_combinations(const Dense<T>& x, const double* u, Index ldu, Index m, double* out, Index ldo,
                      const Context& context);

}  // namespace paring
