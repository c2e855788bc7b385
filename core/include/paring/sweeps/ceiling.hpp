// Which of d numbers that keep changing are large: bounds from above on blocks of 64 and of 4,096 of them. A number
// that grows raises its bounds at once; one that shrinks lets them be, until somebody looks.
#pragma once

#include <algorithm>
#include <vector>

#include "paring/types.hpp"

namespace paring {

class Ceiling {
  public:
    explicit Ceiling(Index d)
        : d_(d),
          blocks_(static_cast<std::size_t>((d + width - 1) / width)),
          groups_((blocks_.size() + width - 1) / static_cast<std::size_t>(width)) {}

    void raise(Index j, double key) {
        double& block = blocks_[static_cast<std::size_t>(j / width)];
        if (!(key > block)) return;
        block = key;
        double& group = groups_[static_cast<std::size_t>(j / (width * width))];
        if (key > group) group = key;
    }

    // found(j) for each j with key(j) >= bound() and key(j) > 0; bound may rise meanwhile. Bounds come down to the keys
    // seen. Cost: d / 4,096, and 64 for each block whose bound is not below.
    template <class Bound, class Key, class Found>
    void visit(Bound&& bound, Key&& key, Found&& found) {
        for (std::size_t group = 0; group < groups_.size(); ++group) {
            if (!reaches(groups_[group], bound())) continue;
            const std::size_t first = group * static_cast<std::size_t>(width);
            const std::size_t last = std::min(first + static_cast<std::size_t>(width), blocks_.size());
            for (std::size_t block = first; block < last; ++block)
                if (reaches(blocks_[block], bound())) look(static_cast<Index>(block), bound, key, found);
            groups_[group] = *std::max_element(blocks_.begin() + static_cast<Index>(first),
                                               blocks_.begin() + static_cast<Index>(last));
        }
    }

  private:
    static constexpr Index width = 64;
    static bool reaches(double key, double bound) { return key > 0 && key >= bound; }

    template <class Bound, class Key, class Found>
    void look(Index block, Bound&& bound, Key&& key, Found&& found) {
        double top = 0;
        for (Index j = block * width; j < std::min(d_, (block + 1) * width); ++j) {
            const double here = key(j);
            top = std::max(top, here);
            if (reaches(here, bound())) found(j);
        }
        blocks_[static_cast<std::size_t>(block)] = top;
    }

    Index d_;
    std::vector<double> blocks_, groups_;
};

}  // namespace paring
