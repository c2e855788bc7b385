#include "bindings.hpp"
#include "paring/coordinate/descent.hpp"

#include <utility>

namespace paring {

namespace {

struct OwnedDescent {
    Descent descent;
    Index n, outputs;
    bool intercept;
    nb::object owners;
};

std::vector<double> copied(const Vector& x) { return {x.data(), x.data() + x.shape(0)}; }

Penalty penalty_of(const Indices& starts, const Vector& omega, const Vector& tau, const Vector& ridge,
                   const Vector& lower, const Vector& upper, Index outputs) {
    Penalty penalty;
    penalty.outputs = outputs;
    penalty.starts.assign(starts.data(), starts.data() + starts.shape(0));
    penalty.omega = copied(omega);
    penalty.tau = copied(tau);
    penalty.ridge = copied(ridge);
    penalty.lower = copied(lower);
    penalty.upper = copied(upper);
    require(!penalty.starts.empty() && penalty.starts.front() == 0 && penalty.starts.size() == penalty.omega.size() + 1,
            "one omega a block");
    for (std::size_t k = 1; k < penalty.starts.size(); ++k)
        require(penalty.starts[k - 1] < penalty.starts[k], "blocks must follow one another and not be empty");
    const auto m = static_cast<std::size_t>(penalty.starts.back());
    require(
        penalty.tau.size() == m && penalty.ridge.size() == m && penalty.lower.size() == m && penalty.upper.size() == m,
        "one number a feature");
    for (std::size_t k = 0; k < penalty.omega.size() && outputs == 1; ++k)  // the norm of one weight is its size
        if (penalty.starts[k + 1] - penalty.starts[k] == 1)
            penalty.tau[static_cast<std::size_t>(penalty.starts[k])] += std::exchange(penalty.omega[k], 0.0);
    return penalty;
}

// (w, b, z, objective, violation, rounds, sweeps, newton_steps, extrapolations, stopped)
nb::tuple minimise(OwnedDescent& own, const Indices& features, const Indices& starts, const Vector& omega,
                   const Vector& tau, const Vector& ridge, const Vector& lower, const Vector& upper, const Vector& w,
                   const Vector& b, const Vector& z, double goal, int max_rounds, int threads, const StopToken* stop) {
    const Penalty penalty = penalty_of(starts, omega, tau, ridge, lower, upper, own.outputs);
    const std::span<const Index> chosen(features.data(), features.shape(0));
    require(static_cast<Index>(chosen.size()) == penalty.features() &&
                static_cast<Index>(w.shape(0)) == penalty.features() * own.outputs &&
                static_cast<Index>(z.shape(0)) == own.n * own.outputs &&
                static_cast<Index>(b.shape(0)) == (own.intercept ? own.outputs : 0),
            "features, weights and scores differ in size");
    for (const Index j : chosen) require(own.descent.has(j), "a feature that was not appended");
    DescentPoint point{copied(w), copied(b), copied(z)};
    DescentReport report;
    {
        const nb::gil_scoped_release free;
        report = own.descent.minimise(chosen, penalty, {goal, max_rounds}, point, context_of(threads, stop));
    }
    const std::size_t nw = point.w.size(), n = point.z.size(), nb_ = point.b.size();
    return nb::make_tuple(to_numpy(std::move(point.w), {nw}), to_numpy(std::move(point.b), {nb_}),
                          to_numpy(std::move(point.z), {n}), report.objective, report.violation, report.rounds,
                          report.sweeps, report.newton_steps, report.extrapolations, report.stopped);
}

bool is_dense(const OwnedRows& x) {
    return std::visit([](const auto& view) { return requires { view.line_stride; }; }, x.view);
}

}  // namespace

void bind_descent(nb::module_& m) {
    nb::class_<OwnedDescent>(m, "Descent", "Block coordinate descent over working sets; keeps the columns it has used.")
        .def(
            "__init__",
            [](OwnedDescent* self, const nb::object& target, bool dense) {
                const auto& own = nb::cast<const OwnedTarget&>(target);
                new (self) OwnedDescent{Descent(own.target, dense), own.target.n, own.target.loss->outputs(),
                                        own.target.intercept, target};
            },
            nb::arg("target"), nb::arg("dense"))
        .def(
            "missing",
            [](OwnedDescent& own, const Indices& features) {
                return own.descent.missing({features.data(), features.shape(0)});
            },
            nb::arg("features").noconvert())
        .def(
            "append",
            [](OwnedDescent& own, const OwnedRows& x, const Indices& chosen, const Indices& features, int threads,
               const StopToken* stop) {
                const auto [d, n] = std::visit(
                    [&](const auto& view) {
                        return x.lines_are_columns ? std::pair(view.lines, view.length)
                                                   : std::pair(view.length, view.lines);
                    },
                    x.view);
                require(n == own.n && chosen.shape(0) == features.shape(0), "columns of another problem");
                require(is_dense(x) || x.lines_are_columns, "sparse columns are taken from a matrix by columns");
                const std::span<const Index> picked(chosen.data(), chosen.shape(0));
                for (const Index j : picked) require(0 <= j && j < d, "no such column");
                const nb::gil_scoped_release free;
                own.descent.append(x.view, x.lines_are_columns, picked, {features.data(), features.shape(0)},
                                   context_of(threads, stop));
            },
            nb::arg("x"), nb::arg("chosen").noconvert(), nb::arg("features").noconvert(), nb::arg("threads") = 1,
            nb::arg("stop").none() = nb::none())
        .def("minimise", &minimise, nb::arg("features").noconvert(), nb::arg("starts").noconvert(),
             nb::arg("omega").noconvert(), nb::arg("tau").noconvert(), nb::arg("ridge").noconvert(),
             nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("w").noconvert(),
             nb::arg("b").noconvert(), nb::arg("z").noconvert(), nb::arg("goal"), nb::arg("max_rounds") = 100,
             nb::arg("threads") = 1, nb::arg("stop").none() = nb::none(),
             "(w, b, z, objective, violation, rounds, sweeps, newton_steps, extrapolations, stopped)");
}

}  // namespace paring
