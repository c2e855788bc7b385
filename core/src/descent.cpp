#include "paring/coordinate/descent.hpp"

#include <numeric>

#include "paring/kernels.hpp"

namespace paring {

namespace {

constexpr double model_share = 0.1;     // of the violation at the point: what a model is minimised to
constexpr double sufficient = 1e-4;     // Armijo
constexpr double shortest = 1e-10;      // step at which the line search gives up
constexpr double rounding = 1e-13;      // of the objective
constexpr int patience = 5;             // rounds without a smaller violation
constexpr double least_damping = 1e-6;  // of the curvature's bound: rows without curvature leave no column without
constexpr double first_damping = 1e-4, damping_factor = 10, most_damping = 1e4;  // as in newton.cpp
constexpr double inner_share = 0.1;  // of the violation over all blocks: what sweeps over those not zero go down to
constexpr double settled = 0.05;     // changes of the face, of the weights on it, that are few
constexpr double hopeless = 4;       // a Newton step that failed waits for this many times its cost in sweeps
constexpr int most_sweeps = 20000;
constexpr Index slots_kept = 1000;  // beyond twice the working set
constexpr auto look_every = std::chrono::milliseconds(20);

// Sweeps still needed at the rate of the last three; infinity where nothing falls.
class Pace {
  public:
    void clear() { seen_.clear(); }
    double sweeps_left(double violation, double goal) {
        seen_.push_back(violation);
        const std::size_t back = std::min<std::size_t>(seen_.size() - 1, 3);
        if (back == 0) return 0;
        const double fell = seen_.back() / seen_[seen_.size() - 1 - back];
        return fell < 1 ? std::log(goal / violation) / std::log(fell) * static_cast<double>(back) : infinity;
    }

