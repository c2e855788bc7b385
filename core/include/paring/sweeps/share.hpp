// A sweep over the parts of its steps, one a worker, all on one iterate.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "paring/parallel.hpp"
#include "paring/rows.hpp"
#include "paring/store.hpp"

namespace paring {

// By which store workers share an iterate.
enum class Sharing { plain, wild, atomic };

// sweep(X, store, begin, end, stop) of the steps [begin, end), worker t of T taking the t-th part of all. Returns once
// all have stopped: w is then whole and nobody else's.
//
// Sparse rows: the workers share w. Each reads numbers that others are changing, some before a step of theirs and some
// after; with `wild` a change may be lost, with `atomic` none, and no number is ever torn.
// Dense rows: every step moves all of w, and shared loads would be neither vector code nor apart. Each worker has an
// iterate of its own, begun at w, and w becomes their mean.
template <class Sweep>
void share(const Rows& rows, Index steps, double cost_of_step, Sharing sharing, std::span<double> w, int workers,
           const Context& context, Sweep&& sweep) {
    workers = static_cast<int>(std::max<Index>(1, std::min<Index>(workers, steps)));
    const double cost = static_cast<double>(steps) * cost_of_step;
    const auto on_parts = [&](auto&& part) {
        run_workers(workers, cost, context, [&](int t, const StopToken& stop) {
            part(t, steps * t / workers, steps * (t + 1) / workers, stop);
        });
    };
    std::visit(
        [&]<class Matrix>(const Matrix& X) {
            if constexpr (requires { X.line_stride; }) {
                if (workers == 1)
                    return on_parts([&](int, Index begin, Index end, const StopToken& stop) {
                        sweep(X, Plain{w.data()}, begin, end, stop);
                    });
                std::vector<std::vector<double>> own(static_cast<std::size_t>(workers));
                on_parts([&](int t, Index begin, Index end, const StopToken& stop) {
                    auto& mine = own[static_cast<std::size_t>(t)];
                    mine.assign(w.begin(), w.end());
                    sweep(X, Plain{mine.data()}, begin, end, stop);
                });
                for (std::size_t j = 0; j < w.size(); ++j) {
                    double sum = 0;
                    for (const auto& mine : own) sum += mine[j];
                    w[j] = sum / workers;
                }
            } else {
                if (sharing == Sharing::plain && workers > 1)
                    throw std::invalid_argument("a plain store is for one worker: take wild or atomic");
                on_parts([&](int, Index begin, Index end, const StopToken& stop) {
                    if (sharing == Sharing::plain) sweep(X, Plain{w.data()}, begin, end, stop);
                    if (sharing == Sharing::wild) sweep(X, Wild{w.data()}, begin, end, stop);
                    if (sharing == Sharing::atomic) sweep(X, Atomic{w.data()}, begin, end, stop);
                });
            }
        },
        rows);
}

// What a step costs in multiply-adds, for `run_workers`.
inline double cost_of_row(const Rows& rows) {
    return std::visit([](const auto& X) { return X.cost_per_line(); }, rows);
}

}  // namespace paring
