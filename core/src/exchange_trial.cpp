#include "paring/exchange_trial.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "paring/kernels.hpp"

namespace paring {

namespace {

constexpr int most_steps = 5;
constexpr double bridged = 2.0;   // F further above the goal than this many times |F - model| will not reach it
constexpr double hopeless = 3.0;  // nor will F as far above it as this many times what the next step promises
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
      h_(static_cast<std::size_t>(size_)),
      t_(h_.size()),
      gradient_(h_.size()),
      direction_(h_.size()) {}

void ExchangeTrial::begin(std::span<const Ranked> exchanges) {
    exchanges_ = exchanges;
    points_.resize(exchanges.size());
    std::vector<double> moves(exchanges.size() * static_cast<std::size_t>(k_));
    z_.resize(exchanges.size() * static_cast<std::size_t>(target_.n));
    for (std::size_t e = 0; e < exchanges.size(); ++e)
        to_model_point(exchanges[e], points_[e], moves.data() + static_cast<Index>(e) * k_, scores(e));
    support_.add_scores(moves.data(), static_cast<Index>(exchanges.size()), z_.data(), context_);
    for (std::size_t e = 0; e < exchanges.size(); ++e) {
        if (exchanges[e].enter >= 0) candidates_.add_column(exchanges[e].enter, points_[e].w_enter, scores(e));
        points_[e].objective = objective(points_[e], scores(e));
    }
}

// The scores but for the members' moves and the entering column.
void ExchangeTrial::to_model_point(const Ranked& exchange, TrialPoint& point, double* move, double* z) const {
    const Index j = exchange.leave, i = exchange.enter;
    const double* q = model_.inverse + j * size_;
    point.w.assign(model_.w, model_.w + k_);
    double moved = model_.w[j];
    point.w_enter = 0;
    if (i >= 0) {
        const double* t = model_.t + i * k_;
        const double slope = model_.g[i] - model_.w[j] * t[j] / q[j];
        point.w_enter = -slope / (model_.schur[i] + t[j] * t[j] / q[j]);
        axpy(-point.w_enter, t, point.w.data(), k_);
        moved -= point.w_enter * t[j];
    }
    axpy(-moved / q[j], q, point.w.data(), k_);
    point.w[static_cast<std::size_t>(j)] = 0;
    double mean = i >= 0 && target_.intercept ? point.w_enter * model_.others[i] : 0.0;
    for (Index s = 0; s < k_; ++s) {
        move[s] = point.w[static_cast<std::size_t>(s)] - model_.w[s];
        mean += move[s] * model_.means[s];
    }
    point.b = model_.b - mean;
    for (Index r = 0; r < target_.n; ++r) z[r] = model_.z[r] - mean;
}

double ExchangeTrial::model_error(std::size_t e) const {
    return std::abs(points_[e].objective - (model_.objective + exchanges_[e].change));
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

double ExchangeTrial::objective(const TrialPoint& point, const double* z) const {
    const double loss = target_.loss->total(z, target_.y, target_.v, target_.n) / static_cast<double>(target_.n);
    const double norm = dot(point.w.data(), point.w.data(), k_) + point.w_enter * point.w_enter;
    const double value = loss + 0.5 * target_.ridge * norm;
    return std::isfinite(value) ? value : infinity;
}

double ExchangeTrial::direction(const Ranked& exchange, const TrialPoint& point, const double* z) {
    target_.loss->evaluate(z, target_.y, target_.n, nullptr, slope_.data(), nullptr);
    double sum = 0;
    for (std::size_t i = 0; i < slope_.size(); ++i) sum += slope_[i] *= target_.v[i] / static_cast<double>(target_.n);
    support_.gradient(slope_.data(), gradient_.data(), context_);
    axpy(target_.ridge, point.w.data(), gradient_.data(), k_);
    if (target_.intercept) gradient_.back() = sum;
    const double entering = candidates_.dot_column(exchange.enter, slope_.data()) + target_.ridge * point.w_enter;
    const auto leave = static_cast<std::size_t>(exchange.leave);
    gradient_[leave] = 0;
    const double* a = model_.inverse;
    for (Index p = 0; p < size_; ++p)
        direction_[static_cast<std::size_t>(p)] = -dot(a + p * size_, gradient_.data(), size_);
    const double* a_leave = a + exchange.leave * size_;
    axpy(-direction_[leave] / a_leave[leave], a_leave, direction_.data(), size_);
    e_ = (dot(t_.data(), gradient_.data(), size_) - entering) / schur_;
    axpy(-e_, t_.data(), direction_.data(), size_);
    direction_[leave] = 0;
    return -0.5 * (dot(direction_.data(), gradient_.data(), size_) + e_ * entering);
}

void ExchangeTrial::step(const Ranked& exchange, TrialPoint& point, double* z) {
    axpy(1.0, direction_.data(), point.w.data(), k_);
    point.w_enter += e_;
    if (target_.intercept) point.b += direction_.back();
    support_.scores(point.w.data(), point.b, z, context_);
    candidates_.add_column(exchange.enter, point.w_enter, z);
    point.objective = objective(point, z);
}

const TrialPoint& ExchangeTrial::finish(std::size_t e, double goal) {
    TrialPoint& point = points_[e];
    const Ranked& exchange = exchanges_[e];
    const auto above = [&] { return point.objective - goal; };
    const bool near = std::isfinite(point.objective) && above() <= bridged * model_error(e);
    if (exchange.enter < 0 || above() < 0 || !near || !prepare(exchange)) return point;
    for (int s = 0; s < most_steps && std::isfinite(point.objective) && above() >= 0; ++s) {
        const double promised = direction(exchange, point, scores(e)), before = point.objective;
        if (!(above() <= hopeless * promised)) break;
        step(exchange, point, scores(e));
        if (!(point.objective < before)) break;
    }
    return point;
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
        const Index some = std::min(count - begin, trials_at_once);
        run_workers(workers, cost, context, [&](int worker, const StopToken& stop) {
            ExchangeTrial& trial = trials[static_cast<std::size_t>(worker)];
            const Index first = begin + some * worker / workers, last = begin + some * (worker + 1) / workers;
            trial.begin({exchanges.data() + first, exchanges.data() + last});
            for (Index e = first; e < last; ++e) {
                if (stop.requested()) return;
                context.check();
                const auto place = static_cast<std::size_t>(e - first);
                const double off = trial.model_error(place);
                const TrialPoint& point = trial.finish(place, goal);
                const std::lock_guard lock(mutex);
                if (std::isfinite(off)) error = std::max(error, off);
                result.reached[static_cast<std::size_t>(e)] = point.objective;
                const double best = result.best < 0 ? infinity : result.reached[static_cast<std::size_t>(result.best)];
                if (!(point.objective < best || (point.objective == best && e < result.best))) continue;
                result.best = e;
                result.point = point;
            }
        });
    }
    return result;
}

}  // namespace paring
