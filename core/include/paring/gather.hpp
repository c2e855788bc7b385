// A few columns of a dense matrix, copied out in float64 whatever its layout.
#pragma once

#include <span>

#include "paring/parallel.hpp"
#include "paring/rows.hpp"

namespace paring {

// Columns `chosen` into `out`, one after another. `lines_are_columns` tells which way the matrix is stored; a sparse
// one has no columns to copy so.
void copy_columns(const Rows& rows, bool lines_are_columns, std::span<const Index> chosen, double* out,
                  const Context& context);

}  // namespace paring
