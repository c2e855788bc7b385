#include "paring/sweeps/blocks.hpp"

namespace paring {

bool sweep_blocks(const Rows& rows, const Sweep& sweep, const Groups& groups, Iterate at, const StopToken& stop) {
    return std::visit(
        [&](const auto& view) {
            bool whole = false;
            with_width(sweep.losses.loss->outputs(),
                       [&](auto width) { whole = BlockSweep(view, sweep, groups, width).run(at, stop); });
            return whole;
        },
        rows);
}

}  // namespace paring
