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
        members_.swap(moved_);
    }

    void touch(Index j) {
        unsigned char& listed = listed_[static_cast<std::size_t>(j)];
        if (listed == 0) moved_.push_back(j);
        listed = 1;
    }

    // Those that moved are compared with the least of the members first: few come so far.
    void threshold(Store auto w) {
        if (moved_.empty()) return;
        const Index room = largest_.k - static_cast<Index>(members_.size());
        scores_.clear();
        for (const Index j : members_) scores_.push_back(score_of(w, j));
        const double floor = room > 0 ? 0.0 : smallest(scores_.data(), static_cast<Index>(scores_.size()));
        pool_.clear();
        for (const Index j : moved_) {
            const double score = score_of(w, j);
            if (score >= floor)
                pool_.push_back({score, j});
            else
                drop(w, j);
        }
        moved_.clear();
        if (!pool_.empty()) exchange(w);
    }

  private:
    void exchange(Store auto w) {
        for (std::size_t m = 0; m < members_.size(); ++m) pool_.push_back({scores_[m], members_[m]});
        best_first(pool_, largest_.k);
        const auto kept = pool_.begin() + std::min(largest_.k, static_cast<Index>(pool_.size()));
        members_.clear();
        for (auto in = pool_.begin(); in != kept; ++in) members_.push_back(in->j);
        for (auto out = kept; out != pool_.end(); ++out) drop(w, out->j);
    }

    void drop(Store auto w, Index j) {
        for (Index c = 0; c < width_.count(); ++c) w.store(j * width_.count() + c, 0);
        listed_[static_cast<std::size_t>(j)] = 0;
    }

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
    std::vector<Index> members_, moved_;
    std::vector<double> scores_;
    std::vector<Scored> pool_;
};

}  // namespace paring
