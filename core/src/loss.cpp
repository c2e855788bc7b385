#include "paring/loss.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "formulae.hpp"

namespace paring {

namespace {

using namespace formulae;

// The loops over a batch. Logistic, whose formulae are vector code, is compiled for each machine (below).
template <class F>
[[gnu::always_inline]] inline void evaluate_of(const F& f, const double* z, const double* y, Index n, double* value,
                                               double* slope, double* curvature) {
    if (value != nullptr)
        for (Index i = 0; i < n; ++i) value[i] = f.value(z[i], y[i]);
    if (slope != nullptr)
        for (Index i = 0; i < n; ++i) slope[i] = f.slope(z[i], y[i]);
    if (curvature != nullptr)
        for (Index i = 0; i < n; ++i) curvature[i] = f.curvature(z[i], y[i]);
}

template <class F>
[[gnu::always_inline]] inline double total_of(const F& f, const double* z, const double* y, const double* v, Index n) {
    constexpr Index lanes = 8;
    double sums[lanes] = {};
    Index i = 0;
    for (; i + lanes <= n; i += lanes)
        for (Index l = 0; l < lanes; ++l) sums[l] += v[i + l] * f.value(z[i + l], y[i + l]);
    for (; i < n; ++i) sums[0] += v[i] * f.value(z[i], y[i]);
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

template <class F>
void evaluate_batch(const F& f, const double* z, const double* y, Index n, double* value, double* slope,
                    double* curvature) {
    evaluate_of(f, z, y, n, value, slope, curvature);
}
template <class F>
double total_batch(const F& f, const double* z, const double* y, const double* v, Index n) {
    return total_of(f, z, y, v, n);
}
PARING_CLONES void evaluate_batch(const Logistic& f, const double* z, const double* y, Index n, double* value,
                                  double* slope, double* curvature) {
    evaluate_of(f, z, y, n, value, slope, curvature);
}
PARING_CLONES double total_batch(const Logistic& f, const double* z, const double* y, const double* v, Index n) {
    return total_of(f, z, y, v, n);
}

template <class F>
class Scalar final : public Loss {
  public:
    explicit Scalar(F f) : f_(f) {}
    bool is_quadratic() const override { return std::is_same_v<F, Squared>; }
    double curvature_bound() const override { return f_.bound; }
    void evaluate(const double* z, const double* y, Index n, double* value, double* slope,
                  double* curvature) const override {
        evaluate_batch(f_, z, y, n, value, slope, curvature);
    }
    void majorant(const double* z, const double* y, Index n, double* out) const override {
        for (Index i = 0; i < n; ++i) out[i] = f_.majorant(z[i], y[i]);
        if (n == 0 || std::isfinite(f_.bound)) return;
        evaluate(z, y, n, nullptr, nullptr, out);
        std::fill_n(out, n, *std::max_element(out, out + n));
    }
    bool in_pieces() const override { return F::pieces; }
    double total(const double* z, const double* y, const double* v, Index n) const override {
        return total_batch(f_, z, y, v, n);
    }
    void conjugate(const double* a, const double* y, Index n, double* out) const override {
        for (Index i = 0; i < n; ++i) out[i] = f_.conjugate(a[i], y[i]);
    }
    void prox_conjugate(const double* u, const double* y, double step, Index n, double* out) const override {
        if constexpr (requires { f_.prox_conjugate(*u, *y, step); })
            for (Index i = 0; i < n; ++i) out[i] = f_.prox_conjugate(u[i], y[i], step);
        else
            throw std::invalid_argument("this loss's conjugate has no prox");
    }
    void domain(const double* y, Index n, double* lower, double* upper) const override {
        for (Index i = 0; i < n; ++i) {
            const Interval interval = f_.domain(y[i]);
            lower[i] = interval.lower;
            upper[i] = interval.upper;
        }
    }

  private:
    F f_;
};

// log sum_c exp(z_c) - z_y, y = 0 .. classes-1. The curvature given is the diagonal of diag(p) - p p', p (1 -
// p).
class Multinomial final : public Loss {
  public:
    explicit Multinomial(Index classes) : classes_(classes) {}
    Index outputs() const override { return classes_; }
    double curvature_bound() const override { return 0.5; }
    void evaluate(const double* z, const double* y, Index n, double* value, double* slope,
                  double* curvature) const override {
        std::vector<double> p(static_cast<std::size_t>(classes_));
        for (Index i = 0; i < n; ++i, z += classes_) {
            const auto label = static_cast<Index>(y[i]);
            const double log_sum = softmax(z, p.data());
            if (value != nullptr) value[i] = log_sum - z[label];
            for (Index c = 0; c < classes_; ++c) {
                const double share = p[static_cast<std::size_t>(c)];
                if (slope != nullptr) slope[i * classes_ + c] = share - (c == label ? 1.0 : 0.0);
                if (curvature != nullptr) curvature[i * classes_ + c] = share * (1 - share);
            }
        }
    }
    void majorant(const double*, const double*, Index n, double* out) const override {
        std::fill_n(out, n * classes_, curvature_bound());
    }
    double total(const double* z, const double* y, const double* v, Index n) const override {
        std::vector<double> p(static_cast<std::size_t>(classes_));
        double sum = 0;
        for (Index i = 0; i < n; ++i, z += classes_) sum += v[i] * (softmax(z, p.data()) - z[static_cast<Index>(y[i])]);
        return sum;
    }
    // sum q log q, q = a + e_y in the simplex; a rounding of 1e-9 outside is forgiven.
    void conjugate(const double* a, const double* y, Index n, double* out) const override {
        constexpr double rounding = 1e-9;
        for (Index i = 0; i < n; ++i, a += classes_) {
            double sum = 0, entropy = 0;
            bool inside = true;
            for (Index c = 0; c < classes_; ++c) {
                const double q = a[c] + (c == static_cast<Index>(y[i]) ? 1.0 : 0.0);
                inside = inside && q >= -rounding;
                sum += q;
                entropy += x_log_x(q);
            }
            out[i] = inside && std::abs(sum - 1) <= rounding * static_cast<double>(classes_) ? entropy : infinity;
        }
    }
    void prox_conjugate(const double*, const double*, double, Index, double*) const override {
        throw std::invalid_argument("multinomial: the conjugate's prox is not implemented");
    }
    void domain(const double*, Index, double*, double*) const override {
        throw std::invalid_argument("multinomial: the domain of the conjugate is a simplex, not an interval");
    }

  private:
    // p = softmax(z); returns log sum exp(z).
    double softmax(const double* z, double* p) const {
        const double top = *std::max_element(z, z + classes_);
        double sum = 0;
        for (Index c = 0; c < classes_; ++c) sum += p[c] = std::exp(z[c] - top);
        for (Index c = 0; c < classes_; ++c) p[c] /= sum;
        return top + std::log(sum);
    }
    Index classes_;
};

template <class F>
std::unique_ptr<Loss> scalar(F f) {
    return std::make_unique<Scalar<F>>(f);
}

}  // namespace

std::unique_ptr<Loss> make_loss(const std::string& name, double parameter) {
    if (name == "squared") return scalar(Squared{});
    if (name == "logistic") return scalar(Logistic{});
    if (name == "hinge") return scalar(Hinge{});
    if (name == "squared_hinge") return scalar(SquaredHinge{});
    if (name == "smoothed_hinge") return scalar(SmoothedHinge{parameter});
    if (name == "huber") return scalar(Huber{parameter});
    if (name == "poisson") return scalar(Poisson{});
    if (name == "multinomial") {
        if (!(parameter >= 2 && parameter < 1e9)) throw std::invalid_argument("multinomial: two classes at least");
        return std::make_unique<Multinomial>(static_cast<Index>(parameter));
    }
    throw std::invalid_argument("unknown loss '" + name + "'");
}

}  // namespace paring
