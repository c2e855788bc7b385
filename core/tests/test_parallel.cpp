// The one maker of threads: every share is worked on once, failures and stops reach the caller, no thread is left.
#include "paring/parallel.hpp"

#include <pthread.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "check.hpp"

using namespace paring;

namespace {

constexpr double long_job = 1e9;  // multiply-adds: worth a thread however few the workers
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Index living_threads() {
    const std::filesystem::path tasks = "/proc/self/task";
    if (!std::filesystem::exists(tasks)) return 0;
    return std::distance(std::filesystem::directory_iterator(tasks), std::filesystem::directory_iterator());
}

// Works until told to stop; gives up after 30 s, so that a stop that is not heard is a failure and not a hang.
void work_until_stopped(const StopToken& stop) {
    const auto begin = Clock::now();
    while (!stop.requested()) {
        if (seconds_since(begin) > 30) check::fail(__FILE__, __LINE__, "the stop was not heard");
        std::this_thread::sleep_for(milliseconds(1));
    }
}

void test_every_worker_runs_once() {
    for (const int workers : {1, 2, 3, 8}) {
        std::vector<std::atomic<int>> ran(static_cast<std::size_t>(workers));
        run_workers(workers, long_job, Context{workers},
                    [&](int worker, const StopToken&) { ++ran[static_cast<std::size_t>(worker)]; });
        for (const auto& count : ran) REQUIRE(count == 1);
    }
}

void test_where_it_runs() {
    const auto caller = std::this_thread::get_id();
    std::thread::id worker_thread;
    const auto look = [&](int, const StopToken&) { worker_thread = std::this_thread::get_id(); };
    run_workers(1, 10, Context{}, look);
    REQUIRE(worker_thread == caller);
    run_workers(1, long_job, Context{}, look);
    REQUIRE(worker_thread != caller);
    REQUIRE(workers_for(10, Context{8}) == 1);
    REQUIRE(workers_for(1e12, Context{8}) == 8);
    REQUIRE(workers_for(1e12, Context{0}) == 1 && workers_for(1e12, Context{-3}) == 1);
}

void test_ranges_cover_all() {
    for (const Index count : {0, 1, 2, 3, 7, 100, 5003})
        for (const double cost : {0.0, 1.0, 400.0, 3e5, 1e9})
            for (const int threads : {1, 3}) {
                std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
                for_ranges(count, cost, Context{threads}, [&](Index begin, Index end, int worker) {
                    REQUIRE(0 <= begin && begin < end && end <= count && 0 <= worker && worker < threads);
                    for (Index i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
                });
                for (const auto& times : seen) REQUIRE(times == 1);
            }
}

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void test_a_failing_worker() {
    for (const int workers : {1, 4})
        for (int failing = 0; failing < workers; ++failing) {
            std::atomic<int> ended = 0;
            std::string said;
            try {
                run_workers(workers, long_job, Context{workers}, [&](int worker, const StopToken& stop) {
                    if (worker == failing) throw Failure("worker " + std::to_string(worker));
                    work_until_stopped(stop);  // one failure stops the others
                    ++ended;
                });
            } catch (const Failure& failure) {
                said = failure.what();
            }
            REQUIRE(said == "worker " + std::to_string(failing) && ended == workers - 1);
        }
    const auto short_failure = [](int, const StopToken&) { throw Failure("here"); };
    REQUIRE(check::throws<Failure>([&] { run_workers(1, 10, Context{}, short_failure); }));
    REQUIRE(check::throws<Failure>([&] { run_workers(6, long_job, Context{6}, short_failure); }));
}

void test_a_failing_poll() {
    for (const int workers : {1, 3}) {
        std::atomic<int> ended = 0, polls = 0;
        Context context{workers};
        context.poll = [&] {
            ++polls;
            throw Failure("interrupted");
        };
        const auto begin = Clock::now();
        REQUIRE(check::throws<Failure>([&] {
            run_workers(workers, long_job, context, [&](int, const StopToken& stop) {
                work_until_stopped(stop);
                ++ended;
            });
        }));
        REQUIRE(ended == workers && polls >= 1 && seconds_since(begin) < 10);
    }
}

// From a deadline, and from another thread; the work itself would last 30 s.
void test_stops() {
    for (const bool by_deadline : {true, false})
        for (const int workers : {1, 2}) {
            StopToken stop(by_deadline ? 0.05 : infinity);
            std::thread other([&] {
                std::this_thread::sleep_for(milliseconds(50));
                if (!by_deadline) stop.request();
            });
            const auto begin = Clock::now();
            std::atomic<int> ended = 0;
            REQUIRE(check::throws<Stopped>([&] {
                run_workers(workers, long_job, Context{workers, &stop}, [&](int, const StopToken& token) {
                    work_until_stopped(token);
                    ++ended;
                });
            }));
            REQUIRE(ended == workers && seconds_since(begin) < 10);
            other.join();
        }
}

// Blocks of a pass, one after another until the stop: far from all of them are done.
void test_a_pass_stops_between_blocks() {
    StopToken stop(0.05);
    std::atomic<Index> done = 0;
    constexpr Index blocks = 20000;
    REQUIRE(check::throws<Stopped>([&] {
        for_ranges(blocks, 1 << 20, Context{2, &stop}, [&](Index begin, Index end, int) {
            std::this_thread::sleep_for(milliseconds(1));
            done += end - begin;
        });
    }));
    REQUIRE(done < blocks / 2);
}

void test_over_before_it_begins() {
    StopToken asked, late(-1);
    asked.request();
    for (const StopToken* stop : {&asked, &late})
        for (const double cost : {10.0, long_job}) {
            bool began = false;
            REQUIRE(check::throws<Stopped>(
                [&] { run_workers(2, cost, Context{2, stop}, [&](int, const StopToken&) { began = true; }); }));
            REQUIRE(!began);
        }
    REQUIRE(asked.requested() && !asked.expired() && late.expired() && !late.requested());
    late.set_deadline(infinity);
    REQUIRE(!late.expired());
    late.set_deadline(1e6);
    REQUIRE(!late.expired());
}

// No room for the stacks of new threads: an error, and those already running are ended.
void test_no_threads_to_be_had() {
#ifdef __GLIBC__
    pthread_attr_t usual, huge;
    REQUIRE(pthread_getattr_default_np(&usual) == 0 && pthread_attr_init(&huge) == 0);
    REQUIRE(pthread_attr_setstacksize(&huge, std::size_t{1} << 47) == 0 && pthread_setattr_default_np(&huge) == 0);
    const bool refused = check::throws<std::system_error>(
        [] { run_workers(3, long_job, Context{3}, [](int, const StopToken& stop) { work_until_stopped(stop); }); });
    REQUIRE(pthread_setattr_default_np(&usual) == 0);
    REQUIRE(refused);
#endif
}

// A stop asked for while a short job runs on the caller's own thread.
void test_short_jobs_stop() {
    StopToken stop;
    int worked = 0;
    REQUIRE(check::throws<Stopped>([&] {
        run_workers(1, 10, Context{1, &stop}, [&](int, const StopToken& token) {
            stop.request();
            while (!token.requested()) ++worked;
        });
    }));
    REQUIRE(worked == 0);
}

}  // namespace

int main() {
    std::thread([] {}).join();  // a sanitizer's own thread is there from the first on
    const Index before = living_threads();
    test_every_worker_runs_once();
    test_where_it_runs();
    test_ranges_cover_all();
    test_a_failing_worker();
    test_a_failing_poll();
    test_stops();
    test_a_pass_stops_between_blocks();
    test_over_before_it_begins();
    test_short_jobs_stop();
    test_no_threads_to_be_had();
    REQUIRE(living_threads() == before);
    std::puts("parallel: ok");
}
