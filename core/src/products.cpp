// Both products are one: out[r, :] += sum_l u[r, l] x[l, :], columns in groups of eight, a tile of out in registers.
// For weighted sums of lines x is the lines. For inner products x is the vectors, copied so that those of a group lie
// side by side, u the lines where they are, and out is turned at the end.
#include "paring/products.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "paring/kernels.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // the wide vectors below never cross a call that is not inlined

namespace paring {

namespace {

constexpr Index lanes = 8;  // columns of a group
using Wide = double __attribute__((vector_size(lanes * sizeof(double))));
using WideFloat = float __attribute__((vector_size(lanes * sizeof(float))));

// Columns in groups: those of line l and group g begin at data + l line + g group.
template <class T>
struct Grouped {
    T* data;
    Index line, group;
    Grouped from(Index l, Index g) const { return {data + l * line + g * group, line, group}; }
};

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

// R rows of out and H groups. `last`: columns of the last group; what lies beyond in out is not touched. The next
// `Ahead` groups are asked for meanwhile: lines lie far apart, and nothing else would foresee them.
template <Index R, Index H, Index Ahead, class X, class U>
[[gnu::always_inline]] inline void tile(const Grouped<const X>& x, Index lines, const U* u, Index ldu,
                                        const Grouped<double>& out, Index last) {
    Wide sums[R][H] = {};
    for (Index l = 0; l < lines; ++l) {
        Wide line[H];
#pragma GCC unroll 8
        for (Index h = 0; h < H; ++h) line[h] = load(x.data + l * x.line + h * x.group);
#pragma GCC unroll 8
        for (Index h = 0; h < Ahead; ++h) __builtin_prefetch(x.data + l * x.line + (H + h) * x.group);
#pragma GCC unroll 8
        for (Index r = 0; r < R; ++r) {
            const auto factor = static_cast<double>(u[r * ldu + l]);
#pragma GCC unroll 8
            for (Index h = 0; h < H; ++h) sums[r][h] += factor * line[h];
        }
    }
#pragma GCC unroll 8
    for (Index r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (Index h = 0; h < H; ++h) {
            double* to = out.data + r * out.line + h * out.group;
            const Wide sum = sums[r][h];
            if (h + 1 < H || last == lanes) {
                const Wide total = load(to) + sum;
                std::memcpy(to, &total, sizeof total);
            } else {
                for (Index lane = 0; lane < last; ++lane) to[lane] += sum[lane];
            }
        }
}

// Rows of out R at a time, then half as many, down to one.
template <Index R, Index H, Index Ahead, class X, class U>
[[gnu::always_inline]] inline void rows_of(const Grouped<const X>& x, Index lines, const U* u, Index ldu, Index rows,
                                           const Grouped<double>& out, Index last) {
    if (rows >= R) {
        tile<R, H, Ahead>(x, lines, u, ldu, out, last);
        for (Index r = R; r + R <= rows; r += R) tile<R, H, 0>(x, lines, u + r * ldu, ldu, out.from(r, 0), last);
    }
    if constexpr (R > 1) {
        const Index r = rows / R * R;
        if (r == 0) return rows_of<R / 2, H, Ahead>(x, lines, u, ldu, rows, out, last);
        if (r < rows) rows_of<R / 2, H, 0>(x, lines, u + r * ldu, ldu, rows - r, out.from(r, 0), last);
    }
}

// Groups H at a time, then one fewer.
template <Index R, Index H, class X, class U>
[[gnu::always_inline]] inline void groups_of_rows(const Grouped<const X>& x, Index lines, const U* u, Index ldu,
                                                  Index rows, const Grouped<double>& out, Index groups, Index last) {
    Index g = 0;
    for (; g + H <= groups; g += H)
        rows_of<R, H, H>(x.from(0, g), lines, u, ldu, rows, out.from(0, g), g + H == groups ? last : lanes);
    if constexpr (H > 1)
        if (g < groups) groups_of_rows<R, H - 1>(x.from(0, g), lines, u, ldu, rows, out.from(0, g), groups - g, last);
}

// Tiles as large as the registers allow: 32 of eight numbers, 16 of four, 16 of two.
#define PARING_MULTIPLY(target, X, U, R, H)                                                         \
    target void multiply(const Grouped<const X>& x, Index lines, const U* u, Index ldu, Index rows, \
                         const Grouped<double>& out, Index groups, Index last) {                    \
        groups_of_rows<R, H>(x, lines, u, ldu, rows, out, groups, last);                            \
    }
#if defined(PARING_NO_CLONES) || !defined(__x86_64__) || !defined(__gnu_linux__)
#define PARING_MULTIPLIES(X, U) PARING_MULTIPLY(, X, U, 2, 1)
#else
#define PARING_MULTIPLIES(X, U)                                    \
    PARING_MULTIPLY([[gnu::target("arch=x86-64-v4")]], X, U, 8, 3) \
    PARING_MULTIPLY([[gnu::target("arch=x86-64-v3")]], X, U, 4, 1) \
    PARING_MULTIPLY([[gnu::target("default")]], X, U, 2, 1)
#endif
PARING_MULTIPLIES(double, float)
PARING_MULTIPLIES(double, double)
PARING_MULTIPLIES(float, double)
#undef PARING_MULTIPLIES
#undef PARING_MULTIPLY

constexpr Index longest = 512;      // elements of a line at a time: they wait in the second-level cache,
constexpr Index line_block = 128;   // with so many lines, for all groups of vectors
constexpr Index column_tile = 256;  // columns of a weighted sum of lines,
constexpr Index row_chunk = 128;    // and so many lines at a time

// In the multiply-adds of `workers_for`, which are of scattered numbers: those of a tile take an eighth of their time.
double cost_of(Index lines, Index length, Index m) {
    return 0.125 * static_cast<double>(lines) * static_cast<double>(length) * static_cast<double>(m);
}

Index groups_of(Index columns) { return (columns + lanes - 1) / lanes; }

std::vector<double> room(Index numbers) { return std::vector<double>(static_cast<std::size_t>(numbers)); }

// Vectors (rows of v, n long) in groups, element by element.
std::vector<double> turned(const double* v, Index m, Index n, const Context& context) {
    std::vector<double> out = room(groups_of(m) * lanes * n);
    for_ranges(n, 0.5 * static_cast<double>(m), context, [&](Index begin, Index end, int) {
        for (Index g = 0; g < groups_of(m); ++g) {
            const Index count = std::min(lanes, m - g * lanes);
            double* to = out.data() + g * lanes * n;
            for (Index e = begin; e < end; ++e)
                for (Index lane = 0; lane < count; ++lane) to[e * lanes + lane] = v[(g * lanes + lane) * n + e];
        }
    });
    return out;
}

// out[:, from:to] += u[:, first:last] x[first:last, from:to]. Lines outside, so that a mapped file is read once.
template <class T>
void combine_range(const Dense<T>& x, Index first, Index last, Index from, Index to, const double* u, Index ldu,
                   Index m, double* out, Index ldo, const StopToken& stop) {
    const Index whole = from + (to - from) / lanes * lanes, rest = to - whole;
    std::vector<T> copy(static_cast<std::size_t>(rest > 0 ? row_chunk * lanes : 0));
    for (Index l = first; l < last; l += row_chunk) {
        const Index lines = std::min(row_chunk, last - l);
        for (Index e = from; e < whole; e += column_tile) {
            if (stop.requested()) return;
            multiply(Grouped<const T>{x.line(l) + e, x.line_stride, lanes}, lines, u + l, ldu, m, {out + e, ldo, lanes},
                     std::min(column_tile, whole - e) / lanes, lanes);
        }
        if (rest == 0) continue;
        for (Index i = 0; i < lines; ++i) std::copy_n(x.line(l + i) + whole, rest, copy.data() + i * lanes);
        multiply(Grouped<const T>{copy.data(), lanes, 0}, lines, u + l, ldu, m, {out + whole, ldo, 0}, 1, rest);
    }
}

}  // namespace

template <class T>
void inner_products(const Dense<T>& x, const double* v, Index m, double* out, const Context& context) {
    const double cost = cost_of(x.lines, x.length, m);
    const std::vector<double> vectors = turned(v, m, x.length, context);
    const Index groups = groups_of(m), blocks = (x.lines + line_block - 1) / line_block;
    const int workers = workers_for(cost, context);
    run_workers(workers, cost, context, [&](int worker, const StopToken& stop) {
        std::vector<double> sums;
        const Index end = std::min(line_block * (blocks * (worker + 1) / workers), x.lines);
        for (Index first = line_block * (blocks * worker / workers); first < end; first += line_block) {
            const Index lines = std::min(line_block, end - first);
            sums.assign(static_cast<std::size_t>(groups * lines * lanes), 0.0);
            for (Index e = 0; e < x.length; e += longest) {
                if (stop.requested()) return;
                multiply(Grouped<const double>{vectors.data() + e * lanes, lanes, x.length * lanes},
                         std::min(longest, x.length - e), x.line(first) + e, x.line_stride, lines,
                         {sums.data(), lanes, lines * lanes}, groups, lanes);
            }
            for (Index a = 0; a < m; ++a)
                for (Index l = 0; l < lines; ++l)
                    out[a * x.lines + first + l] =
                        sums[static_cast<std::size_t>(((a / lanes) * lines + l) * lanes + a % lanes)];
        }
    });
}

// Columns are shared out; where there are too few of them, lines, each worker summing in an array of its own.
template <class T>
void add_combinations(const Dense<T>& x, const double* u, Index ldu, Index m, double* out, Index ldo,
                      const Context& context) {
    const double cost = cost_of(x.lines, x.length, m);
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
