// Would the support do better with one member replaced by one outsider?
//
// The exchange is made first on the quadratic model at the minimiser, and F evaluated there. F so far above `goal` that
// the model's own error could not bridge it refuses the exchange; otherwise Newton steps follow, with the inverse
// Hessian updated for the exchange, until F falls below `goal` or a step promises too little to reach it.
#pragma once

#include <span>
#include <vector>

#include "paring/exchanges.hpp"
#include "paring/newton.hpp"

namespace paring {

// The quadratic model at the minimiser (w, b, z) on the support, k columns, for m candidates. Curvature-weighted means
// are 0 without an intercept.
struct TrialModel {
    const double *w, *z;
    double b, objective;
    const double* inverse;         // of the Hessian in (w[, b]), (k [+1])^2
    const double *t, *schur, *g;   // m x k: Q H_S,i;  m: Schur complements;  m: gradients
    const double *means, *others;  // k and m: means of the columns
    const double* c;               // n: the model's curvature of the loss, times v_i / n
};

// A point after an exchange: weights (0 for the member that left), intercept, F.
struct TrialPoint {
    std::vector<double> w;
    double w_enter = 0, b = 0, objective = infinity;
};

class ExchangeTrial {
  public:
    ExchangeTrial(const Target& target, const Block& support, const Block& candidates, const TrialModel& model,
                  const Context& context);
    // To the model's minimisers after these exchanges, several at a time: the support is read once for all.
    void begin(std::span<const Ranked> exchanges);
    // How far F there is from what the model says.
    double model_error(std::size_t e) const;
    // The point where the steps end.
    const TrialPoint& finish(std::size_t e, double goal);

  private:
    void to_model_point(const Ranked& exchange, TrialPoint& point, double* move, double* z) const;
    // Column and diagonal of the Hessian for the entering candidate; A^- h and the Schur complement.
    bool prepare(const Ranked& exchange);
    double objective(const TrialPoint& point, const double* z) const;
    // Minus the updated inverse times the gradient, in direction_ and e_; what the quadratic gains by that step.
    double direction(const Ranked& exchange, const TrialPoint& point, const double* z);
    void step(const Ranked& exchange, TrialPoint& point, double* z);
    double* scores(std::size_t e) { return z_.data() + static_cast<Index>(e) * target_.n; }

    const Target& target_;
    const Block &support_, &candidates_;
    const TrialModel& model_;
    const Context& context_;
    Index k_, size_;
    std::span<const Ranked> exchanges_;
    std::vector<TrialPoint> points_;
    double schur_ = 0, e_ = 0;
    std::vector<double> slope_, z_, h_, t_, gradient_, direction_;
};

// Exchanges that name no outsider (enter = -1) are departures alone, at the model's point.
// What F came to in each of these exchanges, best modelled first, and the point of the best (ties: the first); -1 where
// there is none. Once the model puts the rest so far above `goal` that three times its largest error among those tried
// would not bridge it, they are refused untried (infinity).
struct TrialResult {
    std::vector<double> reached;
    Index best = -1;
    TrialPoint point;
};
TrialResult try_all(const Target& target, const Block& support, const Block& candidates, const TrialModel& model,
                    const std::vector<Ranked>& exchanges, double goal, const Context& context);

}  // namespace paring
