// The tableau against naive dense inverses: after every move Q, T, s, w, g and F are what solving anew gives.
#include "paring/tableau.hpp"

#include <map>
#include <set>

#include "check.hpp"

using namespace paring;

namespace {

constexpr double close = 1e-8;

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Gauss-Jordan with pivoting: m x m, row-major.
Numbers inverse(Numbers a, Index m) {
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

    Quadratic(Index n, Index columns, double ridge, check::Random& random, const Numbers& given = {})
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
void require_exact(const Quadratic& f, const Tableau& tableau) {
    const Tableau::Saved got = tableau.saved();
    const auto k = tableau.size();
    REQUIRE(std::set<Index>(got.features.begin(), got.features.end()).size() == at(k));
    const Numbers q = f.block_inverse(got.features);
    for (std::size_t i = 0; i < q.size(); ++i) REQUIRE_NEAR(got.q[i], q[i], close * (1 + std::abs(q[i])));
    for (Index a = 0; a < k; ++a) {
        double w = 0;
        for (Index b = 0; b < k; ++b) w -= q[at(a * k + b)] * f.g[at(got.features[at(b)])];
        REQUIRE_NEAR(got.w[at(a)], w, close * (1 + std::abs(w)));
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
        REQUIRE_NEAR(got.s[at(i)], s, close);
        REQUIRE_NEAR(got.g[at(i)], g, close);
    }
    REQUIRE_NEAR(tableau.objective(), f.least(got.features), close);
}

// No allowed exchange of one for one lowers F by more than the tolerance.
void require_swap_optimal(const Quadratic& f, const Tableau& tableau, double tolerance) {
    const std::vector<Index>& features = tableau.features();
    for (std::size_t p = 0; p < features.size(); ++p)
        for (Index i = 0; i < f.d; ++i) {
            if (f.always[at(features[p])] || f.never[at(i)]) continue;
            if (std::find(features.begin(), features.end(), i) != features.end()) continue;
            std::vector<Index> other = features;
            other[p] = i;
            REQUIRE(f.least(other) >= tableau.objective() - tolerance - close);
        }
}

void test_every_move_is_exact() {
    check::Random random(31);
    for (const double batch : {0.05, 0.5})
        for (const double ridge : {0.0, 0.1}) {
            Quadratic f(40, 14, ridge, random);
            Tableau tableau = f.tableau({1e-12, batch, 1e8});
            const std::vector<Index> first{9, 2, 5};
            tableau.enter(first, Context{});
            REQUIRE(tableau.size() == 3);
            require_exact(f, tableau);
            for (const Index size : {5, 8, 3, 10, 1, 14, 6, 0, 4}) {
                const double before = tableau.objective();
                const bool grows = size >= tableau.size();
                grows ? tableau.grow(size, Context{}) : tableau.shrink(size, Context{});
                REQUIRE(tableau.size() == size);
                REQUIRE(grows ? tableau.objective() <= before : tableau.objective() >= before);
                require_exact(f, tableau);
                const double reached = tableau.objective();
                tableau.polish(Context{});
                REQUIRE(tableau.size() == size && tableau.objective() <= reached);
                require_exact(f, tableau);
                require_swap_optimal(f, tableau, 1e-12);
            }
        }
}

void test_saved_and_restored() {
    check::Random random(32);
    Quadratic f(30, 10, 0.05, random);
    Tableau tableau = f.tableau();
    tableau.grow(4, Context{});
    const Tableau::Saved saved = tableau.saved();
    tableau.grow(7, Context{});
    tableau.polish(Context{});
    tableau.restore(saved);
    REQUIRE(tableau.size() == 4 && tableau.features() == saved.features && tableau.objective() == saved.objective);
    require_exact(f, tableau);
    tableau.polish(Context{});
    require_exact(f, tableau);
}

void test_always_and_never() {
    check::Random random(33);
    Quadratic f(40, 12, 0.01, random);
    f.always[3] = f.always[7] = f.never[0] = f.never[5] = 1;
    Tableau tableau = f.tableau({1e-12, 0.5, 1e8});
    const std::vector<Index> forced{3, 7};
    tableau.enter(forced, Context{});
    for (const Index size : {5, 8, 4, 2}) {
        size >= tableau.size() ? tableau.grow(size, Context{}) : tableau.shrink(size, Context{});
        tableau.polish(Context{});
        const std::set<Index> inside(tableau.features().begin(), tableau.features().end());
        REQUIRE(tableau.size() == size && inside.contains(3) && inside.contains(7));
        REQUIRE(!inside.contains(0) && !inside.contains(5));
        require_exact(f, tableau);
        require_swap_optimal(f, tableau, 1e-12);
    }
    tableau.grow(12, Context{});
    REQUIRE(tableau.size() == 10);
}

// Rank 5 of 12 columns, two of them zero, two alike: the support ends at 5, whoever asks for more.
void test_collinear() {
    check::Random random(34);
    const Index n = 30, d = 12, rank = 5;
    const Numbers left = random.normals(n * rank), right = random.normals(rank * d);
    Numbers a(at(n * d));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < d; ++j)
            for (Index r = 0; r < rank; ++r) a[at(i * d + j)] += left[at(i * rank + r)] * right[at(r * d + j)];
    for (Index i = 0; i < n; ++i) {
        a[at(i * d + 2)] = a[at(i * d + 6)] = 0;
        a[at(i * d + 9)] = a[at(i * d + 1)];
    }
    for (const double batch : {0.1, 0.9}) {
        Quadratic f(n, d, 0, random, a);
        Tableau tableau = f.tableau({1e-9, batch, 1e8});
        const std::vector<Index> alike{1, 2, 9};
        tableau.enter(alike, Context{});
        REQUIRE(tableau.size() == 1);
        for (const Index size : {3, 12, 4, 12}) {
            size >= tableau.size() ? tableau.grow(size, Context{}) : tableau.shrink(size, Context{});
            tableau.polish(Context{});
            REQUIRE(tableau.size() == std::min(size, rank));
            for (const double w : tableau.weights()) REQUIRE(std::isfinite(w));
            REQUIRE_NEAR(tableau.objective(), f.least(tableau.features()), 1e-6);
        }
    }
    Quadratic nothing(n, 4, 0, random, Numbers(at(n * 4)));
    Tableau empty = nothing.tableau();
    empty.grow(4, Context{});
    empty.polish(Context{});
    REQUIRE(empty.size() == 0 && empty.objective() == nothing.constant);
}

// With room each row of H is asked for once; without, as often as its feature enters, to the same end.
void test_rows_are_kept() {
    std::vector<Index> reached[2];
    int most[2] = {0, 0};
    for (const int kept : {0, 1}) {
        check::Random random(35);
        Quadratic f(50, 20, 0.01, random);
        Tableau tableau = f.tableau({1e-9, 0.3, kept == 1 ? 1e8 : 0.0});
        for (const Index size : {8, 2, 9, 1, 7}) {
            size >= tableau.size() ? tableau.grow(size, Context{}) : tableau.shrink(size, Context{});
            tableau.polish(Context{});
        }
        require_exact(f, tableau);
        reached[kept] = tableau.features();
        for (const auto& [feature, times] : f.asked) most[kept] = std::max(most[kept], times);
    }
    REQUIRE(reached[0] == reached[1]);
    REQUIRE(most[1] == 1 && most[0] > 1);
}

// Rows made ahead, with those that are needed: fewer calls, each row once at most, the same support.
void test_rows_made_ahead() {
    std::vector<Index> reached[2];
    int calls[2] = {0, 0};
    for (const Index at_once : {1, 6}) {
        check::Random random(38);
        Quadratic f(50, 20, 0.01, random);
        Tableau tableau = f.tableau({1e-9, 0.3, 1e8, at_once});
        for (const Index size : {3, 8, 2, 9}) {
            size >= tableau.size() ? tableau.grow(size, Context{}) : tableau.shrink(size, Context{});
            tableau.polish(Context{});
        }
        require_exact(f, tableau);
        reached[at_once > 1] = tableau.features();
        calls[at_once > 1] = f.calls;
        for (const auto& [feature, times] : f.asked) REQUIRE(times == 1);
    }
    REQUIRE(reached[0] == reached[1]);
    REQUIRE(calls[1] < calls[0]);
}

void test_a_stop_is_heeded() {
    check::Random random(36);
    Quadratic f(30, 10, 0.01, random);
    Tableau tableau = f.tableau();
    tableau.grow(3, Context{});
    StopToken stop;
    stop.request();
    const Context over{1, &stop};
    REQUIRE(check::throws<Stopped>([&] { tableau.grow(5, over); }));
    REQUIRE(check::throws<Stopped>([&] { tableau.polish(over); }));
    REQUIRE(tableau.size() == 3);
    require_exact(f, tableau);
}

// Enough columns for several workers: the same support, and the same bits again.
void test_threads() {
    check::Random random(37);
    const Index d = 1500;
    Quadratic f(20, d, 0.1, random);
    std::vector<Index> features;
    double objective = 0;
    for (const int threads : {1, 3, 3}) {
        Tableau tableau = f.tableau({1e-9, 0.2, 1e8});
        tableau.grow(40, Context{threads});
        tableau.polish(Context{threads});
        tableau.shrink(30, Context{threads});
        tableau.polish(Context{threads});
        REQUIRE(features.empty() || features == tableau.features());
        REQUIRE(features.empty() || objective == tableau.objective());
        features = tableau.features();
        objective = tableau.objective();
    }
}

}  // namespace

int main() {
    test_every_move_is_exact();
    test_saved_and_restored();
    test_always_and_never();
    test_collinear();
    test_rows_are_kept();
    test_rows_made_ahead();
    test_a_stop_is_heeded();
    test_threads();
    std::puts("tableau: ok");
}
