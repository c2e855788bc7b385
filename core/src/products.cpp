#include "paring/products.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "paring/kernels.hpp"
#include "wide.hpp"

namespace paring {

namespace {

// out[a * ldo + l] += products over one chunk of n elements, L lines with A vectors in registers.
template <Index L, Index A, class T>
[[gnu::always_inline]] inline void inner_tile(const T* x, Index ldx, const double* v, Index ldv, Index n, double* out,
                                              Index ldo) {
    Wide sums[L][A] = {};
    Index e = 0;
    for (; e + width <= n; e += width) {
        Wide vectors[A];
        for (Index a = 0; a < A; ++a) vectors[a] = load(v + a * ldv + e);
        for (Index l = 0; l < L; ++l) {
            const Wide line = load(x + l * ldx + e);
            for (Index a = 0; a < A; ++a) sums[l][a] += line * vectors[a];
        }
    }
    for (Index l = 0; l < L; ++l)
        for (Index a = 0; a < A; ++a) {
            double total = sum(sums[l][a]);
            for (Index rest = e; rest < n; ++rest) total += static_cast<double>(x[l * ldx + rest]) * v[a * ldv + rest];
            out[a * ldo + l] += total;
        }
}

template <class T>
[[gnu::always_inline]] inline void inner_block_of(const T* x, Index ldx, Index lines, const double* v, Index ldv,
                                                  Index m, Index n, double* out, Index ldo) {
    Index l = 0;
    for (; l + 4 <= lines; l += 4) {
        Index a = 0;
        for (; a + 4 <= m; a += 4) inner_tile<4, 4>(x + l * ldx, ldx, v + a * ldv, ldv, n, out + a * ldo + l, ldo);
        for (; a + 2 <= m; a += 2) inner_tile<4, 2>(x + l * ldx, ldx, v + a * ldv, ldv, n, out + a * ldo + l, ldo);
        if (a < m) inner_tile<4, 1>(x + l * ldx, ldx, v + a * ldv, ldv, n, out + a * ldo + l, ldo);
    }
    for (; l < lines; ++l) {
        Index a = 0;
        for (; a + 2 <= m; a += 2) inner_tile<1, 2>(x + l * ldx, ldx, v + a * ldv, ldv, n, out + a * ldo + l, ldo);
        if (a < m) inner_tile<1, 1>(x + l * ldx, ldx, v + a * ldv, ldv, n, out + a * ldo + l, ldo);
    }
}

PARING_CLONES void inner_block(const float* x, Index ldx, Index lines, const double* v, Index ldv, Index m, Index n,
                               double* out, Index ldo) {
    inner_block_of(x, ldx, lines, v, ldv, m, n, out, ldo);
}
PARING_CLONES void inner_block(const double* x, Index ldx, Index lines, const double* v, Index ldv, Index m, Index n,
                               double* out, Index ldo) {
    inner_block_of(x, ldx, lines, v, ldv, m, n, out, ldo);
}

// out[a, :] += sum_l u[a, l] x[l, :] over R rows of out and H registers of columns.
template <Index R, Index H, class T>
[[gnu::always_inline]] inline void combine_tile(const T* x, Index ldx, Index lines, const double* u, Index ldu,
                                                double* out, Index ldo) {
    Wide sums[R][H];
    for (Index a = 0; a < R; ++a)
        for (Index h = 0; h < H; ++h) sums[a][h] = load(out + a * ldo + h * width);
    for (Index l = 0; l < lines; ++l) {
        Wide line[H];
        for (Index h = 0; h < H; ++h) line[h] = load(x + l * ldx + h * width);
        for (Index a = 0; a < R; ++a)
            for (Index h = 0; h < H; ++h) sums[a][h] += u[a * ldu + l] * line[h];
    }
    for (Index a = 0; a < R; ++a)
        for (Index h = 0; h < H; ++h) store(out + a * ldo + h * width, sums[a][h]);
}

// out[a, :n] += sum_l u[a, l] x[l, :n], R rows of out at a time.
template <Index R, class T>
[[gnu::always_inline]] inline void combine_rows(const T* x, Index ldx, Index lines, const double* u, Index ldu, Index n,
                                                double* out, Index ldo) {
    Index e = 0;
    for (; e + 2 * width <= n; e += 2 * width) combine_tile<R, 2>(x + e, ldx, lines, u, ldu, out + e, ldo);
    for (; e + width <= n; e += width) combine_tile<R, 1>(x + e, ldx, lines, u, ldu, out + e, ldo);
    for (Index a = 0; a < R; ++a)
        for (Index l = 0; l < lines; ++l)
            for (Index rest = e; rest < n; ++rest)
                out[a * ldo + rest] += u[a * ldu + l] * static_cast<double>(x[l * ldx + rest]);
}

template <class T>
[[gnu::always_inline]] inline void combine_block_of(const T* x, Index ldx, Index lines, const double* u, Index ldu,
                                                    Index m, Index n, double* out, Index ldo) {
    Index a = 0;
    for (; a + 4 <= m; a += 4) combine_rows<4>(x, ldx, lines, u + a * ldu, ldu, n, out + a * ldo, ldo);
    for (; a < m; ++a) combine_rows<1>(x, ldx, lines, u + a * ldu, ldu, n, out + a * ldo, ldo);
}

PARING_CLONES void combine_block(const float* x, Index ldx, Index lines, const double* u, Index ldu, Index m, Index n,
                                 double* out, Index ldo) {
    combine_block_of(x, ldx, lines, u, ldu, m, n, out, ldo);
}
PARING_CLONES void combine_block(const double* x, Index ldx, Index lines, const double* u, Index ldu, Index m, Index n,
                                 double* out, Index ldo) {
    combine_block_of(x, ldx, lines, u, ldu, m, n, out, ldo);
}

constexpr Index longest = 1024;     // elements of a line at a time,
constexpr Index vectors = 64;       // and vectors: half a chunk of each stays in the second-level cache
constexpr Index group = 4;          // lines in registers
constexpr Index line_block = 64;    // lines that share a chunk of the vectors while it is in the cache
constexpr Index column_tile = 256;  // columns of a rank update: its lines stay in the second-level cache
constexpr Index row_chunk = 128;    // lines of a rank update at a time

// out[:, from:to] += u[:, first:last] x[first:last, from:to]. Lines outside, so that a mapped file is read once.
template <class T>
void combine_range(const Dense<T>& x, Index first, Index last, Index from, Index to, const double* u, Index ldu,
                   Index m, double* out, Index ldo, const StopToken& stop) {
    for (Index l = first; l < last; l += row_chunk)
        for (Index e = from; e < to; e += column_tile) {
            if (stop.requested()) return;
            combine_block(x.line(l) + e, x.line_stride, std::min(row_chunk, last - l), u + l, ldu, m,
                          std::min(column_tile, to - e), out + e, ldo);
        }
}

}  // namespace

template <class T>
void inner_products(const Dense<T>& x, const double* v, Index m, double* out, const Context& context) {
    std::fill(out, out + m * x.lines, 0.0);
    const double cost = static_cast<double>(x.lines) * static_cast<double>(x.length) * static_cast<double>(m);
    const Index groups = (x.lines + group - 1) / group;
    const Index chunk = m > vectors / 2 ? longest / 2 : longest;  // of a line at a time
    const int workers = workers_for(cost, context);
    run_workers(workers, cost, context, [&](int worker, const StopToken& stop) {
        const Index last = std::min(group * (groups * (worker + 1) / workers), x.lines);
        for (Index first = group * (groups * worker / workers); first < last; first += line_block)
            for (Index a = 0; a < m; a += vectors)
                for (Index e = 0; e < x.length; e += chunk) {
                    if (stop.requested()) return;
                    inner_block(x.line(first) + e, x.line_stride, std::min(line_block, last - first),
                                v + a * x.length + e, x.length, std::min(vectors, m - a), std::min(chunk, x.length - e),
                                out + a * x.lines + first, x.lines);
                }
    });
}

// Columns are shared out; where there are too few of them, lines, each worker summing in an array of its own.
template <class T>
void add_combinations(const Dense<T>& x, const double* u, Index ldu, Index m, double* out, Index ldo,
                      const Context& context) {
    const double cost = static_cast<double>(x.lines) * static_cast<double>(x.length) * static_cast<double>(m);
    const Index tiles = (x.length + column_tile - 1) / column_tile;
    const int workers = workers_for(cost, context);
    if (tiles >= workers) {
        run_workers(workers, cost, context, [&](int worker, const StopToken& stop) {
            const Index from = column_tile * (tiles * worker / workers);
            const Index to = std::min(column_tile * (tiles * (worker + 1) / workers), x.length);
            combine_range(x, 0, x.lines, from, to, u, ldu, m, out, ldo, stop);
        });
        return;
    }
    std::vector<double> sums(static_cast<std::size_t>(workers) * static_cast<std::size_t>(m * x.length));
    run_workers(workers, cost, context, [&](int worker, const StopToken& stop) {
        const Index first = x.lines * worker / workers, last = x.lines * (worker + 1) / workers;
        combine_range(x, first, last, 0, x.length, u, ldu, m, sums.data() + worker * m * x.length, x.length, stop);
    });
    for (Index worker = 0; worker < workers; ++worker)
        for (Index a = 0; a < m; ++a) axpy(1.0, sums.data() + (worker * m + a) * x.length, out + a * ldo, x.length);
}

template void inner_products(const Dense<float>&, const double*, Index, double*, const Context&);
template void inner_products(const Dense<double>&, const double*, Index, double*, const Context&);
template void add_combinations(const Dense<float>&, const double*, Index, Index, double*, Index, const Context&);
template void add_combinations(const Dense<double>&, const double*, Index, Index, double*, Index, const Context&);

}  // namespace paring
