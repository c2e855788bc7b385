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

void DenseColumns::append(const Rows& x, bool lines_are_columns, std::span<const Index> chosen,
                          const Context& context) {
    const Index first = slots(), count = static_cast<Index>(chosen.size());
    values_.resize(static_cast<std::size_t>((first + count) * n_));
    copy_columns(x, lines_are_columns, chosen, values_.data() + first * n_, context);
    curvature_.resize(static_cast<std::size_t>(first + count));
    mean_.resize(curvature_.size());
    shift_.resize(curvature_.size());
    if (!centred_) return;
    for_ranges(count, 2.0 * static_cast<double>(n_), context, [&](Index begin, Index end, int) {
        for (Index s = first + begin; s < first + end; ++s) {
            double* out = values_.data() + s * n_;
            const double mean = paring::dot(out, v_.data(), n_) / v_total_;
            shift_[static_cast<std::size_t>(s)] = mean;
            for (Index i = 0; i < n_; ++i) out[i] -= mean;
        }
    });
}

void DenseColumns::keep(std::span<const Index> slots) {
    std::vector<double> values(slots.size() * static_cast<std::size_t>(n_)), scaled;
    std::vector<double> shift, curvature, mean;
    if (!scaled_.empty()) scaled.resize(values.size());
    double *to = values.data(), *to_scaled = scaled.data();
    for (const Index s : slots) {
        to = std::copy_n(column(s), n_, to);
        if (!scaled_.empty()) to_scaled = std::copy_n(scaled_column(s), n_, to_scaled);
        shift.push_back(shift_[static_cast<std::size_t>(s)]);
        curvature.push_back(curvature_[static_cast<std::size_t>(s)]);
        mean.push_back(mean_[static_cast<std::size_t>(s)]);
    }
    values_.swap(values);
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
        scaled_.resize(values_.size());
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
    double* out = scaled_.data() + s * n_;
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
