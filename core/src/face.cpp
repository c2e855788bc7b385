#include "paring/coordinate/face.hpp"

#include "paring/blas.hpp"
#include "paring/kernels.hpp"

namespace paring {

namespace {

constexpr Index largest_face = 6000;                                   // whose Hessian is factored: 300 MB
constexpr double factor_cost = 4e-3, entry_cost = 3, step_cost = 2e4;  // ns: for k^3, k^2 and 1 of a step
constexpr double first_jitter = 1e-12, most_jitter = 1e-6;             // of the diagonal
constexpr double shortest_clipped = 0.2;  // steps with weights stopped at zero, before the exact search along the ray
constexpr int attempts = 4;               // faces tried in one step
constexpr double enough = 0.5;            // of what the step gains without kinks
constexpr int sections = 60;
constexpr double golden = 0.381966011250105;
constexpr double kink = 1e-9;  // of a weight: what is left of it at the kink where the ray ends

bool is_free(const Penalty& penalty, Index feature, double omega, double w, bool block_is_zero) {
    const auto j = static_cast<std::size_t>(feature);
    if (w <= penalty.lower[j] && penalty.lower[j] != 0) return false;
    if (w >= penalty.upper[j] && penalty.upper[j] != 0) return false;
    if (w != 0) return true;
    const bool held_at_zero = penalty.tau[j] > 0 || penalty.lower[j] == 0 || penalty.upper[j] == 0;
    return !held_at_zero && (omega == 0 || !block_is_zero);
}

}  // namespace

void Face::forget() {
    held_.clear();
    place_.clear();
}

std::vector<Index> Face::free_features(const Quadratic& model) const {
    const Penalty& penalty = model.penalty();
    std::vector<Index> found;
    for (Index k = 0; k < penalty.blocks(); ++k) {
        const auto b = static_cast<std::size_t>(k);
        bool zero = true;
        for (Index j = penalty.starts[b]; j < penalty.starts[b + 1]; ++j)
            zero = zero && model.w[static_cast<std::size_t>(j)] == 0;
        for (Index j = penalty.starts[b]; j < penalty.starts[b + 1]; ++j)
            if (is_free(penalty, j, penalty.omega[b], model.w[static_cast<std::size_t>(j)], zero) &&
                model.columns().curvature(model.slot(j)) > 0)
                found.push_back(j);
    }
    return found;
}

double Face::cost(const Quadratic& model) const {
    if (model.penalty().outputs > 1) return infinity;
    const auto features = free_features(model);
    const auto k = static_cast<double>(features.size());
    if (features.empty() || k > static_cast<double>(largest_face) || k > model.n()) return infinity;
    double fresh = 0, entries = 0;
    for (const Index j : features) {
        const auto s = static_cast<std::size_t>(model.slot(j));
        if (s < place_.size() && place_[s] >= 0) continue;
        fresh += 1;
        entries += model.columns().entries(model.slot(j));
    }
    const double gram =
        fresh > 0 ? model.columns().gram_cost(std::max(k, static_cast<double>(held_.size())), fresh, entries) : 0.0;
    return gram + ((factor_cost * k + entry_cost) * k) * k + step_cost + model.sweep_cost();
}

// Sees to it that the Gram matrix has these features. Rows long out of use are dropped once they are the most.
void Face::fetch(const Quadratic& model, const std::vector<Index>& features, const Context& context) {
    place_.resize(static_cast<std::size_t>(model.columns().slots()), -1);
    std::vector<Index> fresh;
    for (const Index j : features)
        if (place_[static_cast<std::size_t>(model.slot(j))] < 0) fresh.push_back(model.slot(j));
    if (fresh.empty()) return;
    const auto first = static_cast<Index>(held_.size()), count = first + static_cast<Index>(fresh.size());
    if (count > 2 * static_cast<Index>(features.size()) + 500 && first > 0) {
        forget();
        return fetch(model, features, context);
    }
    if (count > capacity_) {
        const Index capacity = std::max(count, std::min(count + count / 2, count + 1000));
        std::vector<double> larger(static_cast<std::size_t>(capacity * capacity));
        for (Index a = 0; a < first; ++a)
            std::copy_n(gram_.data() + a * capacity_, first, larger.data() + a * capacity);
        gram_.swap(larger);
        capacity_ = capacity;
    }
    std::vector<Index> all = held_;
    all.insert(all.end(), fresh.begin(), fresh.end());
    model.columns().gram(all, first, gram_.data() + first * capacity_, capacity_, context);
    for (Index a = first; a < count; ++a)  // both triangles: a face then reads whole rows
        for (Index b = 0; b < a; ++b)
            gram_[static_cast<std::size_t>(b * capacity_ + a)] = gram_[static_cast<std::size_t>(a * capacity_ + b)];
    held_.swap(all);  // only now: a call that was stopped leaves rows half made
    for (Index a = first; a < count; ++a) place_[static_cast<std::size_t>(held_[static_cast<std::size_t>(a)])] = a;
}

// Minus the slopes of E along the features, and the penalty's own curvature in `matrix`, block by block.
std::vector<double> Face::slopes(const Quadratic& model, const std::vector<Index>& features) {
    const Penalty& penalty = model.penalty();
    const std::size_t k = features.size();
    std::vector<double> down(k);
    std::size_t at = 0;
    for (Index block = 0; block < penalty.blocks() && at < k; ++block) {
        const auto b = static_cast<std::size_t>(block);
        const std::size_t from = at;
        double norm = 0;
        for (Index j = penalty.starts[b]; j < penalty.starts[b + 1] && penalty.omega[b] > 0; ++j)
            norm = std::hypot(norm, model.w[static_cast<std::size_t>(j)]);
        const double pull = penalty.omega[b] > 0 ? penalty.omega[b] / norm : 0.0;
        for (; at < k && features[at] < penalty.starts[b + 1]; ++at) {
            const auto j = static_cast<std::size_t>(features[at]);
            const double w = model.w[j], sign = w > 0 ? 1.0 : w < 0 ? -1.0 : 0.0;
            double slope = 0;
            model.slopes(features[at], &slope);
            down[at] = -(slope + (penalty.ridge[j] + pull) * w + sign * penalty.tau[j]);
            matrix_[at * (k + 1)] += penalty.ridge[j] + pull;
            for (std::size_t other = from; other <= at && pull > 0; ++other)
                matrix_[other * k + at] -=
                    pull * (w / norm) * (model.w[static_cast<std::size_t>(features[other])] / norm);
        }
    }
    return down;
}

// The Newton direction d, and what the full step along it gains in the model without kinks; false where the matrix is
// singular.
bool Face::direction(const Quadratic& model, const std::vector<Index>& features, std::vector<double>& d, double& gain) {
    const auto k = static_cast<Index>(features.size());
    matrix_.resize(std::max(matrix_.size(), static_cast<std::size_t>(k * k)));
    std::vector<Index> place;
    for (const Index j : features) place.push_back(place_[static_cast<std::size_t>(model.slot(j))]);
    for (double jitter = first_jitter; jitter <= most_jitter; jitter *= 1000) {
        for (Index a = 0; a < k; ++a) {  // the lower triangle by columns, as LAPACK takes it
            const double* row = gram_.data() + place[static_cast<std::size_t>(a)] * capacity_;
            for (Index b = a; b < k; ++b)
                matrix_[static_cast<std::size_t>(a * k + b)] = row[place[static_cast<std::size_t>(b)]] / model.n();
        }
        const std::vector<double> down = slopes(model, features);
        for (Index a = 0; a < k; ++a) matrix_[static_cast<std::size_t>(a * (k + 1))] *= 1 + jitter;
        if (!cholesky(matrix_.data(), k)) continue;
        d = down;
        cholesky_solve(matrix_.data(), k, d.data());
        gain = 0.5 * dot(d.data(), down.data(), k);
        return true;
    }
    return false;
}

// A point t along d: weights and u.
struct Face::Move {
    const Quadratic& model;
    const std::vector<Index>& features;
    const std::vector<double>& d;
    std::vector<double> w, u;

