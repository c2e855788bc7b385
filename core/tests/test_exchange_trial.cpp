// Exchanges tried on F itself against refits of the support they lead to, by Newton on those columns alone.
#include "paring/exchange_trial.hpp"

#include "fits.hpp"

using namespace paring;
using check::Fit;

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Those columns of the fit, as a fit.
Fit restricted(const Fit& fit, const std::pair<std::string, double>& loss, const std::vector<Index>& columns) {
    Fit part{make_loss(loss.first, loss.second), {fit.x.n, static_cast<Index>(columns.size()), {}}, fit.y, fit.v};
    for (Index i = 0; i < fit.x.n; ++i)
        for (const Index j : columns) part.x.values.push_back(fit.x(i, j));
    part.ridge = fit.ridge;
    part.intercept = fit.intercept;
    return part;
}

// The quadratic model at the minimiser on the first k columns, in the blocks' shifted columns, in plain loops.
struct Model {
    std::unique_ptr<Block> support, candidates;
    std::vector<double> w, z, inverse, t, schur, g, means, others, c;
    double b, objective;
    TrialModel view() const {
        return {w.data(),     z.data(),      b,       objective, inverse.data(), t.data(), schur.data(), g.data(),
                means.data(), others.data(), c.data()};
    }
};

Model model_of(const Fit& fit, const Fit& on_support, const Fit& outside, bool is_dense) {
    const auto out = check::minimise(on_support, is_dense);
    const Index n = fit.x.n, k = on_support.x.d, m = outside.x.d, size = k + fit.intercept;
    Model model{check::block_of(on_support, is_dense),
                check::block_of(outside, is_dense),
                out.point.w,
                out.point.z,
                out.inverse,
                {},
                {},
                {},
                {},
                {},
                {},
                out.point.b,
                out.report.objective};
    for (Index j = 0; j < k; ++j) model.b += fit.intercept ? model.support->shift(j) * model.w[at(j)] : 0;
    std::vector<double> slope(at(n)), c(at(n));
    fit.loss->evaluate(model.z.data(), fit.y.data(), n, nullptr, slope.data(), nullptr);
    model_curvature(*fit.loss, model.z.data(), fit.y.data(), fit.v.data(), n, c.data());
    double total = 0;
    for (Index i = 0; i < n; ++i) {
        slope[at(i)] *= fit.v[at(i)] / static_cast<double>(n);
        c[at(i)] *= fit.v[at(i)] / static_cast<double>(n);
        total += c[at(i)];
    }
    model.c = c;
    const auto column = [&](Index j, Index i) {
        return j < k ? on_support.x(i, j) - model.support->shift(j)
                     : outside.x(i, j - k) - model.candidates->shift(j - k);
    };
    const auto mean = [&](Index j) {
        double sum = 0;
        for (Index i = 0; i < n && fit.intercept; ++i) sum += c[at(i)] * column(j, i);
        return sum / total;
    };
    const auto curvature = [&](Index p, Index q) {
        double sum = p == q ? fit.ridge : 0;
        for (Index i = 0; i < n; ++i) sum += c[at(i)] * (column(p, i) - mean(p)) * (column(q, i) - mean(q));
        return sum;
    };
    for (Index j = 0; j < k; ++j) model.means.push_back(mean(j));
    for (Index i = 0; i < m; ++i) {
        model.others.push_back(mean(k + i));
        double gradient = 0, schur = curvature(k + i, k + i);
        for (Index r = 0; r < n; ++r) gradient += slope[at(r)] * column(k + i, r);
        for (Index p = 0; p < k; ++p) {
            double t = 0;
            for (Index q = 0; q < k; ++q) t += model.inverse[at(p * size + q)] * curvature(q, k + i);
            model.t.push_back(t);
            schur -= t * curvature(p, k + i);
        }
        model.schur.push_back(schur);
        model.g.push_back(gradient);
    }
    return model;
}

// What the model says of the exchange.
double modelled(const Model& model, Index leave, Index enter, Index size) {
    const double q = model.inverse[at(leave * size + leave)], w = model.w[at(leave)];
    if (enter < 0) return w * w / (2 * q);
    const double t = model.t[at(enter * static_cast<Index>(model.w.size()) + leave)];
    const double slope = model.g[at(enter)] - w * t / q;
    return w * w / (2 * q) - slope * slope / (2 * (model.schur[at(enter)] + t * t / q));
}

