#include "bindings.hpp"
#include "paring/tableau.hpp"

namespace paring {

namespace {

// Rows of H from a Python callable (int64 features -> float64 rows), or from H itself.
GramRows::Source gram_rows(const nb::object& source, Index d) {
    Matrix whole;
    if (nb::try_cast(source, whole)) {
        require(static_cast<Index>(whole.shape(0)) == d && static_cast<Index>(whole.shape(1)) == d, "H must be d x d");
        return [whole, d](std::span<const Index> features, std::span<double* const> rows) {
            for (std::size_t a = 0; a < features.size(); ++a) std::copy_n(whole.data() + features[a] * d, d, rows[a]);
        };
    }
    return [source, d](std::span<const Index> features, std::span<double* const> rows) {
        const nb::gil_scoped_acquire hold;
        auto* kept = new std::vector<Index>(features.begin(), features.end());
        const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Index>*>(p); });
        const nb::ndarray<nb::numpy, Index> asked(kept->data(), {kept->size()}, owner);
        const auto made = nb::cast<Matrix>(source(asked));
        require(made.shape(0) == features.size() && static_cast<Index>(made.shape(1)) == d,
                "gram rows of another shape");
        for (std::size_t a = 0; a < features.size(); ++a)
            std::copy_n(made.data() + static_cast<Index>(a) * d, d, rows[a]);
    };
}

void make(Tableau* self, const Vector& gradient, const Vector& diagonal, double objective, const Bytes& always,
          const Bytes& never, const nb::object& gram, double tolerance, double batch, double cache_bytes, Index at_once,
          double resolution, double least) {
    const std::size_t d = gradient.shape(0);
    require(diagonal.shape(0) == d && always.shape(0) == d && never.shape(0) == d,
            "the tableau's parts differ in size");
    new (self)
        Tableau({gradient.data(), gradient.data() + d}, {diagonal.data(), diagonal.data() + d}, objective,
                {always.data(), always.data() + d}, {never.data(), never.data() + d},
                gram_rows(gram, static_cast<Index>(d)), {tolerance, batch, cache_bytes, at_once, resolution, least});
}

nb::ndarray<nb::numpy, Index> indices_of(std::vector<Index> indices) {
    auto* kept = new std::vector<Index>(std::move(indices));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Index>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

nb::ndarray<nb::numpy, Index> doubtful(const Tableau& tableau, const Vector& rounding, double hidden, Index most,
                                       int threads, const StopToken* stop) {
    require(static_cast<Index>(rounding.shape(0)) == tableau.dimension(), "one rounding a feature");
    std::vector<Index> found;
    {
        const nb::gil_scoped_release free;
        found = tableau.doubtful({rounding.data(), rounding.data() + rounding.shape(0)}, hidden, most,
                                 context_of(threads, stop));
    }
    return indices_of(std::move(found));
}

nb::ndarray<nb::numpy, double> regressions(const Tableau& tableau, const Indices& features, int threads,
                                           const StopToken* stop) {
    const std::size_t count = features.shape(0);
    for (std::size_t a = 0; a < count; ++a)
        require(features.data()[a] >= 0 && features.data()[a] < tableau.dimension(), "no such column");
    std::vector<double> found;
    {
        const nb::gil_scoped_release free;
        found = tableau.regressions({features.data(), count}, context_of(threads, stop));
    }
    return to_numpy(std::move(found), {count, tableau.features().size()});
}

template <void (Tableau::*move)(Index, const Context&)>
void resize(Tableau& tableau, Index size, int threads, const StopToken* stop) {
    const nb::gil_scoped_release free;
    (tableau.*move)(size, context_of(threads, stop));
}

}  // namespace

