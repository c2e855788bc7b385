#include "paring/newton.hpp"

#include <algorithm>
#include <cmath>

#include "paring/blas.hpp"
#include "paring/kernels.hpp"

namespace paring {

namespace {

constexpr double keep_factor_below =
    0.1;  // decrement ratio: a kept factor that contracts so well is as good as a new one
constexpr double sharp_contraction = 0.5;   // decrement ratio at which steps too small for F no longer help
constexpr double sufficient = 1e-4;         // Armijo
constexpr double rounding = 1e-11;          // of F: a decrement below it may fail to show in F
constexpr double rounding_of_mean = 1e-13;  // what subtracting a column's mean leaves of it
constexpr double first_jitter = 1e-13, spanned = 1e-11, stiffness = 1e8;
constexpr auto look_every = std::chrono::milliseconds(20);
constexpr double shortest = 1e-10;  // step at which the line search gives up
constexpr double first_damping = 1e-4, damping_factor = 10, no_damping_below = 1e-7, most_damping = 1e4;

// The state of one minimisation; vectors over (w[, b]) have the intercept last.
class Minimiser {
  public:
    Minimiser(const Target& target, const Block& block, const Box& box, const Context& context, Point& point)
        : target_(target),
          block_(block),
          box_(box),
          context_(context),
          point_(point),
          k_(block.columns()),
          size_(k_ + (target.intercept ? 1 : 0)),
          slope_(static_cast<std::size_t>(target.n)),
          curvature_(slope_.size()),
          trial_scores_(slope_.size()),
          gradient_(static_cast<std::size_t>(size_)),
          held_(static_cast<std::size_t>(k_), 0),
          factor_(static_cast<std::size_t>(size_ * size_)) {}

    NewtonReport run(const NewtonOptions& options);
    void inverse(std::vector<double>& out) const;

  private:
    double objective(const double* w, const double* z) const;
    void gradient();
    bool hold_bounds();
    void hessian(double damping);  // with so much of the loss's bound added to its curvature
    double factorise(const std::vector<double>& h);
    std::vector<char> spanned_columns(const std::vector<double>& h);
    void factorise();
    std::vector<double> direction() const;
    bool search(const std::vector<double>& direction, double decrement);
    bool sharpen(const std::vector<double>& direction, double allowed);
    double value_at(const std::vector<double>& direction, std::vector<double>& w, double& b);
    void accept(const std::vector<double>& w, double b, double value);

    const Target& target_;
    const Block& block_;
    const Box& box_;
    const Context& context_;
    Point& point_;
    Index k_, size_;
    std::vector<double> slope_, curvature_, trial_scores_, gradient_;
    std::vector<char> held_;
    std::vector<double> factor_;
    double damping_ = 0, objective_ = 0, step_ = 1;
};

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

void Minimiser::hessian(double damping) {
    target_.loss->evaluate(point_.z.data(), target_.y, target_.n, nullptr, nullptr, curvature_.data());
    double bound = target_.loss->curvature_bound();
    if (!std::isfinite(bound)) bound = *std::max_element(curvature_.begin(), curvature_.end());
    double sum = 0;
    for (std::size_t i = 0; i < curvature_.size(); ++i) {
        curvature_[i] = (curvature_[i] + damping * bound) * target_.v[i] / static_cast<double>(target_.n);
        sum += curvature_[i];
    }
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

// The factor of the Hessian. A column that the ones before it span is kept where it is by a stiff diagonal: along it
// only rounding would decide. Unless it is spanned only where the loss has curvature left (huber, hinges) and not
// elsewhere: then F may still fall along it.
void Minimiser::factorise() {
    hessian(damping_);
    std::vector<double> h = factor_;
    const auto here = spanned_columns(h);
    if (std::find(here.begin(), here.end(), 1) == here.end()) return;
    hessian(damping_ + 1);
    const auto everywhere = spanned_columns(std::vector<double>(factor_));
    for (std::size_t j = 0; j < here.size(); ++j)
        if (here[j] != 0 && everywhere[j] != 0) h[j * static_cast<std::size_t>(size_ + 1)] *= stiffness;
    factorise(h);
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

bool Minimiser::search(const std::vector<double>& direction, double decrement) {
    std::vector<double> w;
    double b = 0;
    for (step_ = 1; step_ > shortest; step_ *= 0.5) {
        const double value = value_at(direction, w, b);
        double slope = -decrement * step_;
        if (box_.lower != nullptr) {
            slope = target_.intercept ? gradient_.back() * step_ * direction.back() : 0.0;
            for (std::size_t j = 0; j < w.size(); ++j) slope += gradient_[j] * (w[j] - point_.w[j]);
        }
        if (value <= objective_ + sufficient * slope && value < objective_) {
            accept(w, b, value);
            return true;
        }
    }
    return false;
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
    bool fresh = false, have_factor = false;
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
            factorise();
            ++report.factorizations;
            fresh = have_factor = true;
        }
        const auto step = direction();
        report.decrement = -0.5 * dot(step.data(), gradient_.data(), size_);
        if (!(report.decrement > options.tolerance)) {
            report.converged = std::isfinite(report.decrement);
            const bool contracts = report.decrement < sharp_contraction * sharp;
            sharp = report.decrement;
            if (report.decrement > options.sharpness && contracts && sharpen(step, options.tolerance)) continue;
            break;
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
        if (!moved || step_ < 0.2) {
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

void Minimiser::inverse(std::vector<double>& out) const {
    out = factor_;
    if (size_ > 0) cholesky_inverse(out.data(), size_);
}

}  // namespace

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
