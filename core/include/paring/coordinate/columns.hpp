// Columns of X for coordinate descent: copied out in float64 as they are needed, each in a slot of its own, and their
// scaled form in the quadratic model of the loss,
//
//     x~_j = sqrt(kappa) o (x_j - mean_j),      mean_j = sum_i kappa_i x_ij / sum_i kappa_i
//
// (mean_j = 0 without an intercept: with one, centring eliminates it from the model). kappa = null stands for ones,
// where the weights v are ones too.
//
// A model vector u = sum_j a_j x~_j has K numbers a row (the outputs) and one row more at its end, in which sparse
// columns keep what centring would spread over all rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "paring/parallel.hpp"
#include "paring/rows.hpp"

namespace paring {

class Columns {
  public:
    virtual ~Columns() = default;
    Index rows() const { return n_; }
    Index slots() const { return static_cast<Index>(curvature_.size()); }
    // Numbers stored in a slot: what a product with it costs.
    virtual double entries(Index slot) const = 0;
    // Nanoseconds a stored number costs in a sweep, and a pair of them in a Gram matrix; measured, for choices only.
    virtual double sweep_cost() const = 0;

    virtual void append(const Rows& x, bool lines_are_columns, std::span<const Index> chosen,
                        const Context& context) = 0;
    // Forgets all slots but these, which become 0, 1, ..
    virtual void keep(std::span<const Index> slots) = 0;

    // -- columns as they are (dense ones less `shift`, if there is an intercept: b grows by shift.w)
    virtual double shift(Index) const { return 0; }
    // out (K) = x_j' r, r (n x K)
    virtual void dot(Index slot, const double* r, Index outputs, double* out) const = 0;
    // z (n x K) += x_j a', a (K)
    virtual void add(Index slot, const double* a, Index outputs, double* z) const = 0;

    // -- and scaled
    virtual void scale(const double* kappa, std::span<const Index> slots, const Context& context) = 0;
    double curvature(Index slot) const { return curvature_[static_cast<std::size_t>(slot)]; }  // |x~_j|^2
    double mean(Index slot) const { return mean_[static_cast<std::size_t>(slot)]; }
    double total() const { return total_; }  // sum_i kappa_i
    virtual void dot_scaled(Index slot, const double* u, Index outputs, double* out) const = 0;
    virtual void add_scaled(Index slot, const double* a, Index outputs, double* u) const = 0;
    // |u|^2
    virtual double square(const double* u, Index outputs) const = 0;
    // out[f * ld + a] = x~_fresh[f]' x~_all[a] for a <= first + f, where fresh = all[first..]
    virtual void gram(std::span<const Index> all, Index first, double* out, Index ld, const Context& context) const = 0;
    // Pairs of numbers that `gram` multiplies, times what one costs (ns).
    virtual double gram_cost(double all, double fresh, double entries_of_fresh) const = 0;

  protected:
    Columns(Index n, bool centred) : n_(n), centred_(centred) {}
    Index n_;
    bool centred_;
    double total_ = 0;  // sum_i kappa_i
    std::vector<double> curvature_, mean_;
};

// `v`: weights of the rows if there is an intercept, else null.
std::unique_ptr<Columns> make_columns(bool dense, Index n, const double* v);

}  // namespace paring
