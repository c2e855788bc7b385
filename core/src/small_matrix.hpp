// Small row-major matrices by value: what a principal pivot needs beside the long rows.
#pragma once

#include <algorithm>
#include <vector>

#include "paring/blas.hpp"
#include "paring/kernels.hpp"
#include "paring/products.hpp"

namespace paring {

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Inverse of a symmetric positive definite m x m matrix; false where it is not.
inline bool invert(std::vector<double>& a, Index m) {
    if (m == 1) {
        if (!(a[0] > 0)) return false;
        a[0] = 1 / a[0];
        return true;
    }
    if (!cholesky(a.data(), m)) return false;
    cholesky_inverse(a.data(), m);
    return true;
}

// out (p x m) = a (p x q) b (q x m), all small.
inline std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, Index p, Index q,
                                   Index m) {
    std::vector<double> out(at(p * m));
    for (Index i = 0; i < p; ++i)
        for (Index l = 0; l < q; ++l) axpy(a[at(i * q + l)], b.data() + l * m, out.data() + i * m, m);
    return out;
}

// out (rows x width) += u (rows x lines) x (lines x width), of which x and out may be long.
inline void add_product(const std::vector<double>& u, Index rows, const double* x, Index lines, Index width,
                        double* out, const Context& context) {
    add_combinations(Dense<double>{x, lines, width, width, 1}, u.data(), lines, rows, out, width, context);
}

inline std::vector<double> transposed(const std::vector<double>& a, Index rows, Index columns) {
    std::vector<double> out(a.size());
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) out[at(j * rows + i)] = a[at(i * columns + j)];
    return out;
}

// Those rows of a matrix, in its place.
inline void keep_rows(std::vector<double>& matrix, Index width, const std::vector<Index>& kept) {
    for (std::size_t to = 0; to < kept.size(); ++to)
        if (const Index from = kept[to]; static_cast<Index>(to) < from)
            std::copy_n(matrix.data() + from * width, width, matrix.data() + static_cast<Index>(to) * width);
    matrix.resize(kept.size() * at(width));
}

inline std::vector<double> chosen(const std::vector<double>& x, const std::vector<Index>& places) {
    std::vector<double> out;
    for (const Index place : places) out.push_back(x[at(place)]);
    return out;
}

inline std::vector<double> negated(std::vector<double> a) {
    for (double& value : a) value = -value;
    return a;
}

}  // namespace paring
