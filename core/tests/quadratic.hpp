// Quadratics for the tests of the tableau, minimised by dense inverses.
#pragma once

#include <map>
#include <set>

#include "check.hpp"
#include "paring/tableau.hpp"

namespace check {

using namespace paring;

constexpr double within = 1e-8;

using Numbers = std::vector<double>;

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Gauss-Jordan with pivoting: m x m, row-major.
inline Numbers inverse(Numbers a, Index m) {
    Numbers out(at(m * m));
    for (Index i = 0; i < m; ++i) out[at(i * m + i)] = 1;
    for (Index c = 0; c < m; ++c) {
        Index p = c;
        for (Index i = c; i < m; ++i)
            if (std::abs(a[at(i * m + c)]) > std::abs(a[at(p * m + c)])) p = i;
        for (Index j = 0; j < m; ++j) {
            std::swap(a[at(c * m + j)], a[at(p * m + j)]);
            std::swap(out[at(c * m + j)], out[at(p * m + j)]);
        }
        const double by = a[at(c * m + c)];
        REQUIRE(by != 0);
        for (Index j = 0; j < m; ++j) a[at(c * m + j)] /= by, out[at(c * m + j)] /= by;
        for (Index i = 0; i < m; ++i)
            if (const double times = a[at(i * m + c)]; i != c)
                for (Index j = 0; j < m; ++j) {
                    a[at(i * m + j)] -= times * a[at(c * m + j)];
                    out[at(i * m + j)] -= times * out[at(c * m + j)];
                }
    }
    return out;
}

// F(w) = constant + g'w + w'Hw / 2, H = A'A / n + ridge I for a random A of n rows.
struct Quadratic {
    Index d;
    Numbers h, g;
    double constant = 3;
    std::vector<unsigned char> always, never;
    std::map<Index, int> asked = {};  // how often each row of H was
    int calls = 0;                    // and in how many readings

    Quadratic(Index n, Index columns, double ridge, Random& random, const Numbers& given = {})
        : d(columns), h(at(d * d)), g(at(d)), always(at(d)), never(at(d)) {
        Numbers a = given.empty() ? random.normals(n * d) : given;
        if (given.empty())
            for (Index i = 0; i < n; ++i)  // correlated
                for (Index j = 1; j < d; ++j) a[at(i * d + j)] += 0.7 * a[at(i * d)];
        for (Index i = 0; i < d; ++i)
            for (Index j = 0; j < d; ++j) {
                for (Index r = 0; r < n; ++r)
                    h[at(i * d + j)] += a[at(r * d + i)] * a[at(r * d + j)] / static_cast<double>(n);
                if (i == j) h[at(i * d + j)] += ridge;
            }
        const Numbers r = random.normals(n);  // of data, so that F is a sum of squares and never below 0
        for (Index j = 0; j < d; ++j)
            for (Index i = 0; i < n; ++i) g[at(j)] += a[at(i * d + j)] * r[at(i)] / static_cast<double>(n);
    }

    Tableau tableau(TableauSettings settings = {}) {
        Numbers diagonal(at(d));
        for (Index j = 0; j < d; ++j) diagonal[at(j)] = h[at(j * d + j)];
        return {g,
                diagonal,
                constant,
                always,
                never,
                [this](std::span<const Index> features, std::span<double* const> rows) {
                    ++calls;
                    for (std::size_t a = 0; a < features.size(); ++a) {
                        ++asked[features[a]];
                        std::copy_n(h.data() + features[a] * d, d, rows[a]);
                    }
                },
                settings};
    }

    Numbers block_inverse(const std::vector<Index>& features) const {
        Numbers a;
        for (const Index i : features)
            for (const Index j : features) a.push_back(h[at(i * d + j)]);
        return inverse(a, static_cast<Index>(features.size()));
    }

    double least(const std::vector<Index>& features) const {
        const Numbers q = block_inverse(features);
        double value = constant;
        for (std::size_t a = 0; a < features.size(); ++a)
            for (std::size_t b = 0; b < features.size(); ++b)
                value -= 0.5 * g[at(features[a])] * q[a * features.size() + b] * g[at(features[b])];
        return value;
    }
};

// Everything the tableau holds, solved anew.
inline void require_exact(const Quadratic& f, const Tableau& tableau) {
    const Tableau::Saved got = tableau.saved();
    const auto k = tableau.size();
    REQUIRE(std::set<Index>(got.features.begin(), got.features.end()).size() == at(k));
    const Numbers q = f.block_inverse(got.features);
    for (std::size_t i = 0; i < q.size(); ++i) REQUIRE_NEAR(got.q[i], q[i], within * (1 + std::abs(q[i])));
    for (Index a = 0; a < k; ++a) {
        double w = 0;
        for (Index b = 0; b < k; ++b) w -= q[at(a * k + b)] * f.g[at(got.features[at(b)])];
        REQUIRE_NEAR(got.w[at(a)], w, within * (1 + std::abs(w)));
    }
    const std::set<Index> inside(got.features.begin(), got.features.end());
    for (Index i = 0; i < f.d; ++i) {
        if (inside.contains(i)) {
            REQUIRE(got.g[at(i)] == 0 && got.s[at(i)] == 0);
            continue;
        }
        double s = f.h[at(i * f.d + i)], g = f.g[at(i)];
        for (Index a = 0; a < k; ++a) {
            double t = 0;
            for (Index b = 0; b < k; ++b) t += q[at(a * k + b)] * f.h[at(got.features[at(b)] * f.d + i)];
            s -= t * f.h[at(got.features[at(a)] * f.d + i)];
            g += got.w[at(a)] * f.h[at(got.features[at(a)] * f.d + i)];
        }
        REQUIRE_NEAR(got.s[at(i)], s, within);
        REQUIRE_NEAR(got.g[at(i)], g, within);
    }
    REQUIRE_NEAR(tableau.objective(), f.least(got.features), within);
}

// No allowed exchange of one for one lowers F by more than the tolerance.
inline void require_swap_optimal(const Quadratic& f, const Tableau& tableau, double tolerance) {
    const std::vector<Index>& features = tableau.features();
    for (std::size_t p = 0; p < features.size(); ++p)
        for (Index i = 0; i < f.d; ++i) {
            if (f.always[at(features[p])] || f.never[at(i)]) continue;
            if (std::find(features.begin(), features.end(), i) != features.end()) continue;
            std::vector<Index> other = features;
            other[p] = i;
            REQUIRE(f.least(other) >= tableau.objective() - tolerance - within);
        }
}

}  // namespace check
