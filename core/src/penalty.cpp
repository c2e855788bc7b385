#include "paring/coordinate/penalty.hpp"

#include "paring/kernels.hpp"

namespace paring {

namespace {

double norm_of(const double* x, Index n) { return std::sqrt(dot(x, x, n)); }

}  // namespace

// Soft thresholding (one-sided where negative weights are forbidden), then the norm shrunk by omega / h: the norm's
// prox keeps signs, so that the two may be done one after the other.
void Penalty::prox_block(Index block, double h, double* u) const {
    const auto b = static_cast<std::size_t>(block);
    const Index size = (starts[b + 1] - starts[b]) * outputs;
    for (Index j = starts[b]; j < starts[b + 1]; ++j)
        for (Index c = 0; c < outputs; ++c) {
            double& x = u[(j - starts[b]) * outputs + c];
            x = prox(j, x, h);
        }
    if (omega[b] == 0) return;
    const double norm = norm_of(u, size), left = norm - omega[b] / h;
    const double factor = left > 0 ? left / norm : 0.0;
    for (Index c = 0; c < size; ++c) u[c] *= factor;
}

double Penalty::value(Index block, const double* w) const {
    const auto b = static_cast<std::size_t>(block);
    const Index size = (starts[b + 1] - starts[b]) * outputs;
    double sum = omega[b] == 0 ? 0.0 : omega[b] * norm_of(w, size);
    for (Index j = starts[b]; j < starts[b + 1]; ++j, w += outputs) {
        const auto f = static_cast<std::size_t>(j);
        double absolute = 0, square = 0;
        for (Index c = 0; c < outputs; ++c) absolute += std::abs(w[c]), square += w[c] * w[c];
        sum += tau[f] * absolute + 0.5 * ridge[f] * square;
    }
    return sum;
}

// `pull`: what the norm of its block adds to the slope of a weight that is not zero.
double Penalty::residual(Index feature, double slope, double w, double pull) const {
    const auto j = static_cast<std::size_t>(feature);
    if (w == 0) {
        const double up = upper[j] > 0 ? -slope - tau[j] : 0.0, down = lower[j] < 0 ? slope - tau[j] : 0.0;
        return std::max({up, down, 0.0});
    }
    const double left = slope + pull + (w > 0 ? tau[j] : -tau[j]);
    if (w >= upper[j]) return std::max(left, 0.0);  // a push beyond the bound is met by the bound
    if (w <= lower[j]) return std::max(-left, 0.0);
    return std::abs(left);
}

double Penalty::residual_of_block(Index block, const double* slope, const double* w) const {
    const auto b = static_cast<std::size_t>(block);
    const Index size = (starts[b + 1] - starts[b]) * outputs;
    const double norm = omega[b] > 0 ? norm_of(w, size) : 1.0;
    double largest = 0, square = 0;
    for (Index p = 0; p < size; ++p) {
        const double own = residual(starts[b] + p / outputs, slope[p], w[p], norm > 0 ? omega[b] * w[p] / norm : 0.0);
        largest = std::max(largest, own);
        square += own * own;
    }
    return norm > 0 ? largest : std::max(std::sqrt(square) - omega[b], 0.0);
}

}  // namespace paring
