// Full passes over every layout against plain loops, on one thread and on several; and past 2^31 entries.
#include "paring/passes.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "matrices.hpp"
#include "paring/products.hpp"

using namespace paring;
using check::Layout;
using check::Matrix;

namespace {

constexpr double close = 1e-11;

// X v (n x m) or X'v (d x m) in plain loops.
std::vector<double> naive_product(const Matrix& a, const std::vector<double>& v, Index m, bool transposed) {
    std::vector<double> out(static_cast<std::size_t>((transposed ? a.d : a.n) * m));
    for (Index i = 0; i < a.n; ++i)
        for (Index j = 0; j < a.d; ++j)
            for (Index c = 0; c < m; ++c) {
                const Index to = transposed ? j : i, from = transposed ? i : j;
                out[static_cast<std::size_t>(to * m + c)] += a(i, j) * v[static_cast<std::size_t>(from * m + c)];
            }
    return out;
}

void require_equal(const std::vector<double>& got, const std::vector<double>& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE_NEAR(got[i], want[i], close);
}

void test_products(const Matrix& a, const std::vector<Layout>& layouts, int threads) {
    check::Random random(3);
    const Context context{threads};
    for (const Index m : {1, 3})
        for (const bool transposed : {false, true}) {
            const auto v = random.normals((transposed ? a.n : a.d) * m);
            const auto want = naive_product(a, v, m, transposed);
            for (const Layout& x : layouts) {
                std::vector<double> out(want.size(), 1e300);
                if (transposed == x.lines_are_columns)
                    dots(x.rows, v.data(), m, out.data(), context);
                else
                    combine(x.rows, v.data(), m, out.data(), context);
                require_equal(out, want);
            }
        }
}

void test_moments(const Matrix& a, const std::vector<Layout>& layouts, int threads) {
    check::Random random(4);
    const auto r = random.normals(a.n), c = random.uniforms(a.n);
    const auto d = static_cast<std::size_t>(a.d);
    Matrix squared = a;
    for (double& x : squared.values) x *= x;
    for (const Layout& x : layouts) {
        std::vector<double> slope(d, 1e300), first(d, 1e300), second(d, 1e300);
        column_moments(x.rows, x.lines_are_columns, r.data(), c.data(), slope.data(), first.data(), second.data(),
                       Context{threads});
        require_equal(slope, naive_product(a, r, 1, true));
        require_equal(first, naive_product(a, c, 1, true));
        require_equal(second, naive_product(squared, c, 1, true));
    }
}

// v X for a few vectors v, out of the rows or the columns of X.
template <class T>
void test_few(const Matrix& a, int threads) {
    check::Random random(5);
    for (const Index m : {1, 2, 3, 4, 5, 9, 70}) {
        const auto v = random.normals(a.n * m);
        std::vector<double> turned(v.size());  // m x n
        for (Index i = 0; i < a.n; ++i)
            for (Index c = 0; c < m; ++c)
                turned[static_cast<std::size_t>(c * a.n + i)] = v[static_cast<std::size_t>(i * m + c)];
        const auto want = naive_product(a, v, m, true);  // d x m
        const Layout by_columns = check::dense<T>(a, true, 0), by_rows = check::dense<T>(a, false, 0);
        std::vector<double> inner(want.size(), 1e300), sums(static_cast<std::size_t>(m * (a.d + 3)), 0.5);
        inner_products(std::get<Dense<T>>(by_columns.rows), turned.data(), m, inner.data(), Context{threads});
        add_combinations(std::get<Dense<T>>(by_rows.rows), turned.data(), a.n, m, sums.data(), a.d + 3,
                         Context{threads});
        for (Index c = 0; c < m; ++c) {
            for (Index j = 0; j < a.d; ++j) {
                const double value = want[static_cast<std::size_t>(j * m + c)];
                REQUIRE_NEAR(inner[static_cast<std::size_t>(c * a.d + j)], value, close);
                REQUIRE_NEAR(sums[static_cast<std::size_t>(c * (a.d + 3) + j)], 0.5 + value, close);
            }
            for (Index j = a.d; j < a.d + 3; ++j) REQUIRE(sums[static_cast<std::size_t>(c * (a.d + 3) + j)] == 0.5);
        }
    }
}

void test_shapes() {
    check::Random random(6);
    for (const auto& [n, d] : {std::pair<Index, Index>{1, 1}, {1, 7}, {7, 1}, {5, 3}, {40, 33}, {3, 300}, {300, 3}}) {
        const Matrix a = check::random_matrix(n, d, random);
        const auto layouts = check::all_layouts(a);
        test_products(a, layouts, 1);
        test_moments(a, layouts, 1);
        test_few<float>(a, 1);
        test_few<double>(a, 1);
    }
}

// Large enough that every thread gets a share.
void test_threads() {
    check::Random random(7);
    const Matrix a = check::random_matrix(800, 700, random);
    for (const bool columns : {false, true}) {
        const std::vector<Layout> layouts{check::dense<float>(a, columns, 0), check::dense<double>(a, columns, 1),
                                          check::sparse<float, std::int32_t>(a, columns),
                                          check::sparse<double, std::int64_t>(a, columns)};
        test_products(a, layouts, 3);
        test_moments(a, layouts, 3);
    }
    const Matrix few = check::random_matrix(300, 280, random);
    test_few<float>(few, 3);
    test_few<double>(few, 2);
}

// Entries numbered from 2^33: the arrays begin where entry 0 would lie, 2^33 entries before what is allocated.
template <class T>
void test_entries_beyond_int32() {
    constexpr std::int64_t offset = std::int64_t{1} << 33;
    check::Random random(8);
    const Matrix a = check::random_matrix(20, 30, random);
    for (const bool columns : {false, true}) {
        const Layout plain = check::sparse<T, std::int64_t>(a, columns);
        const auto view = std::get<Sparse<T, std::int64_t>>(plain.rows);
        std::vector<std::int64_t> starts(view.starts, view.starts + view.lines + 1);
        for (auto& start : starts) start += offset;
        const auto before = [](const auto* p) {
            return reinterpret_cast<decltype(p)>(reinterpret_cast<std::uintptr_t>(p) - sizeof(*p) * offset);
        };
        const Sparse<T, std::int64_t> shifted{before(view.values), before(view.indices), starts.data(), view.lines,
                                              view.length};
        const std::vector<Layout> layouts{{"shifted", shifted, columns, plain.memory}};
        test_products(a, layouts, 1);
        test_moments(a, layouts, 1);
    }
}

// Lines 2^31 elements apart in address space that is reserved, not used.
void test_strides_beyond_int32() {
    constexpr Index stride = (Index{1} << 31) + 5, length = 3;
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(stride + length);
    void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        std::puts("passes: no address space for the stride test");
        return;
    }
    auto* data = static_cast<float*>(room);
    check::Random random(9);
    Matrix a{2, length, {}};
    for (Index l = 0; l < 2; ++l)
        for (Index e = 0; e < length; ++e) {
            data[l * stride + e] = static_cast<float>(random.normal());
            a.values.push_back(static_cast<double>(data[l * stride + e]));
        }
    const std::vector<Layout> layouts{{"apart", Dense<float>{data, 2, length, stride, 1}, false, nullptr}};
    test_products(a, layouts, 1);
    test_moments(a, layouts, 1);
    munmap(room, bytes);
}

}  // namespace

int main() {
    test_shapes();
    test_threads();
    test_entries_beyond_int32<float>();
    test_entries_beyond_int32<double>();
    test_strides_beyond_int32();
    std::puts("passes: ok");
}
