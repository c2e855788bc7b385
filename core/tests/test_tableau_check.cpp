// What the tableau knows of its own rounding: numbers had anew, moves past the rank, columns in doubt.
#include "quadratic.hpp"

using namespace paring;
using namespace check;

namespace {

// Whatever the moves have left of Q, w, g, s and F: they are had anew from the rows of H.
void test_refresh() {
    Random random(39);
    Quadratic f(40, 14, 0.01, random);
    Tableau tableau = f.tableau();
    tableau.refresh(Context{});
    REQUIRE(tableau.size() == 0 && tableau.objective() == f.constant);
    tableau.grow(6, Context{});
    Tableau::Saved spoiled = tableau.saved();
    for (Numbers* part : {&spoiled.q, &spoiled.w, &spoiled.g, &spoiled.s})
        for (double& value : *part) value += 1e-3;
    spoiled.objective = -1;
    tableau.restore(spoiled);
    tableau.refresh(Context{});
    require_exact(f, tableau);
    REQUIRE(tableau.polish(Context{}));
    require_swap_optimal(f, tableau, 1e-9);
}

// Moves past the rank, of which rounding alone decides: they end, on members that factor.
void test_past_the_rank() {
    for (unsigned seed = 0; seed < 300; ++seed) {
        Random random(seed);
        Quadratic f(8, 24, 0, random);
        Tableau tableau = f.tableau({1e-9, 0.5, 1e8});
        for (const Index size : {5, 8, 12, 7, 24, 3}) {
            size >= tableau.size() ? tableau.grow(size, Context{}) : tableau.shrink(size, Context{});
            tableau.polish(Context{});
            tableau.refresh(Context{});
            REQUIRE(tableau.size() <= 8);
            for (const double value : tableau.inflation()) REQUIRE(value >= 1 - within && std::isfinite(value));
        }
        REQUIRE(tableau.size() == 3);
        require_exact(f, tableau);
    }
}

// A copy of a member is in doubt; others are where rounding is said to be as large as what is left of them.
void test_doubts() {
    Random random(40);
    const Index n = 40, d = 12;
    Numbers a = random.normals(n * d);
    for (Index i = 0; i < n; ++i) a[at(i * d + 9)] = a[at(i * d + 2)];
    Quadratic f(n, d, 0, random, a);
    Tableau tableau = f.tableau();
    const std::vector<Index> first{2, 5};
    tableau.enter(first, Context{});
    REQUIRE(tableau.polish(Context{}) || tableau.size() == 2);
    const bool has_copied =
        std::find(tableau.features().begin(), tableau.features().end(), 2) != tableau.features().end() ||
        std::find(tableau.features().begin(), tableau.features().end(), 9) != tableau.features().end();
    const auto doubted = tableau.doubtful(Numbers(at(d)), 1e-7, 8, Context{});
    REQUIRE(doubted.size() == (has_copied ? 1 : 0));
    REQUIRE(tableau.doubtful(Numbers(at(d), 1e3), 1e-7, 8, Context{}).size() == at(d - 2));
    const Numbers t = tableau.regressions(tableau.features(), Context{});
    for (Index i = 0; i < 2; ++i)
        for (Index j = 0; j < 2; ++j) REQUIRE_NEAR(t[at(2 * i + j)], i == j ? 1.0 : 0.0, within);
}

}  // namespace

int main() {
    test_refresh();
    test_past_the_rank();
    test_doubts();
    std::puts("tableau, its rounding: ok");
}
