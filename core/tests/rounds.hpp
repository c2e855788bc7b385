// A round of the sparse semi-stochastic sweep, with memory of its own, and the same in plain loops.
#pragma once

#include <cstring>
#include <memory>

#include "matrices.hpp"
#include "paring/sweeps/s2bcd.hpp"

namespace check {

using namespace paring;
using Vector = std::vector<double>;

inline constexpr Index n = 23, d = 17, window = 6;

enum class Which { everywhere, in_blocks, in_windows };
inline constexpr Which every_which[] = {Which::everywhere, Which::in_blocks, Which::in_windows};

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
        Random random(seed);
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
    void draw_rows(Index of_rows, Random& random) {
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
inline void keep_largest(Vector& w, Index columns, Index outputs, const Largest& largest) {
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
inline bool moves(const Round& round, Which which, std::size_t t, Index j, bool stored) {
    if (which == Which::everywhere) return stored;
    const Label label = round.of_features[static_cast<std::size_t>(j)];
    if (which == Which::in_blocks) return stored && (label == in_every_block || label == round.of_steps[t]);
    const Index place = std::ranges::find(round.circle, j) - round.circle.begin();
    return (place - round.starts[t] + round.columns) % round.columns < window;
}

// `dense`: every column is stored, zeros too.
inline Vector naive(const Round& round, const Matrix& a, bool dense, Which which, const Largest* largest) {
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

inline void require_near(const Vector& got, const Vector& want, double tolerance = 1e-12) {
    REQUIRE(got.size() == want.size());
    for (std::size_t j = 0; j < got.size(); ++j) REQUIRE_NEAR(got[j], want[j], tolerance);
}

inline void require_same_bits(const Vector& got, const Vector& want) {
    REQUIRE(got.size() == want.size());
    REQUIRE(std::memcmp(got.data(), want.data(), got.size() * sizeof(double)) == 0);
}

inline std::vector<Layout> row_layouts(const Matrix& a) {
    auto all = sparse_layouts(a, false);
    all.push_back(dense<float>(a, false, 0));
    all.push_back(dense<double>(a, false, 0));
    return all;
}

inline constexpr Sharing every_store[] = {Sharing::plain, Sharing::wild, Sharing::atomic};

// Of d features, two always kept and three of the others: the sweep begins at five.
struct Thresholded {
    std::vector<unsigned char> always = std::vector<unsigned char>(d);
    std::vector<Index> support = {1, 4, 8};
    Vector h = Random(12).uniforms(d);
    Largest largest{3, support, always.data(), h.data()};

    explicit Thresholded(Round& round) {
        always[2] = always[11] = 1;
        for (Index j = 0; j < d; ++j)
            if (!always[static_cast<std::size_t>(j)] && std::ranges::find(support, j) == support.end())
                std::fill_n(round.w.begin() + j * round.outputs, round.outputs, 0.0);
    }
};

}  // namespace check