    // Weights that cross zero against the penalty stop there, blocks that turn round too.
    void clipped(double t) {
        const Penalty& penalty = model.penalty();
        w = model.w;
        for (std::size_t a = 0; a < features.size(); ++a) {
            const auto j = static_cast<std::size_t>(features[a]);
            const double next = w[j] + t * d[a];
            const bool crosses = penalty.tau[j] > 0 && next * w[j] < 0;
            w[j] = crosses ? 0.0 : std::clamp(next, penalty.lower[j], penalty.upper[j]);
        }
        for (Index block = 0; block < penalty.blocks(); ++block) {
            const auto b = static_cast<std::size_t>(block);
            if (penalty.omega[b] == 0) continue;
            const Index first = penalty.starts[b], size = penalty.starts[b + 1] - first;
            if (dot(w.data() + first, model.w.data() + first, size) <= 0) std::fill_n(w.begin() + first, size, 0.0);
        }
        refresh();
    }

    void refresh() {
        u = model.u;
        for (const Index j : features) {
            const double change = w[static_cast<std::size_t>(j)] - model.w[static_cast<std::size_t>(j)];
            if (change != 0) model.columns().add_scaled(model.slot(j), &change, 1, u.data());
        }
    }

    // The minimiser of E along the ray, kinks of the penalty included, by golden section.
    void searched() {
        const Penalty& penalty = model.penalty();
        std::vector<double> line(model.u.size()), full(model.w.size());
        double slope = 0;
        for (std::size_t a = 0; a < features.size(); ++a) {
            full[static_cast<std::size_t>(features[a])] = d[a];
            model.columns().add_scaled(model.slot(features[a]), &d[a], 1, line.data());
            double own = 0;
            model.slopes(features[a], &own);
            slope += own * d[a];
        }
        const double bend = model.columns().square(line.data(), 1) / model.n();
        auto value = [&](double t) {
            double sum = slope * t + 0.5 * bend * t * t;
            w = model.w;
            for (std::size_t j = 0; j < w.size(); ++j)
                w[j] = std::clamp(w[j] + t * full[j], penalty.lower[j], penalty.upper[j]);
            for (Index block = 0; block < penalty.blocks(); ++block)
                sum += penalty.value(block, w.data() + penalty.starts[static_cast<std::size_t>(block)]);
            return sum;
        };
        double low = 0, high = 1;
        for (int round = 0; round < sections && high - low > 1e-12 * high; ++round) {
            const double left = low + golden * (high - low), right = high - golden * (high - low);
            if (value(left) <= value(right))
                high = right;
            else
                low = left;
        }
        value(0.5 * (low + high));
        for (const Index j : features) {  // the kink where the ray ended
            const auto p = static_cast<std::size_t>(j);
            if (std::abs(w[p]) <= kink * std::abs(model.w[p]) && penalty.tau[p] > 0) w[p] = 0;
        }
        refresh();
    }
};

// Features of L1 blocks that the full step would carry over zero: they are put there, and the others solved for anew.
bool Face::give_up(Quadratic& model, std::vector<Index>& features, const std::vector<double>& d) {
    const Penalty& penalty = model.penalty();
    std::vector<Index> left;
    for (std::size_t a = 0; a < features.size(); ++a) {
        const auto j = static_cast<std::size_t>(features[a]);
        const double change = -model.w[j];
        if (penalty.tau[j] > 0 && (model.w[j] + d[a]) * model.w[j] < 0) {
            model.columns().add_scaled(model.slot(features[a]), &change, 1, model.u.data());
            model.w[j] = 0;
        } else {
            left.push_back(features[a]);
        }
    }
    const bool any = left.size() < features.size();
    features.swap(left);
    return any && !features.empty();
}

bool Face::step(Quadratic& model, const Context& context) {
    auto features = free_features(model);
    if (features.empty()) return false;
    fetch(model, features, context);
    const double before = model.energy();
    const std::vector<double> w = model.w, u = model.u;
    std::vector<double> d, best_w, best_u;
    double best = before, gain = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (!direction(model, features, d, gain)) break;
        Move move{model, features, d, {}, {}};
        const double here = model.energy();
        bool lower = false;
        for (double t = 1; t > shortest_clipped; t *= 0.5) {
            move.clipped(t);
            const double reached = model.energy_at(move.w, move.u);
            if (reached < best) best = reached, best_w = move.w, best_u = move.u, lower = true;
            if (reached < here) break;
        }
        if (!lower && best == before) {
            move.searched();
            best = model.energy_at(move.w, move.u);
            if (best < before) best_w = move.w, best_u = move.u;
            best = std::min(best, before);
        }
        if (before - best >= enough * gain || !give_up(model, features, d)) break;
        context.check();
    }
    model.w = best < before ? best_w : w;
    model.u = best < before ? best_u : u;
    return best < before;
}

}  // namespace paring
