#include <cmath>

#include "columns.hpp"
#include "paring/gather.hpp"
#include "paring/kernels.hpp"
#include "paring/products.hpp"

namespace paring {

DenseColumns::DenseColumns(Index n, const double* v) : Columns(n, v != nullptr) {
    if (v != nullptr) v_.assign(v, v + n);
    for (const double weight : v_) v_total_ += weight;
}

// Columns that lie in X as they are wanted are not copied.
bool DenseColumns::refer(const Rows& any, bool lines_are_columns, std::span<const Index> chosen) {
    const auto* x = std::get_if<Dense<double>>(&any);
    if (x == nullptr || !lines_are_columns || x->step != 1 || centred_) return false;
    for (const Index j : chosen) columns_.push_back(x->line(j));
    owned_.resize(columns_.size());
    return true;
}

void DenseColumns::append(const Rows& x, bool lines_are_columns, std::span<const Index> chosen,
                          const Context& context) {
    const Index first = slots(), count = static_cast<Index>(chosen.size());
    if (!refer(x, lines_are_columns, chosen)) {
        const std::shared_ptr<double[]> memory(new double[static_cast<std::size_t>(count * n_)]);  // not set to 0
        copy_columns(x, lines_are_columns, chosen, memory.get(), context);
        for (Index c = 0; c < count; ++c) columns_.push_back(memory.get() + c * n_);
        owned_.resize(columns_.size(), memory);
        if (centred_) centre(memory.get(), count, context);
    }
    curvature_.resize(static_cast<std::size_t>(first + count));
    mean_.resize(curvature_.size());
    shift_.resize(curvature_.size());
    scaled_.resize(curvature_.size());
}

void DenseColumns::centre(double* columns, Index count, const Context& context) {
    const std::size_t first = shift_.size();
    shift_.resize(first + static_cast<std::size_t>(count));
    for_ranges(count, 2.0 * static_cast<double>(n_), context, [&](Index begin, Index end, int) {
        for (Index c = begin; c < end; ++c) {
            double* out = columns + c * n_;
            const double mean = paring::dot(out, v_.data(), n_) / v_total_;
            shift_[first + static_cast<std::size_t>(c)] = mean;
            for (Index i = 0; i < n_; ++i) out[i] -= mean;
        }
    });
}

void DenseColumns::keep(std::span<const Index> slots) {
    std::vector<const double*> columns;
    std::vector<std::shared_ptr<double[]>> owned;
    std::vector<std::unique_ptr<double[]>> scaled;
    std::vector<double> shift, curvature, mean;
    for (const Index slot : slots) {
        const auto s = static_cast<std::size_t>(slot);
        columns.push_back(columns_[s]);
        owned.push_back(owned_[s]);
        scaled.push_back(std::move(scaled_[s]));
        shift.push_back(shift_[s]);
        curvature.push_back(curvature_[s]);
        mean.push_back(mean_[s]);
    }
    columns_.swap(columns);
    owned_.swap(owned);
    scaled_.swap(scaled);
    shift_.swap(shift);
    curvature_.swap(curvature);
    mean_.swap(mean);
}

void DenseColumns::product(const double* x, const double* r, Index outputs, double* out) const {
    if (outputs == 1) {
        *out = paring::dot(x, r, n_);
        return;
    }
    std::fill(out, out + outputs, 0.0);
    for (Index i = 0; i < n_; ++i) axpy(x[i], r + i * outputs, out, outputs);
}

void DenseColumns::combine(const double* x, const double* a, Index outputs, double* z) const {
    if (outputs == 1) return axpy(*a, x, z, n_);
    for (Index i = 0; i < n_; ++i) axpy(x[i], a, z + i * outputs, outputs);
}

// Where there are no weights and the columns are centred already, the scaled form is the plain one.
void DenseColumns::scale(const double* kappa, std::span<const Index> slots, const Context& context) {
    std::vector<double> root;
    total_ = static_cast<double>(n_);
    if (kappa != nullptr) {
        root.resize(static_cast<std::size_t>(n_));
        total_ = 0;
        for (Index i = 0; i < n_; ++i) root[static_cast<std::size_t>(i)] = std::sqrt(kappa[i]), total_ += kappa[i];
    }
    for_ranges(static_cast<Index>(slots.size()), 3.0 * static_cast<double>(n_), context,
               [&](Index begin, Index end, int) {
                   for (Index p = begin; p < end; ++p)
                       scale_one(slots[static_cast<std::size_t>(p)], kappa, root.data());
               });
}

void DenseColumns::scale_one(Index s, const double* kappa, const double* root) {
    const double* x = column(s);
    const auto slot = static_cast<std::size_t>(s);
    if (kappa == nullptr) {
        curvature_[slot] = paring::dot(x, x, n_);
        return;
    }
    if (scaled_[slot] == nullptr) scaled_[slot].reset(new double[static_cast<std::size_t>(n_)]);
    double* out = scaled_[slot].get();
    const double mean = centred_ && total_ > 0 ? paring::dot(x, kappa, n_) / total_ : 0.0;
    for (Index i = 0; i < n_; ++i) out[i] = root[i] * (x[i] - mean);
    mean_[slot] = mean;
    curvature_[slot] = paring::dot(out, out, n_);
}

double DenseColumns::square(const double* u, Index outputs) const { return paring::dot(u, u, n_ * outputs); }

void DenseColumns::gram(std::span<const Index> all, Index first, double* out, Index ld, const Context& context) const {
    std::vector<const double*> lines;
    lines.reserve(all.size());
    for (const Index s : all) lines.push_back(scaled_column(s));
    lower_products(lines, first, n_, out, ld, context);
}

double DenseColumns::gram_cost(double all, double fresh, double) const {
    constexpr double multiply_add = 0.05;
    return multiply_add * static_cast<double>(n_) * fresh * (all - fresh / 2);
}

std::unique_ptr<Columns> make_columns(bool dense, Index n, const double* v) {
    if (dense) return std::make_unique<DenseColumns>(n, v);
    return std::make_unique<SparseColumns>(n, v != nullptr);
}

}  // namespace paring
