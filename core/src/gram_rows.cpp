#include "paring/gram_rows.hpp"

#include <algorithm>
#include <utility>

namespace paring {

GramRows::GramRows(Index d, Source source, double bytes, Index at_once)
    : d_(d),
      room_(static_cast<Index>(bytes / (static_cast<double>(sizeof(double)) * static_cast<double>(d)))),
      at_once_(at_once),
      source_(std::move(source)) {}

void GramRows::make(std::span<const Index> features, std::span<const Index> likely) {
    ++clock_;
    std::vector<Index> fresh;
    for (const Index j : features) {
        const auto found = kept_.find(j);
        found == kept_.end() ? fresh.push_back(j) : void(found->second.used = clock_);
    }
    if (fresh.empty()) return;
    const Index wanted = std::min(at_once_, room_ - static_cast<Index>(features.size()));
    for (const Index j : likely)
        if (static_cast<Index>(fresh.size()) < wanted && !has(j) &&
            std::find(fresh.begin(), fresh.end(), j) == fresh.end())
            fresh.push_back(j);
    make_room(static_cast<Index>(fresh.size()));
    std::vector<std::unique_ptr<double[]>> made;
    std::vector<double*> rows;
    for (std::size_t a = 0; a < fresh.size(); ++a) {
        made.push_back(std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(d_)));
        rows.push_back(made.back().get());
    }
    source_(fresh, rows);
    for (std::size_t a = 0; a < fresh.size(); ++a) kept_[fresh[a]] = {std::move(made[a]), clock_};
}

void GramRows::make_room(Index count) {
    while (static_cast<Index>(kept_.size()) + count > room_ && !kept_.empty()) {
        const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second.used, a.first) < std::pair(b.second.used, b.first);
        });
        if (oldest->second.used == clock_) return;
        kept_.erase(oldest);
    }
}

}  // namespace paring
