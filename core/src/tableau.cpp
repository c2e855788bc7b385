#include "paring/tableau.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "paring/kernels.hpp"
#include "paring/products.hpp"
#include "small_matrix.hpp"

namespace paring {

namespace {

constexpr double collinear = 1e-10;  // a Schur complement this small beside the column's own curvature is rounding

}  // namespace

Tableau::Tableau(std::vector<double> gradient, std::vector<double> diagonal, double objective,
                 std::vector<unsigned char> always, std::vector<unsigned char> never, GramRows gram,
                 TableauSettings settings)
    : d_(static_cast<Index>(gradient.size())),
      gram_(std::move(gram)),
      settings_(settings),
      always_(std::move(always)),
      never_(std::move(never)),
      closed_(never_),
      diagonal_(std::move(diagonal)),
      g_(std::move(gradient)),
      s_(diagonal_),
      objective_(objective) {
    floor_ = diagonal_;
    for (double& value : floor_) value = collinear * value + std::numeric_limits<double>::min();
}

// H_B,: - H_BS T: the rows of the Schur complement of S.
Tableau::Matrix Tableau::schur_rows(std::span<const Index> entering, const Context& context) {
    const auto count = static_cast<Index>(entering.size());
    Matrix rows(at(count * d_));
    std::vector<Index> fresh;
    for (const Index j : entering)
        if (!kept_.contains(j)) fresh.push_back(j);
    Matrix computed(fresh.size() * at(d_));
    if (!fresh.empty()) gram_(fresh, computed.data());
    Index next = 0;
    for (Index b = 0; b < count; ++b) {
        const Index j = entering[at(b)];
        const auto known = kept_.find(j);
        const double* row = known != kept_.end() ? known->second.data() : computed.data() + next++ * d_;
        std::copy_n(row, d_, rows.data() + b * d_);
        if (known == kept_.end() &&
            static_cast<double>(8 * d_) * static_cast<double>(kept_.size() + 1) < settings_.cache_bytes)
            kept_.emplace(j, Matrix(row, row + d_));
    }
    const Index k = size();
    if (k == 0) return rows;
    Matrix between(at(count * k));
    for (Index b = 0; b < count; ++b)
        for (Index p = 0; p < k; ++p) between[at(b * k + p)] = -rows[at(b * d_ + features_[at(p)])];
    add_combinations(Dense<double>{t_.data(), k, d_, d_, 1}, between.data(), k, count, rows.data(), d_, context);
    return rows;
}

// Drops those collinear with the support or with one another; `rows` then holds those that are left.
std::vector<Index> Tableau::clear(std::span<const Index> entering, Matrix& rows) {
    const auto count = static_cast<Index>(entering.size());
    Matrix rest(at(count * count));
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b) rest[at(a * count + b)] = rows[at(a * d_ + entering[at(b)])];
    std::vector<Index> left;
    for (Index b = 0; b < count; ++b) {
        const double own = rest[at(b * count + b)];
        if (!(own > floor_[at(entering[at(b)])])) {
            closed_[at(entering[at(b)])] = 1;
            continue;
        }
        if (const auto place = static_cast<Index>(left.size()); place < b)
            std::copy_n(rows.data() + b * d_, d_, rows.data() + place * d_);
        left.push_back(entering[at(b)]);
        for (Index a = b + 1; a < count; ++a)
            axpy(-rest[at(a * count + b)] / own, rest.data() + b * count + b + 1, rest.data() + a * count + b + 1,
                 count - b - 1);
    }
    rows.resize(left.size() * at(d_));
    return left;
}

// g, s and F once those enter; the inverse of their Schur block, their rows of T, their weights.
Tableau::PivotIn Tableau::pivot_in(std::span<const Index> entering, const Matrix& rows, const Context& context) {
    const auto count = static_cast<Index>(entering.size());
    PivotIn pivot{Matrix(at(count * count)), Matrix(rows.size()), Matrix(entering.size())};
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b)
            pivot.inverse[at(a * count + b)] =
                0.5 * (rows[at(a * d_ + entering[at(b)])] + rows[at(b * d_ + entering[at(a)])]);
    if (!invert(pivot.inverse, count)) throw std::runtime_error("tableau: the Schur block is not positive definite");
    add_combinations(Dense<double>{rows.data(), count, d_, d_, 1}, pivot.inverse.data(), count, count,
                     pivot.reduced.data(), d_, context);
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b)
            pivot.added[at(a)] -= pivot.inverse[at(a * count + b)] * g_[at(entering[at(b)])];
    for (Index a = 0; a < count; ++a) objective_ += 0.5 * g_[at(entering[at(a)])] * pivot.added[at(a)];
    for (Index a = 0; a < count; ++a) {
        const double *row = rows.data() + a * d_, *reduced = pivot.reduced.data() + a * d_;
        axpy(pivot.added[at(a)], row, g_.data(), d_);
        for (Index i = 0; i < d_; ++i) s_[at(i)] -= row[i] * reduced[i];
    }
    return pivot;
}

