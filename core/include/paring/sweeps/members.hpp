// The iterate of a sweep that thresholds after every step. At most k features are not zero: they are kept in a list,
// their numbers side by side, and H_k looks at them and at what a step offers, never at all d features.
//
//     floor()              the least score among the members: below it nothing enters
//     offer(score, j)      a feature from outside, which the step moved away from zero
//     settle(load, leave)  H_k: the k best of both stay; load(j, slot) brings a new member's numbers, leave(j) is told
//
// Features always kept come first in the list and are never compared; those never kept are not let in.
#pragma once

#include <cmath>

#include "paring/sweeps/row.hpp"
#include "paring/sweeps/selection.hpp"
#include "paring/sweeps/sweeps.hpp"

namespace paring {

template <class Width>
class Members {
  public:
    Members(const Limits& limits, Width width, const double* w)
        : limits_(limits),
          width_(width),
          place_(size_of(limits.d), static_cast<std::int32_t>(limits.k)),
          index_(size_of(limits.k)),
          values_(size_of((limits.k + 1) * width.count())),
          drift_(size_of((limits.k + 1) * width.count())),
          lengths_(size_of(limits.k), 1.0),
          weights_(lengths_),
          score_(size_of(limits.k)) {
        const Index outputs = width.count();
        const auto join = [&](Index j) {
            put(j, size_++);
            std::copy_n(w + j * outputs, outputs, value(size_ - 1));
        };
        if (limits.always != nullptr)
            for (Index j = 0; j < limits.d; ++j)
                if (limits.always[j]) join(j);
        always_ = size_;
        for (Index j = 0; j < limits.d; ++j)
            if (!has(j) && std::any_of(w + j * outputs, w + (j + 1) * outputs, [](double x) { return x != 0; }))
                join(j);
        room_ = limits.k - always_;
        if (limits.h != nullptr)
            for (Index j = 0; j < limits.d; ++j) reach_.push_back(1 / std::sqrt(limits.h[j]));
    }

    Index size() const { return size_; }
    Index most() const { return room_; }  // how many can enter or leave
    bool barred(Index j) const { return limits_.never != nullptr && limits_.never[j]; }
    // 1 / sqrt(h) of every feature, null for 1: a step c v from zero scores (c v_j / sqrt(h_j))^2.
    const double* reach() const { return limits_.h == nullptr ? nullptr : reach_.data(); }
    // The slot of j; that of every other feature is `nowhere`, whose weights are zero.
    Index slot(Index j) const { return place_[size_of(j)]; }
    Index nowhere() const { return limits_.k; }
    bool has(Index j) const { return slot(j) != nowhere(); }
    Index feature(Index slot) const { return index_[size_of(slot)]; }

    double* value(Index slot) { return values_.data() + slot * width_.count(); }
    const double* value(Index slot) const { return values_.data() + slot * width_.count(); }
    double* drift(Index slot) { return drift_.data() + slot * width_.count(); }
    // w <- w - (c/h) (drift + ridge w) of every member.
    void move(double c, double ridge) {
        if constexpr (std::same_as<Width, One>) {
            double* __restrict w = values_.data();
            const double* __restrict nu = drift_.data(), * __restrict length = lengths_.data();
            for (Index p = 0; p < size_; ++p) w[p] -= c * length[p] * (nu[p] + ridge * w[p]);
        } else {
            for (Index p = 0; p < size_; ++p)
                for (Index o = 0; o < width_.count(); ++o)
                    value(p)[o] -= c * length(p) * (drift(p)[o] + ridge * value(p)[o]);
        }
    }
    // 1 / h: what a step's length is multiplied by.
    double length(Index slot) const { return lengths_[size_of(slot)]; }
    double length_of(Index j) const { return limits_.h == nullptr ? 1.0 : 1.0 / limits_.h[j]; }
    double score_of(Index j, const double* u) const {
        double sum = 0;
        for (Index c = 0; c < width_.count(); ++c) sum += u[c] * u[c];
        return limits_.h == nullptr ? sum : limits_.h[j] * sum;
    }

    double floor() {
        if constexpr (std::same_as<Width, One>)  // a loop over plain arrays, which becomes vector code
            for (Index p = always_; p < size_; ++p)
                score_[size_of(p)] = weights_[size_of(p)] * (values_[size_of(p)] * values_[size_of(p)]);
        else
            for (Index p = always_; p < size_; ++p) score_[size_of(p)] = score_of(feature(p), value(p));
        floor_ = size_ < limits_.k ? 0.0 : smallest(score_.data() + always_, size_ - always_);
        offers_.clear();
        return floor_;
    }
    double current_floor() const { return floor_; }

