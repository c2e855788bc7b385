// Products of a dense matrix with a few vectors, without packing: a BLAS copies the whole matrix first, which for so
// few vectors costs more than the product.
#pragma once

#include <span>

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

// Products of lines, wherever each lies: out[f * ld + a] = lines[first + f]' lines[a] for a <= first + f: the last rows
// of the lower triangle of their Gram matrix.
void lower_products(std::span<const double* const> lines, Index first, Index length, double* out, Index ld,
                    const Context& context);

// 0, 1, .. count-1 so shuffled that any run of them holds early and late ones alike: rows of a triangle shared out
// evenly.
inline Index alternating(Index p, Index count) { return 2 * p < count ? 2 * p : 2 * (count - 1 - p) + 1; }

}  // namespace paring
