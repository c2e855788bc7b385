// Minimise the penalised objective over a working set of features,
//
//     F(w, b) + penalty(w),      F = (1/n) sum_i v_i loss(z_i, y_i),  z = X w + b (+ what else z held at the start)
//
// by proximal Newton steps: the quadratic model of the loss at (w, b) is minimised by sweeps of block coordinate
// descent, extrapolated, and by Newton steps on the face where the weights are; then a line search. For squared loss
// the model is exact and one round is all.
//
// Columns once used stay, with their Gram matrix, for the next working set and the next penalty weight.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "paring/coordinate/face.hpp"
#include "paring/newton.hpp"

namespace paring {

struct DescentOptions {
    double goal = 1e-6;  // on the violation, in the units of the slopes
    int max_rounds = 100;
};

struct DescentReport {
    double objective = 0;  // F + penalty
    double violation = infinity;
    int rounds = 0, sweeps = 0, newton_steps = 0, extrapolations = 0;
    bool stopped = false;  // by the caller's token: the point is the last whole one
};

struct DescentPoint {
    std::vector<double> w;  // a row of `outputs` a feature, in the order of the working set
    std::vector<double> b;  // outputs, or empty without an intercept
    std::vector<double> z;  // n x outputs
};

class Descent {
  public:
    // The target's own ridge is not used: the penalty has it.
    Descent(const Target& target, bool dense);

    // Of these, the features that `append` must bring before they can be used. Forgets others, once they are the most.
    std::vector<Index> missing(std::span<const Index> features);
    bool has(Index feature) const { return slot_of_.contains(feature); }
    // Columns `chosen` of x, which are the features of these numbers.
    void append(const Rows& x, bool lines_are_columns, std::span<const Index> chosen, std::span<const Index> features,
                const Context& context);

    DescentReport minimise(std::span<const Index> features, const Penalty& penalty, const DescentOptions& options,
                           DescentPoint& point, const Context& context);

  private:
    void drop_unused(std::span<const Index> features);
    double total(const std::vector<double>& z) const;
    void linearise(const DescentPoint& point);
    void scale(const std::vector<Index>& slots, const Context& context);
    std::vector<double> gradient(const std::vector<Index>& slots, const Context& context) const;
    bool minimise_model(Quadratic& model, double goal, DescentReport& report, const Context& context);
    bool search(const Quadratic& model, const std::vector<double>& g, DescentPoint& point, DescentReport& report);

    Target target_;
    Index outputs_;
    bool quadratic_, weighted_;
    std::unique_ptr<Columns> columns_;
    Face face_;
    std::unordered_map<Index, Index> slot_of_;
    std::vector<Index> feature_of_;
    Index scaled_ = 0;  // slots scaled already, where the scaling never changes
    std::vector<double> slope_, kappa_, slope_b_;
    double damping_ = 0;
};

}  // namespace paring