    void offer(double score, Index j) {
        if (!(score >= floor_) || !(score > 0) || room_ == 0 || barred(j)) return;
        offers_.push_back({score, j});
        if (static_cast<Index>(offers_.size()) >= 2 * room_ + few) prune();
    }

    template <class Load, class Leave>
    void settle(Load&& load, Leave&& leave) {
        if (static_cast<Index>(offers_.size()) > one_by_one || (!offers_.empty() && size_ < limits_.k))
            exchange(load, leave);
        else
            exchange_singly(load, leave);
        if (limits_.radius < infinity) scale();
    }

    void write(double* w) const {
        const Index outputs = width_.count();
        std::fill_n(w, limits_.d * outputs, 0.0);
        for (Index p = 0; p < size_; ++p) std::copy_n(values_.data() + p * outputs, outputs, w + feature(p) * outputs);
    }

  private:
    static constexpr Index few = 64, one_by_one = 6;
    static std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

    void put(Index j, Index slot) {
        place_[size_of(j)] = static_cast<std::int32_t>(slot);
        index_[size_of(slot)] = j;
        lengths_[size_of(slot)] = length_of(j);
        if (limits_.h != nullptr) weights_[size_of(slot)] = limits_.h[j];
    }

    // No more offers are kept than could enter, and the floor rises to the least of them.
    void prune() {
        best_first(offers_, room_);
        offers_.resize(size_of(room_));
        floor_ = std::max(floor_, std::max_element(offers_.begin(), offers_.end(), better)->score);
    }

    // The best offer for the worst member, as long as it is better.
    template <class Load, class Leave>
    void exchange_singly(Load&& load, Leave&& leave) {
        std::sort(offers_.begin(), offers_.end(), better);
        for (const Scored& offer : offers_) {
            const double least = smallest(score_.data() + always_, size_ - always_);
            Index worst = -1;
            for (Index p = always_; p < size_; ++p)
                if (score_[size_of(p)] == least && (worst < 0 || feature(p) > feature(worst))) worst = p;
            if (worst < 0 || !better(offer, {least, feature(worst)})) return;
            place_[size_of(feature(worst))] = static_cast<std::int32_t>(nowhere());
            leave(feature(worst));
            put(offer.j, worst);
            score_[size_of(worst)] = offer.score;
            load(offer.j, worst);
        }
    }

    template <class Load, class Leave>
    void exchange(Load&& load, Leave&& leave) {
        // Members above every offer stay, whatever happens to the others; and so do NaN: diverged, the caller will see.
        const double top = std::max_element(offers_.begin(), offers_.end(), worse)->score;
        Index kept_anyway = 0;
        pool_.resize(size_of(size_) + offers_.size());
        auto last = pool_.begin();
        for (Index p = always_; p < size_; ++p) {
            const double score = score_[size_of(p)];
            *last = {score, feature(p)};
            const bool safe = !(score <= top);
            kept_anyway += safe;
            last += !safe;
        }
        pool_.erase(std::copy(offers_.begin(), offers_.end(), last), pool_.end());
        const Index keep = room_ - kept_anyway;
        const auto kept = std::min(pool_.begin() + keep, pool_.end());
        best_first(pool_, keep);
        free_.clear();
        for (auto out = kept; out != pool_.end(); ++out)
            if (has(out->j)) {
                free_.push_back(slot(out->j));
                place_[size_of(out->j)] = static_cast<std::int32_t>(nowhere());
                leave(out->j);
            }
        entrants_.clear();
        for (auto in = pool_.begin(); in != kept; ++in)
            if (!has(in->j)) entrants_.push_back(in->j);
        std::sort(free_.begin(), free_.end());
        std::sort(entrants_.begin(), entrants_.end());  // a place does not depend on how the library selects
        for (std::size_t e = 0; e < entrants_.size(); ++e) {
            const Index slot = e < free_.size() ? free_[e] : size_++;
            put(entrants_[e], slot);
            load(entrants_[e], slot);
        }
    }

    void scale() {
        double squares = 0;
        for (Index p = 0; p < size_ * width_.count(); ++p) squares += values_[size_of(p)] * values_[size_of(p)];
        const double norm = std::sqrt(squares);
        if (norm > limits_.radius)
            for (Index p = 0; p < size_ * width_.count(); ++p) values_[size_of(p)] *= limits_.radius / norm;
    }

    Limits limits_;
    Width width_;
    Index size_ = 0, always_ = 0, room_ = 0;
    double floor_ = 0;
    std::vector<std::int32_t> place_;
    std::vector<Index> index_;
    std::vector<double> values_, drift_, lengths_, weights_, score_, reach_;  // of each slot; reach of each feature
    std::vector<Scored> offers_, pool_;
    std::vector<Index> free_, entrants_;
};

}  // namespace paring
