// Dual steps: the prox of each conjugate, steps that keep a sum, H_k of changing numbers, and SDIHT's sweep, each
// against the plainest way to say it.
#include <cstring>
#include <numeric>

#include "check.hpp"
#include "matrices.hpp"
#include "paring/balance.hpp"
#include "paring/sweeps/sdiht.hpp"

using namespace paring;

namespace {

const char* const names[] = {"squared", "logistic", "hinge", "squared_hinge", "smoothed_hinge", "huber"};

double prox(const Loss& loss, double u, double y, double step) {
    double a;
    loss.prox_conjugate(&u, &y, step, 1, &a);
    return a;
}

// step loss*(a) + (a - u)^2 / 2 is no smaller anywhere near, nor at the ends of the domain.
void test_prox_is_the_minimum() {
    check::Random random(1);
    for (const char* name : names) {
        const auto loss = make_loss(name, 0.7);
        for (int trial = 0; trial < 2000; ++trial) {
            const double y = std::strcmp(name, "squared") == 0 || std::strcmp(name, "huber") == 0 ? random.normal()
                             : random.uniform() < 0.5                                             ? -1.0
                                                                                                  : 1.0;
            const double step = std::pow(10.0, 8 * random.uniform() - 4), u = (1 + step) * random.normal();
            const double a = prox(*loss, u, y, step);
            const auto value = [&](double at) {
                double conjugate;
                loss->conjugate(&at, &y, 1, &conjugate);
                return step * conjugate + 0.5 * (at - u) * (at - u);
            };
            const double least = value(a), size = step + u * u + 1;
            REQUIRE(std::isfinite(least));
            for (const double away : {1e-6, 1e-3, 0.1, 1.0})
                for (const double sign : {-1.0, 1.0}) REQUIRE(!(value(a + sign * away) < least - 1e-13 * size));
        }
    }
}

void test_balanced_steps_keep_the_sum() {
    check::Random random(2);
    for (const char* name : names) {
        const auto loss = make_loss(name, 0.7);
        for (int trial = 0; trial < 300; ++trial) {
            const std::size_t n = 2 + static_cast<std::size_t>(random.below(30));
            const double step = std::pow(10.0, 6 * random.uniform() - 3);
            std::vector<double> u(n), y(n), v(n), before(n), a(n);
            double total = 0, size = 0;
            for (std::size_t i = 0; i < n; ++i) {
                y[i] = random.uniform() < 0.5 ? -1 : 1;
                v[i] = random.uniform() < 0.2 ? 0.0 : 3 * random.uniform();
                before[i] = prox(*loss, random.normal(), y[i], 0.5);
                u[i] = before[i] + step * random.normal();
                total += v[i] * before[i];
            }
            balanced_prox(*loss, u, y.data(), v.data(), step, total, a.data());
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) {
                sum += v[i] * a[i];
                size += v[i] * (std::abs(a[i]) + std::abs(before[i]));
                double conjugate;
                loss->conjugate(&a[i], &y[i], 1, &conjugate);
                REQUIRE(std::isfinite(conjugate));
            }
            REQUIRE_NEAR(sum, total, 1e-15 * size);
            // One t for all rows: that of a row inside its domain gives every row's a.
            double low = -1e6, high = 1e6;
            for (int round = 0; round < 200; ++round) {
                const double t = 0.5 * (low + high);
                double at_t = 0;
                for (std::size_t i = 0; i < n; ++i) at_t += v[i] * prox(*loss, u[i] - t, y[i], step);
                (at_t > total ? low : high) = t;
            }
            for (std::size_t i = 0; i < n; ++i)
                if (v[i] > 0) REQUIRE_NEAR(a[i], prox(*loss, u[i] - low, y[i], step), 1e-9 * (1 + step));
        }
    }
}

// H_k from scratch.
std::vector<double> largest_of(const Choice& choice, const std::vector<double>& values) {
    std::vector<Index> order(values.size());
    std::iota(order.begin(), order.end(), Index{0});
    const auto key = [&](Index j) {
        if (choice.always != nullptr && choice.always[j]) return infinity;
        const double value = values[static_cast<std::size_t>(j)];
        return choice.never != nullptr && choice.never[j] ? -1.0 : value * value;
    };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) > key(b); });
    std::vector<double> kept(values.size(), 0.0);
    for (Index p = 0; p < std::min<Index>(choice.k, static_cast<Index>(values.size())); ++p)
        if (key(order[static_cast<std::size_t>(p)]) >= 0)
            kept[static_cast<std::size_t>(order[static_cast<std::size_t>(p)])] =
                values[static_cast<std::size_t>(order[static_cast<std::size_t>(p)])];
    return kept;
}

