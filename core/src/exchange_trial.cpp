#include <cmath>

#include "paring/kernels.hpp"
#include "paring/newton.hpp"

namespace paring {

namespace {

constexpr int most_steps = 6;
constexpr double hopeless = 3.0;     // F - goal above so many remaining decrements: it will not get there
constexpr double collinear = 1e-10;  // Schur complement relative to the candidate's own curvature

}  // namespace

ExchangeTrial::ExchangeTrial(const Target& target, const Block& support, const Block& candidates, const Point& point,
                             const std::vector<double>& inverse, const Context& context)
    : target_(target),
      support_(support),
      candidates_(candidates),
      point_(point),
      inverse_(inverse),
      context_(context),
      k_(support.columns()),
      size_(k_ + (target.intercept ? 1 : 0)),
      curvature_(static_cast<std::size_t>(target.n)),
      slope_(curvature_.size()),
      z_(curvature_.size()),
      h_(static_cast<std::size_t>(size_)),
      t_(h_.size()),
      gradient_(h_.size()),
      direction_(h_.size()) {
    target.loss->evaluate(point.z.data(), target.y, target.n, nullptr, nullptr, curvature_.data());
    for (std::size_t i = 0; i < curvature_.size(); ++i) curvature_[i] *= target.v[i] / static_cast<double>(target.n);
}

bool ExchangeTrial::prepare(const Exchange& exchange) {
    // slope_ is free here: it holds c o x_i, dense, so that every product with it is one pass of the support.
    std::fill(slope_.begin(), slope_.end(), 0.0);
    candidates_.add_column(exchange.enter, 1.0, slope_.data());
    double diagonal = target_.ridge, first = 0;
    for (std::size_t i = 0; i < slope_.size(); ++i) {
        const double x = slope_[i];
        slope_[i] = curvature_[i] * x;
        first += slope_[i];
        diagonal += slope_[i] * x;
    }
    support_.gradient(slope_.data(), h_.data(), context_);
    if (target_.intercept) h_.back() = first;
    // A^- h, A^- = A - A_j A_j' / A_jj: row j of the result is zero.
    const double* a = inverse_.data();
    const auto leave = static_cast<std::size_t>(exchange.leave);
    for (Index p = 0; p < size_; ++p) t_[static_cast<std::size_t>(p)] = dot(a + p * size_, h_.data(), size_);
    const double* a_leave = a + exchange.leave * size_;
    axpy(-t_[leave] / a_leave[leave], a_leave, t_.data(), size_);
    t_[leave] = 0;
    h_[leave] = 0;
    schur_ = diagonal - dot(h_.data(), t_.data(), size_);
    return schur_ > collinear * diagonal;
}

double ExchangeTrial::objective() {
    const double loss =
        target_.loss->total(z_.data(), target_.y, target_.v, target_.n) / static_cast<double>(target_.n);
    return loss + 0.5 * target_.ridge * (dot(w.data(), w.data(), k_) + w_enter * w_enter);
}

double ExchangeTrial::step(const Exchange& exchange) {
    target_.loss->evaluate(z_.data(), target_.y, target_.n, nullptr, slope_.data(), nullptr);
    double sum = 0;
    for (std::size_t i = 0; i < slope_.size(); ++i) sum += slope_[i] *= target_.v[i] / static_cast<double>(target_.n);
    support_.gradient(slope_.data(), gradient_.data(), context_);
    axpy(target_.ridge, w.data(), gradient_.data(), k_);
    if (target_.intercept) gradient_.back() = sum;
    const double entering = candidates_.dot_column(exchange.enter, slope_.data()) + target_.ridge * w_enter;
    const auto leave = static_cast<std::size_t>(exchange.leave);
    gradient_[leave] = 0;
    const double* a = inverse_.data();
    for (Index p = 0; p < size_; ++p)
        direction_[static_cast<std::size_t>(p)] = -dot(a + p * size_, gradient_.data(), size_);
    const double* a_leave = a + exchange.leave * size_;
    axpy(-direction_[leave] / a_leave[leave], a_leave, direction_.data(), size_);
    const double e = (dot(t_.data(), gradient_.data(), size_) - entering) / schur_;
    axpy(-e, t_.data(), direction_.data(), size_);
    direction_[leave] = 0;
    axpy(1.0, direction_.data(), w.data(), k_);
    w_enter += e;
    if (target_.intercept) b += direction_.back();
    support_.scores(w.data(), b, z_.data(), context_);
    candidates_.add_column(exchange.enter, w_enter, z_.data());
    return -0.5 * (dot(gradient_.data(), direction_.data(), size_) + entering * e);
}

double ExchangeTrial::operator()(const Exchange& exchange, double goal) {
    if (!prepare(exchange)) return infinity;
    w = point_.w;
    w[static_cast<std::size_t>(exchange.leave)] = 0;
    w_enter = 0;
    b = point_.b;
    for (Index j = 0; j < k_ && target_.intercept; ++j) b += support_.shift(j) * point_.w[static_cast<std::size_t>(j)];
    support_.scores(w.data(), b, z_.data(), context_);
    double value = infinity;
    for (int s = 0; s < most_steps; ++s) {
        const double decrement = step(exchange);
        const double reached = objective();
        const double gained = s == 0 ? infinity : value - reached;
        value = reached;
        if (!(value > goal)) break;
        // The decrement just spent bounds, up to the contraction of the kept Hessian, what is still to come.
        if (s > 0 && (value - goal > hopeless * std::max(gained, 0.0) || !(decrement > 0))) break;
    }
    for (Index j = 0; j < k_ && target_.intercept; ++j) b -= support_.shift(j) * w[static_cast<std::size_t>(j)];
    if (target_.intercept) b -= candidates_.shift(exchange.enter) * w_enter;
    return std::isfinite(value) ? value : infinity;
}

}  // namespace paring
