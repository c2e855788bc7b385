// Rows of a symmetric d x d matrix that is never made whole: made several at a time, since making one means reading all
// data, and kept while there is room.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "paring/types.hpp"

namespace paring {

class GramRows {
  public:
    // Each of these features' rows into its place.
    using Source = std::function<void(std::span<const Index>, std::span<double* const> rows)>;

    // `at_once`: so many take the source little longer than one.
    GramRows(Index d, Source source, double bytes, Index at_once);
    GramRows(GramRows&&) = default;
    Index at_once() const { return at_once_; }
    bool has(Index feature) const { return kept_.contains(feature); }
    // Makes those of `features` that are not kept, and with them some of `likely`, up to `at_once`. The least recently
    // used rows give way, but none of `features`.
    void make(std::span<const Index> features, std::span<const Index> likely);
    // One that is kept.
    const double* operator[](Index feature) const { return kept_.at(feature).values.get(); }

  private:
    struct Row {
        std::unique_ptr<double[]> values;
        Index used;
    };
    void make_room(Index count);

    Index d_, room_, at_once_, clock_ = 0;  // room: rows
    Source source_;
    std::unordered_map<Index, Row> kept_;
};

}  // namespace paring
