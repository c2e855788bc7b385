// The k best of scored features: H_k of whoever holds a list.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "paring/types.hpp"

namespace paring {

// The score is what dropping the feature loses: h_j w_j^2 (summed over the outputs). Ties go to the lowest index.
struct Scored {
    double score;
    Index j;
};

inline bool better(const Scored& a, const Scored& b) { return a.score > b.score || (a.score == b.score && a.j < b.j); }

inline bool worse(const Scored& a, const Scored& b) { return better(b, a); }

// Brings the k best to the front, in no order. Scores must not be NaN. Cost: O(size).
inline void best_first(std::span<Scored> all, Index k) {
    if (k < static_cast<Index>(all.size()) && k > 0)
        std::nth_element(all.begin(), all.begin() + (k - 1), all.end(), better);
}

// The least of n numbers (infinity for none): several at once, which a plain loop may not be.
inline double smallest(const double* x, Index n) {
    constexpr Index lanes = 8;
    double least[lanes];
    std::fill(least, least + lanes, infinity);
    Index p = 0;
    for (; p + lanes <= n; p += lanes)
        for (Index l = 0; l < lanes; ++l) least[l] = x[p + l] < least[l] ? x[p + l] : least[l];
    for (; p < n; ++p) least[0] = std::min(x[p], least[0]);
    return *std::min_element(least, least + lanes);
}

// Features by falling score, sorted only as far as anybody looks.
class Ranking {
  public:
    void add(double score, Index j) { all_.push_back({score, j}); }
    void clear() {
        all_.clear();
        sorted_ = 0;
    }
    // The r-th best, or null past the end.
    const Scored* at(Index r) {
        if (r >= static_cast<Index>(all_.size())) return nullptr;
        if (r >= sorted_) sort_past(r);
        return &all_[static_cast<std::size_t>(r)];
    }

  private:
    static constexpr Index first_look = 64;
    void sort_past(Index r) {
        const Index end = std::min(static_cast<Index>(all_.size()), std::max(2 * (r + 1), first_look));
        best_first(std::span(all_).subspan(static_cast<std::size_t>(sorted_)), end - sorted_);
        std::sort(all_.begin() + sorted_, all_.begin() + end, better);
        sorted_ = end;
    }
    std::vector<Scored> all_;
    Index sorted_ = 0;
};

}  // namespace paring
