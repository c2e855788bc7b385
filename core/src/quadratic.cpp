#include "paring/coordinate/quadratic.hpp"

#include "paring/blas.hpp"
#include "paring/kernels.hpp"

namespace paring {

namespace {

constexpr int block_steps = 10;        // proximal steps on one block at most
constexpr double settled = 0.1;        // a step this much shorter than the first ends them
constexpr std::size_t points = 6;      // whose five differences are combined
constexpr double regularised = 1e-12;  // of the trace of the differences' Gram matrix
constexpr double flat = 1e-300;        // no curvature at all

bool differs(double a, double b) { return (a != 0) != (b != 0); }

}  // namespace

Quadratic::Quadratic(const Columns& columns, const Penalty& penalty, std::span<const Index> slots,
                     std::vector<double> g, std::vector<double> w0)
    : w(w0),
      u(static_cast<std::size_t>((columns.rows() + 1) * penalty.outputs)),
      columns_(columns),
      penalty_(penalty),
      slots_(slots),
      g_(std::move(g)),
      w0_(std::move(w0)),
      n_(static_cast<double>(columns.rows())) {
    double entries = 0;
    for (const Index s : slots_) entries += columns_.entries(s);
    sweep_cost_ = 1.5 * entries * columns_.sweep_cost() * static_cast<double>(penalty_.outputs);
    models_.resize(static_cast<std::size_t>(penalty_.blocks()));
    for (Index k = 0; k < penalty_.blocks(); ++k)
        if (!penalty_.is_single(k)) models_[static_cast<std::size_t>(k)] = block_model(k);
}

void Quadratic::slopes(Index feature, double* out) const {
    const Index outputs = penalty_.outputs;
    columns_.dot_scaled(slot(feature), u.data(), outputs, out);
    for (Index c = 0; c < outputs; ++c) out[c] = g_[static_cast<std::size_t>(feature * outputs + c)] + out[c] / n_;
}

// The Gram matrix of a block's columns and a bound on its largest eigenvalue: the trace, or the largest row sum.
Quadratic::BlockModel Quadratic::block_model(Index block) const {
    const Index first = penalty_.starts[static_cast<std::size_t>(block)],
                size = penalty_.starts[static_cast<std::size_t>(block) + 1] - first;
    BlockModel model{std::vector<double>(static_cast<std::size_t>(size * size)), 0};
    std::vector<double> line(static_cast<std::size_t>(columns_.rows() + 1));
    double trace = 0, widest = 0;
    for (Index a = 0; a < size; ++a) {
        std::fill(line.begin(), line.end(), 0.0);
        const double one = 1;
        columns_.add_scaled(slot(first + a), &one, 1, line.data());
        for (Index b = 0; b <= a; ++b) {
            double value = 0;
            columns_.dot_scaled(slot(first + b), line.data(), 1, &value);
            model.gram[static_cast<std::size_t>(a * size + b)] = model.gram[static_cast<std::size_t>(b * size + a)] =
                value / n_;
        }
        trace += model.gram[static_cast<std::size_t>(a * size + a)];
    }
    for (Index a = 0; a < size; ++a) {
        double sum = 0;
        for (Index b = 0; b < size; ++b) sum += std::abs(model.gram[static_cast<std::size_t>(a * size + b)]);
        widest = std::max(widest, sum);
    }
    model.bound = std::min(trace, widest);
    return model;
}

Sweep Quadratic::sweep(Over over) {
    Sweep seen;
    for (Index k = 0; k < penalty_.blocks(); ++k) {
        if (over == Over::Nonzero && is_zero(k)) continue;
        if (penalty_.is_single(k))
            move_single(penalty_.starts[static_cast<std::size_t>(k)], seen);
        else
            move_block(k, seen);
    }
    return seen;
}

bool Quadratic::is_zero(Index block) const {
    const auto b = static_cast<std::size_t>(block);
    for (Index p = penalty_.starts[b] * penalty_.outputs; p < penalty_.starts[b + 1] * penalty_.outputs; ++p)
        if (w[static_cast<std::size_t>(p)] != 0) return false;
    return true;
}

void Quadratic::move_single(Index feature, Sweep& seen) {
    const auto j = static_cast<std::size_t>(feature);
    const Index s = slots_[j];
    const double h = columns_.curvature(s) / n_ + penalty_.ridge[j];
    if (!(h > flat)) return;
    double slope = 0;
    columns_.dot_scaled(s, u.data(), 1, &slope);
    slope = g_[j] + slope / n_ + penalty_.ridge[j] * w[j];
    const double moved = penalty_.prox(feature, w[j] - slope / h, h), change = moved - w[j];
    if (change == 0) return;
    seen.violation = std::max(seen.violation, penalty_.residual(feature, slope, w[j]));
    seen.changes += differs(moved, w[j]);
    columns_.add_scaled(s, &change, 1, u.data());
    w[j] = moved;
}

void Quadratic::move_block(Index block, Sweep& seen) {
    const auto& model = models_[static_cast<std::size_t>(block)];
    const Index outputs = penalty_.outputs, first = penalty_.starts[static_cast<std::size_t>(block)],
                size = penalty_.starts[static_cast<std::size_t>(block) + 1] - first, count = size * outputs;
    const double ridge = penalty_.ridge[static_cast<std::size_t>(first)], h = model.bound + ridge;
    if (!(h > flat)) return;
    double* at = w.data() + first * outputs;
    std::vector<double> slope(static_cast<std::size_t>(count)), now(at, at + count), next(slope.size());
    for (Index a = 0; a < size; ++a) slopes(first + a, slope.data() + a * outputs);
    for (std::size_t p = 0; p < slope.size(); ++p) next[p] = slope[p] + ridge * at[p];
    seen.violation = std::max(seen.violation, penalty_.residual_of_block(block, next.data(), at));
    double first_step = 0;
    for (int round = 0; round < block_steps; ++round) {
        double step = 0;
        for (Index a = 0; a < size; ++a)
            for (Index c = 0; c < outputs; ++c) {
                const auto p = static_cast<std::size_t>(a * outputs + c);
                double here = slope[p] + ridge * now[p];
                for (Index b = 0; b < size; ++b)
                    here += model.gram[static_cast<std::size_t>(a * size + b)] *
                            (now[static_cast<std::size_t>(b * outputs + c)] - at[b * outputs + c]);
                next[p] = now[p] - here / h;
            }
        penalty_.prox_block(block, h, next.data());
        for (std::size_t p = 0; p < next.size(); ++p) step = std::max(step, std::abs(next[p] - now[p]));
        now.swap(next);
        if (round == 0) first_step = step;
        if (step <= settled * first_step) break;
    }
    for (Index a = 0; a < size; ++a) {
        bool moves = false;
        for (Index c = 0; c < outputs; ++c) {
            const auto p = static_cast<std::size_t>(a * outputs + c);
            seen.changes += differs(now[p], at[p]);
            next[p] = now[p] - at[p];
            moves = moves || next[p] != 0;
            at[p] = now[p];
        }
        if (moves) columns_.add_scaled(slot(first + a), next.data() + a * outputs, outputs, u.data());
    }
}

double Quadratic::energy() const { return energy_at(w, u); }

double Quadratic::energy_at(const std::vector<double>& weights, const std::vector<double>& line) const {
    double sum = 0.5 * columns_.square(line.data(), penalty_.outputs) / n_;
    for (std::size_t p = 0; p < weights.size(); ++p) sum += g_[p] * (weights[p] - w0_[p]);
    for (Index k = 0; k < penalty_.blocks(); ++k)
        sum += penalty_.value(k, weights.data() + penalty_.starts[static_cast<std::size_t>(k)] * penalty_.outputs);
    return sum;
}

// The weights z of the differences solve (D'D + tiny) z = 1, scaled to sum 1.
bool Extrapolation::operator()(Quadratic& model) {
    w_.push_back(model.w);
    u_.push_back(model.u);
    if (w_.size() < points) return false;
    constexpr std::size_t m = points - 1;
    const std::size_t size = model.w.size();
    std::vector<double> differences(m * size), gram(m * m), z(m, 1.0);
    for (std::size_t a = 0; a < m; ++a)
        for (std::size_t p = 0; p < size; ++p) differences[a * size + p] = w_[a + 1][p] - w_[a][p];
    double trace = 0, sum = 0;
    for (std::size_t a = 0; a < m; ++a) {
        for (std::size_t b = 0; b < m; ++b)
            gram[a * m + b] =
                dot(differences.data() + a * size, differences.data() + b * size, static_cast<Index>(size));
        trace += gram[a * m + a];
    }
    for (std::size_t a = 0; a < m; ++a) gram[a * m + a] += regularised * trace;
    const bool solved = cholesky(gram.data(), static_cast<Index>(m));
    if (solved) cholesky_solve(gram.data(), static_cast<Index>(m), z.data());
    for (const double share : z) sum += share;
    bool moved = false;
    if (solved && std::isfinite(sum) && sum != 0) {
        std::vector<double> w(size), u(model.u.size());
        for (std::size_t a = 0; a < m; ++a) {
            axpy(z[a] / sum, w_[a + 1].data(), w.data(), static_cast<Index>(size));
            axpy(z[a] / sum, u_[a + 1].data(), u.data(), static_cast<Index>(u.size()));
        }
        const Penalty& penalty = model.penalty();
        bool inside = true;
        for (std::size_t p = 0; p < size && inside; ++p) {
            const auto j = p / static_cast<std::size_t>(penalty.outputs);
            inside = w[p] >= penalty.lower[j] && w[p] <= penalty.upper[j];
        }
        moved = inside && model.energy_at(w, u) < model.energy();
        if (moved) model.w.swap(w), model.u.swap(u);
    }
    clear();
    w_.push_back(model.w);
    u_.push_back(model.u);
    return moved;
}

}  // namespace paring
