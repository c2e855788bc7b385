// Newton on a block against the gradient in plain loops: every smooth loss, boxes, singular Hessians, hostile scales.
#include "fits.hpp"
#include "fortran.hpp"

using namespace paring;
using check::Fit;
using check::minimise;
using check::Outcome;

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// What is returned is one point: its scores, its objective, inside the box, finite.
void require_consistent(const Fit& fit, const Outcome& out) {
    const auto z = fit.scores(out.point.w, out.point.b);
    for (Index i = 0; i < fit.x.n; ++i) REQUIRE_NEAR(out.point.z[at(i)], z[at(i)], 1e-9 * (1 + std::abs(z[at(i)])));
    const double objective = fit.objective(out.point.w, out.point.b);
    REQUIRE_NEAR(out.report.objective, objective, 1e-11 * (1 + std::abs(objective)));
    for (std::size_t j = 0; j < fit.lower.size(); ++j)
        REQUIRE(fit.lower[j] <= out.point.w[j] && out.point.w[j] <= fit.upper[j]);
    REQUIRE(fit.intercept || out.point.b == 0);
}

void require_minimum(const Fit& fit, const Outcome& out, double tolerance = 1e-7) {
    require_consistent(fit, out);
    REQUIRE(out.report.converged);
    REQUIRE_NEAR(fit.residual(out.point.w, out.point.b), 0, tolerance);
}

void test_every_loss() {
    check::Random random(31);
    for (const auto& loss : check::smooth_losses)
        for (const bool is_dense : {true, false})
            for (const bool intercept : {false, true})
                for (const double ridge : {0.1, 0.0}) {
                    Fit fit = check::random_fit(loss, 80, 6, random);
                    fit.ridge = ridge;
                    fit.intercept = intercept;
                    require_minimum(fit, minimise(fit, is_dense));
                    fit.lower.assign(6, -0.1);
                    fit.upper.assign(6, 0.2);
                    fit.lower[2] = fit.upper[3] = 0;
                    fit.upper[4] = fit.lower[4] = 0;
                    require_minimum(fit, minimise(fit, is_dense));
                    fit.lower.assign(6, -infinity);
                    fit.upper.assign(6, infinity);
                    fit.lower[0] = 0;
                    require_minimum(fit, minimise(fit, is_dense, {0.5, -0.3}));
                }
}

// The inverse is that of the Hessian in the block's shifted columns, with the row of b.
void test_inverse() {
    check::Random random(32);
    for (const bool is_dense : {true, false}) {
        Fit fit = check::random_fit({"squared", 0}, 50, 4, random);
        fit.ridge = 0.3;
        fit.intercept = true;
        const Outcome out = minimise(fit, is_dense);
        const auto block = check::block_of(fit, is_dense);
        const Index size = 5;
        std::vector<double> hessian(at(size * size));
        for (Index p = 0; p < size; ++p)
            for (Index q = 0; q < size; ++q) {
                for (Index i = 0; i < fit.x.n; ++i) {
                    const double x = p < 4 ? fit.x(i, p) - block->shift(p) : 1,
                                 y = q < 4 ? fit.x(i, q) - block->shift(q) : 1;
                    hessian[at(p * size + q)] += x * y * fit.v[at(i)] / static_cast<double>(fit.x.n);
                }
                if (p == q && p < 4) hessian[at(p * size + q)] += fit.ridge;
            }
        for (Index p = 0; p < size; ++p)
            for (Index q = 0; q < size; ++q) {
                double sum = 0;
                for (Index r = 0; r < size; ++r) sum += hessian[at(p * size + r)] * out.inverse[at(r * size + q)];
                REQUIRE_NEAR(sum, p == q ? 1 : 0, 1e-9);
            }
    }
}

