#include "paring/tableau.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "paring/kernels.hpp"
#include "paring/products.hpp"
#include "small_matrix.hpp"

namespace paring {

Tableau::Tableau(std::vector<double> gradient, std::vector<double> diagonal, double objective,
                 std::vector<unsigned char> always, std::vector<unsigned char> never, GramRows::Source gram,
                 TableauSettings settings)
    : d_(static_cast<Index>(gradient.size())),
      gram_(d_, std::move(gram), settings.cache_bytes, settings.at_once),
      settings_(settings),
      always_(std::move(always)),
      never_(std::move(never)),
      closed_(never_),
      diagonal_(std::move(diagonal)),
      g_(std::move(gradient)),
      s_(diagonal_),
      objective_(objective) {
    first_gradient_ = g_;
    first_objective_ = objective_;
    floor_ = diagonal_;
    for (double& value : floor_) value = settings_.resolution * value + std::numeric_limits<double>::min();
}

// The rows of H for these; where some must be made, others with them that are likely to be next: of largest gain.
void Tableau::fetch(std::span<const Index> features) {
    const bool kept = std::all_of(features.begin(), features.end(), [&](Index j) { return gram_.has(j); });
    gram_.make(features, kept || gram_.at_once() == 1 ? std::vector<Index>{} : likely(2 * gram_.at_once()));
}

// What those who enter and those who leave need: M = H_BS Q, and the rows H_B,: - M H_S,: and Q_P: H_S,:.
Tableau::Moving Tableau::moving(std::span<const Index> entering, std::span<const Index> leaving,
                                const Context& context) {
    fetch(entering);
    const Index k = size(), count = static_cast<Index>(entering.size());
    Moving moving{Matrix(at(count * k)), Matrix((entering.size() + leaving.size()) * at(d_))};
    Matrix between(at(count * k));
    for (Index a = 0; a < count; ++a) {
        std::copy_n(gram_[entering[at(a)]], d_, moving.rows.data() + a * d_);
        for (Index p = 0; p < k; ++p) between[at(a * k + p)] = h_[at(p * d_ + entering[at(a)])];
    }
    add_product(between, count, q_.data(), k, k, moving.m.data(), context);
    Matrix of_members = negated(moving.m);
    for (const Index p : leaving) of_members.insert(of_members.end(), q_.begin() + p * k, q_.begin() + (p + 1) * k);
    add_product(of_members, count + static_cast<Index>(leaving.size()), h_.data(), k, d_, moving.rows.data(), context);
    return moving;
}

// Which of these are not collinear with the support, nor with those before them, by their Schur rows. The others are
// closed. Those left have a Schur block that factors.
std::vector<Index> Tableau::clear(std::span<const Index> entering, const Matrix& rows) {
    const auto count = static_cast<Index>(entering.size());
    Matrix rest = block_of(rows.data(), entering);
    std::vector<Index> left;
    for (Index b = 0; b < count; ++b) {
        const double own = rest[at(b * count + b)];
        if (!(own > floor_[at(entering[at(b)])])) {
            closed_[at(entering[at(b)])] = 1;
            continue;
        }
        left.push_back(b);
        for (Index a = b + 1; a < count; ++a)
            axpy(-rest[at(a * count + b)] / own, rest.data() + b * count + b + 1, rest.data() + a * count + b + 1,
                 count - b - 1);
    }
    while (!left.empty()) {
        Matrix factor;
        const Matrix whole = block_of(rows.data(), entering);
        for (const Index a : left)
            for (const Index b : left) factor.push_back(whole[at(a * count + b)]);
        if (invert(factor, static_cast<Index>(left.size()))) break;
        closed_[at(entering[at(left.back())])] = 1;
        left.pop_back();
    }
    return left;
}

// The columns `features` of rows that are theirs, made symmetric.
Tableau::Matrix Tableau::block_of(const double* rows, std::span<const Index> features) const {
    const auto count = static_cast<Index>(features.size());
    Matrix block(at(count * count));
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b)
            block[at(a * count + b)] = 0.5 * (rows[a * d_ + features[at(b)]] + rows[b * d_ + features[at(a)]]);
    return block;
}

// g, s and F once those enter, by their Schur rows; the inverse of their Schur block, their weights.
Tableau::PivotIn Tableau::pivot_in(std::span<const Index> entering, const double* rows, const Context& context) {
    const auto count = static_cast<Index>(entering.size());
    PivotIn pivot{block_of(rows, entering), Matrix(entering.size())};
    if (!invert(pivot.inverse, count)) throw std::logic_error("tableau: those entering were not cleared");
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b)
            pivot.added[at(a)] -= pivot.inverse[at(a * count + b)] * g_[at(entering[at(b)])];
    for (Index a = 0; a < count; ++a) objective_ += 0.5 * g_[at(entering[at(a)])] * pivot.added[at(a)];
    move_gradient(pivot.inverse, pivot.added, rows, -1, context);
    return pivot;
}

