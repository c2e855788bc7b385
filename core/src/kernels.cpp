#include "paring/kernels.hpp"

#include <cmath>

#include "wide.hpp"

namespace paring {

namespace {

// Inlined into each clone below, so that it is compiled for each machine.
template <class T>
[[gnu::always_inline]] inline double dot_of(const T* x, const double* v, Index n) {
    Wide even{}, odd{};  // two in flight
    Index i = 0;
    for (; i + 2 * width <= n; i += 2 * width) {
        even += load(x + i) * load(v + i);
        odd += load(x + i + width) * load(v + i + width);
    }
    if (i + width <= n) {
        even += load(x + i) * load(v + i);
        i += width;
    }
    double rest = 0;
    for (; i < n; ++i) rest += static_cast<double>(x[i]) * v[i];
    return sum(even + odd) + rest;
}

template <class T>
[[gnu::always_inline]] inline Moments moments_of(const T* x, const double* r, const double* c, Index n) {
    Wide slope{}, first{}, second{};
    Index i = 0;
    for (; i + width <= n; i += width) {
        const Wide value = load(x + i), weighted = load(c + i) * value;
        slope += load(r + i) * value;
        first += weighted;
        second += weighted * value;
    }
    Moments out;
    for (; i < n; ++i) {
        const double value = static_cast<double>(x[i]), weighted = c[i] * value;
        out.slope += r[i] * value;
        out.first += weighted;
        out.second += weighted * value;
    }
    out.slope += sum(slope);
    out.first += sum(first);
    out.second += sum(second);
    return out;
}

template <class T>
[[gnu::always_inline]] inline void axpy_of(double a, const T* x, double* out, Index n) {
    for (Index i = 0; i < n; ++i) out[i] += a * static_cast<double>(x[i]);
}

template <class T>
[[gnu::always_inline]] inline void add_moments_of(const T* x, double r, double c, double* __restrict slope,
                                                  double* __restrict first, double* __restrict second, Index n) {
    for (Index i = 0; i < n; ++i) {
        const double value = static_cast<double>(x[i]), weighted = c * value;
        slope[i] += r * value;
        first[i] += weighted;
        second[i] += weighted * value;
    }
}

// A number for each lane, so that the comparison is a vector's; the branch is taken once a block.
template <bool drifts, bool scaled, class T>
[[gnu::always_inline]] inline Index next_reaching_of(const T* x, double a, const double* nu, double m,
                                                     const double* reach, double bound, Index begin, Index n) {
    const auto reaches = [&](Index j) {
        double value = a * static_cast<double>(x[j]);
        if constexpr (drifts) value += m * nu[j];
        if constexpr (scaled) value *= reach[j];
        return std::abs(value) >= bound;
    };
    Index at = begin;
    for (; at + reach_block <= n; at += reach_block) {
        std::int64_t any = 0;
        for (Index l = 0; l < reach_block; ++l) any |= reaches(at + l) ? 1 : 0;
        if (any != 0) return at;
    }
    for (Index j = at; j < n; ++j)
        if (reaches(j)) return at;
    return n;
}

template <class T>
[[gnu::always_inline]] inline Index next_reaching_any(const T* x, double a, const double* nu, double m,
                                                      const double* reach, double bound, Index begin, Index n) {
    if (nu == nullptr)
        return reach == nullptr ? next_reaching_of<false, false>(x, a, nu, m, reach, bound, begin, n)
                                : next_reaching_of<false, true>(x, a, nu, m, reach, bound, begin, n);
    return reach == nullptr ? next_reaching_of<true, false>(x, a, nu, m, reach, bound, begin, n)
                            : next_reaching_of<true, true>(x, a, nu, m, reach, bound, begin, n);
}

}  // namespace

PARING_CLONES double dot(const float* x, const double* v, Index n) { return dot_of(x, v, n); }
PARING_CLONES double dot(const double* x, const double* v, Index n) { return dot_of(x, v, n); }
PARING_CLONES void axpy(double a, const float* x, double* out, Index n) { axpy_of(a, x, out, n); }
PARING_CLONES void axpy(double a, const double* x, double* out, Index n) { axpy_of(a, x, out, n); }
PARING_CLONES Moments moments(const float* x, const double* r, const double* c, Index n) {
    return moments_of(x, r, c, n);
}
PARING_CLONES Moments moments(const double* x, const double* r, const double* c, Index n) {
    return moments_of(x, r, c, n);
}
PARING_CLONES void add_moments(const float* x, double r, double c, double* slope, double* first, double* second,
                               Index n) {
    add_moments_of(x, r, c, slope, first, second, n);
}
PARING_CLONES void add_moments(const double* x, double r, double c, double* slope, double* first, double* second,
                               Index n) {
    add_moments_of(x, r, c, slope, first, second, n);
}

PARING_CLONES Index next_reaching(const float* x, double a, const double* nu, double m, const double* reach,
                                  double bound, Index begin, Index n) {
    return next_reaching_any(x, a, nu, m, reach, bound, begin, n);
}
PARING_CLONES Index next_reaching(const double* x, double a, const double* nu, double m, const double* reach,
                                  double bound, Index begin, Index n) {
    return next_reaching_any(x, a, nu, m, reach, bound, begin, n);
}

}  // namespace paring
