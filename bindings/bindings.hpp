// One bind_* function per file of this folder; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "paring/block.hpp"
#include "paring/newton.hpp"
#include "paring/parallel.hpp"
#include "paring/rows.hpp"

namespace paring {

namespace nb = nanobind;

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MaybeVector = std::optional<Vector>;
using Bytes = nb::ndarray<const unsigned char, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A view of NumPy's memory with the arrays that own it.
struct OwnedRows {
    Rows view;
    bool lines_are_columns;
    nb::object owners;
};

// A loss with its targets and weights, and the arrays that own them.
struct OwnedTarget {
    Target target;
    nb::object owners;
};

// How a call from Python runs: `threads`, until the token says so, with a look for Ctrl-C.
inline Context context_of(int threads, const StopToken* stop) {
    return {threads, stop, [] {
                const nb::gil_scoped_acquire hold;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
            }};
}

inline nb::ndarray<nb::numpy, double> to_numpy(std::vector<double>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return {kept->data(), shape, owner};
}

inline const double* data_or_null(const MaybeVector& vector) { return vector ? vector->data() : nullptr; }

inline void require(bool fits, const char* what) {
    if (!fits) throw nb::value_error(what);
}

void bind_parallel(nb::module_& m);
void bind_loss(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_block(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_tableau(nb::module_& m);
void bind_descent(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_formats(nb::module_& m);
void bind_proximal(nb::module_& m);
void bind_s2bcd(nb::module_& m);
void bind_sweeps(nb::module_& m);

}  // namespace paring
