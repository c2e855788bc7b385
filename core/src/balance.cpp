#include "paring/balance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace paring {

namespace {

constexpr int most_rounds = 200;
constexpr double rounding = 4e-16;

// total - sum_i v_i prox(u_i - t): it rises with t.
class Lack {
  public:
    Lack(const Loss& loss, std::span<const double> u, const double* y, const double* v, double step, double total,
         double* a)
        : loss_(loss), u_(u), y_(y), v_(v), step_(step), total_(total), a_(a), shifted_(u.size()) {}

    double operator()(double t) {
        for (std::size_t i = 0; i < u_.size(); ++i) shifted_[i] = u_[i] - t;
        loss_.prox_conjugate(shifted_.data(), y_, step_, static_cast<Index>(u_.size()), a_);
        return left();
    }
    double left() const {
        double sum = 0;
        for (std::size_t i = 0; i < u_.size(); ++i) sum += v_[i] * a_[i];
        return total_ - sum;
    }
    double size() const {
        double sum = std::abs(total_);
        for (std::size_t i = 0; i < u_.size(); ++i) sum += v_[i] * std::abs(a_[i]);
        return sum;
    }
    // What rounding left of the sum, to the rows that have room for it.
    void hand_out(double rest) {
        for (std::size_t i = 0; i < u_.size() && rest != 0; ++i) {
            if (!(v_[i] > 0)) continue;
            double lower, upper;
            loss_.domain(y_ + i, 1, &lower, &upper);
            const double before = a_[i];
            a_[i] = std::clamp(before + rest / v_[i], lower, upper);
            rest -= v_[i] * (a_[i] - before);
        }
    }

  private:
    const Loss& loss_;
    std::span<const double> u_;
    const double *y_, *v_;
    double step_, total_;
    double* a_;
    std::vector<double> shifted_;
};

}  // namespace

void balanced_prox(const Loss& loss, std::span<const double> u, const double* y, const double* v, double step,
                   double total, double* a) {
    Lack lack(loss, u, y, v, step, total, a);
    double weight = 0;
    for (std::size_t i = 0; i < u.size(); ++i) weight += v[i];
    if (!(weight > 0)) return;
    // A bracket: the sum falls by at most `weight` where t rises by 1.
    double near = 0, near_lack = lack(near), far = -2 * near_lack / weight, far_lack = near_lack;
    const double enough = rounding * lack.size();
    if (std::abs(near_lack) > enough) {
        for (int round = 0; round < most_rounds; ++round, far *= 4) {
            far_lack = lack(far);
            if ((far_lack > 0) != (near_lack > 0) || std::abs(far_lack) <= enough) break;
            near = far;
            near_lack = far_lack;
        }
        // Regula falsi (Illinois): exact once no row is between a piece of its prox and the next.
        for (int round = 0; round < most_rounds && std::abs(far_lack) > enough; ++round) {
            const double t = far - far_lack * (far - near) / (far_lack - near_lack);
            if (!(std::abs(t - far) > rounding * std::abs(far)) || t == near) break;
            const double at_t = lack(t);
            if ((at_t > 0) != (far_lack > 0)) {
                near = far;
                near_lack = far_lack;
            } else {
                near_lack /= 2;
            }
            far = t;
            far_lack = at_t;
        }
        lack(far);
    }
    lack.hand_out(lack.left());
}

}  // namespace paring
