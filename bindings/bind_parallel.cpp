#include "bindings.hpp"
#include "paring/blas.hpp"

namespace paring {

namespace {

// The address in one of the capsules of scipy.linalg.cython_lapack.
template <class F>
F* routine(const nb::dict& capsules, const char* name) {
    const nb::object capsule = capsules[name];
    return reinterpret_cast<F*>(PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr())));
}

}  // namespace

void bind_parallel(nb::module_& m) {
    nb::class_<StopToken>(m, "Stop", "A deadline in seconds from now, or a request to stop, that every sweep heeds.")
        .def(nb::init<double>(), nb::arg("seconds") = infinity)
        .def("request", &StopToken::request)
        .def("set_deadline", &StopToken::set_deadline, nb::arg("seconds"))
        .def_prop_ro("over", [](const StopToken& stop) { return stop.requested() || stop.expired(); })
        .def("check", &StopToken::throw_if_over, "Raises Stopped when it is over.");
    nb::exception<Stopped>(m, "Stopped");
    m.def(
        "install_blas",
        [](const nb::dict& lapack) {
            install_blas({routine<Blas::Potrf>(lapack, "dpotrf"), routine<Blas::Potrf>(lapack, "dpotri")});
        },
        nb::arg("lapack"), "Lends the core SciPy's LAPACK (__pyx_capi__ of its Cython module).");
}

}  // namespace paring
