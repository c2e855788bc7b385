#include "bindings.hpp"
#include "paring/exchanges.hpp"
#include "paring/newton.hpp"

namespace paring {

namespace {

struct OwnedTarget {
    Target target;
    nb::object owners;
};

std::vector<double> copied(const Vector& x) { return {x.data(), x.data() + x.shape(0)}; }

// (w, b, z, inverse or None, report)
nb::tuple minimise(const OwnedTarget& own, const Block& block, const Vector& w, double b, const MaybeVector& lower,
                   const MaybeVector& upper, double tolerance, int max_rounds, bool want_inverse, int threads,
                   const StopToken* stop) {
    const Target& target = own.target;
    const auto k = static_cast<std::size_t>(block.columns());
    require(w.shape(0) == k && block.rows() == target.n, "weights, block and target differ in size");
    require(lower.has_value() == upper.has_value() && (!lower || (lower->shape(0) == k && upper->shape(0) == k)),
            "one bound a column");
    Point point{copied(w), b, {}};
    const Box box{data_or_null(lower), data_or_null(upper)};
    std::vector<double> inverse;
    NewtonReport report;
    {
        const nb::gil_scoped_release free;
        report = minimise_block(target, block, box, {tolerance, max_rounds}, point, want_inverse ? &inverse : nullptr,
                                context_of(threads, stop));
    }
    const std::size_t size = k + (target.intercept ? 1 : 0), n = point.z.size();
    const double intercept = point.b;
    return nb::make_tuple(
        to_numpy(std::move(point.w), {k}), intercept, to_numpy(std::move(point.z), {n}),
        want_inverse ? nb::cast(to_numpy(std::move(inverse), {size, size})) : nb::none(),
        nb::make_tuple(report.objective, report.decrement, report.rounds, report.factorizations, report.converged));
}

// Tries the exchanges in order; returns (index of the first to reach `goal`, or -1; w, w_enter, b).
nb::tuple try_exchanges(const OwnedTarget& own, const Block& support, const Block& candidates, const Vector& w,
                        double b, const Vector& z, const Matrix& inverse, const Indices& leave, const Indices& enter,
                        double goal, int threads, const StopToken* stop) {
    const auto k = static_cast<std::size_t>(support.columns());
    require(w.shape(0) == k && z.shape(0) == static_cast<std::size_t>(own.target.n),
            "weights, block and target differ");
    require(inverse.shape(0) == k + (own.target.intercept ? 1 : 0), "the inverse has another size");
    const Point point{copied(w), b, copied(z)};
    const std::vector<double> matrix(inverse.data(), inverse.data() + inverse.size());
    const Context context = context_of(threads, stop);
    Index found = -1;
    nb::object weights = nb::none();
    double w_enter = 0, intercept = b;
    std::vector<double> reached;
    {
        const nb::gil_scoped_release free;
        ExchangeTrial trial(own.target, support, candidates, point, matrix, context);
        for (std::size_t e = 0; e < leave.shape(0) && found < 0; ++e) {
            context.check();
            if (trial({leave.data()[e], enter.data()[e]}, goal) < goal) {
                found = static_cast<Index>(e);
                reached = trial.w;
                w_enter = trial.w_enter;
                intercept = trial.b;
            }
        }
    }
    const std::size_t size = reached.size();
    return nb::make_tuple(found, to_numpy(std::move(reached), {size}), w_enter, intercept);
}

nb::tuple ranked_exchanges(const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& t, const Vector& q,
                           const Vector& w, const Vector& g, const Vector& s, const Vector& floor,
                           const std::optional<Bytes>& fixed, Index count, double below, int threads) {
    const auto k = static_cast<Index>(t.shape(0)), m = static_cast<Index>(t.shape(1));
    require(t.stride(1) == 1 || m <= 1, "t must be row-major");
    require(static_cast<Index>(w.shape(0)) == k && static_cast<Index>(q.shape(0)) == k &&
                static_cast<Index>(g.shape(0)) == m && static_cast<Index>(s.shape(0)) == m &&
                static_cast<Index>(floor.shape(0)) == m,
            "the model's parts differ in size");
    const ExchangeModel model{t.data(), k,        m,        t.stride(0),  q.data(),
                              w.data(), g.data(), s.data(), floor.data(), fixed ? fixed->data() : nullptr};
    std::vector<Ranked> ranked;
    {
        const nb::gil_scoped_release free;
        ranked = best_exchanges(model, count, below, context_of(threads, nullptr));
    }
    nb::list changes, leaves, enters;
    for (const Ranked& r : ranked) {
        changes.append(r.change);
        leaves.append(r.leave);
        enters.append(r.enter);
    }
    return nb::make_tuple(changes, leaves, enters);
}

}  // namespace

void bind_newton(nb::module_& m) {
    nb::class_<OwnedTarget>(m, "Target", "A loss with its targets, weights, ridge and intercept.")
        .def(
            "__init__",
            [](OwnedTarget* self, const Loss& loss, const Vector& y, const Vector& v, double ridge, bool intercept,
               const nb::object& kept) {
                require(y.shape(0) == v.shape(0), "one weight a target");
                new (self) OwnedTarget{{&loss, y.data(), v.data(), static_cast<Index>(y.shape(0)), ridge, intercept},
                                       nb::make_tuple(y, v, kept)};
            },
            nb::arg("loss"), nb::arg("y").noconvert(), nb::arg("v").noconvert(), nb::arg("ridge"), nb::arg("intercept"),
            nb::arg("kept"));
    m.def("minimise_block", &minimise, nb::arg("target"), nb::arg("block"), nb::arg("w").noconvert(), nb::arg("b"),
          nb::arg("lower").none() = nb::none(), nb::arg("upper").none() = nb::none(), nb::arg("tolerance") = 1e-12,
          nb::arg("max_rounds") = 100, nb::arg("want_inverse") = false, nb::arg("threads") = 1,
          nb::arg("stop").none() = nb::none());
    m.def("try_exchanges", &try_exchanges, nb::arg("target"), nb::arg("support"), nb::arg("candidates"),
          nb::arg("w").noconvert(), nb::arg("b"), nb::arg("z").noconvert(), nb::arg("inverse").noconvert(),
          nb::arg("leave").noconvert(), nb::arg("enter").noconvert(), nb::arg("goal"), nb::arg("threads") = 1,
          nb::arg("stop").none() = nb::none());
    m.def("best_exchanges", &ranked_exchanges, nb::arg("t").noconvert(), nb::arg("q").noconvert(),
          nb::arg("w").noconvert(), nb::arg("g").noconvert(), nb::arg("s").noconvert(), nb::arg("floor").noconvert(),
          nb::arg("fixed").none() = nb::none(), nb::arg("count") = 1, nb::arg("below") = 0.0, nb::arg("threads") = 1);
}

}  // namespace paring
