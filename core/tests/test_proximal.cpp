// The proximal sweep: one worker against plain loops in every layout, the same bits from every store; several workers
// on one iterate (what the thread sanitizer watches).
#include <cmath>

#include "paring/sweeps/proximal.hpp"
#include "rounds.hpp"

using namespace check;

namespace {

constexpr Index groups = 4;

struct Setting {
    Vector y, v, slopes, pull, reach, tau, ridge, lower, upper, omega, w;
    std::vector<Index> order, of, starts, members;
    std::unique_ptr<Loss> loss = make_loss("logistic", 1);
    bool grouped, table;

    Setting(bool grouped_, bool table_, Index steps) : grouped(grouped_), table(table_) {
        Random random(7);
        for (Index i = 0; i < n; ++i) y.push_back(random.below(2) ? 1.0 : -1.0);
        v = random.uniforms(n);
        slopes = random.normals(n);
        pull = random.normals(d + 1);
        for (Index j = 0; j < d; ++j) {
            of.push_back(j % groups);
            reach.push_back(0.05 * static_cast<double>(1 + of.back()));
            tau.push_back(0.1 * random.uniform());
            ridge.push_back(0.2);
            lower.push_back(j == 3 ? 0.0 : -infinity);
            upper.push_back(j == 5 ? 0.0 : infinity);
        }
        for (Index g = 0; g < groups; ++g) {
            starts.push_back(static_cast<Index>(members.size()));
            for (Index j = g; j < d; j += groups) members.push_back(j);
        }
        starts.push_back(d);
        for (Index g = 0; g < (grouped ? groups : d); ++g) omega.push_back(g % 2 ? 0.3 : 0.0);
        w = random.normals(table ? 2 * (d + 1) + n : d + 1);
        w[3] = w[5] = 0;
        for (Index t = 0; t < steps; ++t) order.push_back(random.below(n));
    }
    Proximal data() const {
        const Units units = grouped ? Units{of.data(), starts.data(), members.data(), groups} : Units{};
        return {loss.get(),   y.data(),     v.data(),     n,     0.05, reach.data(), tau.data(), ridge.data(),
                lower.data(), upper.data(), omega.data(), units, true};
    }
    Vector run(const Rows& X, Sharing sharing, int workers) const {
        Vector out = w;
        const Proximal posed = data();
        const Context context{workers, nullptr};
        if (table)
            run_proximal(X, posed, Table{d, static_cast<double>(n)}, order, out, sharing, workers, context);
        else
            run_proximal(X, posed, Anchored{slopes.data(), pull.data()}, order, out, sharing, workers, context);
        return out;
    }
    // In plain loops over a row with its zeros; `every`: dense rows store them.
    Vector naive(const Matrix& a, bool every) const {
        Vector out = w;
        const Index units = grouped ? groups : d;
        for (const Index i : order) {
            double z = out[d], slope = 0;
            for (Index j = 0; j < d; ++j) z += a(i, j) * out[static_cast<std::size_t>(j)];
            loss->evaluate(&z, &y[static_cast<std::size_t>(i)], 1, nullptr, &slope, nullptr);
            const auto row = static_cast<std::size_t>(i);
            const double fresh = v[row] * slope;
            double& kept = table ? out[2 * (d + 1) + row] : const_cast<double&>(slopes[row]);
            const double* const p = table ? out.data() + d + 1 : pull.data();
            const double delta = fresh - kept;
            Vector next = out;
            for (Index g = 0; g < units; ++g) {
                bool touched = every;
                double square = 0;
                for (Index j = 0; j < d; ++j)
                    if ((grouped ? of[static_cast<std::size_t>(j)] : j) == g) touched = touched || a(i, j) != 0;
                if (!touched) continue;
                double pulled = 0;
                for (int round = 0; round < 2; ++round)
                    for (Index j = 0; j < d; ++j) {
                        const auto q = static_cast<std::size_t>(j);
                        if ((grouped ? of[q] : j) != g) continue;
                        if (round == 0) {
                            const double u = out[q] - 0.05 * delta * a(i, j) - reach[q] * p[q];
                            const double soft = std::copysign(std::max(std::abs(u) - reach[q] * tau[q], 0.0), u);
                            next[q] = std::clamp(soft / (1 + reach[q] * ridge[q]), lower[q], upper[q]);
                            square += next[q] * next[q];
                            pulled = reach[q] * omega[static_cast<std::size_t>(g)] / (1 + reach[q] * ridge[q]);
                        } else if (pulled > 0) {
                            next[q] *= std::sqrt(square) > pulled ? 1 - pulled / std::sqrt(square) : 0.0;
                        }
                    }
            }
            next[d] = out[d] - 0.05 * (delta + p[d]);
            if (table) {
                for (Index j = 0; j < d; ++j) next[static_cast<std::size_t>(d + 1 + j)] += delta * a(i, j) / n;
                next[2 * d + 1] += delta / n;
                next[2 * (d + 1) + row] = fresh;
            }
            out = next;
        }
        return out;
    }
};

void test_one_worker_is_plain_loops() {
    Random random(3);
    const Matrix a = random_matrix(n, d, random);
    for (const bool grouped : {false, true})
        for (const bool table : {false, true}) {
            const Setting setting(grouped, table, 60);
            for (const auto& layout : row_layouts(a)) {
                const Vector plain = setting.run(layout.rows, Sharing::plain, 1);
                const Vector wanted = setting.naive(a, layout.name == "dense");
                for (std::size_t j = 0; j < plain.size(); ++j)
                    REQUIRE(std::abs(plain[j] - wanted[j]) <= 1e-6 * (1 + std::abs(wanted[j])));
                for (const Sharing sharing : {Sharing::wild, Sharing::atomic})
                    REQUIRE(setting.run(layout.rows, sharing, 1) == plain);
            }
        }
}

void test_several_workers_stay_finite_and_within_bounds() {
    Random random(4);
    const Matrix a = random_matrix(n, d, random);
    for (const bool grouped : {false, true})
        for (const bool table : {false, true}) {
            const Setting setting(grouped, table, 40000);
            for (const auto& layout : row_layouts(a))
                for (const Sharing sharing : {Sharing::wild, Sharing::atomic}) {
                    const Vector w = setting.run(layout.rows, sharing, 3);
                    for (Index j = 0; j < d; ++j) {
                        const auto q = static_cast<std::size_t>(j);
                        REQUIRE(std::isfinite(w[q]));
                        REQUIRE(grouped || (w[q] >= setting.lower[q] && w[q] <= setting.upper[q]));
                    }
                }
        }
}

void test_a_stop_leaves_whole_steps() {
    Random random(5);
    const Matrix a = random_matrix(n, d, random);
    const auto layout = sparse<double, std::int64_t>(a, false);
    const Sparse<double, std::int64_t>& X = std::get<Sparse<double, std::int64_t>>(layout.rows);
    const Setting setting(true, false, 50);
    StopToken stop;
    stop.request();
    Vector w = setting.w;
    const Proximal posed = setting.data();
    sweep_proximal(X, posed, Anchored{nullptr, nullptr}, setting.order, stop, Plain{w.data()});
    REQUIRE(w == setting.w);
}

}  // namespace

int main() {
    test_one_worker_is_plain_loops();
    test_several_workers_stay_finite_and_within_bounds();
    test_a_stop_leaves_whole_steps();
    std::puts("proximal: ok");
}
