// The instances of the sweeps that threshold after every step.
#include "paring/sweeps/drifts.hpp"

namespace paring {

namespace {

// run(view, width, base) on the rows as they are stored.
template <class Run>
bool on_rows(const Rows& rows, const Sweep& sweep, Run&& run) {
    return std::visit(
        [&](const auto& view) {
            using View = std::decay_t<decltype(view)>;
            bool whole = false;
            with_width(sweep.losses.loss->outputs(), [&](auto width) {
                whole = run(view, width, DriftBase<View, decltype(width)>{width, view.length, sweep.drift});
            });
            return whole;
        },
        rows);
}

}  // namespace

bool sweep_frozen(const Rows& rows, const Sweep& sweep, const ColumnBlocks& blocks, Iterate at, const StopToken& stop) {
    return on_rows(rows, sweep, [&](const auto& view, auto width, const auto& base) {
        using View = std::decay_t<decltype(view)>;
        Frozen<View, decltype(width)> drift(base, blocks);
        return ThresholdedSweep(view, sweep, width, drift).run(at, stop);
    });
}

bool sweep_by_rows(const Rows& rows, const Sweep& sweep, const double* often, Iterate at, const StopToken& stop) {
    return on_rows(rows, sweep, [&](const auto& view, auto width, const auto& base) {
        using View = std::decay_t<decltype(view)>;
        ByRows<View, decltype(width)> drift(base, often);
        return ThresholdedSweep(view, sweep, width, drift).run(at, stop);
    });
}

bool sweep_moving(const Rows& rows, const Sweep& sweep, double* table, double* mean, double* mean_b, Iterate at,
                  const StopToken& stop) {
    return on_rows(rows, sweep, [&](const auto& view, auto width, auto base) {
        using View = std::decay_t<decltype(view)>;
        base.given = {mean, mean_b, table};
        Moving<View, decltype(width)> drift(base, view, table, mean, mean_b);
        return ThresholdedSweep(view, sweep, width, drift).run(at, stop);
    });
}

}  // namespace paring
