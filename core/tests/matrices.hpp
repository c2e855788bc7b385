// One matrix in every layout the core knows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "paring/rows.hpp"

namespace check {

using paring::Dense;
using paring::Rows;
using paring::Sparse;

// n x d, row-major; about half zeros, one empty row and column, values that float holds exactly.
struct Matrix {
    Index n, d;
    std::vector<double> values;
    double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i * d + j)]; }
};

inline Matrix random_matrix(Index n, Index d, Random& random) {
    Matrix a{n, d, std::vector<double>(static_cast<std::size_t>(n * d))};
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < d; ++j)
            if (random.uniform() < 0.5 && (n < 3 || i != n / 2) && (d < 3 || j != d / 3))
                a.values[static_cast<std::size_t>(i * d + j)] =
                    static_cast<double>(static_cast<float>(random.normal()));
    return a;
}

struct Layout {
    std::string name;
    Rows rows;
    bool lines_are_columns;
    std::shared_ptr<void> memory;
};

// Lines of a, `gap` elements unused after each element and each line.
template <class T>
Layout dense(const Matrix& a, bool columns, Index gap) {
    const Index lines = columns ? a.d : a.n, length = columns ? a.n : a.d, step = 1 + gap;
    const Index stride = length * step + gap;
    auto memory = std::make_shared<std::vector<T>>(static_cast<std::size_t>(lines * stride), T(99));
    for (Index l = 0; l < lines; ++l)
        for (Index e = 0; e < length; ++e)
            (*memory)[static_cast<std::size_t>(l * stride + e * step)] = static_cast<T>(columns ? a(e, l) : a(l, e));
    return {"dense", Dense<T>{memory->data(), lines, length, stride, step}, columns, memory};
}

template <class T, class I>
struct SparseMemory {
    std::vector<T> values;
    std::vector<I> indices, starts;
};

template <class T, class I>
Layout sparse(const Matrix& a, bool columns) {
    const Index lines = columns ? a.d : a.n, length = columns ? a.n : a.d;
    auto memory = std::make_shared<SparseMemory<T, I>>();
    memory->starts.push_back(0);
    for (Index l = 0; l < lines; ++l) {
        for (Index e = 0; e < length; ++e) {
            const double x = columns ? a(e, l) : a(l, e);
            if (x == 0) continue;
            memory->values.push_back(static_cast<T>(x));
            memory->indices.push_back(static_cast<I>(e));
        }
        memory->starts.push_back(static_cast<I>(memory->values.size()));
    }
    return {"sparse", Sparse<T, I>{memory->values.data(), memory->indices.data(), memory->starts.data(), lines, length},
            columns, memory};
}

inline std::vector<Layout> dense_layouts(const Matrix& a) {
    std::vector<Layout> all;
    for (const bool columns : {false, true})
        for (const Index gap : {0, 2}) {
            all.push_back(dense<float>(a, columns, gap));
            all.push_back(dense<double>(a, columns, gap));
        }
    return all;
}

inline std::vector<Layout> sparse_layouts(const Matrix& a, bool columns) {
    return {sparse<float, std::int32_t>(a, columns), sparse<double, std::int32_t>(a, columns),
            sparse<float, std::int64_t>(a, columns), sparse<double, std::int64_t>(a, columns)};
}

inline std::vector<Layout> all_layouts(const Matrix& a) {
    auto all = dense_layouts(a);
    for (const bool columns : {false, true})
        for (auto& layout : sparse_layouts(a, columns)) all.push_back(layout);
    return all;
}

}  // namespace check
