// Minimise F over a block of columns and the intercept:
//
//     F(w, b) = (1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2,   lower <= w <= upper
//
// by Newton's method: the factor of the Hessian is kept while it still contracts, curvature is blended with
// the loss's majorant where steps are short or the Hessian singular (huber, hinges), coordinates at a bound they press
// against are held.
#pragma once

#include <vector>

#include "paring/block.hpp"
#include "paring/loss.hpp"

namespace paring {

struct Target {
    const Loss* loss;
    const double *y, *v;  // v: weights of mean 1
    Index n;
    double ridge;
    bool intercept;
};

struct Box {
    const double *lower = nullptr, *upper = nullptr;  // null: none
};

struct NewtonOptions {
    double tolerance = 1e-12;  // on half the Newton decrement, absolute
    int max_rounds = 100;
    // Once within tolerance, full steps go on down to this, though too small to show in F: the error of the weights is
    // the root of the decrement.
    double sharpness = infinity;
};

struct NewtonReport {
    double objective = 0;
    double decrement = 0;  // what the quadratic model says is still to be gained
    int rounds = 0;
    int factorizations = 0;
    bool converged = false;
};

// The point (w, b) with its scores; updated in place.
struct Point {
    std::vector<double> w;
    double b = 0;
    std::vector<double> z;
};

// `inverse`, if not null, receives the inverse Hessian of (w[, b]) at the last factorisation, (k [+1])^2.
NewtonReport minimise_block(const Target& target, const Block& block, const Box& box, const NewtonOptions& options,
                            Point& point, std::vector<double>* inverse, const Context& context);

}  // namespace paring
