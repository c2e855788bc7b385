#include "sweeps.hpp"

namespace paring {

namespace {

bool all_between(const Blocks& numbers, Index least, Index end) {
    return std::all_of(numbers.data(), numbers.data() + numbers.shape(0),
                       [&](std::int32_t number) { return least <= number && number < end; });
}

nb::tuple frozen(const OwnedRows& x, const OwnedTarget& target, const OwnedLimits& limits, const Indices& order,
                 const Indices& starts, const Vector& lengths, const Numbers& w, const Vector& b,
                 const MaybeVector& importance, const MaybeNumbers& nu, const MaybeNumbers& nu_b,
                 const MaybeNumbers& slopes, const std::optional<Blocks>& block_of, Index blocks,
                 const std::optional<Blocks>& chosen, const StopToken* stop) {
    Given given(x, target, limits, order, starts, lengths, w, b, importance);
    given.drift(nu, nu_b, slopes);
    require(block_of.has_value() == chosen.has_value() && blocks >= 1 && (block_of || blocks == 1),
            "blocks: which block a feature is in, and which one a step takes");
    ColumnBlocks parts;
    if (block_of) {
        require(block_of->shape(0) == size_of(limits.limits.d) && chosen->shape(0) == lengths.shape(0),
                "one block a feature and one a step");
        require(all_between(*block_of, 0, blocks) && all_between(*chosen, 0, blocks), "no such block");
        parts = {block_of->data(), blocks, chosen->data()};
    }
    return given.run(w, stop, [&](const StopToken& mine) {
        sweep_frozen(x.view, given.sweep, parts, {given.w.data(), given.b.data()}, mine);
    });
}

nb::tuple by_rows(const OwnedRows& x, const OwnedTarget& target, const OwnedLimits& limits, const Indices& order,
                  const Indices& starts, const Vector& lengths, const Numbers& w, const Vector& b,
                  const MaybeVector& importance, const Numbers& nu, const Numbers& nu_b, const Numbers& slopes,
                  const Vector& often, const StopToken* stop) {
    Given given(x, target, limits, order, starts, lengths, w, b, importance);
    given.drift(nu, nu_b, slopes);
    require(often.shape(0) == size_of(limits.limits.d), "one number a feature");
    return given.run(w, stop, [&](const StopToken& mine) {
        sweep_by_rows(x.view, given.sweep, often.data(), {given.w.data(), given.b.data()}, mine);
    });
}

// (w, b, table, mean, mean_b)
nb::tuple moving(const OwnedRows& x, const OwnedTarget& target, const OwnedLimits& limits, const Indices& order,
                 const Indices& starts, const Vector& lengths, const Numbers& w, const Vector& b,
                 const MaybeVector& importance, const Numbers& mean, const Numbers& mean_b, const Numbers& table,
                 const StopToken* stop) {
    Given given(x, target, limits, order, starts, lengths, w, b, importance);
    given.drift(mean, mean_b, table);
    std::vector<double> rows(table.data(), table.data() + table.size()), middle(mean.data(), mean.data() + mean.size()),
        middle_b(mean_b.data(), mean_b.data() + mean_b.size());
    const nb::tuple point = given.run(w, stop, [&](const StopToken& mine) {
        sweep_moving(x.view, given.sweep, rows.data(), middle.data(), middle_b.data(), {given.w.data(), given.b.data()},
                     mine);
    });
    const auto shaped = [](std::vector<double>&& values, const Numbers& like) {
        return like.ndim() == 1 ? to_numpy(std::move(values), {like.size()})
                                : to_numpy(std::move(values), {like.shape(0), like.shape(1)});
    };
    return nb::make_tuple(point[0], point[1], shaped(std::move(rows), table), shaped(std::move(middle), mean),
                          shaped(std::move(middle_b), mean_b));
}

nb::tuple blocks(const OwnedRows& x, const OwnedTarget& target, const OwnedLimits& limits, const Indices& order,
                 const Indices& starts, const Vector& lengths, const Numbers& w, const Vector& b,
                 const MaybeVector& importance, const Numbers& nu, const Numbers& nu_b, const Numbers& slopes,
                 const Blocks& group_of, Index groups, const Blocks& chosen, const StopToken* stop) {
    Given given(x, target, limits, order, starts, lengths, w, b, importance);
    given.drift(nu, nu_b, slopes);
    require(group_of.shape(0) == size_of(limits.limits.d) && chosen.shape(0) == lengths.shape(0),
            "one group a feature and one a step");
    require(all_between(group_of, -1, groups) && all_between(chosen, 0, groups), "no such group");
    const Groups parts{group_of.data(), groups, chosen.data()};
    return given.run(w, stop, [&](const StopToken& mine) {
        sweep_blocks(x.view, given.sweep, parts, {given.w.data(), given.b.data()}, mine);
    });
}

}  // namespace

void bind_sweeps(nb::module_& m) {
    nb::class_<OwnedLimits>(m, "Limits", "What an iterate keeps to that is thresholded after every step.")
        .def("__init__", &make_limits, nb::arg("d"), nb::arg("k"), nb::arg("always").noconvert(),
             nb::arg("never").noconvert(), nb::arg("radius") = infinity, nb::arg("h").none() = nb::none(),
             nb::arg("h_b") = 1.0);
    m.def("sweep_frozen", &frozen, nb::arg("rows"), nb::arg("target"), nb::arg("limits"), nb::arg("order").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("lengths").noconvert(), nb::arg("w").noconvert(),
          nb::arg("b").noconvert(), nb::arg("importance").none() = nb::none(), nb::arg("nu").none() = nb::none(),
          nb::arg("nu_b").none() = nb::none(), nb::arg("slopes").none() = nb::none(),
          nb::arg("block_of").none() = nb::none(), nb::arg("blocks") = 1, nb::arg("chosen").none() = nb::none(),
          nb::arg("stop").none() = nb::none(), "(w, b) after SG-HT, SVRG-HT or, with blocks, ASBCDHT steps.");
    m.def("sweep_by_rows", &by_rows, nb::arg("rows"), nb::arg("target"), nb::arg("limits"),
          nb::arg("order").noconvert(), nb::arg("starts").noconvert(), nb::arg("lengths").noconvert(),
          nb::arg("w").noconvert(), nb::arg("b").noconvert(), nb::arg("importance").none(), nb::arg("nu").noconvert(),
          nb::arg("nu_b").noconvert(), nb::arg("slopes").noconvert(), nb::arg("often").noconvert(),
          nb::arg("stop").none() = nb::none(), "(w, b) after SVRG-HT steps on the columns that rows touch.");
    m.def("sweep_moving", &moving, nb::arg("rows"), nb::arg("target"), nb::arg("limits"), nb::arg("order").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("lengths").noconvert(), nb::arg("w").noconvert(),
          nb::arg("b").noconvert(), nb::arg("importance").none(), nb::arg("mean").noconvert(),
          nb::arg("mean_b").noconvert(), nb::arg("table").noconvert(), nb::arg("stop").none() = nb::none(),
          "(w, b, table, mean, mean_b) after SAGA-HT steps.");
    m.def("sweep_blocks", &blocks, nb::arg("rows"), nb::arg("target"), nb::arg("limits"), nb::arg("order").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("lengths").noconvert(), nb::arg("w").noconvert(),
          nb::arg("b").noconvert(), nb::arg("importance").none(), nb::arg("nu").noconvert(),
          nb::arg("nu_b").noconvert(), nb::arg("slopes").noconvert(), nb::arg("group_of").noconvert(),
          nb::arg("groups"), nb::arg("chosen").noconvert(), nb::arg("stop").none() = nb::none(),
          "(w, b) after SBCD-HTP steps, not thresholded.");
}

}  // namespace paring
