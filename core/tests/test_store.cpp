// Alone, the three stores are one; shared, Atomic loses nothing, and neither it nor Wild ever shows half a number.
#include "paring/store.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <set>

#include "check.hpp"
#include "paring/parallel.hpp"

using namespace paring;

namespace {

constexpr Index size = 37;
constexpr int workers = 4;
constexpr double long_job = 1e9;  // multiply-adds: worth threads

std::vector<double> worked_on_alone(Store auto make) {
    check::Random random(3);
    std::vector<double> w = random.normals(size);
    const auto store = decltype(make){w.data()};
    for (int t = 0; t < 5000; ++t) {
        const Index j = random.below(size);
        if (t % 7 == 0)
            store.store(j, random.normal());
        else
            store.add(j, 1e-3 * (random.normal() - store.load(j)));
    }
    return w;
}

void test_alone_all_leave_the_same_bits() {
    const auto plain = worked_on_alone(Plain{});
    for (const auto& other : {worked_on_alone(Wild{}), worked_on_alone(Atomic{})})
        REQUIRE(std::memcmp(plain.data(), other.data(), sizeof(double) * plain.size()) == 0);
}

// Each worker adds 1 to each coordinate `turns` times: small whole numbers, whose sums are exact.
std::vector<double> counted_together(Store auto make, int turns) {
    std::vector<double> w(static_cast<std::size_t>(size));
    const auto store = decltype(make){w.data()};
    run_workers(workers, long_job, Context{workers}, [&](int, const StopToken&) {
        for (int t = 0; t < turns; ++t)
            for (Index j = 0; j < size; ++j) store.add(j, 1.0);
    });
    return w;
}

void test_atomic_loses_nothing() {
    constexpr int turns = 2000;
    for (const double sum : counted_together(Atomic{}, turns)) REQUIRE(sum == double{workers} * turns);
}

void test_wild_may_lose_updates_and_invents_none() {
    constexpr int turns = 2000;
    for (const double sum : counted_together(Wild{}, turns)) {
        REQUIRE(sum >= 1 && sum <= double{workers} * turns);
        REQUIRE(sum == std::floor(sum));
    }
}

// Writers alternate numbers that differ in every byte; a reader that met a mixture would know.
void test_no_number_is_torn(Store auto make) {
    std::set<std::uint64_t> written = {0};
    for (std::uint64_t byte = 1; byte <= workers; ++byte) written.insert(byte * 0x0101010101010101u);
    std::vector<double> w(static_cast<std::size_t>(size));
    const auto store = decltype(make){w.data()};
    std::atomic<int> strange = 0;
    run_workers(workers, long_job, Context{workers}, [&](int worker, const StopToken&) {
        const auto mine = std::bit_cast<double>(static_cast<std::uint64_t>(worker + 1) * 0x0101010101010101u);
        for (int t = 0; t < 2000; ++t)
            for (Index j = 0; j < size; ++j) {
                store.store(j, mine);
                if (!written.contains(std::bit_cast<std::uint64_t>(store.load((j + 1) % size)))) ++strange;
            }
    });
    REQUIRE(strange == 0);
}

}  // namespace

int main() {
    test_alone_all_leave_the_same_bits();
    test_atomic_loses_nothing();
    test_wild_may_lose_updates_and_invents_none();
    test_no_number_is_torn(Wild{});
    test_no_number_is_torn(Atomic{});
    std::puts("store: ok");
}