void test_all_exchanges(const std::pair<std::string, double>& loss, bool is_dense, bool intercept, double ridge) {
    check::Random random(41);
    constexpr Index k = 4, m = 5;
    Fit fit = check::random_fit(loss, 90, k + m, random);
    fit.ridge = ridge;
    fit.intercept = intercept;
    const Fit on_support = restricted(fit, loss, {0, 5, 6, 3}), outside = restricted(fit, loss, {4, 1, 2, 7, 8});
    const std::vector<Index> inside{0, 5, 6, 3}, out{4, 1, 2, 7, 8};
    const Model model = model_of(fit, on_support, outside, is_dense);
    std::vector<Ranked> exchanges;
    for (Index j = 0; j < k; ++j)
        for (Index i = -1; i < m; ++i) exchanges.push_back({modelled(model, j, i, k + intercept), j, i});
    std::stable_sort(exchanges.begin(), exchanges.end(),
                     [](const Ranked& a, const Ranked& b) { return a.change < b.change; });
    for (const int threads : {1, 2}) {
        const auto found = try_all(fit.target(), *model.support, *model.candidates, model.view(), exchanges,
                                   model.objective, Context{threads});
        REQUIRE(found.reached.size() == exchanges.size() && found.best >= 0);
        double best = infinity;
        for (std::size_t e = 0; e < exchanges.size(); ++e) {
            auto columns = inside;
            if (exchanges[e].enter < 0)
                columns.erase(columns.begin() + exchanges[e].leave);
            else
                columns[at(exchanges[e].leave)] = out[at(exchanges[e].enter)];
            const double least = check::minimise(restricted(fit, loss, columns), is_dense).report.objective;
            REQUIRE(found.reached[e] >= least - 1e-10);  // infinity: refused by the model
            if (loss.first == "squared" && std::isfinite(found.reached[e]))
                REQUIRE_NEAR(found.reached[e], least, 1e-10);
            best = std::min(best, found.reached[e]);
        }
        REQUIRE(found.reached[at(found.best)] == best);
        // The point handed back is the one judged.
        const Ranked& made = exchanges[at(found.best)];
        REQUIRE(found.point.w[at(made.leave)] == 0 && (made.enter >= 0 || found.point.w_enter == 0));
        std::vector<double> w(at(k + m));
        double b = found.point.b;
        for (Index j = 0; j < k; ++j) {
            w[at(inside[at(j)])] = found.point.w[at(j)];
            b -= model.support->shift(j) * found.point.w[at(j)];
        }
        if (made.enter >= 0) {
            w[at(out[at(made.enter)])] = found.point.w_enter;
            b -= model.candidates->shift(made.enter) * found.point.w_enter;
        }
        REQUIRE_NEAR(fit.objective(w, b), best, 1e-10);
    }
}

void test_stops() {
    check::Random random(42);
    const std::pair<std::string, double> loss{"logistic", 0};
    Fit fit = check::random_fit(loss, 60, 5, random);
    fit.ridge = 0.1;
    const Fit on_support = restricted(fit, loss, {0, 1, 2}), outside = restricted(fit, loss, {3, 4});
    const Model model = model_of(fit, on_support, outside, true);
    StopToken stop;
    stop.request();
    REQUIRE(check::throws<Stopped>([&] {
        try_all(fit.target(), *model.support, *model.candidates, model.view(), {{-1, 0, 0}}, model.objective,
                Context{1, &stop});
    }));
    const auto none =
        try_all(fit.target(), *model.support, *model.candidates, model.view(), {}, model.objective, Context{});
    REQUIRE(none.best == -1 && none.reached.empty());
}

}  // namespace

int main() {
    for (const auto& loss : check::smooth_losses)
        for (const bool is_dense : {true, false})
            for (const bool intercept : {false, true})
                for (const double ridge : {0.0, 0.2}) test_all_exchanges(loss, is_dense, intercept, ridge);
    test_stops();
    std::puts("exchange trials: ok");
}
