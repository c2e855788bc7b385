// A row of X, however it is stored: what sweeps walk along. Rows must lie with their numbers side by side (the door's
// `by_rows` sees to it).
#pragma once

#include <concepts>
#include <span>

#include "paring/kernels.hpp"
#include "paring/rows.hpp"
#include "paring/store.hpp"

namespace paring {

template <class T>
struct DenseRow {
    static constexpr bool every = true;  // it stores every column
    const T* values;
    Index size;

    Index column(Index p) const { return p; }
    double value(Index p) const { return static_cast<double>(values[p]); }
};

template <class T, class I>
struct SparseRow {
    static constexpr bool every = false;
    const T* values;
    const I* indices;  // ascending
    Index size;

    Index column(Index p) const { return static_cast<Index>(indices[p]); }
    double value(Index p) const { return static_cast<double>(values[p]); }
};

template <class T>
DenseRow<T> row_of(const Dense<T>& rows, Index i) {
    return {rows.line(i), rows.length};
}
template <class T, class I>
SparseRow<T, I> row_of(const Sparse<T, I>& rows, Index i) {
    const Index at = rows.begin(i);
    return {rows.values + at, rows.indices + at, rows.end(i) - at};
}

// What a step needs to say to get row i ahead of its turn.
template <class T>
void prefetch_row(const Dense<T>&, Index) {}
template <class T, class I>
void prefetch_row(const Sparse<T, I>& rows, Index i) {
    const Index at = rows.begin(i);
    for (Index line = 0; line < 4; ++line) {
        __builtin_prefetch(rows.indices + at + line * (64 / static_cast<Index>(sizeof(I))));
        __builtin_prefetch(rows.values + at + line * (64 / static_cast<Index>(sizeof(T))));
    }
}

// Scores that a row has: one, known to the compiler, or the number of classes.
struct One {
    static constexpr Index count() { return 1; }
};
struct Many {
    Index n;
    Index count() const { return n; }
};

// f with the width as a type.
template <class F>
void with_width(Index outputs, F&& f) {
    outputs == 1 ? f(One{}) : f(Many{outputs});
}

// z[c] = sum_j x_ij w_jc through a store; w is row-major.
template <class Row, Store S, class Width>
void score(const Row& x, S w, Width width, double* z) {
    if constexpr (std::same_as<S, Plain> && std::same_as<Width, One>) {
        if constexpr (Row::every)
            *z = dot(x.values, w.at, x.size);
        else
            *z = gather_dot(x.values, x.indices, x.size, w.at);
    } else {
        const Index outputs = width.count();
        for (Index c = 0; c < outputs; ++c) z[c] = 0;
        for (Index p = 0; p < x.size; ++p) {
            const double value = x.value(p);
            const Index at = x.column(p) * outputs;
            for (Index c = 0; c < outputs; ++c) z[c] += value * w.load(at + c);
        }
    }
}

}  // namespace paring
