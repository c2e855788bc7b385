// Would the support do better with one member replaced by one outsider?
//
// The exchange is made first on the quadratic model at the minimiser, and F evaluated there. F so far above `goal` that
// the model's own error could not bridge it refuses the exchange; otherwise Newton steps follow, with the inverse
// Hessian updated for the exchange, until F falls below `goal` or ceases to come nearer.
#pragma once

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
    const double* curvatures;      // k: diagonal of the Hessian
    const double *means, *others;  // k and m: means of the columns
    const double* c;               // n: the model's curvature of the loss, times v_i / n
};

class ExchangeTrial {
  public:
    ExchangeTrial(const Target& target, const Block& support, const Block& candidates, const TrialModel& model,
                  const Context& context);
    // The objective reached; `w` and `w_enter` then hold the weights, `b` the intercept.
    double operator()(const Ranked& exchange, double goal);
    std::vector<double> w;
    double w_enter = 0, b = 0;
    double model_error = 0;  // |F - model| at the model's point

  private:
    // To the minimiser of the model after the exchange, but for moves that change F by less than `negligible`: most
    // members hardly notice an exchange, and each costs a column. The objective there.
    double to_model_point(const Ranked& exchange, double negligible);
    // Column and diagonal of the Hessian for the entering candidate; A^- h and the Schur complement.
    bool prepare(const Ranked& exchange);
    double objective();
    // One full step along minus the updated inverse times the gradient.
    void step(const Ranked& exchange);

    const Target& target_;
    const Block &support_, &candidates_;
    const TrialModel& model_;
    const Context& context_;
    Index k_, size_;
    double schur_ = 0;
    std::vector<double> slope_, z_, h_, t_, gradient_, direction_;
};

// Exchanges that name no outsider (enter = -1) are departures alone, at the model's point.
// What F came to in each of these exchanges, best modelled first, and the point of the best (ties: the first); -1 where
// there is none. Once the model puts the rest so far above `goal` that three times its largest error among those tried
// would not bridge it, they are refused untried (infinity).
struct TrialResult {
    std::vector<double> reached;
    Index best = -1;
    std::vector<double> w;
    double w_enter = 0, b = 0;
};
TrialResult try_all(const Target& target, const Block& support, const Block& candidates, const TrialModel& model,
                    const std::vector<Ranked>& exchanges, double goal, const Context& context);

}  // namespace paring
