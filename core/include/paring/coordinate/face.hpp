// Newton's method on the face of the penalty where the weights are: those that are zero (or on a bound) stay, along the
// others the penalty is smooth,
//
//     (X~'X~ / n + ridge + penalty'') d = -(slopes + ridge w + penalty'),
//
// and w moves to w + t d, where weights that would cross zero stop there; if that gains little, the step is solved for
// once more without them. Descent by sweeps finds the face; on it this one step does what hundreds of sweeps would. One
// output only.
//
// The Gram matrix of the columns that were ever needed is kept while their scaling is.
#pragma once

#include <vector>

#include "paring/coordinate/quadratic.hpp"

namespace paring {

class Face {
  public:
    // Nanoseconds the step would take at this point, about; infinity where it is not to be tried.
    double cost(const Quadratic& model) const;
    // True where it lowered E.
    bool step(Quadratic& model, const Context& context);
    // The columns have another scaling, or other slots.
    void forget();

  private:
    struct Move;
    std::vector<Index> free_features(const Quadratic& model) const;
    void fetch(const Quadratic& model, const std::vector<Index>& features, const Context& context);
    std::vector<double> slopes(const Quadratic& model, const std::vector<Index>& features);
    bool direction(const Quadratic& model, const std::vector<Index>& features, std::vector<double>& d, double& gain);
    static bool give_up(Quadratic& model, std::vector<Index>& features, const std::vector<double>& d);

    std::vector<Index> held_;   // slots, in the order of the Gram matrix's rows
    std::vector<Index> place_;  // of each slot among them, or -1
    std::vector<double> gram_;  // by rows, leading dimension capacity_
    Index capacity_ = 0;
    std::vector<double> matrix_;  // of the present face; kept for its memory
};

}  // namespace paring
