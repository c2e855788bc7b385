#include "paring/sweeps/s2bcd.hpp"

namespace paring {

void run_s2bcd(const Rows& rows, const S2bcd& data, const Steps& steps, const Blocks* blocks, const Largest* largest,
               std::span<double> w, Sharing sharing, int workers, const Context& context) {
    const double of_row = cost_of_row(rows), thresholding = largest == nullptr ? 0.0 : static_cast<double>(largest->k);
    share(rows, steps.count, static_cast<double>(steps.batch) * of_row + thresholding, sharing, w, workers, context,
          [&](const auto& X, auto store, Index begin, Index end, const StopToken& stop) {
              const Steps mine = steps.part(begin, end);
              const auto with_mask = [&](auto&& keep) {
                  if (blocks == nullptr)
                      sweep_s2bcd(X, data, mine, Everywhere{}, keep, stop, store);
                  else
                      sweep_s2bcd(X, data, mine, InBlocks(blocks->labels, blocks->of_steps + begin, X.length), keep,
                                  stop, store);
              };
              if (largest == nullptr)
                  with_mask(KeepAll{});
              else
                  with_mask(KeepLargest(X.length, largest->k, largest->support, largest->always));
          });
}

}  // namespace paring
