#include "paring/exchanges.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace paring {

namespace {

// With u = T_ij / sqrt(Q_jj), a = w_j / sqrt(Q_jj): out = a^2/2 + correction - (g - a u)^2 / (2 (s + u^2)).
PARING_CLONES void row_changes(const double* t, double a, double correction, double inverse_root, const double* g,
                               const double* s, const double* floor, double* out, Index m) {
    const double cost = 0.5 * a * a + correction;
    for (Index i = 0; i < m; ++i) {
        const double u = t[i] * inverse_root, curvature = s[i] + u * u, slope = g[i] - a * u;
        const double change = cost - 0.5 * slope * slope / curvature;
        out[i] = curvature > floor[i] ? change : infinity;
    }
}

PARING_CLONES double least(const double* x, Index m) {
    double lows[8] = {infinity, infinity, infinity, infinity, infinity, infinity, infinity, infinity};
    Index i = 0;
    for (; i + 8 <= m; i += 8)
        for (Index l = 0; l < 8; ++l) lows[l] = x[i + l] < lows[l] ? x[i + l] : lows[l];
    for (; i < m; ++i) lows[0] = x[i] < lows[0] ? x[i] : lows[0];
    return *std::min_element(lows, lows + 8);
}

bool better(const Ranked& a, const Ranked& b) {
    if (a.change != b.change) return a.change < b.change;
    return a.leave != b.leave ? a.leave < b.leave : a.enter < b.enter;
}

// The best few so far: a heap with the worst on top.
class Best {
  public:
    Best(Index count, double below) : count_(static_cast<std::size_t>(count)), below_(below) {}
    double threshold() const { return full() ? heap_.front().change : below_; }
    void offer(const Ranked& ranked) {
        if (!(ranked.change < below_) || count_ == 0) return;
        if (full()) {
            if (!better(ranked, heap_.front())) return;
            std::pop_heap(heap_.begin(), heap_.end(), better);
            heap_.back() = ranked;
        } else {
            heap_.push_back(ranked);
        }
        std::push_heap(heap_.begin(), heap_.end(), better);
    }
    const std::vector<Ranked>& items() const { return heap_; }

  private:
    bool full() const { return heap_.size() == count_; }
    std::size_t count_;
    double below_;
    std::vector<Ranked> heap_;
};

void scan(const ExchangeModel& model, Index begin, Index end, std::vector<double>& changes, Best& best) {
    const Index m = end - begin;
    for (Index j = 0; j < model.k; ++j) {
        if (model.fixed != nullptr && model.fixed[j] != 0) continue;
        const double inverse_root = 1 / std::sqrt(model.q[j]);
        row_changes(model.t + j * model.ld + begin, model.w[j] * inverse_root,
                    model.correction != nullptr ? model.correction[j] : 0.0, inverse_root, model.g + begin,
                    model.s + begin, model.floor + begin, changes.data(), m);
        const double threshold = best.threshold();
        if (!(least(changes.data(), m) <= threshold)) continue;
        for (Index i = 0; i < m; ++i)
            if (changes[static_cast<std::size_t>(i)] <= threshold)
                best.offer({changes[static_cast<std::size_t>(i)], j, begin + i});
    }
}

}  // namespace

std::vector<Ranked> best_exchanges(const ExchangeModel& model, Index count, double below, const Context& context) {
    constexpr Index tile = 2048;  // outsiders at a time: their vectors stay in the first-level cache
    constexpr double operations = 4;
    if (count < 1) return {};
    const Index tiles = (model.m + tile - 1) / tile;
    const double cost = operations * static_cast<double>(model.k * tile);
    const int workers = workers_for(static_cast<double>(tiles) * cost, context);
    std::vector<Best> found(static_cast<std::size_t>(workers), Best(count, below));
    run_workers(workers, static_cast<double>(tiles) * cost, context, [&](int worker, const StopToken& stop) {
        std::vector<double> changes(static_cast<std::size_t>(tile));
        for (Index at = tiles * worker / workers; at < tiles * (worker + 1) / workers && !stop.requested(); ++at)
            scan(model, at * tile, std::min(model.m, (at + 1) * tile), changes,
                 found[static_cast<std::size_t>(worker)]);
    });
    std::vector<Ranked> all;
    for (const Best& best : found) all.insert(all.end(), best.items().begin(), best.items().end());
    std::sort(all.begin(), all.end(), better);
    if (static_cast<Index>(all.size()) > count) all.resize(static_cast<std::size_t>(count));
    return all;
}

std::vector<Ranked> varied(const std::vector<Ranked>& ranked, int alike, Index most) {
    std::unordered_map<Index, int> leaving, entering;
    std::vector<Ranked> kept;
    for (const Ranked& one : ranked) {
        if (static_cast<Index>(kept.size()) == most) break;
        int &out = leaving[one.leave], &in = entering[one.enter];
        if (out >= alike || in >= alike) continue;
        ++out;
        ++in;
        kept.push_back(one);
    }
    return kept;
}

}  // namespace paring
