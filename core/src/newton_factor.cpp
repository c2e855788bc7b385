// The Hessian on a block and its factor.
#include <algorithm>
#include <cmath>

#include "minimiser.hpp"
#include "paring/blas.hpp"
#include "paring/kernels.hpp"

namespace paring {

namespace {

constexpr double rounding_of_mean = 1e-13;  // what subtracting a column's mean leaves of it
constexpr double first_jitter = 1e-13, spanned = 1e-11, stiffness = 1e8;

}  // namespace

void Minimiser::hessian(double damping) {
    target_.loss->evaluate(point_.z.data(), target_.y, target_.n, nullptr, nullptr, curvature_.data());
    if (damping > 0) {
        target_.loss->majorant(point_.z.data(), target_.y, target_.n, trial_scores_.data());
        axpy(damping, trial_scores_.data(), curvature_.data(), target_.n);
    }
    hessian_of_curvature();
}

void Minimiser::hessian_of_curvature() {
    double sum = 0;
    for (std::size_t i = 0; i < curvature_.size(); ++i)
        sum += curvature_[i] *= target_.v[i] / static_cast<double>(target_.n);
    std::vector<double> first(static_cast<std::size_t>(k_));
    block_.hessian(curvature_.data(), factor_.data(), size_, first.data(), context_);
    for (Index j = 0; j < k_; ++j) {
        factor_[static_cast<std::size_t>(j * size_ + j)] += target_.ridge;
        if (target_.intercept) factor_[static_cast<std::size_t>(j * size_ + k_)] = first[static_cast<std::size_t>(j)];
    }
    if (target_.intercept) factor_.back() = sum;
    for (Index j = 0; j < k_; ++j) {
        if (!held_[static_cast<std::size_t>(j)]) continue;
        for (Index i = 0; i < size_; ++i)
            factor_[static_cast<std::size_t>(i < j ? i * size_ + j : j * size_ + i)] = i == j ? 1.0 : 0.0;
    }
}

// Cholesky of h with the least of a rising diagonal, relative to each column's own: columns may be many orders of
// magnitude apart. One without curvature, or with no more than rounding left by the subtraction of its mean (a constant
// column), takes the largest. Returns what was added.
double Minimiser::factorise(const std::vector<double>& h) {
    double largest = 0;
    for (Index j = 0; j < size_; ++j) largest = std::max(largest, h[static_cast<std::size_t>(j * size_ + j)]);
    if (!(largest > 0) || !std::isfinite(largest)) largest = 1;
    const double total = target_.intercept ? h.back() : 0;
    for (double jitter = first_jitter; jitter < 100; jitter *= 100) {
        factor_ = h;
        for (Index j = 0; j < size_; ++j) {
            const auto at = static_cast<std::size_t>(j * size_ + j);
            const double mean = j < k_ ? rounding_of_mean * block_.shift(j) : 0;
            factor_[at] = (h[at] > mean * mean * total ? h[at] : largest) * (1 + jitter);
        }
        if (cholesky(factor_.data(), size_)) return jitter;
    }
    std::fill(factor_.begin(), factor_.end(), 0.0);  // not finite: steepest descent
    for (Index j = 0; j < size_; ++j) factor_[static_cast<std::size_t>(j * size_ + j)] = std::sqrt(largest);
    return 0;
}

// Which columns the ones before them span, by the pivots of the factor of h.
std::vector<char> Minimiser::spanned_columns(const std::vector<double>& h) {
    const double least = std::max(spanned, 10 * factorise(h));
    std::vector<char> found(static_cast<std::size_t>(size_), 0);
    for (Index j = 0; j < size_; ++j) {
        const auto at = static_cast<std::size_t>(j * size_ + j);
        found[static_cast<std::size_t>(j)] = factor_[at] * factor_[at] < least * h[at];
    }
    return found;
}

// The factor of the Hessian that factor_ holds. A column that the ones before it span is kept where it is by a stiff
// diagonal: along it only rounding would decide. Unless it is spanned only where the loss has curvature left (huber,
// hinges) and not elsewhere: then F may still fall along it.
void Minimiser::factorise() {
    std::vector<double> h = factor_;
    bent_elsewhere_ = false;
    const auto here = spanned_columns(h);
    if (std::find(here.begin(), here.end(), 1) == here.end()) return;
    hessian(damping_ + 1);
    const auto everywhere = spanned_columns(std::vector<double>(factor_));
    for (std::size_t j = 0; j < here.size(); ++j) {
        bent_elsewhere_ = bent_elsewhere_ || here[j] > everywhere[j];
        if (here[j] != 0 && everywhere[j] != 0) h[j * static_cast<std::size_t>(size_ + 1)] *= stiffness;
    }
    factorise(h);
}

void Minimiser::inverse(std::vector<double>& out) {
    if (target_.loss->in_pieces()) {
        model_curvature(*target_.loss, point_.z.data(), target_.y, target_.v, target_.n, curvature_.data());
        hessian_of_curvature();
        factorise();
    }
    out = factor_;
    if (size_ > 0) cholesky_inverse(out.data(), size_);
}

}  // namespace paring
