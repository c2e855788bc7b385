#include "paring/passes.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "paring/kernels.hpp"

namespace paring {

namespace {

template <class View>
inline constexpr bool is_dense = std::is_same_v<View, Dense<float>> || std::is_same_v<View, Dense<double>>;

// f(element index, value) over one line.
template <class T, class F>
void for_line(const Dense<T>& rows, Index l, F&& f) {
    const T* x = rows.line(l);
    for (Index e = 0; e < rows.length; ++e) f(e, static_cast<double>(x[e * rows.step]));
}
template <class T, class I, class F>
void for_line(const Sparse<T, I>& rows, Index l, F&& f) {
    for (Index p = rows.begin(l); p < rows.end(l); ++p)
        f(static_cast<Index>(rows.indices[p]), static_cast<double>(rows.values[p]));
}

template <class View>
double line_dot(const View& rows, Index l, const double* v) {
    if constexpr (is_dense<View>) {
        if (rows.step == 1) return dot(rows.line(l), v, rows.length);
        double sum = 0;
        for_line(rows, l, [&](Index e, double x) { sum += x * v[e]; });
        return sum;
    } else {
        const Index at = rows.begin(l);
        return gather_dot(rows.values + at, rows.indices + at, rows.end(l) - at, v);
    }
}

// out (m) = sum_e x[l, e] v[e, :]
template <class View>
void line_dots(const View& rows, Index l, const double* v, Index m, double* out) {
    if (m == 1) {
        *out = line_dot(rows, l, v);
        return;
    }
    std::fill(out, out + m, 0.0);
    for_line(rows, l, [&](Index e, double x) { axpy(x, v + e * m, out, m); });
}

template <class View>
void line_axpy(const View& rows, Index l, double a, double* out) {
    if (a == 0) return;
    if constexpr (is_dense<View>) {
        if (rows.step == 1) return axpy(a, rows.line(l), out, rows.length);
        for_line(rows, l, [&](Index e, double x) { out[e] += a * x; });
    } else {
        const Index at = rows.begin(l);
        scatter_axpy(a, rows.values + at, rows.indices + at, rows.end(l) - at, out);
    }
}

template <class View>
Moments line_moments(const View& rows, Index l, const double* r, const double* c) {
    if constexpr (is_dense<View>) {
        if (rows.step == 1) return moments(rows.line(l), r, c, rows.length);
        Moments sum;
        for_line(rows, l, [&](Index e, double x) {
            sum.slope += r[e] * x;
            sum.first += c[e] * x;
            sum.second += c[e] * x * x;
        });
        return sum;
    } else {
        const Index at = rows.begin(l);
        return gather_moments(rows.values + at, rows.indices + at, rows.end(l) - at, r, c);
    }
}

template <class View>
void line_add_moments(const View& rows, Index l, double r, double c, double* slope, double* first, double* second) {
    if constexpr (is_dense<View>) {
        if (rows.step == 1) return add_moments(rows.line(l), r, c, slope, first, second, rows.length);
    }
    for_line(rows, l, [&](Index e, double x) {
        slope[e] += r * x;
        first[e] += c * x;
        second[e] += c * x * x;
    });
}

// Each worker sums into an array of its own; they are added in order of worker, so a number of threads fixes
// the bits. W workers take cost / W + size W: beyond sqrt(cost / size) of them, adding up costs more than sharing
// saves, and a wide X on many cores would fill the memory with sums.
template <class AddLine>
void sum_lines(Index lines, double cost, Index size, double* out, const Context& all, AddLine&& add_line) {
    const double total = static_cast<double>(lines) * cost;
    Context context = all;
    context.threads = static_cast<int>(std::clamp(std::sqrt(total / static_cast<double>(std::max<Index>(size, 1))), 1.0,
                                                  std::max(1.0, 1.0 * all.threads)));
    const int workers = workers_for(total, context);
    std::vector<double> sums(static_cast<std::size_t>(size) * static_cast<std::size_t>(workers - 1));
    std::fill(out, out + size, 0.0);
    for_ranges(lines, cost, context, [&](Index begin, Index end, int worker) {
        double* sum =
            worker == 0 ? out : sums.data() + static_cast<std::size_t>(size) * static_cast<std::size_t>(worker - 1);
        for (Index l = begin; l < end; ++l) add_line(l, sum);
    });
    for (int worker = 1; worker < workers; ++worker) {
        const double* sum = sums.data() + static_cast<std::size_t>(size) * static_cast<std::size_t>(worker - 1);
        for (Index e = 0; e < size; ++e) out[e] += sum[e];
    }
}

}  // namespace

void dots(const Rows& any, const double* v, Index m, double* out, const Context& context) {
    std::visit(
        [&](const auto& rows) {
            const double cost = rows.cost_per_line() * static_cast<double>(m);
            for_ranges(rows.lines, cost, context, [&](Index begin, Index end, int) {
                for (Index l = begin; l < end; ++l) line_dots(rows, l, v, m, out + l * m);
            });
        },
        any);
}

void dots_of(const Rows& any, std::span<const Index> lines, const double* v, Index m, double* out,
             const Context& context) {
    std::visit(
        [&](const auto& rows) {
            const double cost = rows.cost_per_line() * static_cast<double>(m);
            for_ranges(static_cast<Index>(lines.size()), cost, context, [&](Index begin, Index end, int) {
                for (Index p = begin; p < end; ++p)
                    line_dots(rows, lines[static_cast<std::size_t>(p)], v, m, out + p * m);
            });
        },
        any);
}

void combine(const Rows& any, const double* u, Index m, double* out, const Context& context) {
    std::visit(
        [&](const auto& rows) {
            const double cost = rows.cost_per_line() * static_cast<double>(m);
            sum_lines(rows.lines, cost, rows.length * m, out, context, [&](Index l, double* sum) {
                if (m == 1) return line_axpy(rows, l, u[l], sum);
                for_line(rows, l, [&](Index e, double x) { axpy(x, u + l * m, sum + e * m, m); });
            });
        },
        any);
}

void column_moments(const Rows& any, bool lines_are_columns, const double* r, const double* c, double* slope,
                    double* first, double* second, const Context& context) {
    std::visit(
        [&](const auto& rows) {
            const double cost = 2 * rows.cost_per_line();
            if (lines_are_columns) {
                for_ranges(rows.lines, cost, context, [&](Index begin, Index end, int) {
                    for (Index j = begin; j < end; ++j) {
                        const Moments sum = line_moments(rows, j, r, c);
                        slope[j] = sum.slope;
                        first[j] = sum.first;
                        second[j] = sum.second;
                    }
                });
                return;
            }
            const Index d = rows.length;
            std::vector<double> sums(static_cast<std::size_t>(3 * d));
            sum_lines(rows.lines, cost, 3 * d, sums.data(), context,
                      [&](Index i, double* sum) { line_add_moments(rows, i, r[i], c[i], sum, sum + d, sum + 2 * d); });
            std::copy_n(sums.data(), d, slope);
            std::copy_n(sums.data() + d, d, first);
            std::copy_n(sums.data() + 2 * d, d, second);
        },
        any);
}

}  // namespace paring
