// Several workers on one iterate: what they may lose, what they leave, and how they end.
#include <atomic>
#include <stdexcept>

#include "rounds.hpp"

using namespace check;

namespace {

// A loss whose slope is y whatever the score: steps of whole numbers then commute, and none may be missing.
struct Constant final : Loss {
    double curvature_bound() const override { return 0; }
    void evaluate(const double*, const double* y, Index count, double*, double* slope, double*) const override {
        if (fails_at != 0 && calls.fetch_add(1) == fails_at) throw std::runtime_error("a worker failed");
        std::copy_n(y, count, slope);
    }
    double total(const double*, const double*, const double*, Index) const override { return 0; }
    void conjugate(const double*, const double*, Index, double*) const override {}
    void domain(const double*, Index, double*, double*) const override {}
    void majorant(const double*, const double*, Index, double*) const override {}
    void prox_conjugate(const double*, const double*, double, Index, double*) const override {}

    int fails_at = 0;
    mutable std::atomic<int> calls = 0;
};

// Whole numbers, about half of them zeros.
Matrix whole_numbers(Index rows, Index columns) {
    Random random(5);
    Matrix a{rows, columns, Vector(static_cast<std::size_t>(rows * columns))};
    for (double& x : a.values) x = static_cast<double>(random.below(2) * (1 + random.below(3)));
    return a;
}

void counting(Round& round, int fails_at = 0) {
    auto loss = std::make_shared<Constant>();
    loss->fails_at = fails_at;
    round.loss = loss;
    std::fill(round.v.begin(), round.v.end(), 1.0);
    std::fill(round.anchor.begin(), round.anchor.end(), 0.0);
    std::fill(round.w.begin(), round.w.end(), 0.0);
    for (std::size_t j = 0; j < round.moves.size(); ++j) round.moves[j] = j % 3 < 2 ? 1.0 : 0.0;
}

void test_atomic_loses_no_step_and_wild_invents_none() {
    const Matrix a = whole_numbers(n, d);
    Round round(20000, 4);
    counting(round);
    for (const auto& layout : sparse_layouts(a, false)) {
        const Vector alone = round.run(layout.rows, Which::everywhere, nullptr, Sharing::plain, 1);
        require_same_bits(round.run(layout.rows, Which::everywhere, nullptr, Sharing::atomic, 4), alone);
        for (const double w : round.run(layout.rows, Which::everywhere, nullptr, Sharing::wild, 4)) {
            REQUIRE(w == std::floor(w));
            REQUIRE(std::abs(w) <= 20000 * 3.0);
        }
    }
}

// Every store, several workers, thresholding at every step: finite; at most (workers x k) numbers and those always
// kept.
void test_workers_that_threshold_leave_at_most_k_each() {
    constexpr Index columns = 200, rows = 300;
    Random random(6);
    Matrix a{rows, columns, Vector(static_cast<std::size_t>(rows * columns))};
    for (double& x : a.values) x = random.uniform() < 0.05 ? random.normal() : 0;
    const auto layout = sparse<double, std::int32_t>(a, false);
    std::vector<unsigned char> always(columns);
    always[7] = 1;
    for (const Sharing sharing : {Sharing::wild, Sharing::atomic})
        for (const int workers : {2, 4, 8})
            for (unsigned seed = 0; seed < 5; ++seed) {
                Round round(4000, seed, 1, rows, columns);
                std::fill(round.w.begin(), round.w.end(), 0.0);
                std::vector<Index> support = {3, 50, 120};
                for (const Index j : support) round.w[static_cast<std::size_t>(j)] = 1;
                const Largest largest{5, support, always.data(), nullptr};
                const Vector w = round.run(layout.rows, Which::everywhere, &largest, sharing, workers);
                Index nonzeros = 0;
                for (Index j = 0; j < columns; ++j) {
                    const double w_j = w[static_cast<std::size_t>(j)];
                    REQUIRE(std::isfinite(w_j));
                    nonzeros += w_j != 0 && !always[static_cast<std::size_t>(j)];
                }
                REQUIRE(nonzeros >= 1 && nonzeros <= 5 * workers);
            }
}

// Dense rows: the mean of what each worker reaches from the same start with its own part of the steps.
void test_dense_rows_average_private_iterates() {
    Random random(7);
    const Matrix a = random_matrix(n, d, random);
    for (const bool thresholded : {false, true}) {
        Round round(90, 8);
        const Thresholded kept(round);
        const Largest* largest = thresholded ? &kept.largest : nullptr;
        for (const int workers : {2, 3}) {
            Vector sum(static_cast<std::size_t>(d + 1));
            for (int t = 0; t < workers; ++t) {
                Round part = round;
                const auto begin = 90 * t / workers, end = 90 * (t + 1) / workers;
                part.rows.assign(round.rows.begin() + begin, round.rows.begin() + end);
                part.of_steps.assign(round.of_steps.begin() + begin, round.of_steps.begin() + end);
                const Vector w =
                    part.run(dense<double>(a, false, 0).rows, Which::in_blocks, largest, Sharing::plain, 1);
                for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += w[j];
            }
            for (double& total : sum) total /= workers;
            const auto layout = dense<double>(a, false, 0);
            for (const Sharing sharing : every_store)
                require_same_bits(round.run(layout.rows, Which::in_blocks, largest, sharing, workers), sum);
        }
    }
}

// -- ends -------------------------------------------------------------------------------------------------------------

void test_stops_and_failures_reach_the_caller() {
    const Matrix a = whole_numbers(n, d);
    const auto layout = sparse<float, std::int32_t>(a, false);
    Round round(2000000, 9);
    for (const int workers : {1, 3}) {
        StopToken late(0.05);
        REQUIRE(
            throws<Stopped>([&] { round.run(layout.rows, Which::in_blocks, nullptr, Sharing::wild, workers, &late); }));
        Round failing(2000000, 9);
        counting(failing, 1000);
        REQUIRE(throws<std::runtime_error>(
            [&] { failing.run(layout.rows, Which::in_blocks, nullptr, Sharing::wild, workers); }));
    }
    REQUIRE(throws<std::invalid_argument>(
        [&] { Round(9, 9).run(layout.rows, Which::everywhere, nullptr, Sharing::plain, 2); }));
}

}  // namespace

int main() {
    test_atomic_loses_no_step_and_wild_invents_none();
    test_workers_that_threshold_leave_at_most_k_each();
    test_dense_rows_average_private_iterates();
    test_stops_and_failures_reach_the_caller();
    std::puts("sharing: ok");
}
