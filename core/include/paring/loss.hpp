// Losses of a score z and a target y. The scalar formulae are written once, in loss.cpp; batches are derived.
#pragma once

#include <memory>
#include <string>

#include "paring/types.hpp"

namespace paring {

// One virtual call per batch. `outputs` scores belong to a row (1, or the number of classes); arrays are
// row-major and a null output is not computed.
class Loss {
  public:
    virtual ~Loss() = default;

    virtual Index outputs() const { return 1; }
    // Whether the curvature is 1 everywhere: a quadratic model of the loss is then the loss.
    virtual bool is_quadratic() const { return false; }
    // The largest curvature; infinity where there is none.
    virtual double curvature_bound() const = 0;
    virtual void evaluate(const double* z, const double* y, Index n, double* value, double* slope,
                          double* curvature) const = 0;
    // sum_i v_i loss(z_i, y_i): no array between.
    virtual double total(const double* z, const double* y, const double* v, Index n) const = 0;
    // loss*(a, y), infinity outside its domain.
    virtual void conjugate(const double* a, const double* y, Index n, double* out) const = 0;
    // The domain of the conjugate for target y: a in [lower, upper] (one output).
    virtual void domain(const double* y, Index n, double* lower, double* upper) const = 0;
};

// squared logistic hinge squared_hinge smoothed_hinge huber poisson multinomial; `parameter` is gamma, delta
// or the number of classes. Throws std::invalid_argument for another name.
std::unique_ptr<Loss> make_loss(const std::string& name, double parameter);

}  // namespace paring
