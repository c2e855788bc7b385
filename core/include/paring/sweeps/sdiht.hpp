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

namespace dual_step {

struct Scored {
    double z, squares;  // x.w, and |x|^2 on the support of w
};

template <class Row>
Scored scored(const Row& x, const Largest& acc) {
    Scored sum{0, 0};
    for (Index p = 0; p < x.size; ++p) {
        const double weight = acc.kept(x.column(p)), value = x.value(p);
        sum.z += value * weight;
        sum.squares += weight != 0 ? value * value : 0.0;
    }
    return sum;
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

// `a` and `acc` are changed, and `w` written: H_k(acc).
template <class View>
void sweep_sdiht(const View& rows, const DualBlocks& data, const Choice& choice, double* a, double* acc, double* w,
                 const StopToken& stop) {
    Largest top(choice, acc);
    dual_step::Step step(data, a);
    for (std::size_t t = 0; t + 1 < data.starts.size() && !stop.requested(); ++t) {
        const auto from = static_cast<std::size_t>(data.starts[t]), to = static_cast<std::size_t>(data.starts[t + 1]);
        const auto block = data.order.subspan(from, to - from);
        step.begin(block);
        for (std::size_t r = 0; r < block.size(); ++r) {
            if (to + r < data.order.size()) prefetch_row(rows, data.order[to + r]);
            step.add(block[r], dual_step::scored(row_of(rows, block[r]), top));
        }
        const auto& moved = step.moved(data.steps[t]);
        for (std::size_t r = 0; r < block.size(); ++r) {
            const Index i = block[r];
            const double factor = -data.v[i] * (moved[r] - a[i]) / data.ridge_n;
            a[i] = moved[r];
            if (factor == 0) continue;
            const auto x = row_of(rows, i);
            for (Index p = 0; p < x.size; ++p) top.add(x.column(p), factor * x.value(p));
        }
        top.settle();
    }
    for (Index j = 0; j < choice.d; ++j) acc[j] = top.value(j), w[j] = top.kept(j);
}

}  // namespace paring
