#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "paring/svmlight.hpp"

namespace paring {
namespace {

using Text = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Hands a vector's memory to NumPy; nothing is copied.
template <class V>
nb::object as_array(std::vector<V>&& vector) {
    auto owned = std::make_unique<std::vector<V>>(std::move(vector));
    V* const data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<V>*>(p); });
    owned.release();
    return nb::cast(nb::ndarray<nb::numpy, V, nb::ndim<1>>(data, {size}, owner));
}

IndexBase index_base(const std::string& name) {
    if (name == "zero") return IndexBase::Zero;
    if (name == "one") return IndexBase::One;
    if (name == "auto") return IndexBase::Auto;
    throw nb::value_error("base must be 'zero', 'one' or 'auto'");
}

/// One reader of either precision. Calls run without the GIL, so a mutex keeps two threads apart.
class Reader {
  public:
    Reader(const std::string& dtype, const SvmlightOptions& options) {
        if (dtype == "float32") {
            reader_ = std::make_unique<SvmlightReader<float>>(options);
        } else if (dtype == "float64") {
            reader_ = std::make_unique<SvmlightReader<double>>(options);
        } else {
            throw nb::value_error("dtype must be 'float32' or 'float64'");
        }
    }

    template <class F>
    auto run(F&& f) {
        nb::gil_scoped_release released;
        const std::lock_guard lock(mutex_);
        return std::visit([&](auto& reader) { return f(*reader); }, reader_);
    }

    nb::typed<nb::tuple, nb::any, nb::ellipsis> take() {
        using Block = std::variant<SvmlightBlock<float>, SvmlightBlock<double>>;
        Block block = run([](auto& reader) { return Block(reader.take()); });
        return std::visit(
            [](auto& b) {
                nb::object indices = b.is_wide ? as_array(std::move(b.wide)) : as_array(std::move(b.narrow));
                return nb::make_tuple(as_array(std::move(b.labels)), as_array(std::move(b.indptr)), indices,
                                      as_array(std::move(b.values)), as_array(std::move(b.query_ids)));
            },
            block);
    }

  private:
    std::variant<std::unique_ptr<SvmlightReader<double>>, std::unique_ptr<SvmlightReader<float>>> reader_;
    std::mutex mutex_;
};

}  // namespace

void bind_formats(nb::module_& m) {
    nb::exception<SvmlightError>(m, "SvmlightError", PyExc_ValueError);
    nb::class_<Reader>(m, "SvmlightReader", "Reads svmlight text pushed in pieces that may end anywhere.")
        .def(
            "__init__",
            [](Reader* self, const std::string& dtype, const std::string& base, std::int64_t n_features, bool query_ids,
               bool refuse_nonfinite, std::int64_t max_line) {
                new (self) Reader(dtype, {index_base(base), n_features, query_ids, refuse_nonfinite, max_line});
            },
            nb::kw_only(), nb::arg("dtype") = "float64", nb::arg("base") = "auto", nb::arg("n_features") = 0,
            nb::arg("query_ids") = false, nb::arg("refuse_nonfinite") = false,
            nb::arg("max_line") = SvmlightOptions{}.max_line)
        .def(
            "feed",
            [](Reader& self, const Text& text) {
                self.run([&](auto& r) { r.feed(reinterpret_cast<const char*>(text.data()), text.size()); });
            },
            nb::arg("text"), "Read the next bytes of the file.")
        .def(
            "finish", [](Reader& self) { self.run([](auto& r) { r.finish(); }); }, "End the file.")
        .def("take", &Reader::take,
             "The whole rows read since the last call, as arrays: labels, indptr, indices (as written in the "
             "file), "
             "values, query_ids.")
        .def_prop_ro(
            "n_rows", [](Reader& self) { return self.run([](auto& r) { return r.n_rows(); }); }, "Rows so far.")
        .def_prop_ro(
            "n_entries", [](Reader& self) { return self.run([](auto& r) { return r.n_entries(); }); },
            "Entries so far.")
        .def_prop_ro(
            "n_features", [](Reader& self) { return self.run([](auto& r) { return r.n_features(); }); },
            "One more than the largest index, counted from zero; after finish().")
        .def_prop_ro(
            "first_index", [](Reader& self) { return self.run([](auto& r) { return r.first_index(); }); },
            "0 or 1, to be subtracted from every index; after finish().")
        .def_prop_ro(
            "unsorted", [](Reader& self) { return self.run([](auto& r) { return r.unsorted(); }); },
            "True once a row had unsorted or repeated indices.");
}

}  // namespace paring
