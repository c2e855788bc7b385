// The sparse semi-stochastic sweep: against plain loops in every layout, through every store, alone and together.
#include "paring/sweeps/s2bcd.hpp"

#include <cstring>

#include "matrices.hpp"

using namespace paring;
using check::Matrix;

namespace {

using Vector = std::vector<double>;

constexpr Index n = 23, d = 17, window = 6;

enum class Which { everywhere, in_blocks, in_windows };
constexpr Which every_which[] = {Which::everywhere, Which::in_blocks, Which::in_windows};

// Everything a sweep is given, with memory of its own.
struct Round {
    Index batch = 1, columns = d, outputs = 1;
    bool intercept = true;
    Vector y, v, anchor, moves, w;
    std::vector<Index> rows;
    std::vector<Label> of_features, of_steps;
    std::vector<Index> circle, starts;
    std::shared_ptr<Loss> loss;

    Round(Index steps, unsigned seed, Index outputs_ = 1, Index of_rows = n, Index columns_ = d)
        : columns(columns_),
          outputs(outputs_),
          loss(outputs == 1 ? make_loss("logistic", 1) : make_loss("multinomial", static_cast<double>(outputs))) {
        check::Random random(seed);
        for (Index i = 0; i < of_rows; ++i)
            y.push_back(outputs > 1 ? static_cast<double>(random.below(outputs)) : random.below(2) ? 1.0 : -1.0);
        v = random.uniforms(of_rows);
        anchor = random.normals(of_rows * outputs);
        w = random.normals((columns + 1) * outputs);
        for (Index j = 0; j <= columns; ++j) {
            moves.push_back(0.1 * random.uniform());
            moves.push_back(1 / (1 + 0.05 * random.uniform()));
            for (Index c = 0; c < outputs; ++c) moves.push_back(0.01 * random.normal());
            of_features.push_back(static_cast<Label>(random.below(5) - 2));  // in none, in every, and three blocks
        }
        for (Index t = 0; t < steps; ++t) {
            of_steps.push_back(static_cast<Label>(random.below(3)));
            starts.push_back(random.below(columns));
        }
        for (Index j = 0; j < columns; ++j) circle.insert(circle.begin() + random.below(j + 1), j);
        draw_rows(of_rows, random);
    }
    void draw_rows(Index of_rows, check::Random& random) {
        rows.clear();
        while (static_cast<Index>(rows.size()) < static_cast<Index>(of_steps.size()) * batch)
            rows.push_back(random.below(of_rows));
    }

    Moving moving(Which which) const {
        if (which == Which::everywhere) return Everywhere{};
        if (which == Which::in_blocks) return InBlocks{of_features.data(), of_steps.data()};
        return InWindows{circle.data(), window, starts.data()};
    }
    Steps steps() const { return {rows.data(), static_cast<Index>(of_steps.size()), batch}; }
    S2bcd data() const { return {loss.get(), y.data(), v.data(), anchor.data(), moves.data(), intercept}; }

    Vector run(const Rows& X, Which which, const Largest* largest, Sharing sharing, int workers,
               const StopToken* stop = nullptr) const {
        Vector out = w;
        run_s2bcd(X, data(), steps(), moving(which), largest, out, sharing, workers, Context{workers, stop});
        return out;
    }
};

// -- in plain loops ---------------------------------------------------------------------------------------------------

// The k of largest score among those that are not always kept; ties to the lowest index.
void keep_largest(Vector& w, Index columns, Index outputs, const Largest& largest) {
    std::vector<std::pair<double, Index>> order;
    for (Index j = 0; j < columns; ++j) {
        if (largest.always != nullptr && largest.always[j]) continue;
        double score = 0;
        for (Index c = 0; c < outputs; ++c) score += std::pow(w[static_cast<std::size_t>(j * outputs + c)], 2);
        order.push_back({-score * (largest.h == nullptr ? 1.0 : largest.h[j]), j});
    }
    std::sort(order.begin(), order.end());
    for (std::size_t at = static_cast<std::size_t>(largest.k); at < order.size(); ++at)
        std::fill_n(w.begin() + order[at].second * outputs, outputs, 0.0);
}

// Whether step t moves feature j; `stored`: whether its row has a number there.
bool moves(const Round& round, Which which, std::size_t t, Index j, bool stored) {
    if (which == Which::everywhere) return stored;
    const Label label = round.of_features[static_cast<std::size_t>(j)];
    if (which == Which::in_blocks) return stored && (label == in_every_block || label == round.of_steps[t]);
    const Index place = std::ranges::find(round.circle, j) - round.circle.begin();
    return (place - round.starts[t] + round.columns) % round.columns < window;
}

// `dense`: every column is stored, zeros too.
Vector naive(const Round& round, const Matrix& a, bool dense, Which which, const Largest* largest) {
    Vector w = round.w;
    const Index outputs = round.outputs;
    const auto at = [&](Index j, Index c) -> double& { return w[static_cast<std::size_t>(j * outputs + c)]; };
    const auto move = [&](Index j, double x, const double* delta) {
        const double* numbers = round.moves.data() + j * (outputs + 2);
        for (Index c = 0; c < outputs; ++c)
            at(j, c) = (at(j, c) - numbers[0] * x * delta[c] - numbers[2 + c]) * numbers[1];
    };
    for (Index t = 0; t < static_cast<Index>(round.of_steps.size()); ++t) {
        Vector deltas;
        for (Index r = 0; r < round.batch; ++r) {
            const Index i = round.rows[static_cast<std::size_t>(t * round.batch + r)];
            Vector z(static_cast<std::size_t>(outputs)), slope(z);
            for (Index c = 0; c < outputs; ++c) {
                z[static_cast<std::size_t>(c)] = round.intercept ? at(a.d, c) : 0;
                for (Index j = 0; j < a.d; ++j) z[static_cast<std::size_t>(c)] += a(i, j) * at(j, c);
            }
            round.loss->evaluate(z.data(), &round.y[static_cast<std::size_t>(i)], 1, nullptr, slope.data(), nullptr);
            for (Index c = 0; c < outputs; ++c)
                deltas.push_back(round.v[static_cast<std::size_t>(i)] * slope[static_cast<std::size_t>(c)] -
                                 round.anchor[static_cast<std::size_t>(i * outputs + c)]);
        }
        for (Index r = 0; r < round.batch; ++r) {
            const Index i = round.rows[static_cast<std::size_t>(t * round.batch + r)];
            for (Index j = 0; j < a.d; ++j) {
                const bool stored = dense || a(i, j) != 0;
                if (moves(round, which, static_cast<std::size_t>(t), j, stored))
                    move(j, a(i, j), deltas.data() + r * outputs);
            }
            if (round.intercept) move(a.d, 1.0, deltas.data() + r * outputs);
        }
        if (largest != nullptr) keep_largest(w, a.d, outputs, *largest);
    }
    return w;
}

void require_near(const Vector& got, const Vector& want, double tolerance = 1e-12) {
    REQUIRE(got.size() == want.size());
    for (std::size_t j = 0; j < got.size(); ++j) REQUIRE_NEAR(got[j], want[j], tolerance);
}

void require_same_bits(const Vector& got, const Vector& want) {
    REQUIRE(got.size() == want.size());
    REQUIRE(std::memcmp(got.data(), want.data(), got.size() * sizeof(double)) == 0);
}

std::vector<check::Layout> row_layouts(const Matrix& a) {
    auto all = check::sparse_layouts(a, false);
    all.push_back(check::dense<float>(a, false, 0));
    all.push_back(check::dense<double>(a, false, 0));
    return all;
}

constexpr Sharing every_store[] = {Sharing::plain, Sharing::wild, Sharing::atomic};

// Of d features, two always kept and three of the others: the sweep begins at five.
struct Thresholded {
    std::vector<unsigned char> always = std::vector<unsigned char>(d);
    std::vector<Index> support = {1, 4, 8};
    Vector h = check::Random(12).uniforms(d);
    Largest largest{3, support, always.data(), h.data()};

