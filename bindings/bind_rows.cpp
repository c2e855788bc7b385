#include "bindings.hpp"
#include "paring/passes.hpp"
#include "paring/products.hpp"

namespace paring {

namespace {

template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The lines are along the axis whose elements lie farther apart, or the rows, however x lies.
template <class T>
OwnedRows dense(Array2<T> x, bool by_rows) {
    const bool tall = x.stride(0) < x.stride(1) || (x.stride(0) == x.stride(1) && x.shape(0) > x.shape(1));
    const bool by_columns = tall && !by_rows;
    const std::size_t line = by_columns ? 1 : 0, along = 1 - line;
    return {Dense<T>{x.data(), static_cast<Index>(x.shape(line)), static_cast<Index>(x.shape(along)), x.stride(line),
                     x.stride(along)},
            by_columns, nb::cast(x)};
}

template <class T, class I>
OwnedRows sparse(Array1<T> values, Array1<I> indices, Array1<I> starts, Index length, bool lines_are_columns) {
    require(starts.shape(0) > 0 && values.shape(0) == indices.shape(0), "malformed sparse matrix");
    return {Sparse<T, I>{values.data(), indices.data(), starts.data(), static_cast<Index>(starts.shape(0)) - 1, length},
            lines_are_columns, nb::make_tuple(values, indices, starts)};
}

struct Shape {
    Index lines, length;
};
Shape shape_of(const Rows& rows) {
    return std::visit([](const auto& view) { return Shape{view.lines, view.length}; }, rows);
}

// X v (`times_columns` = true) or X'v, v with m columns; result (rows of the product, m).
nb::ndarray<nb::numpy, double> product(const OwnedRows& x, const Matrix& v, bool transposed, int threads,
                                       const StopToken* stop) {
    const Shape shape = shape_of(x.view);
    const bool by_lines = transposed == x.lines_are_columns;  // one dot product a line
    const Index in = by_lines ? shape.length : shape.lines, out = by_lines ? shape.lines : shape.length;
    const auto m = static_cast<Index>(v.shape(1));
    require(static_cast<Index>(v.shape(0)) == in, "matrix and vector differ in length");
    std::vector<double> result(static_cast<std::size_t>(out * m));
    {
        const nb::gil_scoped_release free;
        const Context context = context_of(threads, stop);
        by_lines ? dots(x.view, v.data(), m, result.data(), context)
                 : combine(x.view, v.data(), m, result.data(), context);
    }
    return to_numpy(std::move(result), {static_cast<std::size_t>(out), static_cast<std::size_t>(m)});
}

// The chosen lines with each column of v: (lines chosen, m).
nb::ndarray<nb::numpy, double> product_of_lines(const OwnedRows& x, const Indices& lines, const Matrix& v, int threads,
                                                const StopToken* stop) {
    const Shape shape = shape_of(x.view);
    const std::span<const Index> chosen(lines.data(), lines.shape(0));
    const auto m = static_cast<Index>(v.shape(1));
    require(static_cast<Index>(v.shape(0)) == shape.length, "matrix and vector differ in length");
    for (const Index l : chosen) require(0 <= l && l < shape.lines, "no such line");
    std::vector<double> result(chosen.size() * v.shape(1));
    {
        const nb::gil_scoped_release free;
        dots_of(x.view, chosen, v.data(), m, result.data(), context_of(threads, stop));
    }
    return to_numpy(std::move(result), {chosen.size(), v.shape(1)});
}

nb::tuple moments_of_columns(const OwnedRows& x, const Vector& r, const Vector& c, int threads, const StopToken* stop) {
    const Shape shape = shape_of(x.view);
    const auto d = static_cast<std::size_t>(x.lines_are_columns ? shape.lines : shape.length);
    const Index n = x.lines_are_columns ? shape.length : shape.lines;
    require(static_cast<Index>(r.shape(0)) == n && static_cast<Index>(c.shape(0)) == n,
            "matrix and vector differ in length");
    std::vector<double> slope(d), first(d), second(d);
    {
        const nb::gil_scoped_release free;
        column_moments(x.view, x.lines_are_columns, r.data(), c.data(), slope.data(), first.data(), second.data(),
                       context_of(threads, stop));
    }
    return nb::make_tuple(to_numpy(std::move(slope), {d}), to_numpy(std::move(first), {d}),
                          to_numpy(std::move(second), {d}));
}

// v X (columns of X as lines) or v' of the rows: m x d, for dense X of unit step and v (m x n) row-major.
nb::object few_products(const OwnedRows& x, const Matrix& v, int threads, const StopToken* stop) {
    return std::visit(
        [&](const auto& view) -> nb::object {
            if constexpr (requires { view.line_stride; }) {
                if (view.step != 1) return nb::none();
                const auto m = static_cast<Index>(v.shape(0));
                const Index n = x.lines_are_columns ? view.length : view.lines;
                const Index d = x.lines_are_columns ? view.lines : view.length;
                require(static_cast<Index>(v.shape(1)) == n, "matrix and vectors differ in length");
                std::vector<double> out(static_cast<std::size_t>(m * d));
                {
                    const nb::gil_scoped_release free;
                    const Context context = context_of(threads, stop);
                    if (x.lines_are_columns)
                        inner_products(view, v.data(), m, out.data(), context);
                    else
                        add_combinations(view, v.data(), n, m, out.data(), d, context);
                }
                return nb::cast(to_numpy(std::move(out), {static_cast<std::size_t>(m), static_cast<std::size_t>(d)}));
            } else {
                return nb::none();
            }
        },
        x.view);
}

// a b, rows of b of unit step.
nb::ndarray<nb::numpy, double> matrix_product(const Matrix& a, Array2<double> b, int threads) {
    const auto m = static_cast<Index>(a.shape(0)), p = static_cast<Index>(a.shape(1)),
               d = static_cast<Index>(b.shape(1));
    require(static_cast<Index>(b.shape(0)) == p && (b.stride(1) == 1 || d <= 1), "shapes do not match");
    std::vector<double> out(static_cast<std::size_t>(m * d));
    {
        const nb::gil_scoped_release free;
        add_combinations(Dense<double>{b.data(), p, d, b.stride(0), 1}, a.data(), p, m, out.data(), d,
                         context_of(threads, nullptr));
    }
    return to_numpy(std::move(out), {static_cast<std::size_t>(m), static_cast<std::size_t>(d)});
}

template <class T>
void bind_sparse(nb::class_<OwnedRows>& rows) {
    rows.def_static("sparse", &sparse<T, std::int32_t>, nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
                    nb::arg("starts").noconvert(), nb::arg("length"), nb::arg("lines_are_columns"));
    rows.def_static("sparse", &sparse<T, std::int64_t>, nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
                    nb::arg("starts").noconvert(), nb::arg("length"), nb::arg("lines_are_columns"));
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<OwnedRows> rows(m, "Rows", "A matrix by its stored lines, in NumPy's own memory.");
    rows.def_static("dense", &dense<float>, nb::arg("x").noconvert(), nb::arg("by_rows") = false)
        .def_static("dense", &dense<double>, nb::arg("x").noconvert(), nb::arg("by_rows") = false)
        .def_ro("lines_are_columns", &OwnedRows::lines_are_columns)
        .def("product", &product, nb::arg("v").noconvert(), nb::arg("transposed"), nb::arg("threads") = 1,
             nb::arg("stop").none() = nb::none())
        .def("product_of_lines", &product_of_lines, nb::arg("lines").noconvert(), nb::arg("v").noconvert(),
             nb::arg("threads") = 1, nb::arg("stop").none() = nb::none())
        .def("column_moments", &moments_of_columns, nb::arg("r").noconvert(), nb::arg("c").noconvert(),
             nb::arg("threads") = 1, nb::arg("stop").none() = nb::none());
    rows.def("few_products", &few_products, nb::arg("v").noconvert(), nb::arg("threads") = 1,
             nb::arg("stop").none() = nb::none(), "v X of a dense X with unit inner step; None for other layouts.");
    m.def("product", &matrix_product, nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("threads") = 1,
          "a b, on so many threads.");
    bind_sparse<float>(rows);
    bind_sparse<double>(rows);
}

}  // namespace paring
