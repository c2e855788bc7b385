// What a sweep keeps of the coordinates it moves. The solver's thresholding is exact once all workers have stopped;
// these say what happens between.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "paring/store.hpp"

namespace paring {

// All: nothing is thresholded before the round's end.
struct KeepAll {
    void touch(Index) {}
    void threshold(Store auto) {}
};

// H_k after every step, by a list of this worker's own: what it kept, joined with what it touched since. It puts zeros
// where it drops. Cost of a step: O(k + touched).
//
// Alone, it is exact. Beside others, each has such a list: w holds at most (workers x k) numbers that are not zero when
// all have stopped, since whoever wrote a number last either has it on its list, or put a zero there after. A step of
// another worker to a coordinate that this one drops is lost.
class KeepLargest {
  public:
    // support: where w may differ from zero. always: of each coordinate, 1 if it is kept and not counted here; or null.
    KeepLargest(Index d, Index k, std::span<const Index> support, const unsigned char* always)
        : k_(k), listed_(static_cast<std::size_t>(d)) {
        if (always != nullptr) std::copy_n(always, d, listed_.begin());
        for (const Index j : support) touch(j);
    }

    void touch(Index j) {
        unsigned char& listed = listed_[static_cast<std::size_t>(j)];
        if (listed == 0) members_.push_back({0, j});
        listed = 1;
    }

    void threshold(Store auto w) {
        const auto k = static_cast<std::size_t>(k_);
        if (members_.size() <= k) return;
        for (Member& member : members_) member.size = size_of(w.load(member.j));
        const auto edge = members_.begin() + k_;
        std::nth_element(members_.begin(), edge, members_.end(), before);
        for (auto dropped = edge; dropped != members_.end(); ++dropped) {
            w.store(dropped->j, 0);
            listed_[static_cast<std::size_t>(dropped->j)] = 0;
        }
        members_.resize(k);
    }

  private:
    struct Member {
        double size;
        Index j;
    };
    // Ties go to the lowest index. NaN, which compares with nothing, counts as infinity: the round's end sees it.
    static bool before(const Member& a, const Member& b) { return a.size > b.size || (a.size == b.size && a.j < b.j); }
    static double size_of(double w) { return std::isnan(w) ? infinity : std::abs(w); }

    Index k_;
    std::vector<unsigned char> listed_;
    std::vector<Member> members_;
};

}  // namespace paring
