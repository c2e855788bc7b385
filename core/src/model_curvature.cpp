#include <cmath>
#include <vector>

#include "paring/loss.hpp"

namespace paring {

void model_curvature(const Loss& loss, const double* z, const double* y, const double* v, Index n, double* out) {
    constexpr double typical_correlation = 0.3, farthest = 1e300;
    loss.evaluate(z, y, n, nullptr, nullptr, out);
    if (!loss.in_pieces()) return;
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> slope(size), moved(size), above(size);
    loss.evaluate(z, y, n, nullptr, slope.data(), nullptr);
    double squares = 0, total = 0;
    for (Index i = 0; i < n; ++i) squares += v[i] * slope[i] * slope[i], total += v[i];
    const double size_of_slopes = std::sqrt(squares / total);
    // A move t meets a resistance of t times the mean curvature over it, which grows with t.
    for (double t = size_of_slopes / loss.curvature_bound(); t > 0 && t < farthest; t *= 2) {
        for (Index i = 0; i < n; ++i) moved[i] = z[i] + t;
        loss.evaluate(moved.data(), y, n, nullptr, above.data(), nullptr);
        for (Index i = 0; i < n; ++i) moved[i] = z[i] - t;
        loss.evaluate(moved.data(), y, n, nullptr, slope.data(), nullptr);
        double resistance = 0;
        for (Index i = 0; i < n; ++i) {
            out[i] = (above[i] - slope[i]) / (2 * t);
            resistance += v[i] * (above[i] - slope[i]) / 2;
        }
        if (resistance >= typical_correlation * size_of_slopes * total) return;
    }
}

}  // namespace paring
