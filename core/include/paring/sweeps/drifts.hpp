// The dense parts nu of the directions of `thresholded.hpp`, and what of them may enter the support in a step.
//
//     change(i, slope, delta)      delta = slope - what the row's slope was
//     move(members, batch, ..)     the gradient step on the support
//     outside(j, g, .., u)         where the step leads from zero: u
//     offer(members, batch, ..)    all from outside that may enter
//     end(rows, members)           what follows the step
#pragma once

#include "paring/sweeps/ceiling.hpp"
#include "paring/sweeps/thresholded.hpp"

namespace paring {

// What stays the same from drift to drift: nu in memory, or nowhere (zero).
template <class View, class Width>
struct DriftBase {
    Width width;
    Index d;
    Drift given;

    double nu_at(Index j, Index c) const { return given.nu == nullptr ? 0.0 : given.nu[j * width.count() + c]; }
    double intercept(Index c) const { return given.nu_b == nullptr ? 0.0 : given.nu_b[c]; }
    void change(Index i, const double* slope, double* delta) const {
        const Index outputs = width.count();
        for (Index c = 0; c < outputs; ++c)
            delta[c] = given.slopes == nullptr ? slope[c] : slope[c] - given.slopes[i * outputs + c];
    }
    void join(Members<Width>& members, Index j, Index slot) const {
        for (Index c = 0; c < width.count(); ++c) members.drift(slot)[c] = nu_at(j, c);
    }
    void leave(Index) const {}
    void end(std::span<const Index>, Members<Width>&) const {}

    // From zero: -(c/h) nu - (c/h) g, the two products of the members' step.
    void outside(Index j, const double* g, double, double length, double, double* u) const {
        for (Index c = 0; c < width.count(); ++c) {
            u[c] = -(length * nu_at(j, c));
            if (g != nullptr) u[c] -= length * g[c];
        }
    }
};

// SG-HT, SVRG-HT and, with blocks, ASBCDHT: nu stays as it is. On sparse rows features are ranked by their score
// under nu alone once a sweep, so that a step looks only at the head of the ranking: one length for all steps then.
template <class View, class Width>
class Frozen : public DriftBase<View, Width> {
  public:
    using Rows = Batch<View, Width>;
    using Base = DriftBase<View, Width>;

    Frozen(const Base& base, const ColumnBlocks& blocks)
        : Base(base),
          block_of_(blocks.block_of),
          chosen_(blocks.chosen),
          rankings_(static_cast<std::size_t>(blocks.blocks)),
          columns_(rankings_.size()),
          u_(static_cast<std::size_t>(base.width.count())) {}

    void prepare(Members<Width>& members, double c) {
        for (Index j = 0; j < this->d; ++j) {
            const auto block = static_cast<std::size_t>(block_of_ == nullptr ? 0 : block_of_[j]);
            if constexpr (Rows::touches_all) {
                if (block_of_ != nullptr) columns_[block].push_back(j);
            } else if (this->given.nu != nullptr && !members.barred(j)) {
                this->outside(j, nullptr, 0, c * members.length_of(j), 0, u_.data());
                rankings_[block].add(members.score_of(j, u_.data()), j);
            }
        }
    }
    void begin(Index t, double) { block_ = chosen_ == nullptr ? 0 : chosen_[t]; }

    void move(Members<Width>& members, Rows& batch, double c, double ridge) const {
        const Index outputs = this->width.count();
        if (block_of_ == nullptr)
            members.move(c, ridge);
        else
            for (Index p = 0; p < members.size(); ++p) {
                if (!moves(members.feature(p))) continue;
                const double length = c * members.length(p);
                for (Index o = 0; o < outputs; ++o)
                    members.value(p)[o] -= length * (members.drift(p)[o] + ridge * members.value(p)[o]);
            }
        batch.for_members(members, [&](Index slot, const double* g, double) {
            if (!moves(members.feature(slot))) return;
            for (Index o = 0; o < outputs; ++o) members.value(slot)[o] -= c * members.length(slot) * g[o];
        });
    }

