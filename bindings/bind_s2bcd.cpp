#include "paring/sweeps/s2bcd.hpp"

#include "sweeps.hpp"

namespace paring {

namespace {

using Labels = nb::ndarray<const Label, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_below(const Indices& indices, Index end, const char* what) {
    for (std::size_t p = 0; p < indices.shape(0); ++p) require(indices.data()[p] >= 0 && indices.data()[p] < end, what);
}

// -- which features move ----------------------------------------------------------------------------------------------

struct OwnedMoving {
    Moving moving;
    Index features, steps;  // how many there must be; -1: any number
    nb::object owners;
};

OwnedMoving in_blocks(const Labels& of_features, const Labels& of_steps) {
    return {InBlocks{of_features.data(), of_steps.data()}, static_cast<Index>(of_features.shape(0)),
            static_cast<Index>(of_steps.shape(0)), nb::make_tuple(of_features, of_steps)};
}

OwnedMoving in_windows(const Indices& circle, Index size, const Indices& of_steps) {
    const auto d = static_cast<Index>(circle.shape(0));
    require(0 < size && size <= d, "a window has at least one feature, and at most all");
    require_below(circle, d, "circle must be an order of all features");
    require_below(of_steps, d, "no such place in the circle");
    return {InWindows{circle.data(), size, of_steps.data()}, d, static_cast<Index>(of_steps.shape(0)),
            nb::make_tuple(circle, of_steps)};
}

// -- what is kept after every step ------------------------------------------------------------------------------------

struct OwnedLargest {
    Largest largest;
    Index features;
    nb::object owners;
};

void make_largest(OwnedLargest* self, Index d, Index k, const Indices& support, const Bytes& always,
                  const MaybeVector& h) {
    require(k >= 0, "k must not be negative");
    require(always.shape(0) == static_cast<std::size_t>(d) && (!h || h->shape(0) == always.shape(0)),
            "one flag and one weight a feature");
    require_below(support, d, "no such feature");
    new (self) OwnedLargest{{k, {support.data(), support.shape(0)}, always.data(), data_or_null(h)},
                            d,
                            nb::make_tuple(support, always, h ? nb::cast(*h) : nb::none())};
}

// -- the sweep --------------------------------------------------------------------------------------------------------

void require_fitting(const OwnedRows& x, const Target& target, Index d, const Indices& order, Index batch) {
    require(!x.lines_are_columns, "rows must lie by rows");
    std::visit(
        [&](const auto& rows) {
            require(rows.lines == target.n && rows.length == d, "rows, target and weights differ in size");
            if constexpr (requires { rows.step; })
                require(rows.step == 1 || rows.length <= 1, "numbers of a row must lie side by side");
        },
        x.view);
    require(batch >= 1 && static_cast<Index>(order.shape(0)) % batch == 0, "order must hold whole batches");
    require_below(order, target.n, "no such row");
}

// (w, b) after the steps.
nb::tuple sweep(const OwnedRows& x, const OwnedTarget& own, const Indices& order, Index batch, const Numbers& anchor,
                const Matrix& moves, const Numbers& w, const Vector& b, const OwnedMoving& moving,
                const OwnedLargest* largest, const std::string& store, int workers, const StopToken* stop) {
    const Target& target = own.target;
    const Index outputs = target.loss->outputs(), d = static_cast<Index>(w.size()) / outputs;
    const Steps steps{order.data(), static_cast<Index>(order.shape(0)) / std::max<Index>(batch, 1), batch};
    require_fitting(x, target, d, order, batch);
    require(static_cast<Index>(w.size()) == d * outputs && static_cast<Index>(b.shape(0)) == outputs,
            "one weight a feature and output");
    require(static_cast<Index>(anchor.size()) == target.n * outputs, "one slope a row and output");
    require(static_cast<Index>(moves.shape(0)) == d + 1 && static_cast<Index>(moves.shape(1)) == outputs + 2,
            "moves: outputs + 2 numbers of each feature, and of the intercept");
    require(moving.features < 0 || (moving.features == d && moving.steps == steps.count),
            "one block a feature and one a step");
    require(largest == nullptr || largest->features == d, "as many features as are kept from");
    require(workers >= 1, "at least one worker");
    const Sharing sharing = sharing_of(store);
    const S2bcd data{target.loss, target.y, target.v, anchor.data(), moves.data(), target.intercept};
    std::vector<double> point(w.data(), w.data() + w.size());
    point.insert(point.end(), b.data(), b.data() + b.shape(0));
    {
        const nb::gil_scoped_release free;
        run_s2bcd(x.view, data, steps, moving.moving, largest == nullptr ? nullptr : &largest->largest, point, sharing,
                  workers, context_of(workers, stop));
    }
    std::vector<double> intercepts(point.end() - outputs, point.end());
    point.resize(w.size());
    const std::size_t rows = w.shape(0), columns = static_cast<std::size_t>(outputs);
    return nb::make_tuple(
        w.ndim() == 1 ? to_numpy(std::move(point), {rows}) : to_numpy(std::move(point), {rows, columns}),
        to_numpy(std::move(intercepts), {columns}));
}

}  // namespace

void bind_s2bcd(nb::module_& m) {
    nb::class_<OwnedMoving>(m, "Moving", "Which features the steps of a sweep move.")
        .def_static("everywhere", [] { return OwnedMoving{Everywhere{}, -1, -1, nb::none()}; })
        .def_static("in_blocks", &in_blocks, nb::arg("of_features").noconvert(), nb::arg("of_steps").noconvert())
        .def_static("in_windows", &in_windows, nb::arg("circle").noconvert(), nb::arg("size"),
                    nb::arg("of_steps").noconvert());
    nb::class_<OwnedLargest>(m, "Largest",
                             "What a sweep keeps after each of its steps, beside the features always kept.")
        .def("__init__", &make_largest, nb::arg("d"), nb::arg("k"), nb::arg("support").noconvert(),
             nb::arg("always").noconvert(), nb::arg("h").none() = nb::none());
    m.def("sweep_s2bcd", &sweep, nb::arg("rows"), nb::arg("target"), nb::arg("order").noconvert(), nb::arg("batch"),
          nb::arg("anchor").noconvert(), nb::arg("moves").noconvert(), nb::arg("w").noconvert(),
          nb::arg("b").noconvert(), nb::arg("moving"), nb::arg("largest").none() = nb::none(),
          nb::arg("store") = "plain", nb::arg("workers") = 1, nb::arg("stop").none() = nb::none(),
          "(w, b) after sparse semi-stochastic steps of one worker, or of several on one iterate.");
}

}  // namespace paring