// Columns that are copies of others, multiples of them, empty or constant.
void test_singular() {
    check::Random random(33);
    for (const auto& loss : check::smooth_losses)
        for (const bool is_dense : {true, false})
            for (const bool boxed : {false, true}) {
                Fit fit = check::random_fit(loss, 60, 8, random);
                fit.intercept = true;
                for (Index i = 0; i < 60; ++i) {
                    double* row = fit.x.values.data() + i * 8;
                    row[4] = row[0];
                    row[5] = -3 * row[1];
                    row[6] = 0;
                    row[7] = 1;
                }
                if (boxed) fit.lower.assign(8, -0.2), fit.upper.assign(8, 0.3);
                const Outcome out = minimise(fit, is_dense, {}, {1e-16});
                require_minimum(fit, out, 1e-6);
                for (const double w : out.point.w) REQUIRE(std::abs(w) < 1e4);
            }
}

// Columns 10 orders of magnitude apart: the small ones count as much as the others.
void test_scales() {
    check::Random random(34);
    for (const auto& loss : check::smooth_losses)
        for (const bool boxed : {false, true}) {
            Fit fit = check::random_fit(loss, 60, 4, random);
            fit.intercept = true;
            Fit scaled{make_loss(loss.first, loss.second), fit.x, fit.y, fit.v, 0, true};
            const std::vector<double> scale{1, 1e-10, 1e6, 1e-5};
            for (Index i = 0; i < 60; ++i)
                for (Index j = 0; j < 4; ++j) scaled.x.values[at(i * 4 + j)] *= scale[at(j)];
            if (boxed) {
                fit.lower = {-0.1, -0.2, -1, 0}, fit.upper = {1, 1, 0.05, 0.5};
                for (std::size_t j = 0; j < 4; ++j) {
                    scaled.lower.push_back(fit.lower[j] / scale[j]);
                    scaled.upper.push_back(fit.upper[j] / scale[j]);
                }
            }
            const Outcome want = minimise(fit, true), got = minimise(scaled, true);
            REQUIRE(got.report.converged);
            REQUIRE_NEAR(got.report.objective, want.report.objective, 1e-10);
            for (std::size_t j = 0; j < 4; ++j) REQUIRE_NEAR(got.point.w[j] * scale[j], want.point.w[j], 1e-5);
        }
}

// Next to no row is where huber or the smoothed hinge bends, at the start and at the minimum: the F of least absolute
// deviations. Stiff, and no curvature anywhere else.
void test_hardly_any_curvature() {
    check::Random random(39);
    for (const double width : {1e-2, 1e-5, 1e-7})
        for (const std::string loss : {"huber", "smoothed_hinge"})
            for (const bool intercept : {false, true}) {
                Fit fit = check::random_fit({loss, width}, 200, 6, random);
                if (loss == "huber")
                    for (double& y : fit.y) y *= 3;
                fit.intercept = intercept;
                const double size = fit.objective(std::vector<double>(6), 0);
                const Outcome out = minimise(fit, true, {}, {1e-13 * size});
                require_consistent(fit, out);
                REQUIRE(out.report.converged && out.report.rounds < 100);
                const Outcome other = minimise(fit, true, {5, -3, 2, -1, 0.5, 4}, {1e-13 * size});
                REQUIRE(other.report.converged);
                REQUIRE_NEAR(out.report.objective, other.report.objective, 1e-9 * size);
            }
}

// Rows without curvature do not stop the first step from being of the right length.
void test_a_flat_start() {
    check::Random random(40);
    for (const double scale : {1e2, 1e5, 1e8}) {
        Fit fit = check::random_fit({"huber", 1.35}, 100, 4, random),
            unit = check::random_fit({"squared", 0}, 100, 4, random);
        unit.x = fit.x, unit.y = fit.y, unit.v = fit.v, unit.intercept = fit.intercept = true;
        const auto least_squares = minimise(unit, true).point;
        auto w = least_squares.w;
        for (double& y : fit.y) y *= scale;
        for (double& weight : w) weight *= scale;
        const Outcome out = minimise(fit, true, {}, {1e-13 * scale});
        REQUIRE(out.report.converged && out.report.rounds < 40);
        REQUIRE(out.report.objective <= fit.objective(w, scale * least_squares.b) * (1 + 1e-9));
    }
}

