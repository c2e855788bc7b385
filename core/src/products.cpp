#include "paring/products.hpp"

#include <algorithm>
#include <cstring>

#pragma GCC diagnostic ignored "-Wpsabi"  // the wide vectors below never cross a call that is not inlined

namespace paring {

namespace {

constexpr Index width = 8;
using Wide = double __attribute__((vector_size(width * sizeof(double))));
using WideFloat = float __attribute__((vector_size(width * sizeof(float))));

[[gnu::always_inline]] inline Wide load(const double* x) {
    Wide out;
    std::memcpy(&out, x, sizeof out);
    return out;
}
[[gnu::always_inline]] inline Wide load(const float* x) {
    WideFloat narrow;
    std::memcpy(&narrow, x, sizeof narrow);
    return __builtin_convertvector(narrow, Wide);
}
[[gnu::always_inline]] inline void store(double* x, const Wide& wide) { std::memcpy(x, &wide, sizeof wide); }
[[gnu::always_inline]] inline double sum(const Wide& x) {
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
}

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
            for (Index rest = e; rest < n; ++rest)
                total += static_cast<double>(x[l * ldx + rest]) * v[a * ldv + rest];
            out[a * ldo + l] += total;
        }
}

template <class T>
[[gnu::always_inline]] inline void inner_block_of(const T* x, Index ldx, Index lines, const double* v, Index ldv, Index m,
                                                  Index n, double* out, Index ldo) {
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

// out[a, :n] += sum_l u[a, l] x[l, :n], R rows of out and two registers of columns at a time.
template <Index R, class T>
[[gnu::always_inline]] inline void combine_rows(const T* x, Index ldx, Index lines, const double* u, Index ldu, Index n,
                                                double* out, Index ldo) {
    Index e = 0;
    for (; e + 2 * width <= n; e += 2 * width) {
        Wide sums[R][2];
        for (Index a = 0; a < R; ++a)
            for (Index h = 0; h < 2; ++h) sums[a][h] = load(out + a * ldo + e + h * width);
        for (Index l = 0; l < lines; ++l) {
            const Wide first = load(x + l * ldx + e), second = load(x + l * ldx + e + width);
            for (Index a = 0; a < R; ++a) {
                const double weight = u[a * ldu + l];
                sums[a][0] += weight * first;
                sums[a][1] += weight * second;
            }
        }
        for (Index a = 0; a < R; ++a)
            for (Index h = 0; h < 2; ++h) store(out + a * ldo + e + h * width, sums[a][h]);
    }
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

constexpr Index chunk = 1024;       // elements of a line at a time: 4 lines and the vectors stay in the near cache
constexpr Index line_block = 64;    // lines between two looks at the clock
constexpr Index column_tile = 256;  // columns of a rank update: its lines stay in the second-level cache
constexpr Index row_chunk = 128;    // lines of a rank update at a time

}  // namespace

template <class T>
void inner_products(const Dense<T>& x, const double* v, Index m, double* out, const Context& context) {
    std::fill(out, out + m * x.lines, 0.0);
    const Index blocks = (x.lines + line_block - 1) / line_block;
    const double cost = static_cast<double>(line_block * x.length * m);
    for_ranges(blocks, cost, context, [&](Index begin, Index end, int) {
        for (Index block = begin; block < end; ++block) {
            const Index first = block * line_block, lines = std::min(line_block, x.lines - first);
            for (Index l = 0; l < lines; l += 4) {
                const Index some = std::min<Index>(4, lines - l);
                for (Index e = 0; e < x.length; e += chunk)
                    inner_block(x.line(first + l) + e, x.line_stride, some, v + e, x.length, m,
                                std::min(chunk, x.length - e), out + first + l, x.lines);
            }
        }
    });
}

template <class T>
void add_combinations(const Dense<T>& x, const double* u, Index ldu, Index m, double* out, Index ldo,
                      const Context& context) {
    const Index tiles = (x.length + column_tile - 1) / column_tile;
    const double cost = static_cast<double>(column_tile * x.lines * m);
    for_ranges(tiles, cost, context, [&](Index begin, Index end, int) {
        const Index from = begin * column_tile, to = std::min(end * column_tile, x.length);
        for (Index l = 0; l < x.lines; l += row_chunk)
            for (Index e = from; e < to; e += column_tile)
                combine_block(x.line(l) + e, x.line_stride, std::min(row_chunk, x.lines - l), u + l, ldu, m,
                              std::min(column_tile, to - e), out + e, ldo);
    });
}

template void inner_products(const Dense<float>&, const double*, Index, double*, const Context&);
template void inner_products(const Dense<double>&, const double*, Index, double*, const Context&);
template void add_combinations(const Dense<float>&, const double*, Index, Index, double*, Index, const Context&);
template void add_combinations(const Dense<double>&, const double*, Index, Index, double*, Index, const Context&);

}  // namespace paring
