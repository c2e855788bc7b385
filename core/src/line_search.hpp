// Where the slope of a convex function along a line turns from falling to rising.
#pragma once

#include <cmath>

namespace paring {

// t > 0 at which slope_at has risen to a tenth of its size at 0, where it is `falling` (below 0): 1 doubled while it
// still falls, then false position, the slope of an end that stays twice halved (Illinois). It bisects where slopes are
// not finite.
template <class Slope>
double turning_point(const Slope& slope_at, double falling) {
    constexpr double flat_enough = 0.1;
    constexpr int most_rounds = 100;
    const double flat = flat_enough * std::abs(falling);
    double low = 0, high = 1, rising = slope_at(high);
    for (int round = 0; rising < -flat && round < most_rounds; ++round) {
        low = high, falling = rising;
        rising = slope_at(high *= 2);
    }
    if (rising <= flat) return high;
    int kept = 0;  // times the high end (positive) or the low one (negative) has stayed
    for (int round = 0; round < most_rounds; ++round) {
        double t = low - falling * (high - low) / (rising - falling);
        if (!(t > low && t < high)) t = 0.5 * (low + high);
        const double found = slope_at(t);
        if (std::abs(found) <= flat) return t;
        if (found < 0) {
            low = t, falling = found;
            if (kept > 0) rising *= 0.5;
            kept = 1;
        } else {
            high = t, rising = found;
            if (kept < 0) falling *= 0.5;
            kept = -1;
        }
    }
    return low > 0 ? low : high;
}

}  // namespace paring
