#include "paring/loss.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace paring {

namespace {

struct Interval {
    double lower, upper;
};

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0.0; }

struct Squared {
    static constexpr double bound = 1;
    double value(double z, double y) const { return 0.5 * (z - y) * (z - y); }
    double slope(double z, double y) const { return z - y; }
    double curvature(double, double) const { return 1; }
    double conjugate(double a, double y) const { return 0.5 * a * a + a * y; }
    Interval domain(double) const { return {-infinity, infinity}; }
};

// exp(x) for x <= 0 and log(1 + e) for 0 <= e <= 1, to about two units in the last place, without branches or calls, so
// that loops over them become vector code. x = k log 2 + r: a Taylor polynomial in |r| <= log(2)/2 times 2^k.
[[gnu::always_inline]] inline double exp_of_nonpositive(double x) {
    constexpr double log2_e = 1.4426950408889634, log2_high = 6.93147180369123816490e-01,
                     log2_low = 1.90821492927058770002e-10, smallest = -708.0;
    constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number
    const double clamped = x > smallest ? x : smallest;
    const double shifted = clamped * log2_e + to_integer, k = shifted - to_integer;
    const double r = (clamped - k * log2_high) - k * log2_low;
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const auto exponent = static_cast<std::uint64_t>(std::bit_cast<std::int64_t>(shifted)) << 52;
    const double scaled = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + exponent);
    return x > smallest ? scaled : 0.0;
}

// 2 artanh(s), s = e / (2 + e) <= 1/3.
[[gnu::always_inline]] inline double log_of_one_plus(double e) {
    const double s = e / (2 + e), t = s * s;
    double p = 1.0 / 33;
    p = p * t + 1.0 / 31;
    p = p * t + 1.0 / 29;
    p = p * t + 1.0 / 27;
    p = p * t + 1.0 / 25;
    p = p * t + 1.0 / 23;
    p = p * t + 1.0 / 21;
    p = p * t + 1.0 / 19;
    p = p * t + 1.0 / 17;
    p = p * t + 1.0 / 15;
    p = p * t + 1.0 / 13;
    p = p * t + 1.0 / 11;
    p = p * t + 1.0 / 9;
    p = p * t + 1.0 / 7;
    p = p * t + 1.0 / 5;
    p = p * t + 1.0 / 3;
    return 2 * s * (p * t + 1.0);
}

// log(1 + exp(-y z)), y = +-1. With e = exp(-|z|) nothing overflows.
struct Logistic {
    static constexpr double bound = 0.25;
    [[gnu::always_inline]] double value(double z, double y) const {
        const double margin = y * z;
        return log_of_one_plus(exp_of_nonpositive(-std::abs(margin))) + (margin < 0 ? -margin : 0.0);
    }
    [[gnu::always_inline]] double slope(double z, double y) const {
        const double margin = y * z, e = exp_of_nonpositive(-std::abs(margin));
        return -y * (margin > 0 ? e : 1.0) / (1.0 + e);
    }
    [[gnu::always_inline]] double curvature(double z, double) const {
        const double e = exp_of_nonpositive(-std::abs(z));
        return e / ((1.0 + e) * (1.0 + e));
    }
    double conjugate(double a, double y) const {
        const double p = -a * y;
        return p < 0 || p > 1 ? infinity : x_log_x(p) + x_log_x(1 - p);
    }
    Interval domain(double y) const { return y > 0 ? Interval{-1, 0} : Interval{0, 1}; }
};

struct Hinge {
    static constexpr double bound = infinity;
    double value(double z, double y) const { return std::max(1 - y * z, 0.0); }
    double slope(double z, double y) const { return y * z < 1 ? -y : 0.0; }
    double curvature(double, double) const { return 0; }
    double conjugate(double a, double y) const { return a * y < -1 || a * y > 0 ? infinity : a * y; }
    Interval domain(double y) const { return y > 0 ? Interval{-1, 0} : Interval{0, 1}; }
};

struct SquaredHinge {
    static constexpr double bound = 1;
    double value(double z, double y) const {
        const double u = std::max(1 - y * z, 0.0);
        return 0.5 * u * u;
    }
    double slope(double z, double y) const { return -y * std::max(1 - y * z, 0.0); }
    double curvature(double z, double y) const { return y * z < 1 ? 1.0 : 0.0; }
    double conjugate(double a, double y) const { return a * y > 0 ? infinity : a * y + 0.5 * a * a; }
    Interval domain(double y) const { return y > 0 ? Interval{-infinity, 0} : Interval{0, infinity}; }
};

// The hinge with its corner rounded over a width gamma.
struct SmoothedHinge {
    double gamma;
    double bound = 1 / gamma;
    double value(double z, double y) const {
        const double u = 1 - y * z;
        return u <= 0 ? 0.0 : u >= gamma ? u - gamma / 2 : u * u / (2 * gamma);
    }
    double slope(double z, double y) const { return -y * std::clamp((1 - y * z) / gamma, 0.0, 1.0); }
    double curvature(double z, double y) const {
        const double u = 1 - y * z;
        return u > 0 && u < gamma ? 1 / gamma : 0.0;
    }
    double conjugate(double a, double y) const {
        return a * y < -1 || a * y > 0 ? infinity : a * y + 0.5 * gamma * a * a;
    }
    Interval domain(double y) const { return y > 0 ? Interval{-1, 0} : Interval{0, 1}; }
};

struct Huber {
    double delta;
    double bound = 1;
    double value(double z, double y) const {
        const double r = std::abs(z - y);
        return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
    }
    double slope(double z, double y) const { return std::clamp(z - y, -delta, delta); }
    double curvature(double z, double y) const { return std::abs(z - y) <= delta ? 1.0 : 0.0; }
    double conjugate(double a, double y) const { return std::abs(a) > delta ? infinity : 0.5 * a * a + a * y; }
    Interval domain(double) const { return {-delta, delta}; }
};

// exp(z) - y z: the log-likelihood without its constant log(y!).
struct Poisson {
    static constexpr double bound = infinity;
    double value(double z, double y) const {
        const double rate = std::exp(z);
        return rate < infinity ? rate - y * z : infinity;  // not infinity - infinity where y z overflows too
    }
    double slope(double z, double y) const { return std::exp(z) - y; }
    double curvature(double z, double) const { return std::exp(z); }
    double conjugate(double a, double y) const {
        const double q = a + y;
        return q < 0 ? infinity : x_log_x(q) - q;
    }
    Interval domain(double y) const { return {-y, infinity}; }
};

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
    double total(const double* z, const double* y, const double* v, Index n) const override {
        return total_batch(f_, z, y, v, n);
    }
    void conjugate(const double* a, const double* y, Index n, double* out) const override {
        for (Index i = 0; i < n; ++i) out[i] = f_.conjugate(a[i], y[i]);
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
    if (name == "multinomial") return std::make_unique<Multinomial>(static_cast<Index>(parameter));
    throw std::invalid_argument("unknown loss '" + name + "'");
}

}  // namespace paring
