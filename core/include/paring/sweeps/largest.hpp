// H_k of numbers of which a few change at a time: the k of largest square, exactly, ties to the lowest index.
//
// Two heaps hold the features that matter: `inside_`, the k largest with the least on top, and `reserve_`, those next
// to them with the greatest on top. All others have squares of at most `floor_` and cost a comparison when they change.
// A key that errs on the safe side (too low inside, too high in the reserve) is mended only when it comes to the top.
// Zeros need no place. Cost: O(changed + moved log k); O(d) where the reserve has run dry or over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
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
    Largest(const Choice& choice, const double* values) : cells_(static_cast<std::size_t>(choice.d)), room_(choice.k) {
        for (Index j = 0; j < choice.d; ++j) {
            at(j).value = values[j];
            if (choice.always != nullptr && choice.always[j]) {
                at(j).place = always;
                at(j).kept = values[j];
                --room_;
            } else if (choice.never != nullptr && choice.never[j]) {
                at(j).place = never;
            }
        }
        rebuild();
    }

    double value(Index j) const { return cells_[static_cast<std::size_t>(j)].value; }
    // The value if it is among the k largest, as of the last `settle`, else 0.
    double kept(Index j) const { return cells_[static_cast<std::size_t>(j)].kept; }

    void add(Index j, double change) {
        Cell& cell = at(j);
        cell.value += change;
        const double key = cell.value * cell.value;
        if (cell.place > 0) {
            cell.kept = cell.value;
            if (cell.place == always) return;
            Node& node = inside_[static_cast<std::size_t>(cell.place - 1)];
            if (key < node.key) {
                node.key = key;
                rise(inside_, static_cast<std::size_t>(cell.place - 1));
            }
        } else if (key > floor_ && cell.place != never) {
            if (cell.place == absent) return push(reserve_, {key, j});
            Node& node = reserve_[static_cast<std::size_t>(-cell.place - 1)];
            if (key > node.key) {
                node.key = key;
                rise(reserve_, static_cast<std::size_t>(-cell.place - 1));
            }
        }
    }

    // H_k, after additions.
    void settle() {
        if (room_ == 0) return;
        for (;;) {
            mend();
            if (reserve_.empty()) break;
            const Node best = reserve_.front();
            const bool full = static_cast<Index>(inside_.size()) == room_;
            const Node least = full ? inside_.front() : best;
            if (full && !better(best, least)) break;
            pop(reserve_);
            if (full) {
                pop(inside_);
                at(least.j).kept = 0;
                if (least.key > floor_) push(reserve_, least);
            }
            push(inside_, best);
            at(best.j).kept = at(best.j).value;
        }
        const bool dry = floor_ > 0 && (static_cast<Index>(inside_.size()) < room_ || inside_.front().key <= floor_);
        if (dry || static_cast<Index>(reserve_.size()) > 4 * reserve_size()) rebuild();
    }

  private:
    // One feature, in one line of the cache. place: p + 1 at place p of inside, -p - 1 in the reserve, or one of these.
    struct Cell {
        double value = 0, kept = 0;
        std::int32_t place = absent;
    };
    struct Node {
        double key;
        Index j;
    };
    using Heap = std::vector<Node>;
    static constexpr std::int32_t absent = 0, always = std::numeric_limits<std::int32_t>::max(),
                                  never = std::numeric_limits<std::int32_t>::min();
    static constexpr Index least_reserve = 256;

    static bool better(const Node& a, const Node& b) { return a.key > b.key || (a.key == b.key && a.j < b.j); }
    Index reserve_size() const { return std::max(room_, least_reserve); }
    Cell& at(Index j) { return cells_[static_cast<std::size_t>(j)]; }
    double key_of(Index j) const { return value(j) * value(j); }

    // Whether a belongs above b in that heap.
    bool above(const Heap& heap, const Node& a, const Node& b) const {
        return &heap == &inside_ ? better(b, a) : better(a, b);
    }
    void set(Heap& heap, std::size_t p, const Node& node) {
        heap[p] = node;
        const auto place = static_cast<std::int32_t>(p + 1);
        at(node.j).place = &heap == &inside_ ? place : -place;
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
        at(heap.front().j).place = absent;
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
    void rebuild() {
        for (Heap* heap : {&inside_, &reserve_}) {
            for (const Node& node : *heap) at(node.j).place = absent, at(node.j).kept = 0;
            heap->clear();
        }
        Heap pool;
        for (Index j = 0; j < static_cast<Index>(cells_.size()); ++j)
            if (at(j).place == absent && key_of(j) > 0) pool.push_back({key_of(j), j});
        floor_ = floor_of(pool);
        std::erase_if(pool, [this](const Node& node) { return !(node.key > floor_); });
        const auto chosen = std::min(static_cast<std::size_t>(room_), pool.size());
        const auto split = pool.begin() + static_cast<std::ptrdiff_t>(chosen);
        if (chosen > 0 && chosen < pool.size()) std::nth_element(pool.begin(), split - 1, pool.end(), better);
        fill(inside_, {pool.begin(), split});
        fill(reserve_, {split, pool.end()});
        for (const Node& node : inside_) at(node.j).kept = at(node.j).value;
    }
    void fill(Heap& heap, Heap&& nodes) {
        heap = std::move(nodes);
        for (std::size_t p = 0; p < heap.size(); ++p) set(heap, p, heap[p]);
        for (std::size_t p = heap.size() / 2; p-- > 0;) sink(heap, p);
    }
    double floor_of(Heap& pool) const {
        const Index wanted = room_ + reserve_size();
        if (static_cast<Index>(pool.size()) <= wanted) return 0;
        const auto nth = pool.begin() + (wanted - 1);
        std::nth_element(pool.begin(), nth, pool.end(), better);
        const double floor = nth->key;
        if (std::count_if(pool.begin(), nth, [&](const Node& node) { return node.key > floor; }) > room_) return floor;
        double below = 0;  // many alike: all of them are let in
        for (const Node& node : pool)
            if (node.key < floor) below = std::max(below, node.key);
        return below;
    }

    std::vector<Cell> cells_;
    Index room_;
    Heap inside_, reserve_;
    double floor_ = 0;
};

}  // namespace paring
