// H_k of numbers of which a few change at a time: the k of largest square, exactly, ties to the lowest index.
//
// Two heaps hold the features that matter: `inside_`, the k largest with the least on top, and `reserve_`, those next
// to them with the greatest on top. All others have squares of at most `floor_` and cost one comparison when they
// change. A key that errs on the safe side (too low inside, too high in the reserve) is mended only when it comes to
// the top. Zeros need no place. Cost: O(changed + moved log k); O(d) where the reserve has run dry or over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "paring/types.hpp"

namespace paring {

// The k best of d features; `always` (counted in k) and `never` hold a byte for each, null for none.
struct Choice {
    Index d, k;
    const unsigned char *always, *never;
};

class Largest {
  public:
    Largest(const Choice& choice, const double* values)
        : values_(values), place_(static_cast<std::size_t>(choice.d), absent), room_(choice.k) {
        for (Index j = 0; j < choice.d; ++j)
            if (choice.always != nullptr && choice.always[j]) {
                at(j) = kept;
                --room_;
            } else if (choice.never != nullptr && choice.never[j]) {
                at(j) = barred;
            }
        rebuild([](Index) {}, [](Index) {});
    }

    bool has(Index j) const { return place_[static_cast<std::size_t>(j)] > 0; }

    // The number of j is another one now.
    void changed(Index j) {
        const std::int32_t place = at(j);
        const double key = key_of(j);
        if (place == absent) {
            if (key > floor_) push(reserve_, {key, j});
        } else if (place == kept || place == barred) {
            return;
        } else if (place > 0) {
            Node& node = inside_[static_cast<std::size_t>(place - 1)];
            if (key < node.key) {
                node.key = key;
                rise(inside_, static_cast<std::size_t>(place - 1));
            }
        } else {
            Node& node = reserve_[static_cast<std::size_t>(-place - 1)];
            if (key > node.key) {
                node.key = key;
                rise(reserve_, static_cast<std::size_t>(-place - 1));
            }
        }
    }

    // After changes: `enter(j)` and `leave(j)` for each feature that came in or went out.
    template <class Enter, class Leave>
    void settle(Enter&& enter, Leave&& leave) {
        if (room_ == 0) return;
        for (;;) {
            mend();
            if (reserve_.empty()) break;
            const Node best = reserve_.front();
            if (static_cast<Index>(inside_.size()) < room_) {
                pop(reserve_);
                push(inside_, best);
                enter(best.j);
                continue;
            }
            const Node least = inside_.front();
            if (!better(best, least)) break;
            pop(reserve_);
            pop(inside_);
            push(inside_, best);
            enter(best.j);
            leave(least.j);
            if (least.key > floor_) push(reserve_, least);
        }
        const bool dry = floor_ > 0 && (static_cast<Index>(inside_.size()) < room_ || inside_.front().key <= floor_);
        if (dry || static_cast<Index>(reserve_.size()) > 4 * reserve_size()) rebuild(enter, leave);
    }

  private:
    struct Node {
        double key;
        Index j;
    };
    using Heap = std::vector<Node>;
    // Where a feature is: p + 1 at place p of inside, -p - 1 in the reserve, or one of these.
    static constexpr std::int32_t absent = 0, kept = std::numeric_limits<std::int32_t>::max(),
                                  barred = std::numeric_limits<std::int32_t>::min();
    static constexpr Index least_reserve = 256;

    static bool better(const Node& a, const Node& b) { return a.key > b.key || (a.key == b.key && a.j < b.j); }
    Index reserve_size() const { return std::max(room_, least_reserve); }
    std::int32_t& at(Index j) { return place_[static_cast<std::size_t>(j)]; }
    double key_of(Index j) const { return values_[j] * values_[j]; }