void bind_tableau(nb::module_& m) {
    nb::class_<Tableau::Saved>(m, "SavedTableau", "The state of a tableau: Q, w, g, s and F on a support.")
        .def(
            "__init__",
            [](Tableau::Saved* self, const Indices& features, const Matrix& q, const Vector& w, const Vector& g,
               const Vector& s, const Bytes& closed, double objective) {
                const std::size_t k = features.shape(0), d = g.shape(0);
                require(
                    q.shape(0) == k && q.shape(1) == k && w.shape(0) == k && s.shape(0) == d && closed.shape(0) == d,
                    "the state's parts differ in size");
                for (std::size_t p = 0; p < k; ++p)
                    require(0 <= features.data()[p] && features.data()[p] < static_cast<Index>(d), "no such feature");
                new (self) Tableau::Saved{{features.data(), features.data() + k},
                                          {q.data(), q.data() + k * k},
                                          {w.data(), w.data() + k},
                                          {g.data(), g.data() + d},
                                          {s.data(), s.data() + d},
                                          {closed.data(), closed.data() + d},
                                          objective};
            },
            nb::arg("features").noconvert(), nb::arg("q").noconvert(), nb::arg("w").noconvert(),
            nb::arg("g").noconvert(), nb::arg("s").noconvert(), nb::arg("closed").noconvert(), nb::arg("objective"));
    nb::class_<Tableau>(m, "Tableau",
                        "Least squares on a support: exact gains and exchanges (core/include/paring/tableau.hpp).")
        .def("__init__", &make, nb::arg("gradient").noconvert(), nb::arg("diagonal").noconvert(), nb::arg("objective"),
             nb::arg("always").noconvert(), nb::arg("never").noconvert(), nb::arg("gram"), nb::arg("tolerance"),
             nb::arg("batch"), nb::arg("cache_bytes"), nb::arg("at_once"), nb::arg("resolution") = 1e-10,
             nb::arg("least") = 0.0)
        .def_prop_ro("size", &Tableau::size)
        .def_prop_ro("objective", &Tableau::objective)
        .def_prop_ro(
            "features", [](const Tableau& tableau) { return indices_of(tableau.features()); }, nb::rv_policy::move)
        .def_prop_ro(
            "weights",
            [](const Tableau& tableau) {
                const std::size_t k = tableau.weights().size();
                return to_numpy(std::vector<double>(tableau.weights()), {k});
            },
            nb::rv_policy::move)
        .def("grow", &resize<&Tableau::grow>, nb::arg("size"), nb::arg("threads"), nb::arg("stop"))
        .def("shrink", &resize<&Tableau::shrink>, nb::arg("size"), nb::arg("threads"), nb::arg("stop"))
        .def(
            "polish",
            [](Tableau& tableau, int threads, const StopToken* stop) {
                const nb::gil_scoped_release free;
                return tableau.polish(context_of(threads, stop));
            },
            nb::arg("threads"), nb::arg("stop"))
        .def(
            "refresh",
            [](Tableau& tableau, int threads, const StopToken* stop) {
                const nb::gil_scoped_release free;
                tableau.refresh(context_of(threads, stop));
            },
            nb::arg("threads"), nb::arg("stop"))
        .def("doubtful", &doubtful, nb::arg("rounding").noconvert(), nb::arg("hidden"), nb::arg("most"),
             nb::arg("threads"), nb::arg("stop"))
        .def("regressions", &regressions, nb::arg("features").noconvert(), nb::arg("threads"), nb::arg("stop"))
        .def_prop_ro(
            "inverse",
            [](const Tableau& tableau) {
                const std::size_t k = tableau.features().size();
                return to_numpy(std::vector<double>(tableau.inverse()), {k, k});
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "inflation",
            [](const Tableau& tableau) {
                const std::size_t k = tableau.features().size();
                return to_numpy(tableau.inflation(), {k});
            },
            nb::rv_policy::move)
        .def(
            "enter",
            [](Tableau& tableau, const Indices& features, int threads, const StopToken* stop) {
                for (std::size_t f = 0; f < features.shape(0); ++f)
                    require(0 <= features.data()[f] && features.data()[f] < tableau.dimension(), "no such feature");
                const nb::gil_scoped_release free;
                tableau.enter({features.data(), features.shape(0)}, context_of(threads, stop));
            },
            nb::arg("features").noconvert(), nb::arg("threads"), nb::arg("stop"))
        .def("saved", &Tableau::saved)
        .def(
            "restore",
            [](Tableau& tableau, const Tableau::Saved& saved) {
                require(saved.g.size() == static_cast<std::size_t>(tableau.dimension()), "a state of another size");
                tableau.restore(saved);
            },
            nb::arg("saved"));
}

}  // namespace paring
