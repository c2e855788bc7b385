#include "bindings.hpp"
#include "paring/sweeps/sdiht.hpp"

namespace paring {

namespace {

nb::ndarray<nb::numpy, double> balanced(const Loss& loss, const Vector& u, const Vector& y, const Vector& v,
                                        double step, double total) {
    const std::size_t n = u.shape(0);
    require(y.shape(0) == n && v.shape(0) == n, "points, targets and weights differ in length");
    std::vector<double> a(n);
    {
        const nb::gil_scoped_release free;
        balanced_prox(loss, {u.data(), n}, y.data(), v.data(), step, total, a.data());
    }
    return to_numpy(std::move(a), {n});
}

// (a, acc, w) after the blocks.
nb::tuple run_blocks(const OwnedRows& x, const Loss& loss, const Vector& y, const Vector& v, double ridge,
                     bool intercept, Index k, const Bytes& always, const Bytes& never, const Vector& a,
                     const Vector& acc, const Indices& order, const Indices& starts, const Vector& steps, double reach,
                     const StopToken* stop) {
    const std::size_t n = y.shape(0), d = acc.shape(0), blocks = steps.shape(0);
    require(v.shape(0) == n && a.shape(0) == n && always.shape(0) == d && never.shape(0) == d,
            "the parts of the problem differ in size");
    require(!x.lines_are_columns && loss.outputs() == 1 && ridge > 0 && k > 0 && reach > 0,
            "rows, one output, a ridge, k and a reach");
    require(starts.shape(0) == blocks + 1 && starts.data()[0] == 0 &&
                starts.data()[blocks] == static_cast<Index>(order.shape(0)) &&
                std::is_sorted(starts.data(), starts.data() + blocks + 1),
            "starts must rise from 0 to the number of rows");
    for (std::size_t r = 0; r < order.shape(0); ++r)
        require(order.data()[r] >= 0 && order.data()[r] < static_cast<Index>(n), "no such row");
    Index kept = 0;
    for (std::size_t j = 0; j < d; ++j) kept += always.data()[j] != 0;
    require(kept <= k, "more features always kept than k");
    std::vector<double> new_a(a.data(), a.data() + n), new_acc(acc.data(), acc.data() + d), w(d);
    const DualBlocks data{&loss,
                          y.data(),
                          v.data(),
                          ridge * static_cast<double>(n),
                          intercept,
                          {order.data(), order.shape(0)},
                          {starts.data(), blocks + 1},
                          {steps.data(), blocks},
                          reach};
    const Choice choice{static_cast<Index>(d), k, always.data(), never.data()};
    {
        const nb::gil_scoped_release free;
        std::visit(
            [&](const auto& rows) {
                require(rows.lines == static_cast<Index>(n) && rows.length == static_cast<Index>(d),
                        "rows, targets and weights differ in size");
                if constexpr (requires { rows.step; })
                    require(rows.step == 1, "numbers of a row must lie side by side");
                const double cost = 4 * rows.cost_per_line() * static_cast<double>(order.shape(0));
                run_workers(1, cost, context_of(1, stop), [&](int, const StopToken& mine) {
                    sweep_sdiht(rows, data, choice, new_a.data(), new_acc.data(), w.data(), mine);
                });
            },
            x.view);
    }
    return nb::make_tuple(to_numpy(std::move(new_a), {n}), to_numpy(std::move(new_acc), {d}),
                          to_numpy(std::move(w), {d}));
}

}  // namespace

void bind_dual(nb::module_& m) {
    m.def("balanced_prox", &balanced, nb::arg("loss"), nb::arg("u").noconvert(), nb::arg("y").noconvert(),
          nb::arg("v").noconvert(), nb::arg("step"), nb::arg("total"),
          "prox_{step loss*}(u - t), t such that its v-weighted sum is total.");
    m.def("sweep_sdiht", &run_blocks, nb::arg("rows"), nb::arg("loss"), nb::arg("y").noconvert(),
          nb::arg("v").noconvert(), nb::arg("ridge"), nb::arg("intercept"), nb::arg("k"), nb::arg("always").noconvert(),
          nb::arg("never").noconvert(), nb::arg("a").noconvert(), nb::arg("acc").noconvert(),
          nb::arg("order").noconvert(), nb::arg("starts").noconvert(), nb::arg("steps").noconvert(), nb::arg("reach"),
          nb::arg("stop").none() = nb::none(), "(a, acc, w = H_k(acc)) after SDIHT's blocks.");
}

}  // namespace paring