    explicit Thresholded(Round& round) {
        always[2] = always[11] = 1;
        for (Index j = 0; j < d; ++j)
            if (!always[static_cast<std::size_t>(j)] && std::ranges::find(support, j) == support.end())
                std::fill_n(round.w.begin() + j * round.outputs, round.outputs, 0.0);
    }
};

// One worker: every layout gives what plain loops give, and every store the same bits.
void test_alone(Index outputs, Index batch) {
    check::Random random(1);
    const Matrix a = check::random_matrix(n, d, random);
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

// -- together ---------------------------------------------------------------------------------------------------------

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

    int fails_at = 0;
    mutable std::atomic<int> calls = 0;
};

// Whole numbers, about half of them zeros.
Matrix whole_numbers(Index rows, Index columns) {
    check::Random random(5);
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
    for (const auto& layout : check::sparse_layouts(a, false)) {
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
    check::Random random(6);
    Matrix a{rows, columns, Vector(static_cast<std::size_t>(rows * columns))};
    for (double& x : a.values) x = random.uniform() < 0.05 ? random.normal() : 0;
    const auto layout = check::sparse<double, std::int32_t>(a, false);
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
    check::Random random(7);
    const Matrix a = check::random_matrix(n, d, random);
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
                    part.run(check::dense<double>(a, false, 0).rows, Which::in_blocks, largest, Sharing::plain, 1);
                for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += w[j];
            }
            for (double& total : sum) total /= workers;
            const auto layout = check::dense<double>(a, false, 0);
            for (const Sharing sharing : every_store)
                require_same_bits(round.run(layout.rows, Which::in_blocks, largest, sharing, workers), sum);
        }
    }
}

// -- ends -------------------------------------------------------------------------------------------------------------

void test_stops_and_failures_reach_the_caller() {
    const Matrix a = whole_numbers(n, d);
    const auto layout = check::sparse<float, std::int32_t>(a, false);
    Round round(2000000, 9);
    for (const int workers : {1, 3}) {
        StopToken late(0.05);
        REQUIRE(check::throws<Stopped>(
            [&] { round.run(layout.rows, Which::in_blocks, nullptr, Sharing::wild, workers, &late); }));
        Round failing(2000000, 9);
        counting(failing, 1000);
        REQUIRE(check::throws<std::runtime_error>(
            [&] { failing.run(layout.rows, Which::in_blocks, nullptr, Sharing::wild, workers); }));
    }
    REQUIRE(check::throws<std::invalid_argument>(
        [&] { Round(9, 9).run(layout.rows, Which::everywhere, nullptr, Sharing::plain, 2); }));
}

// Where the stop comes between two steps, the iterate is that after some of them.
void test_a_sweep_cut_off_leaves_whole_steps() {
    const Matrix a = whole_numbers(n, d);
    const auto layout = check::sparse<double, std::int64_t>(a, false);
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
    const Matrix a = whole_numbers(n, d);
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
    test_atomic_loses_no_step_and_wild_invents_none();
    test_workers_that_threshold_leave_at_most_k_each();
    test_dense_rows_average_private_iterates();
    test_stops_and_failures_reach_the_caller();
    test_a_sweep_cut_off_leaves_whole_steps();
    test_no_steps();
    std::puts("s2bcd: ok");
}