    // Whether a belongs above b in that heap.
    bool above(const Heap& heap, const Node& a, const Node& b) const {
        return &heap == &inside_ ? better(b, a) : better(a, b);
    }
    void set(Heap& heap, std::size_t p, const Node& node) {
        heap[p] = node;
        const auto place = static_cast<std::int32_t>(p + 1);
        at(node.j) = &heap == &inside_ ? place : -place;
    }
    void rise(Heap& heap, std::size_t p) {
        const Node node = heap[p];
        for (; p > 0 && above(heap, node, heap[(p - 1) / 2]); p = (p - 1) / 2) set(heap, p, heap[(p - 1) / 2]);
        set(heap, p, node);
    }
    void sink(Heap& heap, std::size_t p) {
        const Node node = heap[p];
        for (std::size_t child = 2 * p + 1; child < heap.size(); child = 2 * p + 1) {
            if (child + 1 < heap.size() && above(heap, heap[child + 1], heap[child])) ++child;
            if (!above(heap, heap[child], node)) break;
            set(heap, p, heap[child]);
            p = child;
        }
        set(heap, p, node);
    }
    void push(Heap& heap, const Node& node) {
        heap.push_back(node);
        rise(heap, heap.size() - 1);
    }
    void pop(Heap& heap) {
        at(heap.front().j) = absent;
        const Node last = heap.back();
        heap.pop_back();
        if (heap.empty()) return;
        set(heap, 0, last);
        sink(heap, 0);
    }

    // The tops as they are: others may only be better inside, and worse in the reserve, than their keys say.
    void mend() {
        while (!inside_.empty() && key_of(inside_.front().j) > inside_.front().key) {
            inside_.front().key = key_of(inside_.front().j);
            sink(inside_, 0);
        }
        while (!reserve_.empty() && key_of(reserve_.front().j) < reserve_.front().key) {
            reserve_.front().key = key_of(reserve_.front().j);
            reserve_.front().key > floor_ ? sink(reserve_, 0) : pop(reserve_);
        }
    }

    // From nothing: a floor that leaves twice as many above it as are needed, ties included.
    template <class Enter, class Leave>
    void rebuild(Enter&& enter, Leave&& leave) {
        std::vector<Index> before;
        for (const Heap* heap : {&inside_, &reserve_})
            for (const Node& node : *heap) {
                if (heap == &inside_) before.push_back(node.j);
                at(node.j) = absent;
            }
        inside_.clear();
        reserve_.clear();
        floor_ = lowered_floor();
        Heap pool;
        for (Index j = 0; j < static_cast<Index>(place_.size()); ++j)
            if (at(j) == absent && key_of(j) > floor_) pool.push_back({key_of(j), j});
        const auto chosen = std::min(static_cast<std::size_t>(room_), pool.size());
        if (chosen > 0 && chosen < pool.size())
            std::nth_element(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(chosen) - 1, pool.end(), better);
        const auto split = pool.begin() + static_cast<std::ptrdiff_t>(chosen);
        fill(inside_, {pool.begin(), split});
        fill(reserve_, {split, pool.end()});
        for (const Index j : before)
            if (!has(j)) leave(j);
        std::sort(before.begin(), before.end());
        for (const Node& node : inside_)
            if (!std::binary_search(before.begin(), before.end(), node.j)) enter(node.j);
    }
    void fill(Heap& heap, Heap&& nodes) {
        heap = std::move(nodes);
        for (std::size_t p = 0; p < heap.size(); ++p) set(heap, p, heap[p]);
        for (std::size_t p = heap.size() / 2; p-- > 0;) sink(heap, p);
    }
    double lowered_floor() const {
        std::vector<double> keys;
        for (Index j = 0; j < static_cast<Index>(place_.size()); ++j)
            if (place_[static_cast<std::size_t>(j)] == absent && key_of(j) > 0) keys.push_back(key_of(j));
        const Index wanted = room_ + reserve_size();
        if (static_cast<Index>(keys.size()) <= wanted) return 0;
        const auto nth = keys.begin() + (wanted - 1);
        std::nth_element(keys.begin(), nth, keys.end(), std::greater<>());
        const double floor = *nth;
        if (std::count_if(keys.begin(), nth, [&](double key) { return key > floor; }) > room_) return floor;
        double below = 0;  // many alike: all of them are let in
        for (const double key : keys)
            if (key < floor) below = std::max(below, key);
        return below;
    }

    const double* values_;
    std::vector<std::int32_t> place_;
    Index room_;
    Heap inside_, reserve_;
    double floor_ = 0;
};

}  // namespace paring
