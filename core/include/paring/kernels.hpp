// Leaf kernels: contiguous memory, float64 accumulation, several accumulators by hand (no -ffast-math).
#pragma once

#include "paring/types.hpp"

namespace paring {

double dot(const float* x, const double* v, Index n);
double dot(const double* x, const double* v, Index n);
void axpy(double a, const float* x, double* out, Index n);
void axpy(double a, const double* x, double* out, Index n);

struct Moments {
    double slope = 0, first = 0, second = 0;  // sum r x, sum c x, sum c x^2
};
Moments moments(const float* x, const double* r, const double* c, Index n);
Moments moments(const double* x, const double* r, const double* c, Index n);
void add_moments(const float* x, double r, double c, double* slope, double* first, double* second, Index n);
void add_moments(const double* x, double r, double c, double* slope, double* first, double* second, Index n);

// The first block of `reach_block` numbers from `begin` (a multiple of it) on, of n, in which some
// |m nu_j + a x_j| reach_j is at least `bound`; n where there is none. nu null: 0, reach null: 1.
inline constexpr Index reach_block = 32;
Index next_reaching(const float* x, double a, const double* nu, double m, const double* reach, double bound,
                    Index begin, Index n);
Index next_reaching(const double* x, double a, const double* nu, double m, const double* reach, double bound,
                    Index begin, Index n);

// For the sparse lines: v[index] gathered.
template <class T, class I>
double gather_dot(const T* values, const I* indices, Index n, const double* v) {
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    Index p = 0;
    for (; p + 4 <= n; p += 4) {
        a0 += static_cast<double>(values[p]) * v[indices[p]];
        a1 += static_cast<double>(values[p + 1]) * v[indices[p + 1]];
        a2 += static_cast<double>(values[p + 2]) * v[indices[p + 2]];
        a3 += static_cast<double>(values[p + 3]) * v[indices[p + 3]];
    }
    for (; p < n; ++p) a0 += static_cast<double>(values[p]) * v[indices[p]];
    return (a0 + a1) + (a2 + a3);
}

template <class T, class I>
void scatter_axpy(double a, const T* values, const I* indices, Index n, double* out) {
    for (Index p = 0; p < n; ++p) out[indices[p]] += a * static_cast<double>(values[p]);
}

template <class T, class I>
Moments gather_moments(const T* values, const I* indices, Index n, const double* r, const double* c) {
    Moments a, b;
    Index p = 0;
    for (; p + 2 <= n; p += 2) {
        const double x = static_cast<double>(values[p]), y = static_cast<double>(values[p + 1]);
        const double cx = c[indices[p]] * x, cy = c[indices[p + 1]] * y;
        a.slope += r[indices[p]] * x;
        b.slope += r[indices[p + 1]] * y;
        a.first += cx;
        b.first += cy;
        a.second += cx * x;
        b.second += cy * y;
    }
    for (; p < n; ++p) {
        const double x = static_cast<double>(values[p]), cx = c[indices[p]] * x;
        a.slope += r[indices[p]] * x;
        a.first += cx;
        a.second += cx * x;
    }
    return {a.slope + b.slope, a.first + b.first, a.second + b.second};
}

}  // namespace paring
