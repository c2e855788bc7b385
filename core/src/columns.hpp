// The two kinds of columns behind paring/coordinate/columns.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "paring/coordinate/columns.hpp"

namespace paring {

class DenseColumns final : public Columns {
  public:
    DenseColumns(Index n, const double* v);
    double entries(Index) const override { return static_cast<double>(n_); }
    double sweep_cost() const override { return 0.15; }
    void append(const Rows& x, bool lines_are_columns, std::span<const Index> chosen, const Context& context) override;
    void keep(std::span<const Index> slots) override;
    double shift(Index slot) const override { return shift_[static_cast<std::size_t>(slot)]; }
    void dot(Index slot, const double* r, Index outputs, double* out) const override {
        product(column(slot), r, outputs, out);
    }
    void add(Index slot, const double* a, Index outputs, double* z) const override {
        combine(column(slot), a, outputs, z);
    }
    void scale(const double* kappa, std::span<const Index> slots, const Context& context) override;
    void dot_scaled(Index slot, const double* u, Index outputs, double* out) const override {
        product(scaled_column(slot), u, outputs, out);
    }
    void add_scaled(Index slot, const double* a, Index outputs, double* u) const override {
        combine(scaled_column(slot), a, outputs, u);
    }
    double square(const double* u, Index outputs) const override;
    void gram(std::span<const Index> all, Index first, double* out, Index ld, const Context& context) const override;
    double gram_cost(double all, double fresh, double entries_of_fresh) const override;

  private:
    const double* column(Index s) const { return columns_[static_cast<std::size_t>(s)]; }
    const double* scaled_column(Index s) const {
        const double* scaled = scaled_[static_cast<std::size_t>(s)].get();
        return scaled != nullptr ? scaled : column(s);
    }
    bool refer(const Rows& x, bool lines_are_columns, std::span<const Index> chosen);
    void product(const double* x, const double* r, Index outputs, double* out) const;
    void combine(const double* x, const double* a, Index outputs, double* z) const;
    void scale_one(Index s, const double* kappa, const double* root);
    void centre(double* columns, Index count, const Context& context);

    std::vector<double> v_;
    double v_total_ = 0;
    std::vector<const double*> columns_;
    std::vector<std::shared_ptr<double[]>>
        owned_;  // the memory of a column, shared by those copied together; or X's own
    std::vector<std::unique_ptr<double[]>> scaled_;  // null: as it is
    std::vector<double> shift_;
};

class SparseColumns final : public Columns {
  public:
    SparseColumns(Index n, bool centred);
    double entries(Index slot) const override { return static_cast<double>(end(slot) - begin(slot)); }
    double sweep_cost() const override { return 1.0; }
    void append(const Rows& x, bool lines_are_columns, std::span<const Index> chosen, const Context& context) override;
    void keep(std::span<const Index> slots) override;
    void dot(Index slot, const double* r, Index outputs, double* out) const override {
        product(slot, values_, r, outputs, out);
    }
    void add(Index slot, const double* a, Index outputs, double* z) const override {
        combine(slot, values_, a, outputs, z);
    }
    void scale(const double* kappa, std::span<const Index> slots, const Context& context) override;
    void dot_scaled(Index slot, const double* u, Index outputs, double* out) const override;
    void add_scaled(Index slot, const double* a, Index outputs, double* u) const override;
    double square(const double* u, Index outputs) const override;
    void gram(std::span<const Index> all, Index first, double* out, Index ld, const Context& context) const override;
    double gram_cost(double all, double fresh, double entries_of_fresh) const override;

  private:
    using Place = std::int32_t;
    Index begin(Index s) const { return starts_[static_cast<std::size_t>(s)]; }
    Index end(Index s) const { return starts_[static_cast<std::size_t>(s) + 1]; }
    const std::vector<double>& scaled() const { return scaled_.empty() ? values_ : scaled_; }
    void product(Index s, const std::vector<double>& values, const double* r, Index outputs, double* out) const;
    void combine(Index s, const std::vector<double>& values, const double* a, Index outputs, double* z) const;
    void scale_one(Index s, const double* kappa, const double* root);

    std::vector<Index> starts_{0};
    std::vector<Place> places_;
    std::vector<double> values_, scaled_;  // `scaled_` empty: as `values_`
};

}  // namespace paring
