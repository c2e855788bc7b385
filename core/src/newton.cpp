#include "paring/newton.hpp"

#include <algorithm>
#include <cmath>

#include "line_search.hpp"
#include "minimiser.hpp"
#include "paring/blas.hpp"
#include "paring/kernels.hpp"

namespace paring {

namespace {

// A kept factor that contracts so well (ratio of decrements) is as good as a new one.
constexpr double keep_factor_below = 0.1;
constexpr double sharp_contraction = 0.5;  // decrement ratio at which steps too small for F no longer help
constexpr double sufficient = 1e-4;        // Armijo
constexpr double unbent = 0.8;      // fall over that of the tangent (a parabola's: 1/2): the model bends, F does not
constexpr double rounding = 1e-11;  // of F: a decrement below it may fail to show in F
constexpr auto look_every = std::chrono::milliseconds(20);
constexpr double shortest = 1e-10;  // step at which the line search gives up
constexpr double short_step = 0.2;  // shorter, or longer than its inverse: the curvature is not that of F
constexpr double first_damping = 1e-4, damping_factor = 10, no_damping_below = 1e-7, most_damping = 1e4;

}  // namespace

double Minimiser::objective(const double* w, const double* z) const {
    const double loss = target_.loss->total(z, target_.y, target_.v, target_.n) / static_cast<double>(target_.n);
    return loss + 0.5 * target_.ridge * dot(w, w, k_);
}

void Minimiser::gradient() {
    target_.loss->evaluate(point_.z.data(), target_.y, target_.n, nullptr, slope_.data(), nullptr);
    double sum = 0;
    for (std::size_t i = 0; i < slope_.size(); ++i) sum += slope_[i] *= target_.v[i] / static_cast<double>(target_.n);
    block_.gradient(slope_.data(), gradient_.data(), context_);
    axpy(target_.ridge, point_.w.data(), gradient_.data(), k_);
    if (target_.intercept) gradient_.back() = sum;
}

// Marks the coordinates whose descent leads out of the box; true if the set has changed.
bool Minimiser::hold_bounds() {
    if (box_.lower == nullptr) return false;
    bool changed = false;
    for (Index j = 0; j < k_; ++j) {
        const auto s = static_cast<std::size_t>(j);
        const bool held =
            (point_.w[s] <= box_.lower[j] && gradient_[s] > 0) || (point_.w[s] >= box_.upper[j] && gradient_[s] < 0);
        changed = changed || held != static_cast<bool>(held_[s]);
        held_[s] = held;
    }
    return changed;
}

std::vector<double> Minimiser::direction() const {
    std::vector<double> direction(gradient_.size());
    for (std::size_t j = 0; j < direction.size(); ++j)
        direction[j] = j < held_.size() && held_[j] ? 0.0 : -gradient_[j];
    cholesky_solve(factor_.data(), size_, direction.data());
    for (std::size_t j = 0; j < held_.size(); ++j)
        if (held_[j]) direction[j] = 0;
    return direction;
}

// F a step along `direction`, within the box; the point in w, b and trial_scores_.
double Minimiser::value_at(const std::vector<double>& direction, std::vector<double>& w, double& b) {
    w = point_.w;
    for (std::size_t j = 0; j < w.size(); ++j) {
        w[j] += step_ * direction[j];
        if (box_.lower != nullptr) w[j] = std::clamp(w[j], box_.lower[j], box_.upper[j]);
    }
    b = point_.b + (target_.intercept ? step_ * direction.back() : 0.0);
    block_.scores(w.data(), b, trial_scores_.data(), context_);
    return objective(w.data(), trial_scores_.data());
}

void Minimiser::accept(const std::vector<double>& w, double b, double value) {
    point_.w = w;
    point_.b = b;
    point_.z.swap(trial_scores_);
    objective_ = value;
}

double Minimiser::exact_step(const std::vector<double>& direction, double decrement) const {
    std::vector<double> along(slope_.size()), z(slope_.size()), slope(slope_.size());
    block_.scores(direction.data(), target_.intercept ? direction.back() : 0.0, along.data(), context_);
    const double pull = target_.ridge * dot(point_.w.data(), direction.data(), k_),
                 bend = target_.ridge * dot(direction.data(), direction.data(), k_);
    const auto slope_at = [&](double t) {
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = point_.z[i] + t * along[i];
        target_.loss->evaluate(z.data(), target_.y, target_.n, nullptr, slope.data(), nullptr);
        double sum = 0;
        for (std::size_t i = 0; i < z.size(); ++i) sum += target_.v[i] * slope[i] * along[i];
        return sum / static_cast<double>(target_.n) + pull + t * bend;
    };
    return turning_point(slope_at, -decrement);
}

// What F would change by along its tangent in the last step tried, which came to `w`.
double Minimiser::tangent(const std::vector<double>& direction, double decrement, const std::vector<double>& w) const {
    if (box_.lower == nullptr) return -decrement * step_;
    double slope = target_.intercept ? gradient_.back() * step_ * direction.back() : 0.0;
    for (std::size_t j = 0; j < w.size(); ++j) slope += gradient_[j] * (w[j] - point_.w[j]);
    return slope;
}

// The full step if it lowers F as it should and F bends on the way; else the exact one, or a longer or shorter one
// within the box.
bool Minimiser::search(const std::vector<double>& direction, double decrement) {
    std::vector<double> w;
    double b = 0;
    step_ = 1;
    double value = value_at(direction, w, b);
    const double slope = tangent(direction, decrement, w);
    const bool bends = value >= objective_ + unbent * slope;
    if (!(value <= objective_ + sufficient * slope && value < objective_ && bends)) {
        step_ = box_.lower == nullptr ? exact_step(direction, decrement)
                : bends               ? shorter_step(direction, decrement)
                                      : longer_step(direction, value);
        value = value_at(direction, w, b);
    }
    if (!(value < objective_)) return false;
    accept(w, b, value);
    return true;
}

double Minimiser::shorter_step(const std::vector<double>& direction, double decrement) {
    std::vector<double> w;
    double b = 0;
    for (step_ = 0.5; step_ > shortest; step_ *= 0.5) {
        const double value = value_at(direction, w, b);
        if (value <= objective_ + sufficient * tangent(direction, decrement, w) && value < objective_) return step_;
    }
    return 0;
}

double Minimiser::longer_step(const std::vector<double>& direction, double value) {
    std::vector<double> w;
    double b = 0, longest = 1;
    for (step_ = 2; std::isfinite(step_); step_ *= 2) {
        const double farther = value_at(direction, w, b);
        if (!(farther < value)) break;
        value = farther;
        longest = step_;
    }
    return longest;
}

// The full step, unless F rises by more than `allowed`.
bool Minimiser::sharpen(const std::vector<double>& direction, double allowed) {
    std::vector<double> w;
    double b = 0;
    step_ = 1;
    const double value = value_at(direction, w, b);
    if (!(value <= objective_ + allowed)) return false;
    accept(w, b, value);
    return true;
}

NewtonReport Minimiser::run(const NewtonOptions& options) {
    NewtonReport report;
    block_.scores(point_.w.data(), point_.b, point_.z.data(), context_);
    objective_ = objective(point_.w.data(), point_.z.data());
    bool fresh = false, have_factor = false, doubted = false;
    double previous = infinity, sharp = infinity;
    report.converged = size_ == 0;
    auto looked = StopToken::Clock::now();  // a round may be too short to look for Ctrl-C in, and there may be many
    while (size_ > 0) {
        const auto now = StopToken::Clock::now();
        context_.check();
        if (now - looked > look_every) context_.look(), looked = now;
        gradient();
        if (hold_bounds() || !have_factor) fresh = false, have_factor = false;
        if (!have_factor) {
            hessian(damping_);
            factorise();
            ++report.factorizations;
            fresh = have_factor = true;
        }
        const auto step = direction();
        report.decrement = -0.5 * dot(step.data(), gradient_.data(), size_);
        if (!(report.decrement > options.tolerance)) {
            // A damped step promises less than is still to be gained; one by the curvature of another piece, or where
            // there is none, anything.
            const bool stale = !fresh && target_.loss->in_pieces();
            if (stale || (!doubted && (damping_ > 0 || bent_elsewhere_))) {
                doubted = !stale && damping_ == 0;
                damping_ = doubted ? 1 : 0;
                have_factor = false;
                continue;
            }
            report.converged = std::isfinite(report.decrement);
            const bool contracts = report.decrement < sharp_contraction * sharp;
            sharp = report.decrement;
            if (!(report.decrement > options.sharpness && contracts && sharpen(step, options.tolerance))) break;
            fresh = false;
            continue;
        }
        if (report.rounds == options.max_rounds) break;
        if (!fresh && report.decrement > keep_factor_below * previous) {
            have_factor = false;
            previous = infinity;
            continue;
        }
        previous = report.decrement;
        const bool moved = search(step, 2 * report.decrement);
        ++report.rounds;
        doubted = false;
        if (!moved || step_ < short_step || step_ > 1 / short_step) {
            have_factor = false;
            if (!moved && fresh) {
                report.converged = report.decrement <= rounding * std::abs(objective_);
                if (report.converged || damping_ >= most_damping) break;
                damping_ = std::max(first_damping, damping_ * damping_factor);
            } else if (moved && fresh) {
                damping_ = std::max(first_damping, damping_ * damping_factor);
            }
        } else if (damping_ > 0) {
            damping_ = damping_ / damping_factor < no_damping_below ? 0.0 : damping_ / damping_factor;
            have_factor = false;
        }
        fresh = false;
    }
    report.objective = objective_;
    return report;
}

NewtonReport minimise_block(const Target& target, const Block& block, const Box& box, const NewtonOptions& options,
                            Point& point, std::vector<double>* inverse, const Context& context) {
    for (std::size_t j = 0; j < point.w.size() && box.lower != nullptr; ++j)
        point.w[j] = std::clamp(point.w[j], box.lower[j], box.upper[j]);
    // In the block's own coordinates the columns are shifted: x.w + b = (x - shift).w + (b + shift.w).
    double moved = 0;
    if (target.intercept)
        for (Index j = 0; j < block.columns(); ++j) moved += block.shift(j) * point.w[static_cast<std::size_t>(j)];
    point.b += moved;
    point.z.resize(static_cast<std::size_t>(target.n));
    Minimiser minimiser(target, block, box, context, point);
    const NewtonReport report = minimiser.run(options);
    if (inverse != nullptr) minimiser.inverse(*inverse);
    for (Index j = 0; j < block.columns() && target.intercept; ++j)
        point.b -= block.shift(j) * point.w[static_cast<std::size_t>(j)];
    return report;
}

}  // namespace paring
