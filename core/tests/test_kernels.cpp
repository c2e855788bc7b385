// The leaf kernels against plain loops, at every length around their unrolling and from unaligned starts.
#include "paring/kernels.hpp"

#include "check.hpp"

using namespace paring;

namespace {

constexpr double close = 1e-13;

template <class T>
void test_contiguous() {
    check::Random random(1);
    for (const Index n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1000})
        for (const Index offset : {0, 1, 3}) {
            const auto size = static_cast<std::size_t>(n + offset);
            std::vector<T> room(size);
            for (T& value : room) value = static_cast<T>(random.normal());
            const T* x = room.data() + offset;
            const auto v = random.normals(n + 1), r = random.normals(n + 1), c = random.uniforms(n + 1);
            const double weight = random.normal();
            double sum = 0, slope = 0, first = 0, second = 0;
            for (Index i = 0; i < n; ++i) {
                const double value = static_cast<double>(x[i]);
                sum += value * v[static_cast<std::size_t>(i)];
                slope += value * r[static_cast<std::size_t>(i)];
                first += value * c[static_cast<std::size_t>(i)];
                second += value * value * c[static_cast<std::size_t>(i)];
            }
            const double scale = close * static_cast<double>(n + 1);
            REQUIRE_NEAR(dot(x, v.data(), n), sum, scale);
            const Moments got = moments(x, r.data(), c.data(), n);
            REQUIRE_NEAR(got.slope, slope, scale);
            REQUIRE_NEAR(got.first, first, scale);
            REQUIRE_NEAR(got.second, second, scale);

            auto out = v, slopes = v, firsts = r, seconds = c;
            axpy(weight, x, out.data(), n);
            add_moments(x, weight, 0.7, slopes.data(), firsts.data(), seconds.data(), n);
            for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
                const double value = static_cast<double>(x[i]);
                REQUIRE_NEAR(out[i], v[i] + weight * value, close);
                REQUIRE_NEAR(slopes[i], v[i] + weight * value, close);
                REQUIRE_NEAR(firsts[i], r[i] + 0.7 * value, close);
                REQUIRE_NEAR(seconds[i], c[i] + 0.7 * value * value, close);
            }
            REQUIRE(out.back() == v.back() && seconds.back() == c.back());  // nothing beyond the end
        }
}

template <class T, class I>
void test_gathered() {
    check::Random random(2);
    constexpr Index length = 50;
    for (Index n = 0; n < 30; ++n) {
        std::vector<T> values(static_cast<std::size_t>(n));
        std::vector<I> indices(values.size());
        for (std::size_t p = 0; p < values.size(); ++p) {
            values[p] = static_cast<T>(random.normal());
            indices[p] = static_cast<I>(random.below(length));
        }
        const auto v = random.normals(length), r = random.normals(length), c = random.uniforms(length);
        double sum = 0;
        Moments want;
        auto scattered = v;
        for (std::size_t p = 0; p < values.size(); ++p) {
            const auto at = static_cast<std::size_t>(indices[p]);
            const double x = static_cast<double>(values[p]);
            sum += x * v[at];
            want.slope += x * r[at];
            want.first += x * c[at];
            want.second += x * x * c[at];
            scattered[at] += 1.5 * x;
        }
        REQUIRE_NEAR(gather_dot(values.data(), indices.data(), n, v.data()), sum, close);
        const Moments got = gather_moments(values.data(), indices.data(), n, r.data(), c.data());
        REQUIRE_NEAR(got.slope, want.slope, close);
        REQUIRE_NEAR(got.first, want.first, close);
        REQUIRE_NEAR(got.second, want.second, close);
        auto out = v;
        scatter_axpy(1.5, values.data(), indices.data(), n, out.data());
        for (std::size_t i = 0; i < out.size(); ++i) REQUIRE_NEAR(out[i], scattered[i], close);
    }
}

// 2^26 and many ones: float32 sums would lose the ones.
void test_float32_sums_in_float64() {
    std::vector<float> x(4001, 1.0F);
    x[7] = 67108864.0F;
    const std::vector<double> ones(x.size(), 1.0);
    const auto n = static_cast<Index>(x.size());
    REQUIRE(dot(x.data(), ones.data(), n) == 67108864.0 + 4000);
    const Moments sums = moments(x.data(), ones.data(), ones.data(), n);
    REQUIRE(sums.slope == 67108864.0 + 4000 && sums.first == sums.slope);
    REQUIRE(sums.second == 67108864.0 * 67108864.0 + 4000);
}

}  // namespace

int main() {
    test_contiguous<float>();
    test_contiguous<double>();
    test_gathered<float, std::int32_t>();
    test_gathered<double, std::int32_t>();
    test_gathered<float, std::int64_t>();
    test_gathered<double, std::int64_t>();
    test_float32_sums_in_float64();
    std::puts("kernels: ok");
}
