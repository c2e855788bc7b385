#include "bindings.hpp"
#include "paring/exchange_trial.hpp"
#include "paring/newton.hpp"

namespace paring {

namespace {

std::vector<double> copied(const Vector& x) { return {x.data(), x.data() + x.shape(0)}; }

// (w, b, z, inverse or None, report)
nb::tuple minimise(const OwnedTarget& own, const Block& block, const Vector& w, double b, const MaybeVector& lower,
                   const MaybeVector& upper, double tolerance, int max_rounds, double sharpness, bool want_inverse,
                   int threads, const StopToken* stop) {
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
        report = minimise_block(target, block, box, {tolerance, max_rounds, sharpness}, point,
                                want_inverse ? &inverse : nullptr, context_of(threads, stop));
    }
    const std::size_t size = k + (target.intercept ? 1 : 0), n = point.z.size();
    const double intercept = point.b;
    return nb::make_tuple(
        to_numpy(std::move(point.w), {k}), intercept, to_numpy(std::move(point.z), {n}),
        want_inverse ? nb::cast(to_numpy(std::move(inverse), {size, size})) : nb::none(),
        nb::make_tuple(report.objective, report.decrement, report.rounds, report.factorizations, report.converged));
}

// Tries exchanges (rows: change, leave, enter); (F reached by each, position of the best or -1, its w, w_enter, b), all
// in the shifted columns of the blocks.
nb::tuple try_exchanges(const OwnedTarget& own, const Block& support, const Block& candidates, const Vector& w,
                        double b, const Vector& z, double objective, const Matrix& inverse, const Matrix& t,
                        const Vector& schur, const Vector& g, const Vector& means, const Vector& others,
                        const Vector& c, const Matrix& exchanges, double goal, int threads, const StopToken* stop) {
    const auto k = static_cast<std::size_t>(support.columns()), m = static_cast<std::size_t>(candidates.columns());
    require(w.shape(0) == k && z.shape(0) == static_cast<std::size_t>(own.target.n) && means.shape(0) == k &&
                c.shape(0) == z.shape(0) && support.rows() == own.target.n && candidates.rows() == own.target.n,
            "weights, block and target differ in size");
    require(inverse.shape(0) == k + (own.target.intercept ? 1 : 0) && inverse.shape(1) == inverse.shape(0) &&
                t.shape(0) == m && t.shape(1) == k && schur.shape(0) == m && g.shape(0) == m && others.shape(0) == m &&
                exchanges.shape(1) == 3,
            "the model's parts differ in size");
    const TrialModel model{w.data(), z.data(),     b,        objective,    inverse.data(),
                           t.data(), schur.data(), g.data(), means.data(), others.data(),
                           c.data()};
    std::vector<Ranked> ranked;
    for (std::size_t e = 0; e < exchanges.shape(0); ++e) {
        const double* row = exchanges.data() + 3 * e;
        ranked.push_back({row[0], static_cast<Index>(row[1]), static_cast<Index>(row[2])});
        require(row[1] >= 0 && row[1] < static_cast<double>(k) && row[2] >= -1 && row[2] < static_cast<double>(m),
                "no such column");
    }
    TrialResult result;
    {
        const nb::gil_scoped_release free;
        result = try_all(own.target, support, candidates, model, ranked, goal, context_of(threads, stop));
    }
    TrialPoint& point = result.point;
    const std::size_t size = point.w.size(), count = ranked.size();
    return nb::make_tuple(to_numpy(std::move(result.reached), {count}), result.best,
                          to_numpy(std::move(point.w), {size}), point.w_enter, point.b);
}

nb::ndarray<nb::numpy, double> ranked_exchanges(const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& t,
                                                const Vector& q, const Vector& w, const Vector& g, const Vector& s,
                                                const Vector& floor, const std::optional<Bytes>& fixed,
                                                const MaybeVector& correction, Index count, double below, int alike,
                                                Index most, int threads) {
    const auto k = static_cast<Index>(t.shape(0)), m = static_cast<Index>(t.shape(1));
    require(t.stride(1) == 1 || m <= 1, "t must be row-major");
    require(static_cast<Index>(w.shape(0)) == k && static_cast<Index>(q.shape(0)) == k &&
                static_cast<Index>(g.shape(0)) == m && static_cast<Index>(s.shape(0)) == m &&
                static_cast<Index>(floor.shape(0)) == m,
            "the model's parts differ in size");
    require(!correction || static_cast<Index>(correction->shape(0)) == k, "one correction a member");
    require(!fixed || static_cast<Index>(fixed->shape(0)) == k, "one flag a member");
    const ExchangeModel model{t.data(),
                              k,
                              m,
                              t.stride(0),
                              q.data(),
                              w.data(),
                              g.data(),
                              s.data(),
                              floor.data(),
                              fixed ? fixed->data() : nullptr,
                              data_or_null(correction)};
    std::vector<Ranked> ranked;
    {
        const nb::gil_scoped_release free;
        ranked = best_exchanges(model, count, below, context_of(threads, nullptr));
        if (alike > 0) ranked = varied(ranked, alike, most);
    }
    std::vector<double> rows;
    for (const Ranked& r : ranked)
        rows.insert(rows.end(), {r.change, static_cast<double>(r.leave), static_cast<double>(r.enter)});
    return to_numpy(std::move(rows), {ranked.size(), 3});
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
          nb::arg("max_rounds") = 100, nb::arg("sharpness") = infinity, nb::arg("want_inverse") = false,
          nb::arg("threads") = 1, nb::arg("stop").none() = nb::none());
    m.def("try_exchanges", &try_exchanges, nb::arg("target"), nb::arg("support"), nb::arg("candidates"),
          nb::arg("w").noconvert(), nb::arg("b"), nb::arg("z").noconvert(), nb::arg("objective"),
          nb::arg("inverse").noconvert(), nb::arg("t").noconvert(), nb::arg("schur").noconvert(),
          nb::arg("g").noconvert(), nb::arg("means").noconvert(), nb::arg("others").noconvert(),
          nb::arg("c").noconvert(), nb::arg("exchanges").noconvert(), nb::arg("goal"), nb::arg("threads") = 1,
          nb::arg("stop").none() = nb::none());
    m.def("best_exchanges", &ranked_exchanges, nb::arg("t").noconvert(), nb::arg("q").noconvert(),
          nb::arg("w").noconvert(), nb::arg("g").noconvert(), nb::arg("s").noconvert(), nb::arg("floor").noconvert(),
          nb::arg("fixed").none() = nb::none(), nb::arg("correction").none() = nb::none(), nb::arg("count") = 1,
          nb::arg("below") = 0.0, nb::arg("alike") = 0, nb::arg("most") = 0, nb::arg("threads") = 1);
}

}  // namespace paring
