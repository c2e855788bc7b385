// The moves of a pursuit on the tableau: grow, shrink, exchange. What a move does to the tableau is in tableau.cpp.
#include <algorithm>
#include <cmath>
#include <utility>

#include "paring/tableau.hpp"
#include "small_matrix.hpp"

namespace paring {

namespace {

constexpr Index ranked_per_exchange = 4;

}  // namespace

// dF of all these exchanges together, exactly; infinity where they would leave a singular problem.
double Tableau::change(std::span<const Index> positions, std::span<const Index> entering, const Matrix& rows) const {
    const auto count = static_cast<Index>(positions.size());
    const Matrix pivot = pivot_of(positions);
    Matrix between(at(count * count)), curvature(at(count * count)), slope(positions.size()), lost(positions.size());
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b) {
            between[at(a * count + b)] = t_[at(positions[at(a)] * d_ + entering[at(b)])];
            lost[at(a)] += pivot[at(a * count + b)] * w_[at(positions[at(b)])];
        }
    const Matrix pivoted = product(pivot, between, count, count, count);
    double value = 0;
    for (Index a = 0; a < count; ++a) {
        value += 0.5 * w_[at(positions[at(a)])] * lost[at(a)];
        slope[at(a)] = g_[at(entering[at(a)])];
        for (Index b = 0; b < count; ++b) {
            slope[at(a)] -= between[at(b * count + a)] * lost[at(b)];
            curvature[at(a * count + b)] = rows[at(a * d_ + entering[at(b)])];
            for (Index c = 0; c < count; ++c)
                curvature[at(a * count + b)] += between[at(c * count + a)] * pivoted[at(c * count + b)];
        }
    }
    Matrix step = slope;
    if (!cholesky(curvature.data(), count)) return infinity;
    cholesky_solve(curvature.data(), count, step.data());
    return value - 0.5 * dot(slope.data(), step.data(), count);
}

// Makes as many of these at once as together gain at least what the first alone would.
void Tableau::exchange(const std::vector<Ranked>& chosen, const Context& context) {
    std::vector<Index> leaving, entering;
    for (const Ranked& one : chosen) {
        leaving.push_back(one.leave);
        entering.push_back(one.enter);
    }
    Matrix rows = schur_rows(entering, context);
    std::size_t count = chosen.size();
    while (count > 1 && !(change({leaving.data(), count}, {entering.data(), count}, rows) <= chosen.front().change))
        count /= 2;
    rows.resize(count * at(d_));
    swap({leaving.data(), count}, {entering.data(), count}, std::move(rows), context);
}

std::vector<Ranked> Tableau::ranked(Index count, const Context& context) {
    const Index k = size();
    std::vector<double> s = s_, diagonal(at(k));
    for (Index i = 0; i < d_; ++i)
        if (never_[at(i)]) s[at(i)] = infinity;
    for (const Index j : features_) s[at(j)] = infinity;
    std::vector<unsigned char> fixed(at(k));
    for (Index p = 0; p < k; ++p) {
        diagonal[at(p)] = q_[at(p * k + p)];
        fixed[at(p)] = always_[at(features_[at(p)])];
    }
    const ExchangeModel model{t_.data(),     k,           d_, d_, diagonal.data(), w_.data(), g_.data(), s.data(),
                              floor_.data(), fixed.data()};
    return best_exchanges(model, count, -settings_.tolerance, context);
}

void Tableau::polish(const Context& context) {
    // F is a sum of squares: below the tolerance nothing is left to gain, and what seems so is rounding. Nor is there
    // where a round has not lowered it.
    double before = infinity;
    while (size() > 0 && size() < d_ && objective_ > settings_.tolerance && objective_ < before) {
        before = objective_;
        context.look();
        const auto batch =
            std::max<std::size_t>(1, static_cast<std::size_t>(settings_.batch * static_cast<double>(size())));
        std::vector<Ranked> chosen;
        std::vector<Index> seen_out, seen_in;
        for (const Ranked& one : ranked(ranked_per_exchange * static_cast<Index>(batch), context)) {
            const bool again = std::find(seen_out.begin(), seen_out.end(), one.leave) != seen_out.end() ||
                               std::find(seen_in.begin(), seen_in.end(), one.enter) != seen_in.end();
            if (again || chosen.size() == batch) continue;
            chosen.push_back(one);
            seen_out.push_back(one.leave);
            seen_in.push_back(one.enter);
        }
        if (chosen.empty()) return;
        exchange(chosen, context);
    }
}

void Tableau::grow(Index wanted, const Context& context) {
    while (size() < wanted) {
        context.look();
        std::vector<std::pair<double, Index>> gains;
        for (Index i = 0; i < d_; ++i)
            if (!closed_[at(i)] && s_[at(i)] > floor_[at(i)]) gains.emplace_back(-g_[at(i)] * g_[at(i)] / s_[at(i)], i);
        const auto count = std::min<std::size_t>(gains.size(), at(wanted - size()));
        if (count == 0) return;
        const auto last = gains.begin() + static_cast<std::ptrdiff_t>(count - 1);
        std::nth_element(gains.begin(), last, gains.end());
        // A fit that is exact but for one dimension is closed by any outsider: rounding alone tells their gains apart,
        // and must not decide. What is within the tolerance of the last to enter is a tie: the lowest index first.
        const double edge = last->first, near = std::min(2 * settings_.tolerance, -0.5 * edge);
        for (auto& gain : gains)
            if (std::abs(gain.first - edge) <= near) gain.first = edge;
        std::nth_element(gains.begin(), last, gains.end());
        std::vector<Index> entering;
        for (std::size_t c = 0; c < count; ++c) entering.push_back(gains[c].second);
        std::sort(entering.begin(), entering.end());
        enter(entering, context);
    }
}

void Tableau::shrink(Index wanted, const Context& context) {
    while (size() > wanted) {
        Index cheapest = 0;
        double least = infinity;
        for (Index p = 0; p < size(); ++p) {
            const double cost =
                always_[at(features_[at(p)])] ? infinity : w_[at(p)] * w_[at(p)] / q_[at(p * size() + p)];
            if (cost < least) least = cost, cheapest = p;
        }
        leave({&cheapest, 1}, context);
    }
}

}  // namespace paring
