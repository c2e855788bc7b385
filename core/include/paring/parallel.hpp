// The only place that makes threads, and the one way to stop them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>

#include "paring/types.hpp"

namespace paring {

// Thrown when a run was asked to end before its work was done.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped: the deadline has passed"; }
};

// Asked for by the caller (`request`) or by time; read by every sweep.
class StopToken {
  public:
    using Clock = std::chrono::steady_clock;

    explicit StopToken(double seconds = infinity) { set_deadline(seconds); }
    void set_deadline(double seconds) {
        has_deadline_ = seconds < 1e9;
        if (has_deadline_)
            deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::max(seconds, 0.0)));
    }
    void request() { requested_.store(true, std::memory_order_relaxed); }
    bool requested() const { return requested_.load(std::memory_order_relaxed); }
    bool expired() const { return has_deadline_ && Clock::now() >= deadline_; }
    void throw_if_over() const {
        if (requested() || expired()) throw Stopped{};
    }

  private:
    std::atomic<bool> requested_{false};
    bool has_deadline_ = false;
    Clock::time_point deadline_{};
};

// How a call may run: on how many threads, until when, and what the waiting caller does meanwhile (`poll` may
// throw: it looks for Ctrl-C).
struct Context {
    int threads = 1;
    const StopToken* stop = nullptr;
    std::function<void()> poll = {};

    // Between two pieces of work: throws where the run is over, or where poll does.
    void look() const {
        if (poll) poll();
        check();
    }
    void check() const {
        if (stop != nullptr) stop->throw_if_over();
    }
};

// work(worker, stop) on `workers` threads; the first exception, or poll's, reaches the caller once all have
// ended. Of a short job (`multiply_adds`) the calling thread is one: starting another costs 25 us. Of a long one
// it is not: it waits, and looks for Ctrl-C.
void run_workers(int workers, double multiply_adds, const Context& context,
                 const std::function<void(int, const StopToken&)>& work);

// How many workers a pass of so many multiply-adds deserves: none but the caller below 400,000.
int workers_for(double multiply_adds, const Context& context);

// work(begin, end, worker) over fixed contiguous ranges, one a worker, cut into blocks with a look at `stop`
// between.
template <class Work>
void for_ranges(Index count, double cost_per_item, const Context& context, Work&& work) {
    constexpr double block_cost = 1 << 20;
    const double cost = static_cast<double>(count) * cost_per_item;
    const int workers = workers_for(cost, context);
    const Index block = std::max<Index>(1, static_cast<Index>(block_cost / std::max(cost_per_item, 1.0)));
    run_workers(workers, cost, context, [&](int worker, const StopToken& stop) {
        const Index begin = count * worker / workers, end = count * (worker + 1) / workers;
        for (Index at = begin; at < end; at += block) {
            if (stop.requested()) return;
            work(at, std::min(end, at + block), worker);
        }
    });
}

}  // namespace paring
