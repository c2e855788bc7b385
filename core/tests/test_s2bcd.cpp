// The sparse semi-stochastic sweep on one worker: against plain loops in every layout, and the same bits from every
// store.
#include "rounds.hpp"

using namespace check;

namespace {

// One worker: every layout gives what plain loops give, and every store the same bits.
void test_alone(Index outputs, Index batch) {
    Random random(1);
    const Matrix a = random_matrix(n, d, random);
    for (const bool intercept : {false, true})
        for (const Which which : every_which)
            for (const bool thresholded : {false, true}) {
                Round round(60, 2, outputs);
                round.intercept = intercept;
                round.batch = batch;
                round.draw_rows(n, random);
                const Thresholded kept(round);
                const Largest* largest = thresholded ? &kept.largest : nullptr;
                for (const auto& layout : row_layouts(a)) {
                    const Vector plain = round.run(layout.rows, which, largest, Sharing::plain, 1);
                    require_near(plain, naive(round, a, layout.name == "dense", which, largest));
                    for (const Sharing sharing : every_store)
                        require_same_bits(round.run(layout.rows, which, largest, sharing, 1), plain);
                }
            }
}

void test_ties_and_what_is_not_a_number() {
    KeepLargest keep({2, {}, nullptr, nullptr}, d, One{});
    Vector w(d);
    for (const Index j : {9, 3, 12, 5}) {
        w[static_cast<std::size_t>(j)] = j == 12 ? 2.0 : -1.0;
        keep.touch(j);
        keep.touch(j);
    }
    keep.threshold(Plain{w.data()});
    for (Index j = 0; j < d; ++j) REQUIRE(w[static_cast<std::size_t>(j)] == (j == 12 ? 2.0 : j == 3 ? -1.0 : 0.0));
    w[0] = std::nan("");
    keep.touch(0);
    keep.threshold(Plain{w.data()});
    REQUIRE(std::isnan(w[0]) && w[12] == 2.0 && w[3] == 0.0);
}

// Where the stop comes between two steps, the iterate is that after some of them.
void test_a_sweep_cut_off_leaves_whole_steps() {
    Random random(5);
    const Matrix a = random_matrix(n, d, random);
    const auto layout = sparse<double, std::int64_t>(a, false);
    const Sparse<double, std::int64_t>& X = std::get<Sparse<double, std::int64_t>>(layout.rows);
    Round round(50, 10);
    StopToken stop;
    stop.request();
    Vector w = round.w;
    Mover<Everywhere> mover({}, 0, d);
    KeepAll keep;
    sweep_s2bcd(X, round.data(), round.steps(), mover, keep, One{}, stop, Plain{w.data()});
    require_same_bits(w, round.w);
    for (const Index steps : {1, 7, 50}) {
        Vector cut = round.w;
        StopToken never;
        for (const Steps& part : {round.steps().part(0, steps), round.steps().part(steps, 50)})
            sweep_s2bcd(X, round.data(), part, mover, keep, One{}, never, Plain{cut.data()});
        require_same_bits(cut, round.run(layout.rows, Which::everywhere, nullptr, Sharing::plain, 1));
    }
}

void test_no_steps() {
    Random random(5);
    const Matrix a = random_matrix(n, d, random);
    for (const auto& layout : row_layouts(a)) {
        const Round round(0, 11);
        require_same_bits(round.run(layout.rows, Which::in_blocks, nullptr, Sharing::wild, 4), round.w);
    }
}

}  // namespace

int main() {
    for (const Index outputs : {1, 3})
        for (const Index batch : {1, 3}) test_alone(outputs, batch);
    test_ties_and_what_is_not_a_number();
    test_a_sweep_cut_off_leaves_whole_steps();
    test_no_steps();
    std::puts("s2bcd: ok");
}
