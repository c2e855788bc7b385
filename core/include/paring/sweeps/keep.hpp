// What a sweep keeps of the features it moves. The solver's own thresholding is exact once all workers have stopped;
// these say what happens before.
#pragma once

#include <cmath>

#include "paring/sweeps/row.hpp"
#include "paring/sweeps/selection.hpp"

namespace paring {

// All: nothing is thresholded before the round's end.
struct KeepAll {
    void touch(Index) {}
    void threshold(Store auto) {}
};

// H_k after every step.
struct Largest {
    Index k;                         // features, besides those always kept
    std::span<const Index> support;  // where w may differ from zero
    const unsigned char* always;     // of each feature: 1 if it is always kept; or null
    const double* h;                 // the metric: scores are h_j w_j^2; or null for 1
};

// By a list of this worker's own: what it kept, joined with what it touched since. It puts zeros where it drops. Cost
// of a step: O(k + touched).
//
// Alone, it is exact. Beside others, each has such a list, and w has at most (workers x k) features that are not zero
// when all have stopped: whoever wrote a number last either has it on its list, or put a zero there after. A step of
// another worker to a feature that this one drops is lost, through every store.
template <class Width>
class KeepLargest {
  public:
    KeepLargest(const Largest& largest, Index d, Width width)
        : largest_(largest), width_(width), listed_(static_cast<std::size_t>(d)) {
        if (largest.always != nullptr) std::copy_n(largest.always, d, listed_.begin());
        for (const Index j : largest.support) touch(j);
    }

    void touch(Index j) {
        unsigned char& listed = listed_[static_cast<std::size_t>(j)];
        if (listed == 0) members_.push_back({0, j});
        listed = 1;
    }

    void threshold(Store auto w) {
        if (static_cast<Index>(members_.size()) <= largest_.k) return;
        for (Scored& member : members_) member.score = score_of(w, member.j);
        best_first(members_, largest_.k);
        for (auto dropped = members_.begin() + largest_.k; dropped != members_.end(); ++dropped) {
            for (Index c = 0; c < width_.count(); ++c) w.store(dropped->j * width_.count() + c, 0);
            listed_[static_cast<std::size_t>(dropped->j)] = 0;
        }
        members_.resize(static_cast<std::size_t>(largest_.k));
    }

  private:
    double score_of(Store auto w, Index j) const {
        double sum = 0;
        for (Index c = 0; c < width_.count(); ++c) {
            const double w_jc = w.load(j * width_.count() + c);
            sum += w_jc * w_jc;
        }
        if (largest_.h != nullptr) sum *= largest_.h[j];
        return std::isnan(sum) ? infinity : sum;  // diverged: the round's end will see
    }

    Largest largest_;
    Width width_;
    std::vector<unsigned char> listed_;
    std::vector<Scored> members_;
};

}  // namespace paring