void same_as_from_scratch(const Choice& choice, const Largest& top, const std::vector<double>& values) {
    const auto want = largest_of(choice, values);
    for (Index j = 0; j < choice.d; ++j) {
        REQUIRE(top.value(j) == values[static_cast<std::size_t>(j)]);
        REQUIRE(top.kept(j) == want[static_cast<std::size_t>(j)]);
    }
}

// Whole numbers (many ties, many zeros), then normal ones; shrinking and growing by turns, so that the reserve runs dry
// and over.
void test_largest_is_exact() {
    check::Random random(3);
    for (const Index d : {1, 7, 60, 3000})
        for (const Index k : {Index{1}, std::max<Index>(1, d / 10), d})
            for (const bool whole : {true, false}) {
                std::vector<unsigned char> always(static_cast<std::size_t>(d), 0), never(always);
                if (d > 5 && k > 1) always[5] = 1, never[0] = never[2] = 1;
                const Choice choice{d, k, always.data(), never.data()};
                std::vector<double> values(static_cast<std::size_t>(d), 0.0);
                if (d > 60)
                    for (double& value : values) value = whole ? static_cast<double>(random.below(4)) : random.normal();
                Largest top(choice, values.data());
                same_as_from_scratch(choice, top, values);
                for (int step = 0; step < (d > 60 ? 400 : 2000); ++step) {
                    const double scale = step / 50 % 2 == 0 ? 1.0 : 0.02;
                    for (Index change = random.below(std::max<Index>(2, d / 3)); change >= 0; --change) {
                        const Index j = random.below(d);
                        double& value = values[static_cast<std::size_t>(j)];
                        const double by = step % 100 > 60 ? -0.9 * value
                                          : whole         ? static_cast<double>(random.below(5) - 2)
                                                          : scale * random.normal();
                        value += by;
                        top.add(j, by);
                    }
                    top.settle();
                    if (d <= 60 || step % 7 == 0) same_as_from_scratch(choice, top, values);
                }
            }
}

struct Blocks {
    std::vector<double> y, v, steps;
    std::vector<Index> order, starts;
};

Blocks blocks_of(Index n, Index batch, check::Random& random) {
    Blocks blocks;
    for (Index i = 0; i < n; ++i) {
        blocks.y.push_back(random.uniform() < 0.5 ? -1 : 1);
        blocks.v.push_back(i % 5 == 0 ? 0.0 : 2 * random.uniform());
    }
    for (int turn = 0; turn < 4; ++turn) {
        std::vector<Index> rows(static_cast<std::size_t>(n));
        std::iota(rows.begin(), rows.end(), Index{0});
        for (std::size_t p = rows.size(); p > 1; --p)
            std::swap(rows[p - 1], rows[static_cast<std::size_t>(random.below(static_cast<Index>(p)))]);
        for (Index at = 0; at < n; at += batch) {
            blocks.starts.push_back(static_cast<Index>(blocks.order.size()) + at);
            blocks.steps.push_back(3 * random.uniform());
        }
        blocks.order.insert(blocks.order.end(), rows.begin(), rows.end());
    }
    blocks.starts.push_back(static_cast<Index>(blocks.order.size()));
    return blocks;
}