  private:
    std::vector<double> seen_;
};

bool all_ones(const double* v, Index n) {
    return std::all_of(v, v + n, [](double weight) { return weight == 1; });
}

}  // namespace

Descent::Descent(const Target& target, bool dense)
    : target_(target),
      outputs_(target.loss->outputs()),
      quadratic_(target.loss->is_quadratic()),
      weighted_(!quadratic_ || !all_ones(target.v, target.n)),
      columns_(make_columns(dense, target.n, target.intercept ? target.v : nullptr)),
      slope_(static_cast<std::size_t>(target.n * outputs_)),
      slope_b_(static_cast<std::size_t>(outputs_)) {
    if (weighted_) kappa_.assign(target.v, target.v + target.n);
}

// -- columns ----------------------------------------------------------------------------------------------------------

std::vector<Index> Descent::missing(std::span<const Index> features) {
    drop_unused(features);
    std::vector<Index> found;
    for (const Index j : features)
        if (!slot_of_.contains(j)) found.push_back(j);
    return found;
}

void Descent::append(const Rows& x, bool lines_are_columns, std::span<const Index> chosen,
                     std::span<const Index> features, const Context& context) {
    const Index first = columns_->slots();
    columns_->append(x, lines_are_columns, chosen, context);
    for (std::size_t p = 0; p < features.size(); ++p) {
        slot_of_[features[p]] = first + static_cast<Index>(p);
        feature_of_.push_back(features[p]);
    }
}

void Descent::drop_unused(std::span<const Index> features) {
    if (columns_->slots() <= 2 * static_cast<Index>(features.size()) + slots_kept) return;
    std::vector<Index> kept, kept_features;
    for (const Index j : features) {
        const auto found = slot_of_.find(j);
        if (found == slot_of_.end()) continue;
        kept.push_back(found->second);
        kept_features.push_back(j);
    }
    columns_->keep(kept);
    face_.forget();
    feature_of_.swap(kept_features);
    slot_of_.clear();
    for (std::size_t s = 0; s < feature_of_.size(); ++s) slot_of_[feature_of_[s]] = static_cast<Index>(s);
    scaled_ = std::min(scaled_, columns_->slots());
}

// -- the model --------------------------------------------------------------------------------------------------------

double Descent::total(const std::vector<double>& z) const {
    return target_.loss->total(z.data(), target_.y, target_.v, target_.n) / static_cast<double>(target_.n);
}

// Slopes v_i loss'_i / n and their sum; curvatures kappa_i = v_i (loss''_i + damping), of several outputs a bound on
// the largest eigenvalue of their matrix.
void Descent::linearise(const DescentPoint& point) {
    const auto n = static_cast<double>(target_.n);
    std::vector<double> curvature(quadratic_ ? 0 : slope_.size());
    target_.loss->evaluate(point.z.data(), target_.y, target_.n, nullptr, slope_.data(),
                           quadratic_ ? nullptr : curvature.data());
    std::fill(slope_b_.begin(), slope_b_.end(), 0.0);
    for (Index i = 0; i < target_.n; ++i)
        for (Index c = 0; c < outputs_; ++c)
            slope_b_[static_cast<std::size_t>(c)] += slope_[static_cast<std::size_t>(i * outputs_ + c)] *=
                target_.v[i] / n;
    if (quadratic_) return;
    double bound = target_.loss->curvature_bound();
    if (!std::isfinite(bound)) bound = *std::max_element(curvature.begin(), curvature.end());
    const double added = std::max(damping_, least_damping) * bound;
    for (Index i = 0; i < target_.n; ++i) {
        const double* own = curvature.data() + i * outputs_;
        const double largest = outputs_ == 1 ? *own : 2 * *std::max_element(own, own + outputs_);
        kappa_[static_cast<std::size_t>(i)] = target_.v[i] * (largest + added);
    }
}

void Descent::scale(const std::vector<Index>& slots, const Context& context) {
    const double* kappa = weighted_ ? kappa_.data() : nullptr;
    if (!quadratic_) {
        face_.forget();
        return columns_->scale(kappa, slots, context);
    }
    std::vector<Index> fresh(static_cast<std::size_t>(columns_->slots() - scaled_));
    std::iota(fresh.begin(), fresh.end(), scaled_);
    columns_->scale(kappa, fresh, context);
    scaled_ = columns_->slots();
}

// Slopes of the mean loss in the weights, the intercept eliminated.
std::vector<double> Descent::gradient(const std::vector<Index>& slots, const Context& context) const {
    std::vector<double> g(slots.size() * static_cast<std::size_t>(outputs_));
    double entries = 0;
    for (const Index s : slots) entries += columns_->entries(s);
    const double cost =
        entries * static_cast<double>(outputs_) / static_cast<double>(std::max<std::size_t>(slots.size(), 1));
    for_ranges(static_cast<Index>(slots.size()), cost, context, [&](Index begin, Index end, int) {
        for (Index p = begin; p < end; ++p) {
            const Index s = slots[static_cast<std::size_t>(p)];
            double* out = g.data() + p * outputs_;
            columns_->dot(s, slope_.data(), outputs_, out);
            if (target_.intercept) axpy(-columns_->mean(s), slope_b_.data(), out, outputs_);
        }
    });
    return g;
}

// Sweeps until what one over all blocks meets is within the goal; true where the caller's token ended them. Between two
// of these the blocks that are not zero alone are swept. Newton steps on the face as soon as the sweeps still needed
// would cost more, and the face has settled or the sweeps have cost as much already.
bool Descent::minimise_model(Quadratic& model, double goal, DescentReport& report, const Context& context) {
    Extrapolation extrapolation;
    Pace pace;
    double spent = 0, wait = 0, inner_goal = infinity;
    bool is_settled = false;
    Over over = Over::All;
    auto looked = StopToken::Clock::now();
    for (int round = 0; round < most_sweeps; ++round) {
        const auto now = StopToken::Clock::now();
        if (now - looked > look_every) {
            looked = now;
            try {
                context.look();
            } catch (const Stopped&) {
                return true;
            }
        }
        const Sweep seen = model.sweep(over);
        const auto on_face = static_cast<double>(
            std::count_if(model.w.begin(), model.w.end(), [](double weight) { return weight != 0; }));
        const double cost =
            model.sweep_cost() * (over == Over::All ? 1.0 : on_face / static_cast<double>(model.w.size()));
        ++report.sweeps;
        spent += cost;
        if (over == Over::All) {
            report.violation = seen.violation;
            if (seen.violation <= goal) return false;
            is_settled = static_cast<double>(seen.changes) <= settled * on_face;
            inner_goal = std::max(goal, inner_share * seen.violation);
            over = Over::Nonzero;
            continue;
        }
        if (seen.violation <= inner_goal) {
            over = Over::All;
            continue;
        }
        const double left = pace.sweeps_left(seen.violation, goal) * cost;
        if (left > 0 && spent >= wait) {
            const double newton = face_.cost(model);
            if (left > newton && (is_settled || spent >= newton)) {
                bool lower = false;
                try {
                    lower = face_.step(model, context);
                } catch (const Stopped&) {
                    return true;
                }
                ++report.newton_steps;
                wait = lower ? 0.0 : hopeless * newton;
                spent = 0;
                pace.clear();
                extrapolation.clear();
                continue;
            }
        }
        if (extrapolation(model)) {
            ++report.extrapolations;
            pace.clear();
        }
    }
    return false;
}

// From (w, b) towards the model's minimiser, far enough down that the objective falls in proportion.
bool Descent::search(const Quadratic& model, const std::vector<double>& g, DescentPoint& point, DescentReport& report) {
    const Penalty& penalty = model.penalty();
    std::vector<double> d(model.w), dz(point.z.size()), db(point.b.size()), shift(point.b.size());
    const double total_curvature = columns_->total() / static_cast<double>(target_.n);
    double slope = 0, before = 0, after = 0;
    for (std::size_t c = 0; c < db.size(); ++c) {
        db[c] = -slope_b_[c] / total_curvature;
        slope += slope_b_[c] * db[c];
    }
    for (Index j = 0; j < penalty.features(); ++j) {
        double* own = d.data() + j * outputs_;
        bool moves = false;
        for (Index c = 0; c < outputs_; ++c) {
            own[c] -= point.w[static_cast<std::size_t>(j * outputs_ + c)];
            moves = moves || own[c] != 0;
        }
        if (!moves) continue;
        slope += dot(g.data() + j * outputs_, own, outputs_);
        columns_->add(model.slot(j), own, outputs_, dz.data());
        if (target_.intercept) {
            axpy(-columns_->mean(model.slot(j)), own, db.data(), outputs_);
            axpy(columns_->shift(model.slot(j)), own, shift.data(), outputs_);
        }
    }
    for (Index i = 0; i < target_.n && target_.intercept; ++i) axpy(1.0, db.data(), dz.data() + i * outputs_, outputs_);
    for (Index k = 0; k < penalty.blocks(); ++k) {
        const Index first = penalty.starts[static_cast<std::size_t>(k)] * outputs_;
        before += penalty.value(k, point.w.data() + first);
        after += penalty.value(k, model.w.data() + first);
    }
    slope += after - before;
    const double here = quadratic_ ? 0.0 : report.objective;
    for (double t = 1; t > shortest; t *= 0.5) {
        std::vector<double> z = point.z, w = point.w;
        axpy(t, dz.data(), z.data(), static_cast<Index>(z.size()));
        if (t == 1)
            w = model.w;  // not w + d: zeros stay zeros
        else
            axpy(t, d.data(), w.data(), static_cast<Index>(w.size()));
        double value = total(z);
        for (Index k = 0; k < penalty.blocks(); ++k)
            value += penalty.value(k, w.data() + penalty.starts[static_cast<std::size_t>(k)] * outputs_);
        // A gain too small to show in the objective is believed: it still sharpens the weights.
        const bool unseen = -slope <= rounding * std::abs(here) && value <= here + rounding * std::abs(here);
        if (!quadratic_ && !(unseen || (value <= here + sufficient * t * slope && value < here))) continue;
        point.z.swap(z);
        point.w.swap(w);
        for (std::size_t c = 0; c < point.b.size(); ++c) point.b[c] += t * (db[c] - shift[c]);
        report.objective = value;
        damping_ = t < 0.2 ? std::max(first_damping, damping_ * damping_factor) : damping_ / damping_factor;
        return true;
    }
    return false;
}

// -- all of it
// ---------------------------------------------------------------------------------------------------------

DescentReport Descent::minimise(std::span<const Index> features, const Penalty& penalty, const DescentOptions& options,
                                DescentPoint& point, const Context& context) {
    DescentReport report;
    std::vector<Index> slots;
    for (const Index j : features) slots.push_back(slot_of_.at(j));
    report.objective = total(point.z);
    for (Index k = 0; k < penalty.blocks(); ++k)
        report.objective += penalty.value(k, point.w.data() + penalty.starts[static_cast<std::size_t>(k)] * outputs_);
    double least = infinity, last = infinity;
    int idle = 0;
    while (report.rounds < options.max_rounds) {
        linearise(point);
        scale(slots, context);
        std::vector<double> g = gradient(slots, context);
        Quadratic model(*columns_, penalty, slots, g, point.w);
        DescentReport inner = report;
        double goal = options.goal;
        if (!quadratic_) {  // one sweep tells how far the point is from optimal
            const Sweep seen = model.sweep(Over::All);
            report.violation = seen.violation;
            ++report.sweeps;
            for (const double slope : slope_b_)
                report.violation = std::max(report.violation, target_.intercept ? std::abs(slope) : 0.0);
            if (report.violation <= options.goal) break;
            const bool better = report.violation < least || report.objective < last - rounding * std::abs(last);
            idle = better ? 0 : idle + 1;
            if (idle > patience) break;
            least = std::min(least, report.violation);
            last = std::min(last, report.objective);
            goal = std::max(0.5 * options.goal, model_share * report.violation);
        }
        inner = report;
        report.stopped = minimise_model(model, goal, inner, context);
        report.sweeps = inner.sweeps;
        report.newton_steps = inner.newton_steps;
        report.extrapolations = inner.extrapolations;
        if (quadratic_) report.violation = inner.violation;
        ++report.rounds;
        const bool moved = search(model, g, point, report);
        if (report.stopped || quadratic_) break;
        if (!moved) {
            if (damping_ >= most_damping) break;
            damping_ = std::max(first_damping, damping_ * damping_factor);
        }
    }
    return report;
}

}  // namespace paring
