// A row of X, however it is stored: what sweeps walk along. Rows must lie with their numbers side by side (the door's
// `by_rows` sees to it).
#pragma once

#include <algorithm>
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
void prefetch_row(const Dense<T>& rows, Index i) {
    constexpr Index most = 1 << 16, line = 64;  // bytes: what the second cache holds with ease; and a line of it
    const char* row = reinterpret_cast<const char*>(rows.line(i));
    const Index end = std::min(most, rows.length * static_cast<Index>(sizeof(T)));
    for (Index at = 0; at < end; at += line) __builtin_prefetch(row + at, 0, 2);
}
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

// x.w of one output. The additions are in one order whatever the store, so that one worker gets the same bits from all.
template <class Row, Store S>
double dot(const Row& x, S w) {
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    Index p = 0;
    for (; p + 4 <= x.size; p += 4) {
        a0 += x.value(p) * w.load(x.column(p));
        a1 += x.value(p + 1) * w.load(x.column(p + 1));
        a2 += x.value(p + 2) * w.load(x.column(p + 2));
        a3 += x.value(p + 3) * w.load(x.column(p + 3));
    }
    for (; p < x.size; ++p) a0 += x.value(p) * w.load(x.column(p));
    return (a0 + a1) + (a2 + a3);
}
template <class T>
double dot(const DenseRow<T>& x, Plain w) {  // never shared: see share.hpp
    return dot(x.values, w.at, x.size);
}

// z[c] = sum_j x_ij w_jc through a store; w is row-major.
template <class Row, Store S, class Width>
void score(const Row& x, S w, Width width, double* z) {
    if constexpr (std::same_as<Width, One>) {
        *z = dot(x, w);
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