// The sweep, said plainly: acc and H_k anew after each block, dense.
void plain_sweep(const check::Matrix& x, const DualBlocks& data, const Choice& choice, std::vector<double>& a,
                 std::vector<double>& acc) {
    for (std::size_t t = 0; t + 1 < data.starts.size(); ++t) {
        const auto w = largest_of(choice, acc);
        std::vector<double> u, y, v, moved;
        double squares = 0, total = 0;
        for (Index p = data.starts[t]; p < data.starts[t + 1]; ++p) {
            const Index i = data.order[static_cast<std::size_t>(p)];
            double z = 0;
            for (Index j = 0; j < x.d; ++j) {
                z += x(i, j) * w[static_cast<std::size_t>(j)];
                if (w[static_cast<std::size_t>(j)] != 0) squares += data.v[i] * x(i, j) * x(i, j);
            }
            u.push_back(z);
            y.push_back(data.y[i]);
            v.push_back(data.v[i]);
            total += data.v[i] * a[static_cast<std::size_t>(i)];
        }
        const double step = std::min(data.steps[t], data.reach * (data.ridge_n / squares));
        for (std::size_t r = 0; r < u.size(); ++r)
            u[r] = a[static_cast<std::size_t>(data.order[static_cast<std::size_t>(data.starts[t]) + r])] + step * u[r];
        moved.resize(u.size());
        if (data.intercept)
            balanced_prox(*data.loss, u, y.data(), v.data(), step, total, moved.data());
        else
            data.loss->prox_conjugate(u.data(), y.data(), step, static_cast<Index>(u.size()), moved.data());
        for (std::size_t r = 0; r < u.size(); ++r) {
            const Index i = data.order[static_cast<std::size_t>(data.starts[t]) + r];
            const double factor = -data.v[i] * (moved[r] - a[static_cast<std::size_t>(i)]) / data.ridge_n;
            a[static_cast<std::size_t>(i)] = moved[r];
            for (Index j = 0; j < x.d; ++j) acc[static_cast<std::size_t>(j)] += factor * x(i, j);
        }
    }
}

void test_the_sweep() {
    check::Random random(4);
    const Index n = 40, d = 23, k = 5;
    const auto x = check::random_matrix(n, d, random);
    std::vector<unsigned char> always(static_cast<std::size_t>(d), 0), never(always);
    always[3] = never[4] = 1;
    for (const char* name : names)
        for (const bool intercept : {false, true})
            for (const double reach : {1.0, infinity}) {
                const auto loss = make_loss(name, 0.7);
                const Blocks blocks = blocks_of(n, intercept ? 8 : 3, random);
                const DualBlocks data{loss.get(),   blocks.y.data(), blocks.v.data(), 2.0,  intercept,
                                      blocks.order, blocks.starts,   blocks.steps,    reach};
                const Choice choice{d, k, always.data(), never.data()};
                std::vector<double> a0(static_cast<std::size_t>(n)), acc0(static_cast<std::size_t>(d));
                for (Index i = 0; i < n; ++i)
                    a0[static_cast<std::size_t>(i)] = -0.3 * blocks.y[static_cast<std::size_t>(i)];
                for (double& value : acc0) value = random.normal();
                auto a_want = a0, acc_want = acc0;
                plain_sweep(x, data, choice, a_want, acc_want);
                const auto w_want = largest_of(choice, acc_want);
                double scale = 1;
                for (const double value : acc_want) scale = std::max(scale, std::abs(value));
                for (const auto& layout : check::all_layouts(x)) {
                    if (layout.lines_are_columns) continue;
                    auto a = a0, acc = acc0;
                    std::vector<double> w(acc.size());
                    std::visit(
                        [&](const auto& rows) {
                            if constexpr (requires { rows.step; })
                                if (rows.step != 1) return;
                            sweep_sdiht(rows, data, choice, a.data(), acc.data(), w.data(), StopToken{});
                            for (std::size_t i = 0; i < a.size(); ++i) REQUIRE_NEAR(a[i], a_want[i], 1e-9 * scale);
                            for (std::size_t j = 0; j < acc.size(); ++j) {
                                REQUIRE_NEAR(acc[j], acc_want[j], 1e-9 * scale);
                                REQUIRE_NEAR(w[j], w_want[j], 1e-9 * scale);
                            }
                            StopToken stop;
                            stop.request();
                            auto untouched = a0, acc_untouched = acc0;
                            sweep_sdiht(rows, data, choice, untouched.data(), acc_untouched.data(), w.data(), stop);
                            REQUIRE(untouched == a0 && acc_untouched == acc0 && w == largest_of(choice, acc0));
                        },
                        layout.rows);
                }
            }
}

}  // namespace

int main() {
    test_prox_is_the_minimum();
    test_balanced_steps_keep_the_sum();
    test_largest_is_exact();
    test_the_sweep();
}
