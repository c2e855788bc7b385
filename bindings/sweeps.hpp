// What the bindings of all sweeps share: the limits, and the arguments checked before the core follows them.
#pragma once

#include "bindings.hpp"
#include "paring/sweeps/share.hpp"
#include "paring/sweeps/sweeps.hpp"

namespace paring {

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;  // of any shape, row-major
using MaybeNumbers = std::optional<Numbers>;
using Blocks = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline const double* data_of(const MaybeNumbers& array) { return array ? array->data() : nullptr; }
inline std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

inline Sharing sharing_of(const std::string& store) {
    if (store == "plain") return Sharing::plain;
    if (store == "wild") return Sharing::wild;
    require(store == "atomic", "store must be plain, wild or atomic");
    return Sharing::atomic;
}

struct OwnedLimits {
    Limits limits;
    nb::object owners;
};

inline void make_limits(OwnedLimits* self, Index d, Index k, const Bytes& always, const Bytes& never, double radius,
                        const MaybeVector& h, double h_b) {
    require(always.shape(0) == size_of(d) && never.shape(0) == size_of(d) && (!h || h->shape(0) == size_of(d)),
            "one flag and one weight a feature");
    require(0 < k && k <= d && k < std::numeric_limits<std::int32_t>::max(), "k must be between 1 and d");
    require(std::count_if(always.data(), always.data() + d, [](auto flag) { return flag != 0; }) <= k,
            "more features are always kept than k");
    new (self) OwnedLimits{{d, k, always.data(), never.data(), radius, data_or_null(h), h_b},
                           nb::make_tuple(always, never, h ? nb::cast(*h) : nb::none())};
}

// What every sweep is given, checked, and the copies of w and b that it works on.
struct Given {
    Sweep sweep;
    double cost;  // multiply-adds
    std::vector<double> w, b;

    Given(const OwnedRows& x, const OwnedTarget& own, const OwnedLimits& limits, const Indices& order,
          const Indices& starts, const Vector& lengths, const Numbers& w0, const Vector& b0,
          const MaybeVector& importance)
        : sweep{{own.target.loss, own.target.y, own.target.v, own.target.n, data_or_null(importance),
                 own.target.intercept},
                own.target.ridge,
                limits.limits,
                visits(order, starts),
                lengths.data(),
                {}},
          w(w0.data(), w0.data() + w0.size()),
          b(b0.data(), b0.data() + b0.shape(0)) {
        const Index outputs = own.target.loss->outputs(), n = own.target.n, d = limits.limits.d;
        require(!x.lines_are_columns, "rows must lie by rows");
        std::visit(
            [&](const auto& rows) {
                require(rows.lines == n && rows.length == d, "rows, target and limits differ in size");
                if constexpr (requires { rows.step; })
                    require(rows.step == 1, "numbers of a row must lie side by side");
                cost = static_cast<double>(order.shape(0)) * rows.cost_per_line() * 2 +
                       static_cast<double>(starts.shape(0) * size_of(limits.limits.k)) * 4;
                cost *= static_cast<double>(outputs);
            },
            x.view);
        require(w.size() == size_of(d * outputs) && b.size() == size_of(outputs), "one weight a feature and output");
        require(!importance || importance->shape(0) == size_of(n), "one importance a row");
        require(lengths.shape(0) + 1 == starts.shape(0), "one length a step");
        for (std::size_t t = 0; t < order.shape(0); ++t)
            require(order.data()[t] >= 0 && order.data()[t] < n, "no such row");
        Index used = 0;
        for (Index j = 0; j < d; ++j)
            used += limits.limits.always[j] || std::any_of(w.data() + j * outputs, w.data() + (j + 1) * outputs,
                                                           [](double value) { return value != 0; });
        require(used <= limits.limits.k, "w has more than k features");
    }

    static Visits visits(const Indices& order, const Indices& starts) {
        const Index *from = starts.data(), *to = from + starts.shape(0);
        require(from != to && *from == 0 && *(to - 1) == static_cast<Index>(order.shape(0)) &&
                    std::adjacent_find(from, to, std::greater_equal<>()) == to,
                "starts must rise from 0 to the number of visits");
        return {{order.data(), order.shape(0)}, {from, to}};
    }

    void drift(const MaybeNumbers& nu, const MaybeNumbers& nu_b, const MaybeNumbers& slopes) {
        const std::size_t outputs = b.size();
        require(!nu || nu->size() == w.size(), "one nu a weight");
        require(!nu_b || nu_b->size() == outputs, "one nu an intercept");
        require(!slopes || slopes->size() == size_of(sweep.losses.n) * outputs, "one slope a row and output");
        sweep.drift = {data_of(nu), data_of(nu_b), data_of(slopes)};
    }

    template <class Run>
    nb::tuple run(const Numbers& like, const StopToken* stop, Run&& sweep_once) {
        if (sweep.visits.steps() > 0) {
            const nb::gil_scoped_release free;
            run_workers(1, cost, context_of(1, stop), [&](int, const StopToken& mine) { sweep_once(mine); });
        }
        const std::size_t outputs = b.size();
        return nb::make_tuple(like.ndim() == 1 ? to_numpy(std::move(w), {like.size()})
                                               : to_numpy(std::move(w), {like.shape(0), like.shape(1)}),
                              to_numpy(std::move(b), {outputs}));
    }
};

}  // namespace paring
