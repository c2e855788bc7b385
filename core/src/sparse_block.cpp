#include <stdexcept>

#include "paring/block.hpp"

namespace paring {

namespace {

constexpr Index lanes = 8;            // vectors of weights at a time:
constexpr double vector_lanes = 2.0;  // that costs so many times one

// out (rows x lanes) = rows of X times the weights of `lanes` vectors, side by side for each column.
PARING_CLONES void row_products(const BlockEntry* entries, const Index* starts, Index rows, const double* beside,
                                double* out) {
    for (Index i = 0; i < rows; ++i) {
        double sums[lanes] = {};
        for (Index p = starts[i]; p < starts[i + 1]; ++p) {
            const double* w = beside + entries[p].at * lanes;
            for (Index lane = 0; lane < lanes; ++lane) sums[lane] += entries[p].value * w[lane];
        }
        for (Index lane = 0; lane < lanes; ++lane) out[i * lanes + lane] = sums[lane];
    }
}

}  // namespace

void Block::gram_row(Index j, const double* c, double* out, const Context& context) const {
    std::vector<double> column(static_cast<std::size_t>(n_));
    add_column(j, 1.0, column.data());
    for (Index i = 0; i < n_; ++i) column[static_cast<std::size_t>(i)] *= c[i];
    gradient(column.data(), out, context);
}

SparseBlock::SparseBlock(const Rows& any, std::span<const Index> chosen, bool by_rows)
    : Block(std::visit([](const auto& rows) { return rows.length; }, any), static_cast<Index>(chosen.size())) {
    std::visit(
        [&](const auto& columns) {
            if constexpr (requires { columns.indices; }) {
                columns_.starts.reserve(chosen.size() + 1);
                columns_.starts.push_back(0);
                for (const Index j : chosen)
                    columns_.starts.push_back(columns_.starts.back() + columns.end(j) - columns.begin(j));
                columns_.entries.reserve(static_cast<std::size_t>(columns_.starts.back()));
                for (const Index j : chosen)
                    for (Index p = columns.begin(j); p < columns.end(j); ++p)
                        columns_.entries.push_back(
                            {static_cast<double>(columns.values[p]), static_cast<Index>(columns.indices[p])});
            }
        },
        any);
    if (by_rows) rows_ = transposed(columns_, n_);
}

SparseBlock::Lines SparseBlock::transposed(const Lines& lines, Index length) {
    Lines out;
    out.starts.assign(static_cast<std::size_t>(length) + 1, 0);
    for (const BlockEntry& entry : lines.entries) ++out.starts[static_cast<std::size_t>(entry.at) + 1];
    for (std::size_t l = 1; l < out.starts.size(); ++l) out.starts[l] += out.starts[l - 1];
    out.entries.resize(lines.entries.size());
    std::vector<Index> next(out.starts.begin(), out.starts.end() - 1);
    const auto count = static_cast<Index>(lines.starts.size()) - 1;
    for (Index j = 0; j < count; ++j)
        for (const BlockEntry& entry : lines[j])
            out.entries[static_cast<std::size_t>(next[static_cast<std::size_t>(entry.at)]++)] = {entry.value, j};
    return out;
}

double SparseBlock::cost_per_row() const {
    if (rows_.starts.empty()) throw std::logic_error("a block taken without its rows (by_rows=False)");
    return 1 + static_cast<double>(rows_.entries.size()) / static_cast<double>(std::max<Index>(n_, 1));
}

void SparseBlock::scores(const double* w, double b, double* z, const Context& context) const {
    for_ranges(n_, cost_per_row(), context, [&](Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) {
            double sum = b;
            for (const BlockEntry& entry : rows_[i]) sum += entry.value * w[entry.at];
            z[i] = sum;
        }
    });
}

void SparseBlock::add_scores(const double* w, Index count, double* z, const Context& context) const {
    for (Index first = 0; first < count; first += lanes) {
        const Index some = std::min(lanes, count - first);
        std::vector<double> beside(static_cast<std::size_t>(k_ * lanes));
        for (Index a = 0; a < some; ++a)
            for (Index j = 0; j < k_; ++j) beside[static_cast<std::size_t>(j * lanes + a)] = w[(first + a) * k_ + j];
        for_ranges(n_, vector_lanes * cost_per_row(), context, [&](Index begin, Index end, int) {
            std::vector<double> sums(static_cast<std::size_t>((end - begin) * lanes));
            row_products(rows_.entries.data(), rows_.starts.data() + begin, end - begin, beside.data(), sums.data());
            for (Index a = 0; a < some; ++a)
                for (Index i = begin; i < end; ++i)
                    z[(first + a) * n_ + i] += sums[static_cast<std::size_t>((i - begin) * lanes + a)];
        });
    }
}

