#include "paring/blas.hpp"
#include "paring/block.hpp"
#include "paring/gather.hpp"
#include "paring/kernels.hpp"
#include "paring/products.hpp"

namespace paring {

namespace {

constexpr Index scaled_at_once = 1 << 20;  // numbers: the most that is held of a block times c

}  // namespace

DenseBlock::DenseBlock(const Rows& any, bool lines_are_columns, std::span<const Index> chosen, const double* v,
                       const Context& context)
    : Block(std::visit([&](const auto& rows) { return lines_are_columns ? rows.length : rows.lines; }, any),
            static_cast<Index>(chosen.size())),
      values_(static_cast<std::size_t>(n_ * k_)),
      shift_(chosen.size()) {
    copy_columns(any, lines_are_columns, chosen, values_.data(), context);
    double total = 0;
    if (v != nullptr)
        for (Index i = 0; i < n_; ++i) total += v[i];
    if (!(total > 0)) return;
    for_ranges(k_, 2.0 * static_cast<double>(n_), context, [&](Index begin, Index end, int) {
        for (Index j = begin; j < end; ++j) {
            double* out = values_.data() + j * n_;
            const double mean = dot(out, v, n_) / total;
            shift_[static_cast<std::size_t>(j)] = mean;
            for (Index i = 0; i < n_; ++i) out[i] -= mean;
        }
    });
}

void DenseBlock::scores(const double* w, double b, double* z, const Context& context) const {
    for_ranges(n_, static_cast<double>(k_), context, [&](Index begin, Index end, int) {
        std::fill(z + begin, z + end, b);
        for (Index j = 0; j < k_; ++j)
            if (w[j] != 0) axpy(w[j], column(j) + begin, z + begin, end - begin);
    });
}

void DenseBlock::add_scores(const double* w, Index count, double* z, const Context& context) const {
    add_combinations(Dense<double>{values_.data(), k_, n_, n_, 1}, w, k_, count, z, n_, context);
}

void DenseBlock::gradient(const double* r, double* g, const Context& context) const {
    for_ranges(k_, static_cast<double>(n_), context, [&](Index begin, Index end, int) {
        for (Index j = begin; j < end; ++j) g[j] = dot(column(j), r, n_);
    });
}

// products (k x columns of `others`, row-major) = this' diag(c) others, a few rows at a time: a copy of the whole
// block, times c, would double its memory.
std::vector<double> DenseBlock::products_with(const DenseBlock& others, const double* c, const Context& context) const {
    const auto size = static_cast<std::size_t>(k_ * others.k_);
    std::vector<double> products(size), part(size), scaled;
    const Index most = std::max<Index>(scaled_at_once / std::max<Index>(k_, 1), 1);
    for (Index begin = 0; begin < n_; begin += most) {
        const Index count = std::min(most, n_ - begin);
        scaled.resize(static_cast<std::size_t>(k_ * count));
        for (Index j = 0; j < k_; ++j) {
            const double* x = column(j) + begin;
            double* out = scaled.data() + j * count;
            for (Index i = 0; i < count; ++i) out[i] = x[i] * c[begin + i];
        }
        inner_products(Dense<double>{others.values_.data() + begin, others.k_, count, n_, 1}, scaled.data(), k_,
                       part.data(), context);
        axpy(1.0, part.data(), products.data(), k_ * others.k_);
    }
    return products;
}

void DenseBlock::hessian(const double* c, double* h, Index ld, double* first, const Context& context) const {
    gradient(c, first, context);
    const std::vector<double> gram = products_with(*this, c, context);
    for (Index j = 0; j < k_; ++j)
        for (Index i = j; i < k_; ++i) h[j * ld + i] = gram[static_cast<std::size_t>(j * k_ + i)];
}

void DenseBlock::add_column(Index j, double a, double* out) const { axpy(a, column(j), out, n_); }

double DenseBlock::dot_column(Index j, const double* r) const { return dot(column(j), r, n_); }

void DenseBlock::cross(const Block& any, const double* c, double* out, const Context& context) const {
    const auto& others = dynamic_cast<const DenseBlock&>(any);
    const std::vector<double> products = products_with(others, c, context);
    for (Index i = 0; i < others.k_; ++i)
        for (Index j = 0; j < k_; ++j) out[i * k_ + j] = products[static_cast<std::size_t>(j * others.k_ + i)];
}

}  // namespace paring
