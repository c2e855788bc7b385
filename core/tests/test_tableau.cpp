// The tableau against naive dense inverses: after every move Q, T, s, w, g and F are what solving anew gives.
#include "quadratic.hpp"

using namespace paring;
using namespace check;

namespace {

void test_every_move_is_exact() {
    Random random(31);
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
    Random random(32);
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
    Random random(33);
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
    Random random(34);
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
        Random random(35);
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
        Random random(38);
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
    Random random(36);
    Quadratic f(30, 10, 0.01, random);
    Tableau tableau = f.tableau();
    tableau.grow(3, Context{});
    StopToken stop;
    stop.request();
    const Context over{1, &stop};
    REQUIRE(throws<Stopped>([&] { tableau.grow(5, over); }));
    REQUIRE(throws<Stopped>([&] { tableau.polish(over); }));
    REQUIRE(tableau.size() == 3);
    require_exact(f, tableau);
}

// Enough columns for several workers: the same support, and the same bits again.
void test_threads() {
    Random random(37);
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
