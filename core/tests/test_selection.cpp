// The parts that pick the best: against sorting everything.
#include "paring/sweeps/selection.hpp"

#include <set>

#include "check.hpp"
#include "paring/sweeps/ceiling.hpp"

using namespace paring;

namespace {

// Scores with many ties.
std::vector<Scored> random_scores(Index size, check::Random& random) {
    std::vector<Scored> all;
    for (Index j = 0; j < size; ++j) all.push_back({static_cast<double>(random.below(size / 3 + 1)), j});
    return all;
}

bool same(const Scored& a, const Scored& b) { return a.score == b.score && a.j == b.j; }

void test_best_first() {
    check::Random random(1);
    for (const Index size : {1, 2, 7, 50})
        for (Index k = 0; k <= size; ++k) {
            auto all = random_scores(size, random), sorted = all;
            std::sort(sorted.begin(), sorted.end(), better);
            best_first(all, k);
            std::sort(all.begin(), all.begin() + k, better);
            REQUIRE(std::equal(all.begin(), all.begin() + k, sorted.begin(), same));
        }
}

void test_ranking() {
    check::Random random(2);
    for (const Index size : {0, 1, 63, 64, 65, 1000}) {
        auto sorted = random_scores(size, random);
        Ranking ranking;
        for (const Scored& scored : sorted) ranking.add(scored.score, scored.j);
        std::sort(sorted.begin(), sorted.end(), better);
        for (const Index r : {size - 1, Index{0}, size / 3, size / 2})
            if (0 <= r && r < size) REQUIRE(same(*ranking.at(r), sorted[static_cast<std::size_t>(r)]));
        REQUIRE(ranking.at(size) == nullptr);
        for (Index r = 0; r < size; ++r) REQUIRE(same(*ranking.at(r), sorted[static_cast<std::size_t>(r)]));
        ranking.clear();
        REQUIRE(ranking.at(0) == nullptr);
    }
}

void test_smallest() {
    check::Random random(3);
    for (Index size = 1; size < 40; ++size) {
        const auto x = random.normals(size);
        REQUIRE(smallest(x.data(), size) == *std::min_element(x.begin(), x.end()));
    }
    REQUIRE(smallest(nullptr, 0) == infinity);
}

// Keys that rise and fall: those at or above the bound are found, whatever was looked at before.
void test_ceiling() {
    check::Random random(4);
    for (const Index size : {1, 64, 65, 4096, 4097, 9000}) {
        std::vector<double> keys(static_cast<std::size_t>(size));
        Ceiling ceiling(size);
        for (int turn = 0; turn < 200; ++turn) {
            for (int change = 0; change < 20; ++change) {
                const Index j = random.below(size);
                keys[static_cast<std::size_t>(j)] = random.uniform() < 0.3 ? 0.0 : random.uniform();
                ceiling.raise(j, keys[static_cast<std::size_t>(j)]);
            }
            const double bound = random.uniform();
            std::set<Index> found, wanted;
            Index looked = 0;
            const auto key = [&](Index j) {
                ++looked;
                return keys[static_cast<std::size_t>(j)];
            };
            ceiling.visit([&] { return bound; }, key, [&](Index j) { found.insert(j); });
            for (Index j = 0; j < size; ++j)
                if (keys[static_cast<std::size_t>(j)] > 0 && keys[static_cast<std::size_t>(j)] >= bound)
                    wanted.insert(j);
            REQUIRE(found == wanted);
            ceiling.visit([&] { return 2.0; }, key, [&](Index) { REQUIRE(false); });
            const Index before = looked;
            ceiling.visit([&] { return 2.0; }, key, [&](Index) { REQUIRE(false); });
            REQUIRE(looked == before);  // bounds have come down to what is there
        }
    }
}

}  // namespace

int main() {
    test_best_first();
    test_ranking();
    test_smallest();
    test_ceiling();
}
