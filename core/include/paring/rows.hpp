// Views of a matrix by its stored lines.
//
// A line is a row of a row-major matrix (C order, CSR) or a column of a column-major one (F order, CSC). Seen
// so, every layout needs only two ways to multiply: `dots` (each line with a vector) and `combine` (a
// weighted sum of lines).
#pragma once

#include <cstdint>
#include <variant>

#include "paring/types.hpp"

namespace paring {

template <class T>
struct Dense {
    using value_type = T;
    const T* data;
    Index lines, length;
    Index line_stride, step;  // in elements

    const T* line(Index l) const { return data + l * line_stride; }
    double cost_per_line() const { return static_cast<double>(length); }
};

template <class T, class I>
struct Sparse {
    using value_type = T;
    using index_type = I;
    const T* values;
    const I* indices;
    const I* starts;  // lines + 1 of them
    Index lines, length;

    Index begin(Index l) const { return static_cast<Index>(starts[l]); }
    Index end(Index l) const { return static_cast<Index>(starts[l + 1]); }
    double cost_per_line() const {
        return lines == 0 ? 0.0 : 2.0 * static_cast<double>(end(lines - 1) - begin(0)) / static_cast<double>(lines);
    }
};

using Rows = std::variant<Dense<float>, Dense<double>, Sparse<float, std::int32_t>, Sparse<double, std::int32_t>,
                          Sparse<float, std::int64_t>, Sparse<double, std::int64_t>>;

}  // namespace paring
