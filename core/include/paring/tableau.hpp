// Least squares on a support: every outsider's gain and every exchange, exactly and without refitting.
//
// F is a quadratic with Hessian H (d x d, positive semi-definite) and gradient g at w = 0. On the support S the tableau
// holds
//
//     H_S,: (|S| x d),   Q = H_SS^-1,   s = diag(H) - diag(H_:S Q H_S,:),   w = the minimiser,   g = its gradient
//
// and a few features enter or leave by one update of low rank (a principal pivot). Then, exactly,
//
//     i enters:        dF = -g_i^2 / (2 s_i)
//     j out, i in:     exchanges.hpp, with T = Q H_S,: for those pairs alone that bounds do not rule out
//
// Cost: |S| d operations a feature that moves, and the row of H of each that enters.
#pragma once

#include <span>
#include <vector>

#include "paring/exchanges.hpp"
#include "paring/gram_rows.hpp"

namespace paring {

struct TableauSettings {
    double tolerance = 1e-9;    // an exchange that lowers F by less is none
    double batch = 0.1;         // of the support: exchanges made at once
    double cache_bytes = 1e8;   // of rows of H kept for features that come back, or are likely to come
    Index at_once = 1;          // rows of H that cost little more to make than one
    double resolution = 1e-10;  // a Schur complement this small beside the column's own curvature is rounding
    double least = 0;           // F is nowhere lower: so it is for a sum of squares
};

class Tableau {
  public:
    // gradient and diagonal of H (d of each) at w = 0, F there; always and never: d flags each.
    Tableau(std::vector<double> gradient, std::vector<double> diagonal, double objective,
            std::vector<unsigned char> always, std::vector<unsigned char> never, GramRows::Source gram,
            TableauSettings settings);

    Index dimension() const { return d_; }
    Index size() const { return static_cast<Index>(features_.size()); }
    double objective() const { return objective_; }
    const std::vector<Index>& features() const { return features_; }
    const std::vector<double>& weights() const { return w_; }
    const std::vector<double>& inverse() const { return q_; }

    // Enter the outsiders of largest gain until the support has `size`, or none is left.
    void grow(Index size, const Context& context);
    // Remove the cheapest members, one at a time.
    void shrink(Index size, const Context& context);
    // Exchange until no pair lowers F by more than the tolerance. False where it left without having seen that: where
    // rounding keeps a round from lowering F.
    bool polish(const Context& context);
    // Add these; those collinear with the support are left out.
    void enter(std::span<const Index> entering, const Context& context);

    // Q, w, g, s and F anew from the rows of H, free of what the moves have added up. Members that do not factor go.
    void refresh(const Context& context);
    // Outsiders of whom rounding may hide something: it is as large as s_i, or else, were s_i smaller by it, an
    // exchange for i would lower F by more than `hidden`. `rounding`: of s_i, for each feature. Up to `most` exchanges
    // are seen.
    std::vector<Index> doubtful(const std::vector<double>& rounding, double hidden, Index most,
                                const Context& context) const;
    // For each member how much the others raise the variance of its weight: h_j Q_jj.
    std::vector<double> inflation() const;
    // H_BS Q of these features, a row each.
    std::vector<double> regressions(std::span<const Index> features, const Context& context) const;

    // All but the rows of H: a state to come back to.
    struct Saved {
        std::vector<Index> features;
        std::vector<double> q, w, g, s;
        std::vector<unsigned char> closed;
        double objective;
    };
    Saved saved() const;
    void restore(const Saved& saved);

  private:
    using Matrix = std::vector<double>;  // row-major
    struct PivotIn {
        Matrix inverse, added;  // of the Schur block of those who enter; their weights
    };
    struct Moving {
        Matrix m, rows;  // H_BS Q; the Schur rows of those who enter, then the rows Q H_S,: of those who leave
    };
    void fetch(std::span<const Index> features);
    Moving moving(std::span<const Index> entering, std::span<const Index> leaving, const Context& context);
    std::vector<Index> clear(std::span<const Index> entering, const Matrix& rows);
    PivotIn pivot_in(std::span<const Index> entering, const double* rows, const Context& context);
    Matrix pivot_out(std::span<const Index> positions, const double* gone, const Context& context);
    void move_gradient(const Matrix& inverse, const Matrix& by, const double* rows, double sign,
                       const Context& context);
    Matrix widen(const Matrix& m, const PivotIn& in, const Context& context);
    void leave(std::span<const Index> positions, const Context& context);
    void drop(std::span<const Index> positions);
    void exchange(const std::vector<Ranked>& chosen, const Context& context);
    double change(std::span<const Index> positions, std::span<const Index> entering, const Moving& in) const;
    void swap(std::span<const Index> positions, std::span<const Index> entering, Moving in, const Context& context);
    std::vector<Ranked> ranked(Index count, double below, const std::vector<double>& s, const Context& context) const;
    std::vector<Ranked> ranked_among(const std::vector<Index>& inside, std::vector<Index> outside, Index count,
                                     double below, const std::vector<double>& s, const Context& context) const;
    std::vector<Index> likely(Index count) const;
    Matrix pivot_of(std::span<const Index> positions) const;
    Matrix block_of(const double* rows, std::span<const Index> features) const;
    std::vector<Index> spanned() const;
    void recompute_schur(const Context& context);
    void settle();
    void reopen();

    Index d_;
    GramRows gram_;
    TableauSettings settings_;
    std::vector<unsigned char> always_, never_, closed_;
    std::vector<double> diagonal_, floor_, first_gradient_;
    double first_objective_;
    std::vector<Index> features_;
    Matrix h_, q_;
    std::vector<double> w_, g_, s_;
    double objective_;
};

}  // namespace paring