// g, s, w, Q and F once those rows leave; T then falls by column gone.
void Tableau::pivot_out(std::span<const Index> positions, Matrix& column, Matrix& gone, const Context& context) {
    const auto count = static_cast<Index>(positions.size());
    const Index k = size();
    const Matrix pivot = pivot_of(positions);
    Matrix own(at(k * count)), lost(positions.size());
    gone.resize(at(count * d_));
    for (Index a = 0; a < count; ++a) {
        std::copy_n(t_.data() + positions[at(a)] * d_, d_, gone.data() + a * d_);
        for (Index p = 0; p < k; ++p) own[at(p * count + a)] = q_[at(p * k + positions[at(a)])];
        for (Index b = 0; b < count; ++b) lost[at(a)] += pivot[at(a * count + b)] * w_[at(positions[at(b)])];
    }
    for (Index a = 0; a < count; ++a) objective_ += 0.5 * w_[at(positions[at(a)])] * lost[at(a)];
    Matrix reduced(at(count * d_));
    add_combinations(Dense<double>{gone.data(), count, d_, d_, 1}, pivot.data(), count, count, reduced.data(), d_,
                     context);
    for (Index a = 0; a < count; ++a) {
        const double *row = gone.data() + a * d_, *other = reduced.data() + a * d_;
        axpy(-lost[at(a)], row, g_.data(), d_);
        for (Index i = 0; i < d_; ++i) s_[at(i)] += row[i] * other[i];
    }
    for (Index p = 0; p < k; ++p)
        for (Index a = 0; a < count; ++a) w_[at(p)] -= own[at(p * count + a)] * lost[at(a)];
    column = product(own, pivot, k, count, count);
    const Matrix across = transposed(own, k, count);
    const Matrix negative = negated(column);
    for (Index p = 0; p < k; ++p)
        for (Index a = 0; a < count; ++a)
            axpy(negative[at(p * count + a)], across.data() + a * k, q_.data() + p * k, k);
}

// T -= u x, u with one row a member and `terms` columns.
void Tableau::subtract(const Matrix& u, Index terms, const Matrix& x, const Context& context) {
    add_combinations(Dense<double>{x.data(), terms, d_, d_, 1}, negated(u).data(), terms, size(), t_.data(), d_,
                     context);
}

void Tableau::enter(std::span<const Index> asked, const Context& context) {
    Matrix rows = schur_rows(asked, context);
    const std::vector<Index> entering = clear(asked, rows);
    if (entering.empty()) return;
    const auto count = static_cast<Index>(entering.size());
    const Index k = size(), total = k + count;
    const Matrix column = columns_of_t(entering);
    const PivotIn pivot = pivot_in(entering, rows, context);
    subtract(column, count, pivot.reduced, context);
    t_.insert(t_.end(), pivot.reduced.begin(), pivot.reduced.end());
    const Matrix cross = product(column, pivot.inverse, k, count, count), across = transposed(column, k, count);
    Matrix q(at(total * total));
    for (Index p = 0; p < k; ++p) {
        std::copy_n(q_.data() + p * k, k, q.data() + p * total);
        for (Index a = 0; a < count; ++a) {
            axpy(cross[at(p * count + a)], across.data() + a * k, q.data() + p * total, k);
            q[at(p * total + k + a)] = q[at((k + a) * total + p)] = -cross[at(p * count + a)];
            w_[at(p)] -= column[at(p * count + a)] * pivot.added[at(a)];
        }
    }
    for (Index a = 0; a < count; ++a)
        std::copy_n(pivot.inverse.data() + a * count, count, q.data() + (k + a) * total + k);
    q_ = std::move(q);
    w_.insert(w_.end(), pivot.added.begin(), pivot.added.end());
    features_.insert(features_.end(), entering.begin(), entering.end());
    settle();
}