    void offer(Members<Width>& members, Rows& batch, double c, double) {
        if constexpr (Rows::touches_all) {
            if (block_of_ != nullptr) {
                for (const Index j : columns_[static_cast<std::size_t>(block_)]) offer_one(members, batch, j, j, c);
                return;
            }
        }
        offer_touched(this->given.nu, members, batch, c, 1.0, [&](Index p) {
            const Index j = batch.column(p);
            if (moves(j)) offer_one(members, batch, j, p, c);
        });
        if constexpr (!Rows::touches_all) offer_ranked(members, batch);
    }

  private:
    bool moves(Index j) const { return block_of_ == nullptr || block_of_[j] == block_; }

    void offer_one(Members<Width>& members, Rows& batch, Index j, Index p, double c) {
        if (members.has(j)) return;
        this->outside(j, batch.g(p), 0, c * members.length_of(j), 0, u_.data());
        members.offer(members.score_of(j, u_.data()), j);
    }

    // The head of the ranking: no more than k can enter.
    void offer_ranked(Members<Width>& members, Rows& batch) {
        Ranking& ranking = rankings_[static_cast<std::size_t>(block_)];
        Index offered = 0;
        for (Index r = 0; offered < members.most(); ++r) {
            const Scored* next = ranking.at(r);
            if (next == nullptr || next->score < members.current_floor() || next->score == 0) return;
            if (members.has(next->j) || batch.find(next->j) >= 0) continue;
            members.offer(next->score, next->j);
            ++offered;
        }
    }

    const std::int32_t *block_of_, *chosen_;
    Index block_ = 0;
    std::vector<Ranking> rankings_;            // of each block, for sparse rows
    std::vector<std::vector<Index>> columns_;  // of each block, for dense rows
    std::vector<double> u_;
};

// The columns that a batch touches move, each by nu_j times D_j = n / (rows that store it), so that directions keep
// their mean; ridge implicitly, which is stable however large D_j is.
template <class View, class Width>
class ByRows : public DriftBase<View, Width> {
  public:
    using Rows = Batch<View, Width>;
    using Base = DriftBase<View, Width>;

    ByRows(const Base& base, const double* often)
        : Base(base), often_(often), u_(static_cast<std::size_t>(base.width.count())) {}

    void prepare(Members<Width>&, double) const {}
    void begin(Index, double) const {}

    void move(Members<Width>& members, Rows& batch, double c, double ridge) const {
        batch.for_members(members, [&](Index slot, const double* g, double weight) {
            const double turn = weight * often_[members.feature(slot)], length = c * members.length(slot);
            for (Index o = 0; o < this->width.count(); ++o)
                members.value(slot)[o] =
                    stepped(members.value(slot)[o], members.drift(slot)[o], g[o], turn, length, ridge);
        });
    }
    void outside(Index j, const double* g, double weight, double length, double ridge, double* u) const {
        for (Index o = 0; o < this->width.count(); ++o)
            u[o] = stepped(0.0, this->nu_at(j, o), g[o], weight * often_[j], length, ridge);
    }
    void offer(Members<Width>& members, Rows& batch, double c, double ridge) {
        offer_touched(this->given.nu, members, batch, c, batch.size() > 0 ? batch.weight(0) : 0.0, [&](Index p) {
            const Index j = batch.column(p);
            if (members.has(j)) return;
            outside(j, batch.g(p), batch.weight(p), c * members.length_of(j), ridge, u_.data());
            members.offer(members.score_of(j, u_.data()), j);
        });
    }

  private:
    static double stepped(double w, double nu, double g, double turn, double length, double ridge) {
        return (w - length * (g + turn * nu)) / (1 + length * ridge * turn);
    }
    const double* often_;
    std::vector<double> u_;
};

// SAGA-HT: nu is the mean of the table of slopes, and follows each row's new slope after the step.
template <class View, class Width>
class Moving : public DriftBase<View, Width> {
  public:
    using Rows = Batch<View, Width>;
    using Base = DriftBase<View, Width>;

