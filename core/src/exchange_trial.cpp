#include "paring/exchange_trial.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "paring/kernels.hpp"

namespace paring {

namespace {

constexpr int most_steps = 5;
constexpr double bridged = 2.0;    // F further above the goal than this many times |F - model| will not reach it
constexpr double hopeless = 3.0;   // nor will F as far above it as this many of its last gains
constexpr double neglected = 0.1;  // of what an exchange must gain: moves left out of a trial
constexpr Index trials_at_once = 10;
constexpr double trusted = 3.0;  // exchanges the model puts this many times its largest error above the goal: no trial
constexpr double collinear = 1e-10;  // Schur complement relative to the candidate's own curvature

}  // namespace

ExchangeTrial::ExchangeTrial(const Target& target, const Block& support, const Block& candidates,
                             const TrialModel& model, const Context& context)
    : target_(target),
      support_(support),
      candidates_(candidates),
      model_(model),
      context_(context),
      k_(support.columns()),
      size_(k_ + (target.intercept ? 1 : 0)),
      slope_(static_cast<std::size_t>(target.n)),
      z_(slope_.size()),
      h_(static_cast<std::size_t>(size_)),
      t_(h_.size()),
      gradient_(h_.size()),
      direction_(h_.size()) {}

double ExchangeTrial::to_model_point(const Ranked& exchange, double negligible) {
    const Index j = exchange.leave, i = exchange.enter;
    const double* q = model_.inverse + j * size_;
    w.assign(model_.w, model_.w + k_);
    double moved = model_.w[j];
    w_enter = 0;
    if (i >= 0) {
        const double* t = model_.t + i * k_;
        const double slope = model_.g[i] - model_.w[j] * t[j] / q[j];
        w_enter = -slope / (model_.schur[i] + t[j] * t[j] / q[j]);
        axpy(-w_enter, t, w.data(), k_);
        moved -= w_enter * t[j];
    }
    axpy(-moved / q[j], q, w.data(), k_);
    w[static_cast<std::size_t>(j)] = 0;
    double mean = i >= 0 && target_.intercept ? w_enter * model_.others[i] : 0.0;
    std::copy_n(model_.z, target_.n, z_.data());
    for (Index s = 0; s < k_; ++s) {
        double& weight = w[static_cast<std::size_t>(s)];
        const double move = weight - model_.w[s];
        if (s != j && 0.5 * model_.curvatures[s] * move * move < negligible) {
            weight = model_.w[s];
            continue;
        }
        support_.add_column(s, move, z_.data());
        mean += move * model_.means[s];
    }
    if (i >= 0) candidates_.add_column(i, w_enter, z_.data());
    b = model_.b - mean;
    if (target_.intercept)
        for (double& score : z_) score -= mean;
    return objective();
}

bool ExchangeTrial::prepare(const Ranked& exchange) {
    // slope_ is free here: it holds c o x_i, dense, so that every product with it is one pass of the support.
    std::vector<double> column(slope_.size());
    candidates_.add_column(exchange.enter, 1.0, column.data());
    double diagonal = target_.ridge, first = 0;
    for (std::size_t i = 0; i < slope_.size(); ++i) {
        slope_[i] = model_.c[i] * column[i];
        first += slope_[i];
        diagonal += slope_[i] * column[i];
    }
    support_.gradient(slope_.data(), h_.data(), context_);
    if (target_.intercept) h_.back() = first;
    // A^- h, A^- = A - A_j A_j' / A_jj: row j of the result is zero.
    const double* a = model_.inverse;
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

void ExchangeTrial::step(const Ranked& exchange) {
    target_.loss->evaluate(z_.data(), target_.y, target_.n, nullptr, slope_.data(), nullptr);
    double sum = 0;
    for (std::size_t i = 0; i < slope_.size(); ++i) sum += slope_[i] *= target_.v[i] / static_cast<double>(target_.n);
    support_.gradient(slope_.data(), gradient_.data(), context_);
    axpy(target_.ridge, w.data(), gradient_.data(), k_);
    if (target_.intercept) gradient_.back() = sum;
    const double entering = candidates_.dot_column(exchange.enter, slope_.data()) + target_.ridge * w_enter;
    const auto leave = static_cast<std::size_t>(exchange.leave);
    gradient_[leave] = 0;
    const double* a = model_.inverse;
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
}

double ExchangeTrial::operator()(const Ranked& exchange, double goal) {
    const double negligible = neglected * (model_.objective - goal) / static_cast<double>(k_);
    double value = to_model_point(exchange, negligible);
    model_error = std::abs(value - (model_.objective + exchange.change));
    const bool near = std::isfinite(value) && value - goal <= bridged * model_error;
    if (exchange.enter < 0 || value < goal || !near || !prepare(exchange))
        return std::isfinite(value) ? value : infinity;
    for (int s = 0; s < most_steps; ++s) {
        step(exchange);
        const double reached = objective(), gained = value - reached;
        value = std::isfinite(reached) ? reached : infinity;
        if (value < goal || value - goal > hopeless * std::max(gained, 0.0)) break;
    }
    return value;
}

TrialResult try_all(const Target& target, const Block& support, const Block& candidates, const TrialModel& model,
                    const std::vector<Ranked>& exchanges, double goal, const Context& context) {
    const auto count = static_cast<Index>(exchanges.size());
    TrialResult result;
    result.reached.assign(exchanges.size(), infinity);
    std::mutex mutex;
    double error = 0;  // the model's largest so far
    const double each = static_cast<double>(target.n * 40 + support.columns() * support.columns());
    const double cost = each * static_cast<double>(std::min(count, 2 * trials_at_once));
    const int workers = workers_for(cost, context);
    const Context alone{1, context.stop, {}};
    std::vector<ExchangeTrial> trials;
    for (int worker = 0; worker < workers; ++worker) trials.emplace_back(target, support, candidates, model, alone);
    for (Index begin = 0; begin < count; begin += trials_at_once) {
        const double above = exchanges[static_cast<std::size_t>(begin)].change - (goal - model.objective);
        if (begin > 0 && exchanges[static_cast<std::size_t>(begin)].enter >= 0 && above > trusted * error) break;
        const Index end = std::min(count, begin + trials_at_once);
        run_workers(workers, cost, context, [&](int worker, const StopToken& stop) {
            ExchangeTrial& trial = trials[static_cast<std::size_t>(worker)];
            for (Index e = begin + worker; e < end; e += workers) {
                if (stop.requested()) return;
                context.check();
                const Ranked& exchange = exchanges[static_cast<std::size_t>(e)];
                const double reached = trial(exchange, goal);
                const std::lock_guard lock(mutex);
                if (std::isfinite(trial.model_error)) error = std::max(error, trial.model_error);
                result.reached[static_cast<std::size_t>(e)] = reached;
                const double best = result.best < 0 ? infinity : result.reached[static_cast<std::size_t>(result.best)];
                if (!(reached < best || (reached == best && e < result.best))) continue;
                result.best = e;
                result.w = trial.w;
                result.w_enter = trial.w_enter;
                result.b = trial.b;
            }
        });
    }
    return result;
}

}  // namespace paring
