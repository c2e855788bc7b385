// How a sweep reads and writes an iterate that others may share. A store is a pointer, passed by value; one text of a
// sweep serves them all.
//
//   Plain    one thread alone
//   Wild     relaxed loads and stores: of two updates at once one may be lost, none is ever torn
//   Atomic   no update is lost: compare and swap
//
// No order between coordinates is promised: a worker may see a row half updated. Alone, one worker leaves the same bits
// through any of the three.
#pragma once

#include <atomic>
#include <concepts>

#include "paring/types.hpp"

namespace paring {

template <class S>
concept Store = requires(const S w, Index j, double value) {
    { w.load(j) } -> std::same_as<double>;
    w.store(j, value);
    w.add(j, value);
    w.change(j, [](double before) { return before; });
};

struct Plain {
    double* at;

    double load(Index j) const { return at[j]; }
    void store(Index j, double value) const { at[j] = value; }
    void add(Index j, double change) const { at[j] += change; }
    void change(Index j, auto&& rule) const { at[j] = rule(at[j]); }
};

static_assert(std::atomic_ref<double>::is_always_lock_free);
static_assert(std::atomic_ref<double>::required_alignment == alignof(double));

struct Wild {
    double* at;

    double load(Index j) const { return std::atomic_ref(at[j]).load(std::memory_order_relaxed); }
    void store(Index j, double value) const { std::atomic_ref(at[j]).store(value, std::memory_order_relaxed); }
    void add(Index j, double change) const { store(j, load(j) + change); }
    void change(Index j, auto&& rule) const { store(j, rule(load(j))); }
};

struct Atomic {
    double* at;

    double load(Index j) const { return std::atomic_ref(at[j]).load(std::memory_order_relaxed); }
    void store(Index j, double value) const { std::atomic_ref(at[j]).store(value, std::memory_order_relaxed); }
    void add(Index j, double change) const { std::atomic_ref(at[j]).fetch_add(change, std::memory_order_relaxed); }
    void change(Index j, auto&& rule) const {
        const std::atomic_ref number(at[j]);
        double before = number.load(std::memory_order_relaxed);
        while (!number.compare_exchange_weak(before, rule(before), std::memory_order_relaxed)) {
        }
    }
};

static_assert(Store<Plain> && Store<Wild> && Store<Atomic>);

}  // namespace paring
