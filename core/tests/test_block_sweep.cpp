// The sweep of SBCD-HTP, in every layout, against a few lines that move every column in every step.
#include <cmath>

#include "check.hpp"
#include "setting.hpp"

using namespace paring;
using namespace setting;

namespace {

// Group 0 moves in every step, 1 to 3 when chosen, -1 never.
struct Plan {
    std::vector<std::int32_t> of, chosen;
    explicit Plan(const Setting& s) {
        for (Index j = 0; j < d; ++j) of.push_back(s.never[at(j)] ? -1 : j % 7 == 0 ? 0 : s.block_of[at(j)] + 1);
        for (const std::int32_t block : s.chosen) chosen.push_back(block + 1);
    }
};

struct Whole {
    std::vector<double> w, b;
};

Whole expected(const Setting& s, const Plan& plan, Index count) {
    Whole now{s.w, s.b};
    const Index o = s.outputs;
    for (Index t = 0; t < count; ++t) {
        std::vector<double> g(at(d * o)), total(at(o)), z(at(o)), slope(at(o));
        for (Index r = 0; r < s.batch; ++r) {
            const Index i = s.order[at(t * s.batch + r)];
            z = now.b;
            for (Index j = 0; j < d; ++j)
                for (Index c = 0; c < o; ++c) z[at(c)] += s.x(i, j) * now.w[at(j * o + c)];
            s.loss->evaluate(z.data(), &s.y[at(i)], 1, nullptr, slope.data(), nullptr);
            for (Index c = 0; c < o; ++c) {
                const double delta =
                    (s.v[at(i)] * slope[at(c)] - s.slopes[at(i * o + c)]) / static_cast<double>(s.batch);
                total[at(c)] += delta;
                for (Index j = 0; j < d; ++j) g[at(j * o + c)] += delta * s.x(i, j);
            }
        }
        for (Index j = 0; j < d; ++j) {
            const std::int32_t group = plan.of[at(j)];
            const double step = s.lengths[0] / (s.metric ? s.h[at(j)] : 1.0);
            for (Index c = 0; c < o; ++c) {
                const std::size_t p = at(j * o + c);
                if (group == 0 || (group > 0 && group == plan.chosen[at(t)]))
                    now.w[p] -= step * (s.nu[p] + s.ridge * now.w[p] + g[p]);
            }
        }
        for (Index c = 0; c < o; ++c) now.b[at(c)] -= s.lengths[0] / s.h_b * (s.nu_b[at(c)] + total[at(c)]);
    }
    return now;
}

void test_every_step(const Setting& s, const Rows& rows) {
    const Plan plan(s);
    for (const Index count : {Index{1}, Index{2}, Index{7}, steps}) {
        Whole got{s.w, s.b};
        Sweep sweep = s.sweep();
        sweep.visits = {std::span(s.order).first(at(count * s.batch)), std::span(s.starts).first(at(count + 1))};
        REQUIRE(sweep_blocks(rows, sweep, {plan.of.data(), 4, plan.chosen.data()}, {got.w.data(), got.b.data()},
                             StopToken()));
        const Whole want = expected(s, plan, count);
        for (std::size_t p = 0; p < want.w.size(); ++p) REQUIRE_NEAR(got.w[p], want.w[p], 1e-10);
        for (std::size_t c = 0; c < want.b.size(); ++c) REQUIRE_NEAR(got.b[c], want.b[c], 1e-10);
    }
}

// What columns miss is made up for in closed form: a step that decays fast, hardly, not at all, or swings.
void test_what_columns_miss(double ridge, bool metric) {
    Setting s("squared", 1, 1, infinity);
    s.ridge = ridge;
    s.metric = metric;
    for (const auto& layout : check::sparse_layouts(s.x, false)) test_every_step(s, layout.rows);
}

void test_stopped_before_its_first_step() {
    const Setting s("squared", 1, 1, infinity);
    const Plan plan(s);
    const auto layout = check::sparse<double, std::int32_t>(s.x, false);
    StopToken stop;
    stop.request();
    std::vector<double> w = s.w, b = s.b;
    REQUIRE(!sweep_blocks(layout.rows, s.sweep(), {plan.of.data(), 4, plan.chosen.data()}, {w.data(), b.data()}, stop));
    REQUIRE(w == s.w && b == s.b);
}

}  // namespace

int main() {
    for (const Index classes : {Index{1}, Index{3}})
        for (const Index batch : {Index{1}, Index{4}}) {
            const Setting s(classes > 1 ? "multinomial" : "squared", classes, batch, infinity);
            for (const auto& layout : check::sparse_layouts(s.x, false)) test_every_step(s, layout.rows);
            test_every_step(s, check::dense<float>(s.x, false, 0).rows);
            test_every_step(s, check::dense<double>(s.x, false, 0).rows);
        }
    for (const bool metric : {false, true})
        for (const double ridge : {0.0, 1e-13, 1e-3, 8.0, 15.0}) test_what_columns_miss(ridge, metric);
    test_stopped_before_its_first_step();
}
