#include <cmath>
#include <limits>
#include <stdexcept>

#include "columns.hpp"
#include "paring/kernels.hpp"
#include "paring/products.hpp"

namespace paring {

namespace {

constexpr double rounding_of_mean = 1e-14;  // what subtracting the mean leaves of a column's square, relative

// The rows of some columns: entries in the order of the columns.
struct RowForm {
    std::vector<Index> starts;
    std::vector<std::int32_t> at;
    std::vector<double> values;
};

}  // namespace

SparseColumns::SparseColumns(Index n, bool centred) : Columns(n, centred) {
    if (n > std::numeric_limits<Place>::max())
        throw std::invalid_argument("cd: more than 2^31 rows of sparse data; solve on part of the rows");
}

void SparseColumns::append(const Rows& any, bool, std::span<const Index> chosen, const Context& context) {
    const auto first = static_cast<std::size_t>(slots());
    std::visit(
        [&](const auto& x) {
            if constexpr (requires { x.indices; }) {
                for (const Index j : chosen) starts_.push_back(starts_.back() + x.end(j) - x.begin(j));
                places_.resize(static_cast<std::size_t>(starts_.back()));
                values_.resize(places_.size());
                const double entries = static_cast<double>(starts_.back() - starts_[first]);
                const double cost = 4 * entries / static_cast<double>(std::max<std::size_t>(chosen.size(), 1));
                for_ranges(static_cast<Index>(chosen.size()), cost, context, [&](Index begin, Index end, int) {
                    for (Index c = begin; c < end; ++c) {
                        const Index j = chosen[static_cast<std::size_t>(c)];
                        auto to = static_cast<std::size_t>(starts_[first + static_cast<std::size_t>(c)]);
                        for (Index p = x.begin(j); p < x.end(j); ++p, ++to) {
                            places_[to] = static_cast<Place>(x.indices[p]);
                            values_[to] = static_cast<double>(x.values[p]);
                        }
                    }
                });
            }
        },
        any);
    curvature_.resize(first + chosen.size());
    mean_.resize(curvature_.size());
}

void SparseColumns::keep(std::span<const Index> slots) {
    std::vector<Index> starts{0};
    std::vector<Place> places;
    std::vector<double> values, scaled, curvature, mean;
    for (const Index s : slots) {
        places.insert(places.end(), places_.begin() + begin(s), places_.begin() + end(s));
        values.insert(values.end(), values_.begin() + begin(s), values_.begin() + end(s));
        if (!scaled_.empty()) scaled.insert(scaled.end(), scaled_.begin() + begin(s), scaled_.begin() + end(s));
        starts.push_back(static_cast<Index>(places.size()));
        curvature.push_back(curvature_[static_cast<std::size_t>(s)]);
        mean.push_back(mean_[static_cast<std::size_t>(s)]);
    }
    starts_.swap(starts);
    places_.swap(places);
    values_.swap(values);
    scaled_.swap(scaled);
    curvature_.swap(curvature);
    mean_.swap(mean);
}

void SparseColumns::product(Index s, const std::vector<double>& values, const double* r, Index outputs,
                            double* out) const {
    const Index from = begin(s), count = end(s) - from;
    if (outputs == 1) {
        *out = gather_dot(values.data() + from, places_.data() + from, count, r);
        return;
    }
    std::fill(out, out + outputs, 0.0);
    for (Index p = from; p < from + count; ++p)
        for (Index c = 0; c < outputs; ++c)
            out[c] += values[static_cast<std::size_t>(p)] * r[places_[static_cast<std::size_t>(p)] * outputs + c];
}

void SparseColumns::combine(Index s, const std::vector<double>& values, const double* a, Index outputs,
                            double* z) const {
    const Index from = begin(s), count = end(s) - from;
    if (outputs == 1) return scatter_axpy(*a, values.data() + from, places_.data() + from, count, z);
    for (Index p = from; p < from + count; ++p)
        for (Index c = 0; c < outputs; ++c)
            z[places_[static_cast<std::size_t>(p)] * outputs + c] += values[static_cast<std::size_t>(p)] * a[c];
}

void SparseColumns::scale(const double* kappa, std::span<const Index> slots, const Context& context) {
    std::vector<double> root;
    total_ = static_cast<double>(n_);
    if (kappa != nullptr) {
        root.resize(static_cast<std::size_t>(n_));
        total_ = 0;
        for (Index i = 0; i < n_; ++i) root[static_cast<std::size_t>(i)] = std::sqrt(kappa[i]), total_ += kappa[i];
        scaled_.resize(values_.size());
    }
    double entries_of = 0;
    for (const Index s : slots) entries_of += entries(s);
    const double cost = 3 * entries_of / static_cast<double>(std::max<std::size_t>(slots.size(), 1));
    for_ranges(static_cast<Index>(slots.size()), cost, context, [&](Index first, Index last, int) {
        for (Index p = first; p < last; ++p) scale_one(slots[static_cast<std::size_t>(p)], kappa, root.data());
    });
}

// The mean is not subtracted here: that would fill the column. See dot_scaled.
void SparseColumns::scale_one(Index s, const double* kappa, const double* root) {
    double sum = 0, square = 0;
    for (Index at = begin(s); at < end(s); ++at) {
        const auto p = static_cast<std::size_t>(at);
        const double weight = kappa == nullptr ? 1.0 : root[places_[p]], value = weight * values_[p];
        if (kappa != nullptr) scaled_[p] = value;
        sum += weight * value;
        square += value * value;
    }
    const auto slot = static_cast<std::size_t>(s);
    mean_[slot] = centred_ && total_ > 0 ? sum / total_ : 0.0;
    const double left = square - mean_[slot] * mean_[slot] * total_;
    curvature_[slot] = left > rounding_of_mean * static_cast<double>(n_) * square || !centred_ ? left : 0.0;
}

// With p = sqrt(kappa) o x_j and U = sum_i sqrt(kappa_i) u_i of what was added without its means:
// x~_j'u = p'u - mean_j U, for the means that u lacks are orthogonal to x~_j.
void SparseColumns::dot_scaled(Index s, const double* u, Index outputs, double* out) const {
    product(s, scaled(), u, outputs, out);
    if (!centred_) return;
    const double* sums = u + n_ * outputs;
    for (Index c = 0; c < outputs; ++c) out[c] -= mean(s) * sums[c];
}

void SparseColumns::add_scaled(Index s, const double* a, Index outputs, double* u) const {
    combine(s, scaled(), a, outputs, u);
    if (!centred_) return;
    double* sums = u + n_ * outputs;
    for (Index c = 0; c < outputs; ++c) sums[c] += a[c] * mean(s) * total_;
}

double SparseColumns::square(const double* u, Index outputs) const {
    const double all = paring::dot(u, u, n_ * outputs);
    if (!centred_ || !(total_ > 0)) return all;
    const double* sums = u + n_ * outputs;
    return std::max(all - paring::dot(sums, sums, outputs) / total_, 0.0);
}

void SparseColumns::gram(std::span<const Index> all, Index first, double* out, Index ld, const Context& context) const {
    const auto count = static_cast<Index>(all.size());
    RowForm rows;
    rows.starts.assign(static_cast<std::size_t>(n_) + 1, 0);
    for (const Index s : all)
        for (Index p = begin(s); p < end(s); ++p)
            ++rows.starts[static_cast<std::size_t>(places_[static_cast<std::size_t>(p)]) + 1];
    for (std::size_t i = 1; i < rows.starts.size(); ++i) rows.starts[i] += rows.starts[i - 1];
    rows.at.resize(static_cast<std::size_t>(rows.starts.back()));
    rows.values.resize(rows.at.size());
    std::vector<Index> next(rows.starts.begin(), rows.starts.end() - 1);
    for (Index a = 0; a < count; ++a) {
        const Index s = all[static_cast<std::size_t>(a)];
        for (Index p = begin(s); p < end(s); ++p) {
            const auto to =
                static_cast<std::size_t>(next[static_cast<std::size_t>(places_[static_cast<std::size_t>(p)])]++);
            rows.at[to] = static_cast<std::int32_t>(a);
            rows.values[to] = scaled()[static_cast<std::size_t>(p)];
        }
    }
    double fresh_entries = 0;
    for (Index f = first; f < count; ++f) fresh_entries += entries(all[static_cast<std::size_t>(f)]);
    const double cost = fresh_entries / static_cast<double>(std::max<Index>(count - first, 1)) *
                        static_cast<double>(rows.at.size()) / static_cast<double>(n_);
    for_ranges(count - first, cost, context, [&](Index from, Index to, int) {
        for (Index p = from; p < to; ++p) {
            const Index f = alternating(p, count - first);
            double* sum = out + f * ld;
            const Index own = first + f, s = all[static_cast<std::size_t>(own)];
            std::fill(sum, sum + own + 1, 0.0);
            for (Index e = begin(s); e < end(s); ++e) {
                const auto i = static_cast<std::size_t>(places_[static_cast<std::size_t>(e)]);
                const double value = scaled()[static_cast<std::size_t>(e)];
                for (auto q = static_cast<std::size_t>(rows.starts[i]); rows.at[q] < own; ++q)
                    sum[rows.at[q]] += value * rows.values[q];
                sum[own] += value * value;
            }
            if (centred_)
                for (Index a = 0; a <= own; ++a) sum[a] -= mean(s) * mean(all[static_cast<std::size_t>(a)]) * total_;
        }
    });
}

double SparseColumns::gram_cost(double all, double fresh, double entries_of_fresh) const {
    constexpr double pair = 0.7, entry = 4;
    const double density =
        places_.empty() ? 0.0 : static_cast<double>(places_.size()) / static_cast<double>(n_ * slots());
    return entries_of_fresh * (pair * density * (all - fresh / 2) + entry);
}

}  // namespace paring
