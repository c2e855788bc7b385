#include "paring/gather.hpp"

namespace paring {

namespace {

constexpr Index few_rows = 256;  // rows copied at a time: a page of row-major X is used whole while it is at hand
constexpr double misses = 8;     // a copied number costs about as much as so many multiply-adds

template <class View>
void copy_rows(const View& rows, bool lines_are_columns, std::span<const Index> chosen, Index n, Index begin, Index end,
               double* out) {
    const Index down = lines_are_columns ? rows.step : rows.line_stride;
    const Index across = lines_are_columns ? rows.line_stride : rows.step;
    for (Index from = begin; from < end; from += few_rows) {
        const Index to = std::min(from + few_rows, end);
        for (std::size_t j = 0; j < chosen.size(); ++j) {
            const auto* x = rows.data + chosen[j] * across;
            double* column = out + static_cast<Index>(j) * n;
            for (Index i = from; i < to; ++i) column[i] = static_cast<double>(x[i * down]);
        }
    }
}

}  // namespace

void copy_columns(const Rows& any, bool lines_are_columns, std::span<const Index> chosen, double* out,
                  const Context& context) {
    std::visit(
        [&](const auto& rows) {
            if constexpr (requires { rows.line_stride; }) {
                const Index n = lines_are_columns ? rows.length : rows.lines;
                for_ranges(n, misses * static_cast<double>(chosen.size()), context, [&](Index begin, Index end, int) {
                    copy_rows(rows, lines_are_columns, chosen, n, begin, end, out);
                });
            }
        },
        any);
}

}  // namespace paring
