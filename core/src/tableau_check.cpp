// How far the tableau's numbers may be trusted: anew from the rows of H, and what rounding may hide.
#include <algorithm>
#include <cmath>

#include "paring/tableau.hpp"
#include "small_matrix.hpp"

namespace paring {

namespace {

constexpr double give_way = 0.1;    // of the floor over which features enter: below, a member is spanned by the others
constexpr double no_drift = 1e-10;  // of Q: moves that have changed it by less have left s as it should be
constexpr Index members_at_once = 64;

// How much Q and its former self differ, each entry beside the roots of its diagonals.
double drift(const std::vector<double>& q, const std::vector<double>& former, Index k) {
    double most = 0;
    for (Index a = 0; a < k; ++a)
        for (Index b = 0; b <= a; ++b) {
            const double scale = std::sqrt(q[at(a * k + a)] * q[at(b * k + b)]);
            most = std::max(most, std::abs(q[at(a * k + b)] - former[at(a * k + b)]) / scale);
        }
    return std::isfinite(most) ? most : infinity;
}

// The largest of h_j Q_jj; 1 / it is what of a column the others do not span.
double inflated(const std::vector<double>& q, const std::vector<double>& h) {
    const auto k = static_cast<Index>(std::sqrt(static_cast<double>(q.size())) + 0.5);
    double most = 0;
    for (Index p = 0; p < k; ++p) most = std::max(most, q[at(p * k + p)] * h[at(p * k + p)]);
    return std::isfinite(most) ? most : infinity;
}

}  // namespace

// Positions of members that those before them span; where none is, of the last.
std::vector<Index> Tableau::spanned() const {
    const Index k = size();
    Matrix rest = block_of(h_.data(), features_);
    std::vector<Index> found;
    for (Index b = 0; b < k; ++b) {
        const double own = rest[at(b * k + b)];
        if (!(own > give_way * floor_[at(features_[at(b)])])) {
            found.push_back(b);
            continue;
        }
        for (Index a = b + 1; a < k; ++a)
            axpy(-rest[at(a * k + b)] / own, rest.data() + b * k + b + 1, rest.data() + a * k + b + 1, k - b - 1);
    }
    return found.empty() ? std::vector<Index>{k - 1} : found;
}

void Tableau::refresh(const Context& context) {
    const Index before = size();
    Matrix h = block_of(h_.data(), features_), q = h;
    while (size() > 0 && !(invert(q, size()) && inflated(q, h) * give_way * settings_.resolution < 1)) {
        drop(spanned());
        reopen();
        q = h = block_of(h_.data(), features_);
    }
    const Index k = size();
    const bool drifted = k < before || drift(q, q_, k) > no_drift;
    q_ = std::move(q);
    Matrix first(at(k)), slope(at(k));
    for (Index p = 0; p < k; ++p) first[at(p)] = first_gradient_[at(features_[at(p)])];
    std::fill(w_.begin(), w_.end(), 0.0);
    for (int round = 0; round < 2; ++round) {  // the second time for what the inverse has lost
        slope = first;
        add_product(w_, 1, h.data(), k, k, slope.data(), context);
        add_product(negated(slope), 1, q_.data(), k, k, w_.data(), context);
    }
    slope = first;
    add_product(w_, 1, h.data(), k, k, slope.data(), context);
    objective_ = first_objective_ + 0.5 * (dot(first.data(), w_.data(), k) + dot(slope.data(), w_.data(), k));
    g_ = first_gradient_;
    add_product(w_, 1, h_.data(), k, d_, g_.data(), context);
    if (drifted) recompute_schur(context);
    settle();
}

// s = diag(H) - diag(H_:S Q H_S,:)
void Tableau::recompute_schur(const Context& context) {
    const Index k = size();
    s_ = diagonal_;
    for (Index first = 0; first < k; first += members_at_once) {
        const Index count = std::min(members_at_once, k - first);
        const Matrix own(q_.begin() + first * k, q_.begin() + (first + count) * k);
        Matrix t(at(count * d_));
        add_product(own, count, h_.data(), k, d_, t.data(), context);
        for (Index a = 0; a < count; ++a) {
            const double *row = t.data() + a * d_, *line = h_.data() + (first + a) * d_;
            for (Index i = 0; i < d_; ++i) s_[at(i)] -= row[i] * line[i];
        }
    }
}

std::vector<Index> Tableau::doubtful(const std::vector<double>& rounding, double hidden, Index most,
                                     const Context& context) const {
    std::vector<Index> found;
    Matrix s = s_;
    for (const Index j : features_) s[at(j)] = infinity;
    for (Index i = 0; i < d_; ++i) {
        if (never_[at(i)] != 0 || s[at(i)] == infinity) continue;
        if (s[at(i)] > std::max(floor_[at(i)], 2 * rounding[at(i)])) {
            s[at(i)] -= rounding[at(i)];
        } else {
            s[at(i)] = infinity;
            found.push_back(i);
        }
    }
    for (const Ranked& one : ranked(most, -hidden, s, context)) found.push_back(one.enter);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

std::vector<double> Tableau::inflation() const {
    const Index k = size();
    Matrix out;
    for (Index p = 0; p < k; ++p) out.push_back(q_[at(p * k + p)] * diagonal_[at(features_[at(p)])]);
    return out;
}

std::vector<double> Tableau::regressions(std::span<const Index> features, const Context& context) const {
    const Index k = size(), count = static_cast<Index>(features.size());
    Matrix between(at(count * k)), out(at(count * k));
    for (Index a = 0; a < count; ++a)
        for (Index p = 0; p < k; ++p) between[at(a * k + p)] = h_[at(p * d_ + features[at(a)])];
    add_product(between, count, q_.data(), k, k, out.data(), context);
    return out;
}

}  // namespace paring
