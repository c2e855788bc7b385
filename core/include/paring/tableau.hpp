// Least squares on a support as a tableau: every outsider's gain and every exchange, exactly and without refitting.
//
// F is a quadratic with Hessian H (d x d, positive semi-definite) and gradient g at w = 0. On the support S the tableau
// holds
//
//     Q = H_SS^-1,   T = Q H_S,: (|S| x d),   s = diag(H) - diag(H_:S T),   w = the minimiser,   g = its gradient
//
// and a few features enter or leave by one update of low rank (a principal pivot). Then, exactly,
//
//     i enters:        dF = -g_i^2 / (2 s_i)
//     j out, i in:     exchanges.hpp
//
// Cost: |S| d operations a feature that moves, and the row of H of each that enters.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "paring/exchanges.hpp"

namespace paring {

// Rows of H for these features into `out`, row-major.
using GramRows = std::function<void(std::span<const Index>, double* out)>;

struct TableauSettings {
    double tolerance = 1e-9;   // an exchange that lowers F by less is none
    double batch = 0.1;        // of the support: exchanges made at once
    double cache_bytes = 1e8;  // of rows of H kept for features that come back
};

class Tableau {
  public:
    // gradient and diagonal of H (d of each) at w = 0, F there; always and never: d flags each.
    Tableau(std::vector<double> gradient, std::vector<double> diagonal, double objective,
            std::vector<unsigned char> always, std::vector<unsigned char> never, GramRows gram,
            TableauSettings settings);

    Index features_in_all() const { return d_; }
    Index size() const { return static_cast<Index>(features_.size()); }
    double objective() const { return objective_; }
    const std::vector<Index>& features() const { return features_; }
    const std::vector<double>& weights() const { return w_; }

    // Enter the outsiders of largest gain until the support has `size`, or none is left.
    void grow(Index size, const Context& context);
    // Remove the cheapest members, one at a time.
    void shrink(Index size, const Context& context);
    // Exchange until no pair lowers F by more than the tolerance.
    void polish(const Context& context);
    // Add these; those collinear with the support are left out.
    void enter(std::span<const Index> entering, const Context& context);

    // All but the rows of H: a state to come back to.
    struct Saved {
        std::vector<Index> features;
        std::vector<double> t, q, w, g, s;
        std::vector<unsigned char> closed;
        double objective;
    };
    Saved saved() const;
    void restore(const Saved& saved);

  private:
    using Matrix = std::vector<double>;  // row-major
    struct PivotIn {
        Matrix inverse, reduced, added;
    };
    Matrix schur_rows(std::span<const Index> entering, const Context& context);
    std::vector<Index> clear(std::span<const Index> entering, Matrix& rows);
    PivotIn pivot_in(std::span<const Index> entering, const Matrix& rows, const Context& context);
    void pivot_out(std::span<const Index> positions, Matrix& column, Matrix& gone, const Context& context);
    void leave(std::span<const Index> positions, const Context& context);
    void drop(std::span<const Index> positions);
    void exchange(const std::vector<Ranked>& chosen, const Context& context);
    double change(std::span<const Index> positions, std::span<const Index> entering, const Matrix& rows) const;
    void swap(std::span<const Index> positions, std::span<const Index> entering, Matrix rows, const Context& context);
    std::vector<Ranked> ranked(Index count, const Context& context);
    Matrix pivot_of(std::span<const Index> positions) const;
    Matrix columns_of_t(std::span<const Index> features) const;
    void subtract(const Matrix& u, Index terms, const Matrix& x, const Context& context);
    void settle();
    void reopen();

    Index d_;
    GramRows gram_;
    TableauSettings settings_;
    std::vector<unsigned char> always_, never_, closed_;
    std::vector<double> diagonal_, floor_;
    std::vector<Index> features_;
    Matrix t_, q_;
    std::vector<double> w_, g_, s_;
    double objective_;
    std::unordered_map<Index, Matrix> kept_;
};

}  // namespace paring
