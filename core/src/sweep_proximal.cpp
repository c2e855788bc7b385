#include "paring/sweeps/proximal.hpp"

namespace paring {

namespace {

template <class Kind>
void run(const Rows& rows, const Proximal& data, const Kind& kind, std::span<const Index> order, std::span<double> w,
         Sharing sharing, int workers, const Context& context) {
    share(rows, static_cast<Index>(order.size()), 2 * cost_of_row(rows), sharing, w, workers, context,
          [&](const auto& X, auto store, Index begin, Index end, const StopToken& stop) {
              const auto from = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
              sweep_proximal(X, data, kind, order.subspan(from, count), stop, store);
          });
}

}  // namespace

void run_proximal(const Rows& rows, const Proximal& data, const Anchored& kind, std::span<const Index> order,
                  std::span<double> w, Sharing sharing, int workers, const Context& context) {
    run(rows, data, kind, order, w, sharing, workers, context);
}

void run_proximal(const Rows& rows, const Proximal& data, const Table& kind, std::span<const Index> order,
                  std::span<double> w, Sharing sharing, int workers, const Context& context) {
    run(rows, data, kind, order, w, sharing, workers, context);
}

}  // namespace paring
