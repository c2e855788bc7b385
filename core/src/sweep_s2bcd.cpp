#include "paring/sweeps/s2bcd.hpp"

namespace paring {

void run_s2bcd(const Rows& rows, const S2bcd& data, const Steps& steps, const Moving& moving, const Largest* largest,
               std::span<double> w, Sharing sharing, int workers, const Context& context) {
    const double of_list = largest == nullptr ? 0.0 : static_cast<double>(largest->k);
    const double of_step = static_cast<double>(steps.batch * data.loss->outputs()) * cost_of_row(rows) + of_list;
    share(rows, steps.count, of_step, sharing, w, workers, context,
          [&](const auto& X, auto store, Index begin, Index end, const StopToken& stop) {
              const auto sweep = [&]<class S>(const S& which, auto&& keep, auto width) {
                  Mover<S> mover(which, begin, X.length);
                  sweep_s2bcd(X, data, steps.part(begin, end), mover, keep, width, stop, store);
              };
              const auto keeping = [&](const auto& which, auto width) {
                  if (largest == nullptr)
                      sweep(which, KeepAll{}, width);
                  else
                      sweep(which, KeepLargest(*largest, X.length, width), width);
              };
              std::visit(
                  [&](const auto& which) {
                      with_width(data.loss->outputs(), [&](auto width) { keeping(which, width); });
                  },
                  moving);
          });
}

}  // namespace paring
