// What the core's tests share: a check that names its line, and random numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "paring/types.hpp"

namespace check {

using paring::Index;

inline void fail(const char* file, int line, const char* what) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
    std::exit(1);
}

inline void near(const char* file, int line, const char* what, double got, double want, double tolerance) {
    if (std::abs(got - want) <= tolerance) return;  // false for NaN
    std::fprintf(stderr, "%s:%d: %s: got %.17g, expected %.17g within %g\n", file, line, what, got, want, tolerance);
    std::exit(1);
}

#define REQUIRE(condition)                                             \
    do {                                                               \
        if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
    } while (false)
#define REQUIRE_NEAR(got, want, tolerance) check::near(__FILE__, __LINE__, #got, (got), (want), (tolerance))

template <class Error, class F>
bool throws(F&& f) {
    try {
        f();
    } catch (const Error&) {
        return true;
    }
    return false;
}

class Random {
  public:
    explicit Random(unsigned seed = 0) : engine_(seed) {}
    double normal() { return std::normal_distribution<double>()(engine_); }
    double uniform() { return std::uniform_real_distribution<double>()(engine_); }
    Index below(Index n) { return std::uniform_int_distribution<Index>(0, n - 1)(engine_); }
    std::vector<double> normals(Index n) {
        std::vector<double> x(static_cast<std::size_t>(n));
        for (double& value : x) value = normal();
        return x;
    }
    std::vector<double> uniforms(Index n) {
        std::vector<double> x(static_cast<std::size_t>(n));
        for (double& value : x) value = uniform();
        return x;
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace check
