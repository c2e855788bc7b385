// Blocks of rows of the dual of an exact-k problem (stochastic dual iterative hard thresholding).
//
//     z_i = x_i.w,    a_i <- prox_{s loss*}(a_i + s (z_i - t)),    acc -= (1/(ridge n)) sum_B v_i da_i x_i,
//     w <- H_k(acc)
//
// for the rows i of a block B, with t = 0, or with an intercept the t that keeps sum_B v_i a_i. s is the block's step,
// but no more than `reach` times the closed form's, ridge n / sum_B v_i |x_i on the support|^2: that maximises D over
// a single row while the support stays, and is not too long for any block. Source: Yuan, Liu, Wang, Liu & Metaxas 2020,
// algorithm 2.
#pragma once

#include "paring/balance.hpp"
#include "paring/parallel.hpp"
#include "paring/sweeps/largest.hpp"
#include "paring/sweeps/row.hpp"

namespace paring {

struct DualBlocks {
    const Loss* loss;
    const double *y, *v;
    double ridge_n;                 // ridge n
    bool intercept;                 // keep sum v a in each block
    std::span<const Index> order;   // the rows of all blocks, one block after the other
    std::span<const Index> starts;  // where each begins, and the end
    std::span<const double> steps;  // one a block
    double reach;                   // infinity: the steps as they are
};

struct DualIterate {
    double *a, *acc, *w;  // w: H_k(acc), once the sweep has begun
};

namespace dual_step {

struct Scored {
    double z, squares;  // x.w, and |x|^2 on the support of w
};

template <class Row>
Scored scored(const Row& x, const double* w) {
    Scored sum{0, 0};
    for (Index p = 0; p < x.size; ++p) {
        const double weight = w[x.column(p)], value = x.value(p);
        sum.z += value * weight;
        sum.squares += weight != 0 ? value * value : 0.0;
    }
    return sum;
}

template <class Row>
void add(double factor, const Row& x, double* acc) {
    if constexpr (Row::every)
        axpy(factor, x.values, acc, x.size);
    else
        scatter_axpy(factor, x.values, x.indices, x.size, acc);
}

// Each column that a block touches, dense ones once.
template <class View, class F>
void for_touched(const View& rows, std::span<const Index> block, F&& f) {
    for (const Index i : block) {
        const auto x = row_of(rows, i);
        for (Index p = 0; p < x.size; ++p) f(x.column(p));
        if constexpr (decltype(x)::every) return;
    }
}

// The block's new a.
class Step {
  public:
    Step(const DualBlocks& data, const double* a) : data_(data), a_(a) {}

    void begin(std::span<const Index> block) {
        block_ = block;
        squares_ = 0;
        for (auto* list : {&u_, &y_, &v_, &moved_}) list->clear();
    }
    void add(Index i, const Scored& score) {
        u_.push_back(score.z);
        y_.push_back(data_.y[i]);
        v_.push_back(data_.v[i]);
        squares_ += data_.v[i] * score.squares;
    }
    const std::vector<double>& moved(double longest) {
        const double step = std::min(longest, data_.reach * (data_.ridge_n / squares_));
        double total = 0;
        for (std::size_t r = 0; r < block_.size(); ++r) {
            const double a = a_[block_[r]];
            u_[r] = a + step * u_[r];
            total += v_[r] * a;
        }
        moved_.resize(block_.size());
        if (data_.intercept)
            balanced_prox(*data_.loss, u_, y_.data(), v_.data(), step, total, moved_.data());
        else
            data_.loss->prox_conjugate(u_.data(), y_.data(), step, static_cast<Index>(u_.size()), moved_.data());
        return moved_;
    }

  private:
    const DualBlocks& data_;
    const double* a_;
    std::span<const Index> block_;
    double squares_ = 0;
    std::vector<double> u_, y_, v_, moved_;
};

}  // namespace dual_step

template <class View>
void sweep_sdiht(const View& rows, const DualBlocks& data, const Choice& choice, DualIterate at,
                 const StopToken& stop) {
    Largest top(choice, at.acc);
    for (Index j = 0; j < choice.d; ++j) at.w[j] = top.has(j) ? at.acc[j] : 0.0;
    dual_step::Step step(data, at.a);
    for (std::size_t t = 0; t + 1 < data.starts.size(); ++t) {
        if (stop.requested()) return;
        const auto from = static_cast<std::size_t>(data.starts[t]), to = static_cast<std::size_t>(data.starts[t + 1]);
        const auto block = data.order.subspan(from, to - from);
        step.begin(block);
        for (std::size_t r = 0; r < block.size(); ++r) {
            if (to + r < data.order.size()) prefetch_row(rows, data.order[to + r]);
            step.add(block[r], dual_step::scored(row_of(rows, block[r]), at.w));
        }
        const auto& moved = step.moved(data.steps[t]);
        for (std::size_t r = 0; r < block.size(); ++r) {
            const Index i = block[r];
            const double change = moved[r] - at.a[i];
            at.a[i] = moved[r];
            if (change != 0) dual_step::add(-data.v[i] * change / data.ridge_n, row_of(rows, i), at.acc);
        }
        dual_step::for_touched(rows, block, [&](Index j) {
            top.changed(j);
            if (top.has(j)) at.w[j] = at.acc[j];
        });
        top.settle([&](Index j) { at.w[j] = at.acc[j]; }, [&](Index j) { at.w[j] = 0; });
    }
}

}  // namespace paring