void SparseBlock::gradient(const double* r, double* g, const Context& context) const {
    const double cost = static_cast<double>(columns_.entries.size()) / static_cast<double>(std::max<Index>(k_, 1));
    for_ranges(k_, cost, context, [&](Index begin, Index end, int) {
        for (Index j = begin; j < end; ++j) g[j] = dot_column(j, r);
    });
}

void SparseBlock::hessian(const double* c, double* h, Index ld, double* first, const Context& context) const {
    gradient(c, first, context);
    const double cost = cost_per_row() * cost_per_row();
    const int workers = workers_for(static_cast<double>(n_) * cost, context);
    const auto size = static_cast<std::size_t>(ld * k_);
    std::vector<double> sums(size * static_cast<std::size_t>(workers - 1));
    for (Index j = 0; j < k_; ++j) std::fill(h + j * ld, h + j * ld + k_, 0.0);
    for_ranges(n_, cost, context, [&](Index begin, Index end, int worker) {
        double* sum = worker == 0 ? h : sums.data() + size * static_cast<std::size_t>(worker - 1);
        for (Index i = begin; i < end; ++i) {
            const auto row = rows_[i];
            for (std::size_t p = 0; p < row.size(); ++p) {
                const double scaled = c[i] * row[p].value;
                double* column = sum + row[p].at * ld;
                for (std::size_t q = p; q < row.size(); ++q) column[row[q].at] += scaled * row[q].value;
            }
        }
    });
    for (int worker = 1; worker < workers; ++worker) {
        const double* sum = sums.data() + size * static_cast<std::size_t>(worker - 1);
        for (Index j = 0; j < k_; ++j)
            for (Index i = j; i < k_; ++i) h[j * ld + i] += sum[j * ld + i];
    }
}

void SparseBlock::add_column(Index j, double a, double* out) const {
    for (const BlockEntry& entry : columns_[j]) out[entry.at] += a * entry.value;
}

double SparseBlock::dot_column(Index j, const double* r) const {
    double even = 0, odd = 0;
    const auto column = columns_[j];
    std::size_t p = 0;
    for (; p + 2 <= column.size(); p += 2) {
        even += column[p].value * r[column[p].at];
        odd += column[p + 1].value * r[column[p + 1].at];
    }
    if (p < column.size()) even += column[p].value * r[column[p].at];
    return even + odd;
}

void SparseBlock::cross(const Block& any, const double* c, double* out, const Context& context) const {
    const auto& others = dynamic_cast<const SparseBlock&>(any);
    const double per_column =
        static_cast<double>(others.columns_.entries.size()) / static_cast<double>(std::max<Index>(others.k_, 1));
    for_ranges(others.k_, per_column * cost_per_row() + static_cast<double>(k_), context,
               [&](Index begin, Index end, int) {
                   for (Index i = begin; i < end; ++i) {
                       double* sum = out + i * k_;
                       std::fill(sum, sum + k_, 0.0);
                       for (const BlockEntry& entry : others.columns_[i]) {
                           const double scaled = c[entry.at] * entry.value;
                           for (const BlockEntry& own : rows_[entry.at]) sum[own.at] += scaled * own.value;
                       }
                   }
               });
}

void SparseBlock::cross_all(const Rows& any, const double* c, double* out, const Context& context) const {
    std::visit(
        [&](const auto& columns) {
            if constexpr (requires { columns.indices; }) {
                const double cost = columns.cost_per_line() * cost_per_row() + static_cast<double>(k_);
                for_ranges(columns.lines, cost, context, [&](Index begin, Index end, int) {
                    for (Index j = begin; j < end; ++j) {
                        double* sum = out + j * k_;
                        std::fill(sum, sum + k_, 0.0);
                        for (Index p = columns.begin(j); p < columns.end(j); ++p) {
                            const auto i = static_cast<Index>(columns.indices[p]);
                            const double scaled = c[i] * static_cast<double>(columns.values[p]);
                            for (const BlockEntry& own : rows_[i]) sum[own.at] += scaled * own.value;
                        }
                    }
                });
            }
        },
        any);
}

}  // namespace paring
