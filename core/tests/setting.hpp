// A problem with everything in it (weights, ridge, intercept, a metric, features always and never kept), and the state
// that the tests of sweeps begin from.
#pragma once

#include <string>

#include "matrices.hpp"
#include "paring/sweeps/sweeps.hpp"

namespace setting {

using namespace paring;

constexpr Index n = 30, d = 47, k = 6, steps = 60;

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

struct Setting {
    check::Matrix x;
    std::unique_ptr<Loss> loss;
    Index outputs, batch;
    std::vector<double> y, v, h, w, b, nu, nu_b, slopes, often, lengths;
    std::vector<unsigned char> always, never;
    std::vector<Index> order, starts;
    std::vector<std::int32_t> block_of, chosen;
    double ridge = 0.3, h_b = 1.5, radius;
    bool metric = true;

    Setting(const std::string& name, Index classes, Index rows_a_step, double ball)
        : outputs(classes), batch(rows_a_step), radius(ball) {
        check::Random random(7);
        x = check::random_matrix(n, d, random);
        loss = make_loss(name, static_cast<double>(classes));
        for (Index i = 0; i < n; ++i) y.push_back(classes > 1 ? static_cast<double>(i % classes) : random.normal());
        v = random.uniforms(n);
        for (double& value : h = random.uniforms(d)) value += 0.5;
        w.resize(at(d * outputs));
        for (const Index j : {2, 5, 11, 40})
            for (Index c = 0; c < outputs; ++c) w[at(j * outputs + c)] = random.normal();
        b = random.normals(outputs);
        nu = random.normals(d * outputs);
        nu_b = random.normals(outputs);
        slopes = random.normals(n * outputs);
        often = random.uniforms(d);
        lengths.assign(at(steps), 0.05);
        always.resize(at(d));
        never.resize(at(d));
        always[5] = always[20] = never[7] = 1;
        for (Index t = 0; t < steps; ++t) {
            starts.push_back(static_cast<Index>(order.size()));
            for (Index r = 0; r < batch; ++r) order.push_back(random.below(n));
            chosen.push_back(static_cast<std::int32_t>(random.below(3)));
        }
        starts.push_back(static_cast<Index>(order.size()));
        for (Index j = 0; j < d; ++j) block_of.push_back(static_cast<std::int32_t>(random.below(3)));
    }

    Sweep sweep() const {
        return {{loss.get(), y.data(), v.data(), n, nullptr, true},
                ridge,
                {d, k, always.data(), never.data(), radius, metric ? h.data() : nullptr, h_b},
                {order, starts},
                lengths.data(),
                {nu.data(), nu_b.data(), slopes.data()}};
    }
};

}  // namespace setting
