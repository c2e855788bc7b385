// Losses of a score z and a target y. The scalar formulae are written once, in formulae.hpp; batches are derived.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paring/types.hpp"

namespace paring {

// One virtual call per batch. `outputs` scores belong to a row (1, or the number of classes); arrays are
// row-major and a null output is not computed.
class Loss {
  public:
    virtual ~Loss() = default;

    virtual Index outputs() const { return 1; }
    // Of several outputs: a target is one of 0 .. kinds() - 1.
    virtual Index kinds() const { return outputs(); }
    // Whether the curvature is 1 everywhere: a quadratic model of the loss is then the loss.
    virtual bool is_quadratic() const { return false; }
    // The largest curvature; infinity where there is none.
    virtual double curvature_bound() const = 0;
    virtual void evaluate(const double* z, const double* y, Index n, double* value, double* slope,
                          double* curvature) const = 0;
    // The least c with loss(u) <= loss(z) + slope (u - z) + c (u - z)^2 / 2 for every u; the largest curvature where
    // that is as good (logistic, multinomial); the batch's largest where there is none (poisson).
    virtual void majorant(const double* z, const double* y, Index n, double* out) const = 0;
    // Whether its curvature comes in pieces: where it is 0, F still bends over a longer move (huber, hinges).
    virtual bool in_pieces() const { return false; }
    // sum_i v_i loss(z_i, y_i): no array between.
    virtual double total(const double* z, const double* y, const double* v, Index n) const = 0;
    // loss*(a, y), infinity outside its domain.
    virtual void conjugate(const double* a, const double* y, Index n, double* out) const = 0;
    // argmin_a step loss*(a, y) + (a - u)^2 / 2, which lies in the domain (one output; not poisson).
    virtual void prox_conjugate(const double* u, const double* y, double step, Index n, double* out) const = 0;
    // The domain of the conjugate for target y: a in [lower, upper] (one output).
    virtual void domain(const double* y, Index n, double* lower, double* upper) const = 0;
};

// The curvature for a model of F at scores z: the loss's own; of a loss in pieces its mean over the moves z +- t, where
// t is what a feature would move the scores by whose correlation with the slopes is `typical_correlation`. Cost: O(n),
// times the logarithm of how much longer than the middle piece the moves are.
void model_curvature(const Loss& loss, const double* z, const double* y, const double* v, Index n, double* out);

// squared logistic hinge squared_hinge smoothed_hinge huber poisson multinomial; `parameter` is gamma, delta
// or the number of classes. Throws std::invalid_argument for another name.
std::unique_ptr<Loss> make_loss(const std::string& name, double parameter);

// The squared loss of several targets a row: y is the number of a row of `table` (row-major).
std::unique_ptr<Loss> make_squared_rows(std::vector<double> table, Index outputs);

}  // namespace paring
