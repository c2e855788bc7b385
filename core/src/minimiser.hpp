// One minimisation by Newton's method (newton.hpp). Its moves are in newton.cpp, its factors in newton_factor.cpp.
#pragma once

#include "paring/newton.hpp"

namespace paring {

// The state of one minimisation; vectors over (w[, b]) have the intercept last.
class Minimiser {
  public:
    Minimiser(const Target& target, const Block& block, const Box& box, const Context& context, Point& point)
        : target_(target),
          block_(block),
          box_(box),
          context_(context),
          point_(point),
          k_(block.columns()),
          size_(k_ + (target.intercept ? 1 : 0)),
          slope_(static_cast<std::size_t>(target.n)),
          curvature_(slope_.size()),
          trial_scores_(slope_.size()),
          gradient_(static_cast<std::size_t>(size_)),
          held_(static_cast<std::size_t>(k_), 0),
          factor_(static_cast<std::size_t>(size_ * size_)) {}

    NewtonReport run(const NewtonOptions& options);
    void inverse(std::vector<double>& out);

  private:
    double objective(const double* w, const double* z) const;
    void gradient();
    bool hold_bounds();
    void hessian(double damping);  // with so much of the loss's majorant added to its curvature
    void hessian_of_curvature();
    double factorise(const std::vector<double>& h);
    std::vector<char> spanned_columns(const std::vector<double>& h);
    void factorise();
    std::vector<double> direction() const;
    bool search(const std::vector<double>& direction, double decrement);
    double tangent(const std::vector<double>& direction, double decrement, const std::vector<double>& w) const;
    double exact_step(const std::vector<double>& direction, double decrement) const;
    double shorter_step(const std::vector<double>& direction, double decrement);
    double longer_step(const std::vector<double>& direction, double value);
    bool sharpen(const std::vector<double>& direction, double allowed);
    double value_at(const std::vector<double>& direction, std::vector<double>& w, double& b);
    void accept(const std::vector<double>& w, double b, double value);

    const Target& target_;
    const Block& block_;
    const Box& box_;
    const Context& context_;
    Point& point_;
    Index k_, size_;
    std::vector<double> slope_, curvature_, trial_scores_, gradient_;
    std::vector<char> held_;
    std::vector<double> factor_;
    double damping_ = 0, objective_ = 0, step_ = 1;
    bool bent_elsewhere_ = false;  // a column is spanned where the loss is curved, and not elsewhere
};

}  // namespace paring
