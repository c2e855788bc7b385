#include <algorithm>
#include <stdexcept>
#include <vector>

#include "formulae.hpp"
#include "paring/loss.hpp"

namespace paring {

namespace {

// |z - t|^2 / 2 for the row t of a table that y, a row's number, stands for: the squared loss of several targets.
class SquaredRows final : public Loss {
  public:
    SquaredRows(std::vector<double> table, Index outputs) : table_(std::move(table)), outputs_(outputs) {}

    Index outputs() const override { return outputs_; }
    Index kinds() const override { return static_cast<Index>(table_.size()) / outputs_; }
    bool is_quadratic() const override { return true; }
    double curvature_bound() const override { return 1; }
    void evaluate(const double* z, const double* y, Index n, double* value, double* slope,
                  double* curvature) const override {
        for (Index i = 0; i < n; ++i, z += outputs_) {
            const double* t = row(y[i]);
            double sum = 0;
            for (Index c = 0; c < outputs_; ++c) {
                sum += f_.value(z[c], t[c]);
                if (slope != nullptr) slope[i * outputs_ + c] = f_.slope(z[c], t[c]);
            }
            if (value != nullptr) value[i] = sum;
        }
        if (curvature != nullptr) std::fill_n(curvature, n * outputs_, 1.0);
    }
    void majorant(const double*, const double*, Index n, double* out) const override {
        std::fill_n(out, n * outputs_, 1.0);
    }
    double total(const double* z, const double* y, const double* v, Index n) const override {
        double sum = 0;
        for (Index i = 0; i < n; ++i, z += outputs_) {
            const double* t = row(y[i]);
            double own = 0;
            for (Index c = 0; c < outputs_; ++c) own += f_.value(z[c], t[c]);
            sum += v[i] * own;
        }
        return sum;
    }
    void conjugate(const double* a, const double* y, Index n, double* out) const override {
        for (Index i = 0; i < n; ++i, a += outputs_) {
            const double* t = row(y[i]);
            out[i] = 0;
            for (Index c = 0; c < outputs_; ++c) out[i] += f_.conjugate(a[c], t[c]);
        }
    }
    void prox_conjugate(const double*, const double*, double, Index, double*) const override {
        throw std::invalid_argument("several targets: the conjugate's prox is not implemented");
    }
    void domain(const double*, Index, double*, double*) const override {
        throw std::invalid_argument("several targets: the domain of the conjugate is no interval");
    }

  private:
    const double* row(double y) const { return table_.data() + static_cast<Index>(y) * outputs_; }

    formulae::Squared f_;
    std::vector<double> table_;
    Index outputs_;
};

}  // namespace

std::unique_ptr<Loss> make_squared_rows(std::vector<double> table, Index outputs) {
    if (outputs < 1 || table.size() % static_cast<std::size_t>(outputs) != 0)
        throw std::invalid_argument("a table of targets has the same number in every row");
    return std::make_unique<SquaredRows>(std::move(table), outputs);
}

}  // namespace paring
