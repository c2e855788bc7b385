#include "paring/sweeps/proximal.hpp"

#include "sweeps.hpp"

namespace paring {

namespace {

struct OwnedUnits {
    Units units;
    Index features;
    nb::object owners;
};

void make_units(OwnedUnits* self, const Indices& of, const Indices& starts, const Indices& members) {
    const auto d = static_cast<Index>(of.shape(0)), count = static_cast<Index>(starts.shape(0)) - 1;
    require(count >= 0 && members.shape(0) == of.shape(0) && starts.data()[0] == 0 && starts.data()[count] == d,
            "each feature is a member of one unit");
    for (Index g = 0; g < count; ++g) {
        require(starts.data()[g] < starts.data()[g + 1] && starts.data()[g + 1] <= d, "units must not be empty");
        for (Index p = starts.data()[g]; p < starts.data()[g + 1]; ++p) {
            const Index j = members.data()[p];
            require(0 <= j && j < d && of.data()[j] == g, "a unit's members must be of it");
        }
    }
    new (self) OwnedUnits{{of.data(), starts.data(), members.data(), count}, d, nb::make_tuple(of, starts, members)};
}

// w after the steps: d weights and the intercept; of a table also its mean (d + 1) and its slopes (n).
auto sweep(const OwnedRows& x, const OwnedTarget& own, const Indices& order, double c, const Matrix& penalty,
           const Vector& omega, const OwnedUnits* units, const Vector& w, const MaybeVector& slopes,
           const MaybeVector& pull, const std::string& store, int workers, const StopToken* stop) {
    const Target& target = own.target;
    const auto d = static_cast<Index>(penalty.shape(1));
    require(!x.lines_are_columns && target.loss->outputs() == 1, "rows by rows, and one score a row");
    std::visit(
        [&](const auto& rows) {
            require(rows.lines == target.n && rows.length == d, "rows, target and penalty differ in size");
            if constexpr (requires { rows.step; })
                require(rows.step == 1 || rows.length <= 1, "numbers of a row must lie side by side");
        },
        x.view);
    require(penalty.shape(0) == 5, "reach, tau, ridge, lower and upper of each feature");
    const Index count = units == nullptr ? d : units->units.count;
    require((units == nullptr || units->features == d) && static_cast<Index>(omega.shape(0)) == count,
            "one omega a unit");
    const auto all = static_cast<Index>(w.shape(0));
    const bool table = all == 2 * (d + 1) + target.n && !slopes && !pull;
    require(table || all == d + 1, "a weight each, the intercept, and for a table its mean and slopes");
    require(!slopes || static_cast<Index>(slopes->shape(0)) == target.n, "one slope a row");
    require(!pull || static_cast<Index>(pull->shape(0)) == d + 1, "one pull a feature and that of the intercept");
    for (std::size_t t = 0; t < order.shape(0); ++t)
        require(order.data()[t] >= 0 && order.data()[t] < target.n, "no such row");
    require(workers >= 1, "at least one worker");
    const double* p = penalty.data();
    const Proximal data{target.loss,
                        target.y,
                        target.v,
                        target.n,
                        c,
                        p,
                        p + d,
                        p + 2 * d,
                        p + 3 * d,
                        p + 4 * d,
                        omega.data(),
                        units == nullptr ? Units{} : units->units,
                        target.intercept};
    const std::span<const Index> rows(order.data(), order.shape(0));
    std::vector<double> point(w.data(), w.data() + all);
    const Sharing sharing = sharing_of(store);
    {
        const nb::gil_scoped_release free;
        const Context context = context_of(workers, stop);
        if (table)
            run_proximal(x.view, data, Table{d, static_cast<double>(target.n)}, rows, point, sharing, workers, context);
        else
            run_proximal(x.view, data, Anchored{data_or_null(slopes), data_or_null(pull)}, rows, point, sharing,
                         workers, context);
    }
    const std::size_t size = point.size();
    return to_numpy(std::move(point), {size});
}

}  // namespace

void bind_proximal(nb::module_& m) {
    nb::class_<OwnedUnits>(m, "Units", "Features in groups: the group of each, and the members of each.")
        .def("__init__", &make_units, nb::arg("of").noconvert(), nb::arg("starts").noconvert(),
             nb::arg("members").noconvert());
    m.def("sweep_proximal", &sweep, nb::arg("rows"), nb::arg("target"), nb::arg("order").noconvert(), nb::arg("c"),
          nb::arg("penalty").noconvert(), nb::arg("omega").noconvert(), nb::arg("units").none(),
          nb::arg("w").noconvert(), nb::arg("slopes").noconvert().none() = nb::none(),
          nb::arg("pull").noconvert().none() = nb::none(), nb::arg("store") = "plain", nb::arg("workers") = 1,
          nb::arg("stop").none() = nb::none(),
          "w after sparse proximal steps; of a longer w, with its mean and slopes, after those of a table.");
}

}  // namespace paring