    // `base` points to the table and its mean, which change.
    Moving(const Base& base, const View& rows, double* table, double* mean, double* mean_b)
        : Base(base),
          rows_(rows),
          table_(table),
          mean_(mean),
          mean_b_(mean_b),
          ceiling_(Rows::touches_all ? 0 : base.d),
          u_(static_cast<std::size_t>(base.width.count())) {}

    void prepare(Members<Width>& members, double) {
        if constexpr (!Rows::touches_all)
            for (Index j = 0; j < this->d; ++j)
                if (!members.has(j)) raise(members, j);
    }
    void begin(Index, double) { fresh_.clear(); }
    void change(Index i, const double* slope, double* delta) {
        Base::change(i, slope, delta);
        fresh_.insert(fresh_.end(), slope, slope + this->width.count());
    }

    void move(Members<Width>& members, Rows& batch, double c, double ridge) const {
        const Index outputs = this->width.count();
        members.move(c, ridge);
        batch.for_members(members, [&](Index slot, const double* g, double) {
            for (Index o = 0; o < outputs; ++o) members.value(slot)[o] -= c * members.length(slot) * g[o];
        });
    }

    void offer(Members<Width>& members, Rows& batch, double c, double) {
        const auto offer_one = [&](Index j, const double* g) {
            if (members.has(j)) return;
            this->outside(j, g, 0, c * members.length_of(j), 0, u_.data());
            members.offer(members.score_of(j, u_.data()), j);
        };
        offer_touched(this->given.nu, members, batch, c, 1.0, [&](Index p) { offer_one(batch.column(p), batch.g(p)); });
        if constexpr (!Rows::touches_all) {
            const auto bound = [&] { return members.current_floor() / (c * c) * (1 - rounding); };
            const auto key = [&](Index j) { return members.has(j) || members.barred(j) ? 0.0 : key_of(members, j); };
            ceiling_.visit(bound, key, [&](Index j) {
                if (batch.find(j) < 0) offer_one(j, nullptr);
            });
        }
        leaving_ = &members;
    }
    void leave(Index j) {
        if constexpr (!Rows::touches_all) raise(*leaving_, j);
    }

    void end(std::span<const Index> rows, Members<Width>& members) {
        const Index outputs = this->width.count();
        const double share = 1.0 / static_cast<double>(rows_.lines);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double *old = table_ + rows[r] * outputs, *fresh = fresh_.data() + static_cast<Index>(r) * outputs;
            for (Index o = 0; o < outputs; ++o) {  // a row drawn twice has changed already
                const double now = fresh[o];
                fresh[o] = (now - old[o]) * share;
                old[o] = now;
                mean_b_[o] += fresh[o];
            }
            shift(rows[r], fresh, members);
        }
        if constexpr (Rows::touches_all)
            for (Index p = 0; p < members.size(); ++p) this->join(members, members.feature(p), p);
    }

  private:
    static constexpr double rounding = 1e-12;

    // |mean_j|^2 / h_j: the score of a step of length 1.
    double key_of(const Members<Width>& members, Index j) const {
        double sum = 0;
        for (Index o = 0; o < this->width.count(); ++o) sum += this->nu_at(j, o) * this->nu_at(j, o);
        return members.length_of(j) * sum;
    }
    void raise(Members<Width>& members, Index j) { ceiling_.raise(j, key_of(members, j)); }

    // mean += change x_i
    void shift(Index i, const double* change, Members<Width>& members) {
        const Index outputs = this->width.count();
        const auto x = row_of(rows_, i);
        if constexpr (Rows::touches_all && std::same_as<Width, One>) return axpy(*change, x.values, mean_, x.size);
        for (Index p = 0; p < x.size; ++p) {
            const Index j = x.column(p);
            for (Index o = 0; o < outputs; ++o) mean_[j * outputs + o] += change[o] * x.value(p);
            if constexpr (!Rows::touches_all) {
                if (members.has(j))
                    this->join(members, j, members.slot(j));
                else
                    raise(members, j);
            }
        }
    }

    View rows_;
    double *table_, *mean_, *mean_b_;
    Ceiling ceiling_;
    Members<Width>* leaving_ = nullptr;
    std::vector<double> fresh_, u_;
};

}  // namespace paring