// g, s, w, Q and F once those leave, by their rows of Q H_S,:; returns what Q loses by: Q_:P Q_PP^-1.
Tableau::Matrix Tableau::pivot_out(std::span<const Index> positions, const double* gone, const Context& context) {
    const auto count = static_cast<Index>(positions.size());
    const Index k = size();
    const Matrix pivot = pivot_of(positions);
    Matrix own(at(count * k)), lost(positions.size());
    for (Index a = 0; a < count; ++a) {
        std::copy_n(q_.data() + positions[at(a)] * k, k, own.data() + a * k);
        for (Index b = 0; b < count; ++b) lost[at(a)] += pivot[at(a * count + b)] * w_[at(positions[at(b)])];
    }
    for (Index a = 0; a < count; ++a) objective_ += 0.5 * w_[at(positions[at(a)])] * lost[at(a)];
    for (Index a = 0; a < count; ++a) axpy(-lost[at(a)], own.data() + a * k, w_.data(), k);
    move_gradient(pivot, negated(lost), gone, 1, context);
    Matrix column = product(transposed(own, count, k), pivot, k, count, count);
    add_product(negated(column), k, own.data(), count, k, q_.data(), context);
    return column;
}

// g += rows' by,  s += sign diag(rows' inverse rows)
void Tableau::move_gradient(const Matrix& inverse, const Matrix& by, const double* rows, double sign,
                            const Context& context) {
    const auto count = static_cast<Index>(by.size());
    add_product(by, 1, rows, count, d_, g_.data(), context);
    Matrix reduced(at(count * d_));
    add_product(inverse, count, rows, count, d_, reduced.data(), context);
    for (Index a = 0; a < count; ++a) {
        const double *row = rows + a * d_, *other = reduced.data() + a * d_;
        for (Index i = 0; i < d_; ++i) s_[at(i)] += sign * row[i] * other[i];
    }
}

// Q and w of the members there are, once these enter with M = H_BS Q: Q += M' P M, and -M'P beside it.
Tableau::Matrix Tableau::widen(const Matrix& m, const PivotIn& in, const Context& context) {
    const auto count = static_cast<Index>(in.added.size());
    const Index k = size();
    Matrix cross = product(transposed(m, count, k), in.inverse, k, count, count);
    add_product(cross, k, m.data(), count, k, q_.data(), context);
    for (Index a = 0; a < count; ++a) axpy(-in.added[at(a)], m.data() + a * k, w_.data(), k);
    return cross;
}

void Tableau::enter(std::span<const Index> asked, const Context& context) {
    Moving in = moving(asked, {}, context);
    const std::vector<Index> kept = clear(asked, in.rows);
    if (kept.empty()) return;
    const Index k = size(), count = static_cast<Index>(kept.size()), total = k + count;
    keep_rows(in.rows, d_, kept);
    keep_rows(in.m, k, kept);
    std::vector<Index> entering;
    for (const Index a : kept) entering.push_back(asked[at(a)]);
    const PivotIn pivot = pivot_in(entering, in.rows.data(), context);
    const Matrix cross = widen(in.m, pivot, context);
    Matrix q(at(total * total));
    for (Index p = 0; p < k; ++p) {
        std::copy_n(q_.data() + p * k, k, q.data() + p * total);
        for (Index a = 0; a < count; ++a)
            q[at(p * total + k + a)] = q[at((k + a) * total + p)] = -cross[at(p * count + a)];
    }
    for (Index a = 0; a < count; ++a) {
        std::copy_n(pivot.inverse.data() + a * count, count, q.data() + (k + a) * total + k);
        h_.insert(h_.end(), gram_[entering[at(a)]], gram_[entering[at(a)]] + d_);
    }
    q_ = std::move(q);
    w_.insert(w_.end(), pivot.added.begin(), pivot.added.end());
    features_.insert(features_.end(), entering.begin(), entering.end());
    settle();
}

void Tableau::leave(std::span<const Index> positions, const Context& context) {
    if (pivot_of(positions).empty()) return refresh(context);
    pivot_out(positions, moving({}, positions, context).rows.data(), context);
    drop(positions);
    reopen();
    settle();
}

