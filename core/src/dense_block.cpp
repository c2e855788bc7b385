#include "paring/blas.hpp"
#include "paring/block.hpp"
#include "paring/kernels.hpp"
#include "paring/products.hpp"

namespace paring {

namespace {

template <class View>
void copy_column(const View& rows, bool lines_are_columns, Index j, double* out) {
    if constexpr (requires { rows.line_stride; }) {
        const Index n = lines_are_columns ? rows.length : rows.lines;
        const Index stride = lines_are_columns ? rows.step : rows.line_stride;
        const auto* x = rows.data + j * (lines_are_columns ? rows.line_stride : rows.step);
        for (Index i = 0; i < n; ++i) out[i] = static_cast<double>(x[i * stride]);
    }
}

}  // namespace

DenseBlock::DenseBlock(const Rows& any, bool lines_are_columns, std::span<const Index> chosen, const double* v)
    : Block(std::visit([&](const auto& rows) { return lines_are_columns ? rows.length : rows.lines; }, any),
            static_cast<Index>(chosen.size())),
      values_(static_cast<std::size_t>(n_ * k_)),
      shift_(chosen.size()) {
    double total = 0;
    if (v != nullptr)
        for (Index i = 0; i < n_; ++i) total += v[i];
    for (Index j = 0; j < k_; ++j) {
        double* out = values_.data() + j * n_;
        std::visit(
            [&](const auto& rows) { copy_column(rows, lines_are_columns, chosen[static_cast<std::size_t>(j)], out); },
            any);
        if (v == nullptr) continue;
        const double mean = dot(out, v, n_) / total;
        shift_[static_cast<std::size_t>(j)] = mean;
        for (Index i = 0; i < n_; ++i) out[i] -= mean;
    }
}

void DenseBlock::scores(const double* w, double b, double* z, const Context& context) const {
    for_ranges(n_, static_cast<double>(k_), context, [&](Index begin, Index end, int) {
        std::fill(z + begin, z + end, b);
        for (Index j = 0; j < k_; ++j)
            if (w[j] != 0) axpy(w[j], column(j) + begin, z + begin, end - begin);
    });
}

void DenseBlock::gradient(const double* r, double* g, const Context& context) const {
    for_ranges(k_, static_cast<double>(n_), context, [&](Index begin, Index end, int) {
        for (Index j = begin; j < end; ++j) g[j] = dot(column(j), r, n_);
    });
}

// Each column times c, contiguous as the columns are.
std::vector<double> DenseBlock::weighted(const double* c) const {
    std::vector<double> out(values_.size());
    for (Index j = 0; j < k_; ++j) {
        const double* x = column(j);
        double* scaled = out.data() + j * n_;
        for (Index i = 0; i < n_; ++i) scaled[i] = x[i] * c[i];
    }
    return out;
}

void DenseBlock::hessian(const double* c, double* h, Index ld, double* first, const Context& context) const {
    gradient(c, first, context);
    const std::vector<double> scaled = weighted(c);
    std::vector<double> gram(static_cast<std::size_t>(k_ * k_));
    inner_products(Dense<double>{values_.data(), k_, n_, n_, 1}, scaled.data(), k_, gram.data(), context);
    for (Index j = 0; j < k_; ++j)
        for (Index i = j; i < k_; ++i) h[j * ld + i] = gram[static_cast<std::size_t>(j * k_ + i)];
}

void DenseBlock::add_column(Index j, double a, double* out) const { axpy(a, column(j), out, n_); }

double DenseBlock::dot_column(Index j, const double* r) const { return dot(column(j), r, n_); }

void DenseBlock::cross(const Block& any, const double* c, double* out, const Context& context) const {
    const auto& others = dynamic_cast<const DenseBlock&>(any);
    const std::vector<double> scaled = weighted(c);
    inner_products(Dense<double>{scaled.data(), k_, n_, n_, 1}, others.values_.data(), others.k_, out, context);
}

}  // namespace paring
