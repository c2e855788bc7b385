// Small fits for the tests of Newton and of exchange trials: data, the objective and its gradient in plain loops.
#pragma once

#include <memory>
#include <string>

#include "matrices.hpp"
#include "paring/newton.hpp"

namespace check {

using namespace paring;

struct Fit {
    std::unique_ptr<Loss> loss;
    Matrix x;
    std::vector<double> y, v;
    double ridge = 0;
    bool intercept = false;
    std::vector<double> lower = {}, upper = {};  // empty: none

    Target target() const { return {loss.get(), y.data(), v.data(), x.n, ridge, intercept}; }
    Box box() const { return lower.empty() ? Box{} : Box{lower.data(), upper.data()}; }

    std::vector<double> scores(const std::vector<double>& w, double b) const {
        std::vector<double> z(static_cast<std::size_t>(x.n), b);
        for (Index i = 0; i < x.n; ++i)
            for (Index j = 0; j < x.d; ++j) z[static_cast<std::size_t>(i)] += x(i, j) * w[static_cast<std::size_t>(j)];
        return z;
    }
    double objective(const std::vector<double>& w, double b) const {
        const auto z = scores(w, b);
        double norm = 0;
        for (const double value : w) norm += value * value;
        return loss->total(z.data(), y.data(), v.data(), x.n) / static_cast<double>(x.n) + 0.5 * ridge * norm;
    }
    // Of w, then of b.
    std::vector<double> gradient(const std::vector<double>& w, double b) const {
        const auto z = scores(w, b);
        std::vector<double> slope(z.size()), g(w.size() + 1);
        loss->evaluate(z.data(), y.data(), x.n, nullptr, slope.data(), nullptr);
        for (Index i = 0; i < x.n; ++i) {
            const auto ii = static_cast<std::size_t>(i);
            const double r = slope[ii] * v[ii] / static_cast<double>(x.n);
            for (Index j = 0; j < x.d; ++j) g[static_cast<std::size_t>(j)] += r * x(i, j);
            g.back() += r;
        }
        for (std::size_t j = 0; j < w.size(); ++j) g[j] += ridge * w[j];
        return g;
    }
    // Distance of minus the gradient from the normal cone of the box; 0 at a minimum.
    double residual(const std::vector<double>& w, double b) const {
        const auto g = gradient(w, b);
        double worst = intercept ? std::abs(g.back()) : 0;
        for (std::size_t j = 0; j < w.size(); ++j) {
            const bool at_lower = !lower.empty() && w[j] <= lower[j], at_upper = !upper.empty() && w[j] >= upper[j];
            const double down = at_lower ? 0 : std::max(g[j], 0.0), up = at_upper ? 0 : std::max(-g[j], 0.0);
            worst = std::max({worst, down, up});
        }
        return worst;
    }
};

inline const std::vector<std::pair<std::string, double>> smooth_losses{
    {"squared", 0}, {"logistic", 0}, {"squared_hinge", 0}, {"smoothed_hinge", 0.25}, {"huber", 1.35}, {"poisson", 0}};

// Targets as the loss wants them, from a noisy linear model on the first columns.
inline std::vector<double> targets(const std::string& loss, const Matrix& x, Random& random) {
    std::vector<double> y;
    for (Index i = 0; i < x.n; ++i) {
        double z = 0.3 + 0.5 * random.normal();
        for (Index j = 0; j < std::min<Index>(x.d, 4); ++j) z += (j % 2 ? -0.8 : 0.6) * x(i, j);
        if (loss == "squared")
            y.push_back(z);
        else if (loss == "huber")
            y.push_back(i % 10 ? z : z + 8);
        else if (loss == "poisson")
            y.push_back(std::floor(std::exp(std::min(z, 3.0)) * random.uniform() * 2));
        else
            y.push_back(z > 0 ? 1 : -1);
    }
    return y;
}

inline Fit random_fit(const std::pair<std::string, double>& loss, Index n, Index k, Random& random) {
    Matrix x = random_matrix(n, k, random);
    std::vector<double> v = random.uniforms(n), y = targets(loss.first, x, random);
    double total = 0;
    for (const double weight : v) total += weight;
    for (double& weight : v) weight *= static_cast<double>(n) / total;
    return {make_loss(loss.first, loss.second), std::move(x), std::move(y), std::move(v)};
}

inline std::vector<Index> all_columns(Index k) {
    std::vector<Index> chosen;
    for (Index j = 0; j < k; ++j) chosen.push_back(j);
    return chosen;
}

// All columns of x as a block, dense (centred where there is an intercept, as the fit has it) or sparse.
inline std::unique_ptr<Block> block_of(const Fit& fit, bool is_dense) {
    const auto chosen = all_columns(fit.x.d);
    if (is_dense)
        return std::make_unique<DenseBlock>(dense<double>(fit.x, true, 0).rows, true, chosen,
                                            fit.intercept ? fit.v.data() : nullptr);
    return std::make_unique<SparseBlock>(sparse<double, std::int32_t>(fit.x, true).rows, chosen, true);
}

struct Outcome {
    Point point;
    NewtonReport report;
    std::vector<double> inverse;
};

inline Outcome minimise(const Fit& fit, bool is_dense, std::vector<double> start = {},
                        NewtonOptions options = {1e-18}) {
    start.resize(static_cast<std::size_t>(fit.x.d));
    Outcome out{{start, 0, {}}, {}, {}};
    const auto block = block_of(fit, is_dense);
    out.report = minimise_block(fit.target(), *block, fit.box(), options, out.point, &out.inverse, Context{});
    return out;
}

}  // namespace check
