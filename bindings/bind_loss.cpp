#include "bindings.hpp"
#include "paring/loss.hpp"

namespace paring {

namespace {

// Scores may be (n,) or (n, outputs); the result has the shape of what it is computed from.
using Scores = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

Index count_of(const Loss& loss, const Scores& z, const Vector& y) {
    const auto n = static_cast<Index>(y.shape(0));
    require(static_cast<Index>(z.size()) == n * loss.outputs(), "scores and targets differ in length");
    if (loss.outputs() > 1)
        for (Index i = 0; i < n; ++i)
            require(y.data()[i] >= 0 && y.data()[i] < static_cast<double>(loss.kinds()), "no such class");
    return n;
}

nb::ndarray<nb::numpy, double> shaped(std::vector<double>&& values, const Scores& like) {
    if (like.ndim() == 2) return to_numpy(std::move(values), {like.shape(0), like.shape(1)});
    return to_numpy(std::move(values), {values.size()});
}

auto slopes(const Loss& loss, const Scores& z, const Vector& y) {
    std::vector<double> out(z.size());
    loss.evaluate(z.data(), y.data(), count_of(loss, z, y), nullptr, out.data(), nullptr);
    return shaped(std::move(out), z);
}

auto curvatures(const Loss& loss, const Scores& z, const Vector& y) {
    std::vector<double> out(z.size());
    loss.evaluate(z.data(), y.data(), count_of(loss, z, y), nullptr, nullptr, out.data());
    return shaped(std::move(out), z);
}

auto majorants(const Loss& loss, const Scores& z, const Vector& y) {
    std::vector<double> out(z.size());
    loss.majorant(z.data(), y.data(), count_of(loss, z, y), out.data());
    return shaped(std::move(out), z);
}

auto model_curvatures(const Loss& loss, const Scores& z, const Vector& y, const Vector& v) {
    require(v.shape(0) == y.shape(0), "weights and targets differ in length");
    std::vector<double> out(z.size());
    model_curvature(loss, z.data(), y.data(), v.data(), count_of(loss, z, y), out.data());
    return shaped(std::move(out), z);
}

auto values(const Loss& loss, const Scores& z, const Vector& y) {
    std::vector<double> out(y.shape(0));
    loss.evaluate(z.data(), y.data(), count_of(loss, z, y), out.data(), nullptr, nullptr);
    return to_numpy(std::move(out), {y.shape(0)});
}

auto conjugates(const Loss& loss, const Scores& a, const Vector& y) {
    std::vector<double> out(y.shape(0));
    loss.conjugate(a.data(), y.data(), count_of(loss, a, y), out.data());
    return to_numpy(std::move(out), {y.shape(0)});
}

auto prox_conjugates(const Loss& loss, const Vector& u, const Vector& y, double step) {
    require(u.shape(0) == y.shape(0), "points and targets differ in length");
    std::vector<double> out(y.shape(0));
    loss.prox_conjugate(u.data(), y.data(), step, static_cast<Index>(y.shape(0)), out.data());
    return to_numpy(std::move(out), {y.shape(0)});
}

auto domain(const Loss& loss, const Vector& y) {
    std::vector<double> lower(y.shape(0)), upper(y.shape(0));
    loss.domain(y.data(), static_cast<Index>(y.shape(0)), lower.data(), upper.data());
    const std::size_t n = y.shape(0);
    return nb::make_tuple(to_numpy(std::move(lower), {n}), to_numpy(std::move(upper), {n}));
}

}  // namespace

void bind_loss(nb::module_& m) {
    nb::class_<Loss>(m, "Loss")
        .def_prop_ro("outputs", &Loss::outputs)
        .def_prop_ro("curvature_bound", &Loss::curvature_bound)
        .def("value", &values, nb::arg("z").noconvert(), nb::arg("y").noconvert())
        .def("slope", &slopes, nb::arg("z").noconvert(), nb::arg("y").noconvert())
        .def("curvature", &curvatures, nb::arg("z").noconvert(), nb::arg("y").noconvert())
        .def("majorant", &majorants, nb::arg("z").noconvert(), nb::arg("y").noconvert())
        .def("model_curvature", &model_curvatures, nb::arg("z").noconvert(), nb::arg("y").noconvert(),
             nb::arg("v").noconvert())
        .def("conjugate", &conjugates, nb::arg("a").noconvert(), nb::arg("y").noconvert())
        .def("prox_conjugate", &prox_conjugates, nb::arg("u").noconvert(), nb::arg("y").noconvert(), nb::arg("step"))
        .def("domain", &domain, nb::arg("y").noconvert())
        .def(
            "total",
            [](const Loss& loss, const Scores& z, const Vector& y, const Vector& v) {
                require(v.shape(0) == y.shape(0), "weights and targets differ in length");
                return loss.total(z.data(), y.data(), v.data(), count_of(loss, z, y));
            },
            nb::arg("z").noconvert(), nb::arg("y").noconvert(), nb::arg("v").noconvert());
    m.def(
        "make_squared_rows",
        [](const Matrix& table) {
            const std::size_t n = table.shape(0), outputs = table.shape(1);
            return make_squared_rows({table.data(), table.data() + n * outputs}, static_cast<Index>(outputs));
        },
        nb::arg("table").noconvert());
    m.def("make_loss", &make_loss, nb::arg("name"), nb::arg("parameter") = 1.0);
}

}  // namespace paring