// Takes rows out, last first: the last row moves into each hole.
void Tableau::drop(std::span<const Index> positions) {
    std::vector<Index> holes(positions.begin(), positions.end());
    std::sort(holes.rbegin(), holes.rend());
    for (const Index hole : holes) {
        const Index k = size(), last = k - 1;
        std::copy_n(h_.data() + last * d_, d_, h_.data() + hole * d_);
        h_.resize(at(last * d_));
        Matrix q(at(last * last));
        for (Index p = 0; p < last; ++p)
            for (Index r = 0; r < last; ++r)
                q[at(p * last + r)] = q_[at((p == hole ? last : p) * k + (r == hole ? last : r))];
        q_ = std::move(q);
        w_[at(hole)] = w_.back();
        features_[at(hole)] = features_.back();
        w_.pop_back();
        features_.pop_back();
    }
}

// Leave and enter in one update: the newcomers take the rows of those who go.
void Tableau::swap(std::span<const Index> positions, std::span<const Index> entering, Moving in,
                   const Context& context) {
    const auto count = static_cast<Index>(positions.size());
    const Index k = size();
    const double* gone = in.rows.data() + count * d_;
    const Matrix pivot = pivot_of(positions);
    if (pivot.empty()) return refresh(context);
    Matrix shared(at(count * count));  // T_PB'
    for (Index a = 0; a < count; ++a)
        for (Index c = 0; c < count; ++c) shared[at(a * count + c)] = in.m[at(a * k + positions[at(c)])];
    // the Schur rows without those who leave
    add_product(product(shared, pivot, count, count, count), count, gone, count, d_, in.rows.data(), context);
    if (static_cast<Index>(clear(entering, in.rows).size()) < count) {
        const auto [leave, enter] = std::pair(positions.first(1), entering.first(1));
        if (count > 1) swap(leave, enter, moving(enter, leave, context), context);
        return;
    }
    const Matrix column = pivot_out(positions, gone, context);
    add_product(negated(shared), count, transposed(column, k, count).data(), count, k, in.m.data(), context);
    for (Index a = 0; a < count; ++a)
        for (const Index p : positions) in.m[at(a * k + p)] = 0;
    const PivotIn pivoted = pivot_in(entering, in.rows.data(), context);
    const Matrix cross = widen(in.m, pivoted, context);
    for (Index a = 0; a < count; ++a)
        for (Index p = 0; p < k; ++p)
            q_[at(p * k + positions[at(a)])] = q_[at(positions[at(a)] * k + p)] = -cross[at(p * count + a)];
    for (Index a = 0; a < count; ++a) {
        const Index row = positions[at(a)];
        for (Index b = 0; b < count; ++b) q_[at(row * k + positions[at(b)])] = pivoted.inverse[at(a * count + b)];
        std::copy_n(gram_[entering[at(a)]], d_, h_.data() + row * d_);
        w_[at(row)] = pivoted.added[at(a)];
        features_[at(row)] = entering[at(a)];
    }
    reopen();
    settle();
}

// Q_PP^-1; empty where rounding has left Q_PP not positive definite.
Tableau::Matrix Tableau::pivot_of(std::span<const Index> positions) const {
    const auto count = static_cast<Index>(positions.size());
    Matrix pivot(at(count * count));
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b)
            pivot[at(a * count + b)] = q_[at(positions[at(a)] * size() + positions[at(b)])];
    if (!invert(pivot, count)) pivot.clear();
    return pivot;
}

// What is known exactly of the members: no gradient, no Schur complement.
void Tableau::settle() {
    for (const Index j : features_) g_[at(j)] = s_[at(j)] = 0;
    for (double& value : s_) value = std::max(value, 0.0);
}

// Who was collinear with the support may no longer be.
void Tableau::reopen() { closed_ = never_; }

Tableau::Saved Tableau::saved() const { return {features_, q_, w_, g_, s_, closed_, objective_}; }

void Tableau::restore(const Saved& saved) {
    std::vector<Index> moved;
    for (std::size_t p = 0; p < saved.features.size(); ++p)
        if (p >= features_.size() || features_[p] != saved.features[p]) moved.push_back(static_cast<Index>(p));
    std::vector<Index> returning;
    for (const Index p : moved) returning.push_back(saved.features[at(p)]);
    gram_.make(returning, {});
    h_.resize(saved.features.size() * at(d_));
    for (std::size_t a = 0; a < moved.size(); ++a) std::copy_n(gram_[returning[a]], d_, h_.data() + moved[a] * d_);
    features_ = saved.features;
    q_ = saved.q;
    w_ = saved.w;
    g_ = saved.g;
    s_ = saved.s;
    closed_ = saved.closed;
    objective_ = saved.objective;
}

}  // namespace paring