// No minimum: the weights grow until the objective is as good as 0, and stay finite.
void test_separable() {
    check::Random random(35);
    for (const bool is_dense : {true, false})
        for (const double scale : {1.0, 1e4}) {
            Fit fit = check::random_fit({"logistic", 0}, 40, 3, random);
            fit.intercept = true;
            for (Index i = 0; i < 40; ++i) {
                fit.x.values[at(i * 3)] = fit.y[at(i)] * (0.5 + random.uniform());
                for (Index j = 0; j < 3; ++j) fit.x.values[at(i * 3 + j)] *= scale;
            }
            const Outcome out = minimise(fit, is_dense);
            require_consistent(fit, out);
            REQUIRE(out.report.objective < 1e-8 && out.report.rounds <= 100);
            for (const double w : out.point.w) REQUIRE(std::isfinite(w));
        }
}

// A start so far off that scores, slopes or exponentials overflow: finite in, finite out, never worse.
void test_far_starts() {
    check::Random random(36);
    for (const auto& loss : check::smooth_losses)
        for (const double far : {50.0, 1e4, 1e150}) {
            Fit fit = check::random_fit(loss, 40, 3, random);
            fit.ridge = 0.01;
            fit.intercept = true;
            const std::vector<double> start{far, -far, far};
            const Outcome out = minimise(fit, true, start);
            for (const double w : out.point.w) REQUIRE(std::isfinite(w));
            REQUIRE(std::isfinite(out.point.b));
            REQUIRE(!(out.report.objective > fit.objective(start, 0)));
            if (out.report.converged && far <= 1e4) REQUIRE_NEAR(fit.residual(out.point.w, out.point.b), 0, 1e-5);
            if (far == 50.0 && loss.first != "poisson") REQUIRE(out.report.converged);
        }
}

void test_starts_outside_the_box_come_in() {
    check::Random random(37);
    for (const auto& loss : check::smooth_losses) {
        Fit fit = check::random_fit(loss, 60, 4, random);
        fit.lower.assign(4, -0.01);
        fit.upper.assign(4, 0.01);
        require_minimum(fit, minimise(fit, true, {0.6, -0.8, 0.6, -0.8}));
    }
}

void test_ends() {
    check::Random random(38);
    Fit fit = check::random_fit({"poisson", 0}, 60, 4, random);
    const Outcome cut = minimise(fit, true, {}, {1e-18, 1});
    REQUIRE(cut.report.rounds == 1 && !cut.report.converged && cut.report.decrement > 0);
    require_consistent(fit, cut);
    const Outcome whole = minimise(fit, true), again = minimise(fit, true, whole.point.w);
    REQUIRE(again.report.converged && again.report.rounds <= 1);

    Fit empty = check::random_fit({"logistic", 0}, 30, 1, random);
    empty.x = {30, 0, {}};
    require_minimum(empty, minimise(empty, true));
    empty.intercept = true;
    require_minimum(empty, minimise(empty, true));
    require_minimum(empty, minimise(empty, false));

    StopToken stop;
    stop.request();
    Point point{std::vector<double>(4), 0, {}};
    const auto block = check::block_of(fit, true);
    REQUIRE(check::throws<Stopped>(
        [&] { minimise_block(fit.target(), *block, {}, {}, point, nullptr, Context{1, &stop}); }));
}

}  // namespace

int main() {
    for (const bool borrowed : {false, true}) {
        if (borrowed) check::lend_blas();
        test_every_loss();
        test_inverse();
        test_singular();
        test_scales();
        test_hardly_any_curvature();
        test_a_flat_start();
        test_separable();
        test_far_starts();
        test_starts_outside_the_box_come_in();
        test_ends();
    }
    check::return_blas();
    std::puts("newton: ok");
}
