// The moves of a pursuit on the tableau: grow, shrink, exchange. What a move does to the tableau is in tableau.cpp.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "paring/products.hpp"
#include "paring/tableau.hpp"
#include "small_matrix.hpp"

namespace paring {

namespace {

constexpr Index ranked_per_exchange = 4;
constexpr double rounding = 1e-6;  // of a bound
constexpr Index mostly = 3;        // a choice of more than one column in so many is not worth copying

}  // namespace

// dF of all these exchanges together, exactly; infinity where they would leave a singular problem.
double Tableau::change(std::span<const Index> positions, std::span<const Index> entering, const Moving& in) const {
    const auto count = static_cast<Index>(positions.size());
    const Matrix pivot = pivot_of(positions);
    if (pivot.empty()) return infinity;
    Matrix between(at(count * count)), curvature(at(count * count)), slope(positions.size()), lost(positions.size());
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b) {
            between[at(a * count + b)] = in.m[at(b * size() + positions[at(a)])];
            lost[at(a)] += pivot[at(a * count + b)] * w_[at(positions[at(b)])];
        }
    const Matrix pivoted = product(pivot, between, count, count, count);
    double value = 0;
    for (Index a = 0; a < count; ++a) {
        value += 0.5 * w_[at(positions[at(a)])] * lost[at(a)];
        slope[at(a)] = g_[at(entering[at(a)])];
        for (Index b = 0; b < count; ++b) {
            slope[at(a)] -= between[at(b * count + a)] * lost[at(b)];
            curvature[at(a * count + b)] = in.rows[at(a * d_ + entering[at(b)])];
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
    Moving in = moving(entering, leaving, context);
    std::size_t count = chosen.size();
    while (count > 1 && !(change({leaving.data(), count}, {entering.data(), count}, in) <= chosen.front().change))
        count /= 2;
    std::vector<Index> kept;
    for (const std::size_t first : {std::size_t{0}, chosen.size()})
        for (std::size_t c = 0; c < count; ++c) kept.push_back(static_cast<Index>(first + c));
    keep_rows(in.rows, d_, kept);
    in.m.resize(count * at(size()));
    swap({leaving.data(), count}, {entering.data(), count}, std::move(in), context);
}

// The best exchanges. With a_j = |w_j| / sqrt(Q_jj), and since T_ij^2 / Q_jj <= h_i - s_i for every j, one of j for i
// lowers F only if
//
//     a_j < reach_i = |g_i| / (sqrt(h_i) - sqrt(h_i - s_i))
//
// Where a support is nearly settled that leaves few pairs, and T is made for those alone.
std::vector<Ranked> Tableau::ranked(Index count, double below, const std::vector<double>& s,
                                    const Context& context) const {
    const Index k = size();
    std::vector<double> reach(at(d_)), share(at(k));
    for (Index i = 0; i < d_; ++i) {
        if (never_[at(i)]) continue;
        const double root = std::sqrt(diagonal_[at(i)]) + std::sqrt(std::max(diagonal_[at(i)] - s[at(i)], 0.0));
        reach[at(i)] = (1 + rounding) * std::abs(g_[at(i)]) * root / s[at(i)];
    }
    for (const Index j : features_) reach[at(j)] = 0;
    double least = infinity, farthest = 0;
    for (const double r : reach) farthest = std::max(farthest, r);
    for (Index p = 0; p < k; ++p) {
        share[at(p)] = std::abs(w_[at(p)]) / std::sqrt(q_[at(p * k + p)]);
        if (!always_[at(features_[at(p)])]) least = std::min(least, share[at(p)]);
    }
    std::vector<Index> inside, outside;
    for (Index p = 0; p < k; ++p)
        if (share[at(p)] < farthest && !always_[at(features_[at(p)])]) inside.push_back(p);
    for (Index i = 0; i < d_; ++i)
        if (reach[at(i)] > least) outside.push_back(i);
    return ranked_among(inside, outside, count, below, s, context);
}

std::vector<Ranked> Tableau::ranked_among(const std::vector<Index>& inside, std::vector<Index> outside, Index count,
                                          double below, const std::vector<double>& all_s,
                                          const Context& context) const {
    if (inside.empty() || outside.empty()) return {};
    const Index k = size(), members = static_cast<Index>(inside.size());
    Matrix s(at(d_), infinity), own, columns, diagonal;
    for (const Index i : outside) s[at(i)] = all_s[at(i)];
    const double* h = h_.data();
    if (const auto m = static_cast<Index>(outside.size()); mostly * m > d_) {  // H_S,: as it lies
        outside.resize(at(d_));
        std::iota(outside.begin(), outside.end(), Index{0});
    } else {
        columns.resize(at(k * m));
        for (Index p = 0; p < k; ++p)
            for (Index i = 0; i < m; ++i) columns[at(p * m + i)] = h_[at(p * d_ + outside[at(i)])];
        h = columns.data();
    }
    for (const Index p : inside) {
        own.insert(own.end(), q_.begin() + p * k, q_.begin() + (p + 1) * k);
        diagonal.push_back(q_[at(p * k + p)]);
    }
    const auto m = static_cast<Index>(outside.size());
    Matrix t(at(members * m));
    add_combinations(Dense<double>{h, k, m, m, 1}, own.data(), k, members, t.data(), m, context);
    const Matrix w = chosen(w_, inside), g = chosen(g_, outside), floor = chosen(floor_, outside);
    s = chosen(s, outside);
    auto ranked =
        best_exchanges({t.data(), members, m, m, diagonal.data(), w.data(), g.data(), s.data(), floor.data(), nullptr},
                       count, below, context);
    for (Ranked& one : ranked) {
        one.leave = inside[at(one.leave)];
        one.enter = outside[at(one.enter)];
    }
    return ranked;
}

bool Tableau::polish(const Context& context) {
    // Within the tolerance of the least F nothing is left to gain, and what seems so is rounding. Nor is there where a
    // round has not lowered it.
    double before = infinity;
    while (size() > 0 && size() < d_ && objective_ > settings_.least + settings_.tolerance && objective_ < before) {
        before = objective_;
        context.look();
        const auto batch =
            std::max<std::size_t>(1, static_cast<std::size_t>(settings_.batch * static_cast<double>(size())));
        std::vector<Ranked> chosen;
        std::vector<Index> seen_out, seen_in;
        for (const Ranked& one :
             ranked(ranked_per_exchange * static_cast<Index>(batch), -settings_.tolerance, s_, context)) {
            const bool again = std::find(seen_out.begin(), seen_out.end(), one.leave) != seen_out.end() ||
                               std::find(seen_in.begin(), seen_in.end(), one.enter) != seen_in.end();
            if (again || chosen.size() == batch) continue;
            chosen.push_back(one);
            seen_out.push_back(one.leave);
            seen_in.push_back(one.enter);
        }
        if (chosen.empty()) return true;
        exchange(chosen, context);
    }
    return size() == 0 || size() == d_ || objective_ <= settings_.tolerance;
}

// Of the outsiders whose rows of H are not kept, those of largest gain.
std::vector<Index> Tableau::likely(Index count) const {
    std::vector<std::pair<double, Index>> gains;
    for (Index i = 0; i < d_; ++i)
        if (!closed_[at(i)] && s_[at(i)] > floor_[at(i)] && !gram_.has(i))
            gains.emplace_back(-g_[at(i)] * g_[at(i)] / s_[at(i)], i);
    const auto wanted = std::min(gains.size(), at(count));
    std::partial_sort(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(wanted), gains.end());
    std::vector<Index> best;
    for (std::size_t c = 0; c < wanted; ++c) best.push_back(gains[c].second);
    return best;
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
