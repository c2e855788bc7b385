// A row of X as a sweep sees it: its stored numbers, each with its column. One text of a sweep serves both kinds.
#pragma once

#include "paring/kernels.hpp"
#include "paring/rows.hpp"
#include "paring/store.hpp"

namespace paring {

// Every column, in order.
template <class T>
struct DenseRow {
    const T* values;
    Index count;

    Index column(Index p) const { return p; }
    double value(Index p) const { return static_cast<double>(values[p]); }
};

template <class T, class I>
struct SparseRow {
    const T* values;
    const I* columns;
    Index count;

    Index column(Index p) const { return static_cast<Index>(columns[p]); }
    double value(Index p) const { return static_cast<double>(values[p]); }
};

// The rows must lie side by side (`step` 1): the door sees to it.
template <class T>
DenseRow<T> row_of(const Dense<T>& X, Index i) {
    return {X.line(i), X.length};
}
template <class T, class I>
SparseRow<T, I> row_of(const Sparse<T, I>& X, Index i) {
    const Index begin = X.begin(i);
    return {X.values + begin, X.indices + begin, X.end(i) - begin};
}

// x.w in float64. Several accumulators by hand; the same order of operations through every store.
template <class Row, Store S>
double dot(const Row& x, S w) {
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    Index p = 0;
    for (; p + 4 <= x.count; p += 4) {
        a0 += x.value(p) * w.load(x.column(p));
        a1 += x.value(p + 1) * w.load(x.column(p + 1));
        a2 += x.value(p + 2) * w.load(x.column(p + 2));
        a3 += x.value(p + 3) * w.load(x.column(p + 3));
    }
    for (; p < x.count; ++p) a0 += x.value(p) * w.load(x.column(p));
    return (a0 + a1) + (a2 + a3);
}
template <class T>
double dot(const DenseRow<T>& x, Plain w) {
    return dot(x.values, w.at, x.count);
}

// Asks the cache for the head of a row that a sweep comes to soon: rows are drawn at random, and only the head of each
// is a surprise to the processor. Measured at 71 nonzeros a row: 10 % of a step.
template <class T>
void fetch(const Dense<T>& X, Index i) {
    __builtin_prefetch(X.line(i));
}
template <class T, class I>
void fetch(const Sparse<T, I>& X, Index i) {
    constexpr Index line = 64;  // bytes of the cache
    const Index begin = X.begin(i);
    for (Index ahead = 0; ahead < 2; ++ahead)
        __builtin_prefetch(X.indices + begin + ahead * (line / static_cast<Index>(sizeof(I))));
    for (Index ahead = 0; ahead < 3; ++ahead)
        __builtin_prefetch(X.values + begin + ahead * (line / static_cast<Index>(sizeof(T))));
}

}  // namespace paring
