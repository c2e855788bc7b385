// The scalar formulae of the losses of one score z and a target y, each written once. Batches are derived in loss.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "paring/types.hpp"

namespace paring::formulae {

struct Interval {
    double lower, upper;
    double clip(double a) const { return std::clamp(a, lower, upper); }
};

// argmin_a step (curvature a^2 / 2 + y a) + (a - u)^2 / 2 over an interval: the conjugates that are quadratic there.
inline double quadratic_prox(double u, double y, double step, double curvature, Interval domain) {
    return domain.clip((u - step * y) / (1 + step * curvature));
}

inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0.0; }

struct Squared {
    static constexpr double bound = 1;
    static constexpr bool pieces = false;
    double value(double z, double y) const { return 0.5 * (z - y) * (z - y); }
    double slope(double z, double y) const { return z - y; }
    double curvature(double, double) const { return 1; }
    double majorant(double, double) const { return 1; }
    double conjugate(double a, double y) const { return 0.5 * a * a + a * y; }
    Interval domain(double) const { return {-infinity, infinity}; }
    double prox_conjugate(double u, double y, double step) const { return quadratic_prox(u, y, step, 1, domain(y)); }
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
    static constexpr bool pieces = false;
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
    double majorant(double, double) const { return bound; }
    double conjugate(double a, double y) const {
        const double p = -a * y;
        return p < 0 || p > 1 ? infinity : x_log_x(p) + x_log_x(1 - p);
    }
    Interval domain(double y) const { return y > 0 ? Interval{-1, 0} : Interval{0, 1}; }
    // With p = -a y = 1/(1 + exp(-m)): the root of the increasing step m + p(m) + y u, by Newton kept in its bracket.
    double prox_conjugate(double u, double y, double step) const {
        const double target = -y * u;
        double low = (target - 1) / step, high = target / step, m = std::clamp(0.0, low, high), p = 0.5;
        for (int round = 0; round < 60; ++round) {
            p = -slope(-m, 1.0);
            const double value = step * m + p - target, next = m - value / (step + p * (1 - p));
            (value > 0 ? high : low) = m;
            if (std::abs(next - m) <= 4e-16 * std::abs(m)) break;
            m = next > low && next < high ? next : 0.5 * (low + high);
        }
        return -y * p;
    }
};

struct Hinge {
    static constexpr double bound = infinity;
    static constexpr bool pieces = true;
    double value(double z, double y) const { return std::max(1 - y * z, 0.0); }
    double slope(double z, double y) const { return y * z < 1 ? -y : 0.0; }
    double curvature(double, double) const { return 0; }
    double majorant(double, double) const { return bound; }
    double conjugate(double a, double y) const { return a * y < -1 || a * y > 0 ? infinity : a * y; }
    Interval domain(double y) const { return y > 0 ? Interval{-1, 0} : Interval{0, 1}; }
    double prox_conjugate(double u, double y, double step) const { return quadratic_prox(u, y, step, 0, domain(y)); }
};

struct SquaredHinge {
    static constexpr double bound = 1;
    static constexpr bool pieces = true;
    double value(double z, double y) const {
        const double u = std::max(1 - y * z, 0.0);
        return 0.5 * u * u;
    }
    double slope(double z, double y) const { return -y * std::max(1 - y * z, 0.0); }
    double curvature(double z, double y) const { return y * z < 1 ? 1.0 : 0.0; }
    double majorant(double, double) const { return bound; }
    double conjugate(double a, double y) const { return a * y > 0 ? infinity : a * y + 0.5 * a * a; }
    Interval domain(double y) const { return y > 0 ? Interval{-infinity, 0} : Interval{0, infinity}; }
    double prox_conjugate(double u, double y, double step) const { return quadratic_prox(u, y, step, 1, domain(y)); }
};

// The hinge with its corner rounded over a width gamma.
struct SmoothedHinge {
    static constexpr bool pieces = true;
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
    double majorant(double z, double y) const { return 1 / std::max(gamma, std::abs(2 * (1 - y * z) - gamma)); }
    double conjugate(double a, double y) const {
        return a * y < -1 || a * y > 0 ? infinity : a * y + 0.5 * gamma * a * a;
    }
    Interval domain(double y) const { return y > 0 ? Interval{-1, 0} : Interval{0, 1}; }
    double prox_conjugate(double u, double y, double step) const {
        return quadratic_prox(u, y, step, gamma, domain(y));
    }
};

struct Huber {
    static constexpr bool pieces = true;
    double delta;
    double bound = 1;
    double value(double z, double y) const {
        const double r = std::abs(z - y);
        return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
    }
    double slope(double z, double y) const { return std::clamp(z - y, -delta, delta); }
    double curvature(double z, double y) const { return std::abs(z - y) <= delta ? 1.0 : 0.0; }
    double majorant(double z, double y) const { return delta / std::max(delta, std::abs(z - y)); }
    double conjugate(double a, double y) const { return std::abs(a) > delta ? infinity : 0.5 * a * a + a * y; }
    Interval domain(double) const { return {-delta, delta}; }
    double prox_conjugate(double u, double y, double step) const { return quadratic_prox(u, y, step, 1, domain(y)); }
};

// exp(z) - y z: the log-likelihood without its constant log(y!). What overflows is the largest number instead, so that
// a weight of zero cancels it.
struct Poisson {
    static constexpr double bound = infinity, largest = std::numeric_limits<double>::max();
    static constexpr bool pieces = false;
    static double rate(double z) { return std::min(std::exp(z), largest); }
    double value(double z, double y) const { return rate(z) < largest ? rate(z) - y * z : largest; }
    double slope(double z, double y) const { return rate(z) - y; }
    double curvature(double z, double) const { return rate(z); }
    double majorant(double, double) const { return bound; }
    double conjugate(double a, double y) const {
        const double q = a + y;
        return q < 0 ? infinity : x_log_x(q) - q;
    }
    Interval domain(double y) const { return {-y, infinity}; }
};

}  // namespace paring::formulae
