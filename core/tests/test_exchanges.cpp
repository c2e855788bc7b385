// Ranked exchanges against naive enumeration: the same pairs in the same order, ties to the lowest indices.
#include "paring/exchanges.hpp"

#include "check.hpp"

using namespace paring;

namespace {

constexpr double close = 1e-12;

struct Problem {
    Index k, m, ld;
    std::vector<double> t, q, w, g, s, floor;
    std::vector<unsigned char> fixed;
    ExchangeModel model() const {
        return {t.data(), k,        m,        ld,           q.data(),
                w.data(), g.data(), s.data(), floor.data(), fixed.empty() ? nullptr : fixed.data()};
    }
};

Problem random_problem(Index k, Index m, check::Random& random) {
    Problem p{k, m, m + 3, random.normals(k * (m + 3)), {}, random.normals(k), random.normals(m), {}, {}, {}};
    p.q = random.uniforms(k);
    p.s = random.uniforms(m);
    for (double& x : p.q) x += 0.1;
    for (double& x : p.s) x += 0.01;
    p.floor.assign(static_cast<std::size_t>(m), 1e-6);
    return p;
}

// dF by the formula of the header.
double change(const Problem& p, Index j, Index i) {
    const auto jj = static_cast<std::size_t>(j), ii = static_cast<std::size_t>(i);
    const double t = p.t[static_cast<std::size_t>(j * p.ld + i)], q = p.q[jj];
    const double curvature = p.s[ii] + t * t / q, slope = p.g[ii] - p.w[jj] * t / q;
    if (!(curvature > p.floor[ii]) || (!p.fixed.empty() && p.fixed[jj] != 0)) return infinity;
    return p.w[jj] * p.w[jj] / (2 * q) - slope * slope / (2 * curvature);
}

std::vector<Ranked> naive(const Problem& p, Index count, double below) {
    std::vector<Ranked> all;
    for (Index j = 0; j < p.k; ++j)
        for (Index i = 0; i < p.m; ++i)
            if (change(p, j, i) < below) all.push_back({change(p, j, i), j, i});
    std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) { return a.change < b.change; });
    if (static_cast<Index>(all.size()) > count) all.resize(static_cast<std::size_t>(count));
    return all;
}

void require_same(const Problem& p, Index count, double below, int threads) {
    const auto want = naive(p, count, below), got = best_exchanges(p.model(), count, below, Context{threads});
    REQUIRE(got.size() == want.size());
    for (std::size_t r = 0; r < got.size(); ++r) {
        REQUIRE_NEAR(got[r].change, want[r].change, close * (1 + std::abs(want[r].change)));
        REQUIRE(got[r].leave == want[r].leave && got[r].enter == want[r].enter);
    }
}

void test_random() {
    check::Random random(21);
    for (const auto& [k, m] : {std::pair<Index, Index>{1, 1}, {1, 20}, {5, 1}, {3, 7}, {8, 9}, {4, 5000}})
        for (const Index count : {1, 2, 10, 1000000})
            for (const double below : {0.0, -0.5, 1.0}) require_same(random_problem(k, m, random), count, below, 1);
    for (const int threads : {1, 2, 3}) require_same(random_problem(30, 30000, random), 50, -1.0, threads);
}

// All pairs alike: the lowest indices, members first.
void test_ties() {
    for (const Index m : {4, 5000}) {
        const auto size = static_cast<std::size_t>(m);
        Problem p{3,
                  m,
                  m,
                  std::vector<double>(3 * size, 0.5),
                  {1, 1, 1},
                  {1, 1, 1},
                  std::vector<double>(size, 2.5),
                  std::vector<double>(size, 1),
                  std::vector<double>(size, 1e-6),
                  {}};
        for (const int threads : {1, 3}) {
            const auto got = best_exchanges(p.model(), m + 2, 0, Context{threads});
            REQUIRE(static_cast<Index>(got.size()) == m + 2);
            for (Index r = 0; r < m + 2; ++r) {
                REQUIRE(got[static_cast<std::size_t>(r)].leave == r / m);
                REQUIRE(got[static_cast<std::size_t>(r)].enter == r % m);
            }
        }
    }
}

void test_who_may_not_take_part() {
    check::Random random(22);
    Problem p = random_problem(6, 40, random);
    p.fixed = {1, 0, 1, 0, 0, 1};
    require_same(p, 1000, 0, 1);
    for (const Ranked& r : best_exchanges(p.model(), 1000, 0, Context{}))
        REQUIRE(p.fixed[static_cast<std::size_t>(r.leave)] == 0);
    p.fixed.assign(6, 1);
    REQUIRE(best_exchanges(p.model(), 1000, 0, Context{}).empty());
    p.fixed.clear();
    for (std::size_t i = 0; i < 40; i += 2) p.s[i] = infinity;
    for (std::size_t i = 1; i < 40; i += 4) p.floor[i] = infinity;
    const auto left = best_exchanges(p.model(), 1000, 0, Context{});
    REQUIRE(!left.empty());
    for (const Ranked& r : left) REQUIRE(r.enter % 4 == 3);
    require_same(p, 1000, 0, 1);
}

void test_nothing_to_do() {
    check::Random random(23);
    const Problem p = random_problem(3, 5, random);
    REQUIRE(best_exchanges(p.model(), 0, 0, Context{}).empty());
    REQUIRE(best_exchanges(p.model(), -1, 0, Context{}).empty());
    REQUIRE(best_exchanges(p.model(), 5, -infinity, Context{}).empty());
    Problem none = p;
    none.m = 0;
    REQUIRE(best_exchanges(none.model(), 5, 0, Context{}).empty());
    none = p;
    none.k = 0;
    REQUIRE(best_exchanges(none.model(), 5, 0, Context{}).empty());
}

// NaN and a negative inverse diagonal rank nothing, and harm nothing else.
void test_spoilt_numbers() {
    check::Random random(24);
    Problem p = random_problem(4, 30, random);
    p.g[3] = std::nan("");
    p.q[2] = -1;
    const auto got = best_exchanges(p.model(), 1000, 0, Context{});
    REQUIRE(!got.empty());
    for (const Ranked& r : got) REQUIRE(r.enter != 3 && r.leave != 2 && std::isfinite(r.change));
}

}  // namespace

int main() {
    test_random();
    test_ties();
    test_who_may_not_take_part();
    test_nothing_to_do();
    test_spoilt_numbers();
    std::puts("exchanges: ok");
}
