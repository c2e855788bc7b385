#include "bindings.hpp"

namespace paring {

namespace {

std::unique_ptr<Block> make_block(const OwnedRows& x, const Indices& columns, const MaybeVector& centre, bool by_rows,
                                  int threads, const StopToken* stop) {
    const std::span<const Index> chosen(columns.data(), columns.shape(0));
    const bool dense = std::visit([](const auto& view) { return requires { view.line_stride; }; }, x.view);
    const auto [d, n] = std::visit(
        [&](const auto& view) {
            return x.lines_are_columns ? std::pair(view.lines, view.length) : std::pair(view.length, view.lines);
        },
        x.view);
    for (const Index j : chosen) require(0 <= j && j < d, "no such column");
    require(!centre || static_cast<Index>(centre->shape(0)) == n, "one weight a row");
    const nb::gil_scoped_release free;
    if (dense)
        return std::make_unique<DenseBlock>(x.view, x.lines_are_columns, chosen, data_or_null(centre),
                                            context_of(threads, stop));
    require(x.lines_are_columns, "a sparse block is taken from a matrix by columns");
    return std::make_unique<SparseBlock>(x.view, chosen, by_rows);
}

nb::ndarray<nb::numpy, double> cross_all(const Block& any, const OwnedRows& x, const Vector& c, int threads,
                                         const StopToken* stop) {
    const auto* block = dynamic_cast<const SparseBlock*>(&any);
    require(block != nullptr && x.lines_are_columns, "cross_all takes a sparse block and a matrix by columns");
    require(static_cast<Index>(c.shape(0)) == block->rows(), "one curvature a row");
    require(std::visit([](const auto& view) { return view.length; }, x.view) == block->rows(), "rows differ in number");
    const auto d = static_cast<std::size_t>(std::visit([](const auto& view) { return view.lines; }, x.view));
    const auto k = static_cast<std::size_t>(block->columns());
    std::vector<double> out(d * k);
    {
        const nb::gil_scoped_release free;
        block->cross_all(x.view, c.data(), out.data(), context_of(threads, stop));
    }
    return to_numpy(std::move(out), {d, k});
}

}  // namespace

void bind_block(nb::module_& m) {
    nb::class_<Block>(m, "Block", "A few columns of X, copied out in float64.")
        .def_prop_ro("shape", [](const Block& block) { return nb::make_tuple(block.rows(), block.columns()); })
        .def_prop_ro(
            "shifts",
            [](const Block& block) {
                std::vector<double> shifts(static_cast<std::size_t>(block.columns()));
                for (Index j = 0; j < block.columns(); ++j) shifts[static_cast<std::size_t>(j)] = block.shift(j);
                const std::size_t k = shifts.size();
                return to_numpy(std::move(shifts), {k});
            },
            nb::rv_policy::move)  // a property's own policy would claim the array for the block
        .def(
            "scores",
            [](const Block& block, const Vector& w, double b, int threads) {
                require(static_cast<Index>(w.shape(0)) == block.columns(), "one weight a column");
                std::vector<double> z(static_cast<std::size_t>(block.rows()));
                {
                    const nb::gil_scoped_release free;
                    block.scores(w.data(), b, z.data(), context_of(threads, nullptr));
                }
                const std::size_t n = z.size();
                return to_numpy(std::move(z), {n});
            },
            nb::arg("w").noconvert(), nb::arg("b"), nb::arg("threads") = 1)
        .def(
            "cross",
            [](const Block& block, const Block& others, const Vector& c, int threads) {
                const auto k = static_cast<std::size_t>(block.columns()),
                           count = static_cast<std::size_t>(others.columns());
                require(static_cast<Index>(c.shape(0)) == block.rows() && block.rows() == others.rows(),
                        "one curvature a row");
                std::vector<double> out(k * count);
                {
                    const nb::gil_scoped_release free;
                    block.cross(others, c.data(), out.data(), context_of(threads, nullptr));
                }
                return to_numpy(std::move(out), {count, k});
            },
            nb::arg("others"), nb::arg("c").noconvert(), nb::arg("threads") = 1,
            "others' diag(c) this, shifts included")
        .def(
            "gram_rows",
            [](const Block& block, const Indices& columns, const Vector& c, int threads) {
                const std::size_t count = columns.shape(0), k = static_cast<std::size_t>(block.columns());
                require(static_cast<Index>(c.shape(0)) == block.rows(), "one curvature a row");
                std::vector<double> out(count * k);
                for (std::size_t a = 0; a < count; ++a)
                    require(0 <= columns.data()[a] && columns.data()[a] < block.columns(), "no such column");
                {
                    const nb::gil_scoped_release free;
                    for (std::size_t a = 0; a < count; ++a)
                        block.gram_row(columns.data()[a], c.data(), out.data() + a * k, context_of(threads, nullptr));
                }
                return to_numpy(std::move(out), {count, k});
            },
            nb::arg("columns").noconvert(), nb::arg("c").noconvert(), nb::arg("threads") = 1,
            "Rows of X' diag(c) X, shifts included")
        .def(
            "adjoint",
            [](const Block& block, const Vector& r, int threads) {
                require(static_cast<Index>(r.shape(0)) == block.rows(), "one number a row");
                const auto k = static_cast<std::size_t>(block.columns());
                std::vector<double> g(k);
                {
                    const nb::gil_scoped_release free;
                    block.gradient(r.data(), g.data(), context_of(threads, nullptr));
                }
                return to_numpy(std::move(g), {k});
            },
            nb::arg("r").noconvert(), nb::arg("threads") = 1, "X'r, shifts included")
        .def(
            "hessian",
            [](const Block& block, const Vector& c, int threads) {
                require(static_cast<Index>(c.shape(0)) == block.rows(), "one curvature a row");
                const auto k = static_cast<std::size_t>(block.columns());
                std::vector<double> h(k * k), first(k);
                {
                    const nb::gil_scoped_release free;
                    block.hessian(c.data(), h.data(), block.columns(), first.data(), context_of(threads, nullptr));
                }
                for (std::size_t j = 0; j < k; ++j)
                    for (std::size_t i = 0; i < j; ++i) h[j * k + i] = h[i * k + j];
                return nb::make_tuple(to_numpy(std::move(h), {k, k}), to_numpy(std::move(first), {k}));
            },
            nb::arg("c").noconvert(), nb::arg("threads") = 1, "X' diag(c) X and X'c for c >= 0, shifts included")
        .def("cross_all", &cross_all, nb::arg("x"), nb::arg("c").noconvert(), nb::arg("threads") = 1,
             nb::arg("stop").none() = nb::none(), "X' diag(c) this, for every column of X");
    m.def("make_block", &make_block, nb::arg("x"), nb::arg("columns").noconvert(),
          nb::arg("centre").none() = nb::none(), nb::arg("by_rows") = true, nb::arg("threads") = 1,
          nb::arg("stop").none() = nb::none());
}

}  // namespace paring
