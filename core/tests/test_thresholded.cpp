// The sweeps that threshold after every step, in every layout, against a few lines that look at all of w.
#include "paring/sweeps/sweeps.hpp"

#include <numeric>
#include <string>

#include "check.hpp"
#include "paring/sweeps/selection.hpp"
#include "setting.hpp"

using namespace paring;
using namespace setting;

namespace {

std::vector<double> kept(const Setting& s, const std::vector<double>& u) {
    std::vector<Scored> scores;
    for (Index j = 0; j < d; ++j) {
        double sum = 0;
        for (Index c = 0; c < s.outputs; ++c) sum += u[at(j * s.outputs + c)] * u[at(j * s.outputs + c)];
        if (!s.never[at(j)]) scores.push_back({s.always[at(j)] ? infinity : s.h[at(j)] * sum, j});
    }
    std::sort(scores.begin(), scores.end(), better);
    std::vector<double> w(u.size());
    for (Index r = 0; r < k; ++r)
        for (Index c = 0; c < s.outputs; ++c) {
            const std::size_t place = at(scores[at(r)].j * s.outputs + c);
            w[place] = u[place];
        }
    const double norm = std::sqrt(std::inner_product(w.begin(), w.end(), w.begin(), 0.0));
    if (norm > s.radius)
        for (double& value : w) value *= s.radius / norm;
    return w;
}

enum class Kind { frozen, blocks, by_rows, moving };

struct Whole {
    std::vector<double> w, b, table, mean, mean_b;
};

Whole expected(const Setting& s, Kind kind, Index count) {
    Whole now{s.w, s.b, s.slopes, s.nu, s.nu_b};
    const Index o = s.outputs;
    std::vector<double> z(at(o)), fresh(at(s.batch * o));
    for (Index t = 0; t < count; ++t) {
        std::vector<double> g(at(d * o)), turn(at(d)), total(at(o));
        for (Index r = 0; r < s.batch; ++r) {
            const Index i = s.order[at(t * s.batch + r)];
            z = now.b;
            for (Index j = 0; j < d; ++j)
                for (Index c = 0; c < o; ++c) z[at(c)] += s.x(i, j) * now.w[at(j * o + c)];
            s.loss->evaluate(z.data(), &s.y[at(i)], 1, nullptr, &fresh[at(r * o)], nullptr);
            for (Index c = 0; c < o; ++c) {
                double& slope = fresh[at(r * o + c)];
                slope *= s.v[at(i)];
                const double delta = (slope - now.table[at(i * o + c)]) / static_cast<double>(s.batch);
                total[at(c)] += delta;
                for (Index j = 0; j < d; ++j) g[at(j * o + c)] += delta * s.x(i, j);
            }
            for (Index j = 0; j < d; ++j)
                if (s.x(i, j) != 0) turn[at(j)] += s.often[at(j)] / static_cast<double>(s.batch);
        }
        const double length = s.lengths[at(t)];
        std::vector<double> u = now.w;
        for (Index j = 0; j < d; ++j)
            for (Index c = 0; c < o; ++c) {
                const std::size_t p = at(j * o + c);
                const double step = length / s.h[at(j)];
                if (kind == Kind::by_rows)
                    u[p] = (u[p] - step * (g[p] + turn[at(j)] * s.nu[p])) / (1 + step * s.ridge * turn[at(j)]);
                else if (kind != Kind::blocks || s.block_of[at(j)] == s.chosen[at(t)])
                    u[p] -= step * (now.mean[p] + s.ridge * u[p] + g[p]);
            }
        for (Index c = 0; c < o; ++c) now.b[at(c)] -= length / s.h_b * (now.mean_b[at(c)] + total[at(c)]);
        now.w = kept(s, u);
        if (kind != Kind::moving) continue;
        for (Index r = 0; r < s.batch; ++r)
            for (Index c = 0; c < o; ++c) {
                const Index i = s.order[at(t * s.batch + r)];
                const double change = (fresh[at(r * o + c)] - now.table[at(i * o + c)]) / static_cast<double>(n);
                now.table[at(i * o + c)] = fresh[at(r * o + c)];
                now.mean_b[at(c)] += change;
                for (Index j = 0; j < d; ++j) now.mean[at(j * o + c)] += change * s.x(i, j);
            }
    }
    return now;
}

Whole swept(const Setting& s, Kind kind, const Rows& rows, Index count) {
    Whole now{s.w, s.b, s.slopes, s.nu, s.nu_b};
    Sweep sweep = s.sweep();
    sweep.visits = {std::span(s.order).first(at(count * s.batch)), std::span(s.starts).first(at(count + 1))};
    const StopToken never;
    const Iterate point{now.w.data(), now.b.data()};
    bool whole = false;
    switch (kind) {
        case Kind::frozen:
            whole = sweep_frozen(rows, sweep, {}, point, never);
            break;
        case Kind::blocks:
            whole = sweep_frozen(rows, sweep, {s.block_of.data(), 3, s.chosen.data()}, point, never);
            break;
        case Kind::by_rows:
            whole = sweep_by_rows(rows, sweep, s.often.data(), point, never);
            break;
        case Kind::moving:
            whole = sweep_moving(rows, sweep, now.table.data(), now.mean.data(), now.mean_b.data(), point, never);
    }
    REQUIRE(whole);
    return now;
}

void compare(const std::vector<double>& got, const std::vector<double>& want) {
    for (std::size_t p = 0; p < want.size(); ++p) REQUIRE_NEAR(got[p], want[p], 1e-10);
}

void test_every_step(const Setting& s, Kind kind, const Rows& rows) {
    for (const Index count : {Index{1}, Index{2}, Index{7}, steps}) {
        const Whole got = swept(s, kind, rows, count), want = expected(s, kind, count);
        compare(got.w, want.w);
        compare(got.b, want.b);
        compare(got.table, want.table);
        compare(got.mean, want.mean);
        compare(got.mean_b, want.mean_b);
    }
}

void test_stopped_before_its_first_step() {
    const Setting s("squared", 1, 1, infinity);
    const auto layout = check::dense<double>(s.x, false, 0);
    StopToken stop;
    stop.request();
    std::vector<double> w = s.w, b = s.b;
    REQUIRE(!sweep_frozen(layout.rows, s.sweep(), {}, {w.data(), b.data()}, stop));
    REQUIRE(w == s.w && b == s.b);
}

// A diverging run: infinities and NaN go through the selection and come out.
void test_overflow_is_seen() {
    Setting s("squared", 1, 1, infinity);
    s.lengths.assign(at(steps), 1e200);
    for (const auto& layout : check::sparse_layouts(s.x, false)) {
        std::vector<double> w = s.w, b = s.b;
        REQUIRE(sweep_frozen(layout.rows, s.sweep(), {}, {w.data(), b.data()}, StopToken()));
        REQUIRE(!std::all_of(w.begin(), w.end(), [](double value) { return std::isfinite(value); }));
    }
}

}  // namespace

int main() {
    for (const Index classes : {Index{1}, Index{3}})
        for (const Index batch : {Index{1}, Index{4}})
            for (const double radius : {infinity, 1.5}) {
                const Setting s(classes > 1 ? "multinomial" : "squared", classes, batch, radius);
                for (const Kind kind : {Kind::frozen, Kind::blocks, Kind::by_rows, Kind::moving}) {
                    for (const auto& layout : check::sparse_layouts(s.x, false)) test_every_step(s, kind, layout.rows);
                    if (kind == Kind::by_rows) continue;  // dense rows touch every column: another direction
                    test_every_step(s, kind, check::dense<float>(s.x, false, 0).rows);
                    test_every_step(s, kind, check::dense<double>(s.x, false, 0).rows);
                }
            }
    test_stopped_before_its_first_step();
    test_overflow_is_seen();
}