void Tableau::leave(std::span<const Index> positions, const Context& context) {
    Matrix column, gone;
    pivot_out(positions, column, gone, context);
    subtract(column, static_cast<Index>(positions.size()), gone, context);
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
        std::copy_n(t_.data() + last * d_, d_, t_.data() + hole * d_);
        t_.resize(at(last * d_));
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
void Tableau::swap(std::span<const Index> positions, std::span<const Index> entering, Matrix rows,
                   const Context& context) {
    const auto count = static_cast<Index>(positions.size());
    const Index k = size();
    const Matrix pivot = pivot_of(positions);
    for (Index a = 0; a < count; ++a)  // the Schur rows without those who leave
        for (Index b = 0; b < count; ++b) {
            double weight = 0;
            for (Index c = 0; c < count; ++c)
                weight += t_[at(positions[at(c)] * d_ + entering[at(a)])] * pivot[at(c * count + b)];
            axpy(weight, t_.data() + positions[at(b)] * d_, rows.data() + a * d_, d_);
        }
    if (static_cast<Index>(clear(entering, rows).size()) < count) {
        if (count > 1) swap(positions.first(1), entering.first(1), schur_rows(entering.first(1), context), context);
        return;
    }
    Matrix column, gone;
    pivot_out(positions, column, gone, context);
    Matrix both(at(k * 2 * count)), between = columns_of_t(entering);
    for (Index p = 0; p < k; ++p)
        for (Index a = 0; a < count; ++a) {
            double& value = between[at(p * count + a)];
            for (Index b = 0; b < count; ++b) value -= column[at(p * count + b)] * gone[at(b * d_ + entering[at(a)])];
        }
    for (const Index position : positions) std::fill_n(between.data() + position * count, count, 0.0);
    for (Index p = 0; p < k; ++p) {
        std::copy_n(column.data() + p * count, count, both.data() + p * 2 * count);
        std::copy_n(between.data() + p * count, count, both.data() + (2 * p + 1) * count);
    }
    const PivotIn in = pivot_in(entering, rows, context);
    gone.insert(gone.end(), in.reduced.begin(), in.reduced.end());
    subtract(both, 2 * count, gone, context);
    const Matrix cross = product(between, in.inverse, k, count, count), across = transposed(between, k, count);
    for (Index p = 0; p < k; ++p)
        for (Index a = 0; a < count; ++a) {
            axpy(cross[at(p * count + a)], across.data() + a * k, q_.data() + p * k, k);
            w_[at(p)] -= between[at(p * count + a)] * in.added[at(a)];
        }
    for (Index a = 0; a < count; ++a) {
        const Index row = positions[at(a)];
        for (Index p = 0; p < k; ++p) q_[at(p * k + row)] = q_[at(row * k + p)] = -cross[at(p * count + a)];
    }
    for (Index a = 0; a < count; ++a) {
        const Index row = positions[at(a)];
        for (Index b = 0; b < count; ++b) q_[at(row * k + positions[at(b)])] = in.inverse[at(a * count + b)];
        std::copy_n(in.reduced.data() + a * d_, d_, t_.data() + row * d_);
        w_[at(row)] = in.added[at(a)];
        features_[at(row)] = entering[at(a)];
    }
    reopen();
    settle();
}

Tableau::Matrix Tableau::pivot_of(std::span<const Index> positions) const {
    const auto count = static_cast<Index>(positions.size());
    Matrix pivot(at(count * count));
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b)
            pivot[at(a * count + b)] = q_[at(positions[at(a)] * size() + positions[at(b)])];
    if (!invert(pivot, count)) throw std::runtime_error("tableau: the inverse Hessian is not positive definite");
    return pivot;
}

Tableau::Matrix Tableau::columns_of_t(std::span<const Index> features) const {
    Matrix out(at(size()) * features.size());
    for (Index p = 0; p < size(); ++p)
        for (std::size_t a = 0; a < features.size(); ++a)
            out[at(p) * features.size() + a] = t_[at(p * d_ + features[a])];
    return out;
}

// What is known exactly of the members: no gradient, no Schur complement.
void Tableau::settle() {
    for (const Index j : features_) g_[at(j)] = s_[at(j)] = 0;
    for (double& value : s_) value = std::max(value, 0.0);
}

// Who was collinear with the support may no longer be.
void Tableau::reopen() { closed_ = never_; }

Tableau::Saved Tableau::saved() const { return {features_, t_, q_, w_, g_, s_, closed_, objective_}; }

void Tableau::restore(const Saved& saved) {
    features_ = saved.features;
    t_ = saved.t;
    q_ = saved.q;
    w_ = saved.w;
    g_ = saved.g;
    s_ = saved.s;
    closed_ = saved.closed;
    objective_ = saved.objective;
}

}  // namespace paring
