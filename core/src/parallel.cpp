#include "paring/parallel.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace paring {

namespace {

constexpr double serial_below = 4e5;  // multiply-adds, of scattered numbers: 150 us and more; a thread costs 25 us
constexpr double long_from = 2e7;     // multiply-adds: about 20 ms
constexpr auto poll_every = std::chrono::milliseconds(50);

}  // namespace

int workers_for(double multiply_adds, const Context& context) {
    if (multiply_adds < serial_below) return 1;
    const double useful = multiply_adds / serial_below;
    return std::max(1, static_cast<int>(std::min<double>(context.threads, 1 + useful)));
}

void run_workers(int workers, double multiply_adds, const Context& context,
                 const std::function<void(int, const StopToken&)>& work) {
    context.check();
    if (workers == 1 && multiply_adds < long_from) {
        static const StopToken never;
        work(0, context.stop != nullptr ? *context.stop : never);
        context.check();
        return;
    }
    StopToken stop;  // of this call alone: a failing worker must not stop the caller's other work
    std::mutex mutex;
    std::condition_variable ended;
    std::exception_ptr failure;
    int running = workers;
    auto fail = [&](std::exception_ptr error) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = error;
        stop.request();
    };
    const int first = multiply_adds < long_from ? 1 : 0;  // worker 0 of a short job is the caller
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(workers));
    const auto share = [&](int worker) {
        try {
            work(worker, stop);
        } catch (...) {
            fail(std::current_exception());
        }
        const std::lock_guard lock(mutex);
        if (--running == 0) ended.notify_one();
    };
    try {
        for (int worker = first; worker < workers; ++worker) threads.emplace_back(share, worker);
    } catch (...) {  // the system has no more threads: end those that run
        fail(std::current_exception());
        const std::lock_guard lock(mutex);
        running -= workers - first - static_cast<int>(threads.size());
    }
    if (first == 1) share(0);
    while (true) {
        {
            std::unique_lock lock(mutex);
            if (ended.wait_for(lock, poll_every, [&] { return running == 0; })) break;
        }
        try {
            if (context.poll) context.poll();
            context.check();
        } catch (...) {
            fail(std::current_exception());
        }
    }
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace paring
