// Blocks of columns, dense and sparse, against plain loops; the small linear algebra, with and without a borrowed
// LAPACK.
#include "paring/block.hpp"

#include <memory>
#include <stdexcept>

#include "fortran.hpp"
#include "matrices.hpp"
#include "paring/blas.hpp"

using namespace paring;
using check::Layout;
using check::Matrix;

namespace {

constexpr double close = 1e-10;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The chosen columns, less `shift`, n x k.
Matrix chosen_columns(const Matrix& a, const std::vector<Index>& chosen, const std::vector<double>& shift) {
    Matrix b{a.n, static_cast<Index>(chosen.size()), {}};
    for (Index i = 0; i < a.n; ++i)
        for (std::size_t j = 0; j < chosen.size(); ++j) b.values.push_back(a(i, chosen[j]) - shift[j]);
    return b;
}

// sum_i c_i b_ip a_iq
double weighted(const Matrix& b, Index p, const Matrix& a, Index q, const std::vector<double>& c) {
    double sum = 0;
    for (Index i = 0; i < b.n; ++i) sum += c[at(i)] * b(i, p) * a(i, q);
    return sum;
}

void test_hessian(const Block& block, const Matrix& b, const std::vector<double>& c, const Context& context) {
    const Index k = b.d, ld = k + 1;  // room for an intercept, as Newton has
    std::vector<double> h(at(k * ld), 7.0), first(at(k));
    block.hessian(c.data(), h.data(), ld, first.data(), context);
    for (Index j = 0; j < k; ++j) {
        double sum = 0;
        for (Index i = 0; i < b.n; ++i) sum += c[at(i)] * b(i, j);
        REQUIRE_NEAR(first[at(j)], sum, close);
        for (Index i = j; i < k; ++i) {
            const double want = weighted(b, i, b, j, c);
            REQUIRE_NEAR(h[at(j * ld + i)], want, close * (1 + std::abs(want)));
        }
        REQUIRE(h[at(j * ld + k)] == 7.0);
    }
}

void test_block(const Block& block, const Matrix& b, int threads) {
    const Context context{threads};
    check::Random random(11);
    REQUIRE(block.rows() == b.n && block.columns() == b.d);
    auto w = random.normals(b.d), r = random.normals(b.n), c = random.uniforms(b.n);
    if (b.d > 1) w[1] = 0;
    c[0] = 0;
    std::vector<double> z(at(b.n)), g(at(b.d));
    block.scores(w.data(), 0.25, z.data(), context);
    for (Index i = 0; i < b.n; ++i) {
        double sum = 0.25;
        for (Index j = 0; j < b.d; ++j) sum += b(i, j) * w[at(j)];
        REQUIRE_NEAR(z[at(i)], sum, close);
    }
    block.gradient(r.data(), g.data(), context);
    for (Index j = 0; j < b.d; ++j) {
        double sum = 0;
        for (Index i = 0; i < b.n; ++i) sum += b(i, j) * r[at(i)];
        REQUIRE_NEAR(g[at(j)], sum, close);
        REQUIRE_NEAR(block.dot_column(j, r.data()), sum, close);
        auto added = r;
        block.add_column(j, -1.5, added.data());
        for (Index i = 0; i < b.n; ++i) REQUIRE_NEAR(added[at(i)], r[at(i)] - 1.5 * b(i, j), close);
    }
    test_hessian(block, b, c, context);
}

void test_cross(const Block& block, const Matrix& b, const Block& others, const Matrix& o, int threads) {
    check::Random random(12);
    auto c = random.normals(b.n);  // any sign
    std::vector<double> out(at(b.d * o.d), 1e300);
    block.cross(others, c.data(), out.data(), Context{threads});
    for (Index i = 0; i < o.d; ++i)
        for (Index j = 0; j < b.d; ++j) REQUIRE_NEAR(out[at(i * b.d + j)], weighted(b, j, o, i, c), close);
}

void test_dense(const Matrix& a, const std::vector<Index>& chosen, const std::vector<Index>& others, int threads) {
    check::Random random(13);
    const auto v = random.uniforms(a.n);
    double total = 0;
    for (const double x : v) total += x;
    for (const Layout& x : check::dense_layouts(a))
        for (const bool centred : {false, true}) {
            const double* centre = centred ? v.data() : nullptr;
            const auto shifts = [&](const std::vector<Index>& columns) {
                std::vector<double> shift(columns.size());
                for (std::size_t j = 0; j < shift.size() && centred; ++j) {
                    for (Index i = 0; i < a.n; ++i) shift[j] += v[at(i)] * a(i, columns[j]) / total;
                }
                return shift;
            };
            const auto shift = shifts(chosen);
            const DenseBlock block(x.rows, x.lines_are_columns, chosen, centre);
            const DenseBlock more(x.rows, x.lines_are_columns, others, centre);
            for (std::size_t j = 0; j < chosen.size(); ++j)
                REQUIRE_NEAR(block.shift(static_cast<Index>(j)), shift[j], 1e-14);
            const Matrix b = chosen_columns(a, chosen, shift), o = chosen_columns(a, others, shifts(others));
            test_block(block, b, threads);
            test_cross(block, b, more, o, threads);
        }
}

void test_sparse(const Matrix& a, const std::vector<Index>& chosen, const std::vector<Index>& others, int threads) {
    const Matrix b = chosen_columns(a, chosen, std::vector<double>(chosen.size()));
    const Matrix o = chosen_columns(a, others, std::vector<double>(others.size()));
    check::Random random(14);
    const auto c = random.normals(a.n);
    for (const Layout& x : check::sparse_layouts(a, true)) {
        const SparseBlock block(x.rows, chosen, true), more(x.rows, others, false);
        REQUIRE(block.shift(0) == 0);
        std::vector<double> z(at(a.n));
        REQUIRE(check::throws<std::logic_error>([&] { more.scores(c.data(), 0, z.data(), Context{}); }));
        test_block(block, b, threads);
        test_cross(block, b, more, o, threads);
        std::vector<double> out(at(a.d * b.d), 1e300);
        block.cross_all(x.rows, c.data(), out.data(), Context{threads});
        for (Index j = 0; j < a.d; ++j)
            for (Index p = 0; p < b.d; ++p) REQUIRE_NEAR(out[at(j * b.d + p)], weighted(b, p, a, j, c), close);
    }
}

void test_shapes() {
    check::Random random(15);
    const Matrix a = check::random_matrix(60, 12, random);
    const std::vector<Index> some{7, 2, 11, 4, 2};  // out of order, one twice; column 4 is empty
    for (const auto& chosen : {some, std::vector<Index>{3}, std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}) {
        test_dense(a, chosen, {9, 0}, 1);
        test_sparse(a, chosen, {9, 0}, 1);
    }
    const Matrix slight = check::random_matrix(1, 1, random);
    test_dense(slight, {0}, {0}, 1);
    test_sparse(slight, {0}, {0}, 1);
}

void test_threads() {
    check::Random random(16);
    const Matrix a = check::random_matrix(60000, 23, random);
    std::vector<Index> chosen(18);
    for (std::size_t j = 0; j < chosen.size(); ++j) chosen[j] = static_cast<Index>(j) + 5;
    const Matrix b = chosen_columns(a, chosen, std::vector<double>(chosen.size()));
    const Layout x = check::dense<float>(a, false, 0), y = check::sparse<double, std::int32_t>(a, true);
    test_block(DenseBlock(x.rows, false, chosen, nullptr), b, 3);
    test_block(SparseBlock(y.rows, chosen, true), b, 3);
}

void test_linear_algebra(Index k) {
    check::Random random(17);
    const auto a = random.normals(k * (k + 5));
    std::vector<double> h(at(k * k)), full(at(k * k)), x = random.normals(k);
    for (Index j = 0; j < k; ++j)
        for (Index i = j; i < k; ++i)
            for (Index l = 0; l < k + 5; ++l) h[at(j * k + i)] += a[at(i * (k + 5) + l)] * a[at(j * (k + 5) + l)];
    for (Index j = 0; j < k; ++j)
        for (Index i = j; i < k; ++i) full[at(j * k + i)] = full[at(i * k + j)] = h[at(j * k + i)];
    auto factor = h;
    REQUIRE(cholesky(factor.data(), k));
    auto solution = x;
    cholesky_solve(factor.data(), k, solution.data());
    auto inverse = factor;
    cholesky_inverse(inverse.data(), k);
    for (Index i = 0; i < k; ++i) {
        double sum = 0, by_inverse = 0;
        for (Index j = 0; j < k; ++j) {
            sum += full[at(i * k + j)] * solution[at(j)];
            by_inverse += inverse[at(i * k + j)] * x[at(j)];
            REQUIRE(inverse[at(i * k + j)] == inverse[at(j * k + i)]);
        }
        REQUIRE_NEAR(sum, x[at(i)], 1e-7);
        REQUIRE_NEAR(by_inverse, solution[at(i)], 1e-7);
    }
    for (const double bad : {-1.0, 0.0, std::nan(""), infinity}) {
        auto broken = h;
        broken[at((k / 2) * k + k / 2)] = bad;
        REQUIRE(!cholesky(broken.data(), k));
    }
}

}  // namespace

int main() {
    for (const bool borrowed : {false, true}) {
        if (borrowed) check::lend_blas();
        test_shapes();
        for (const Index k : {1, 2, 5, 47, 48, 90}) test_linear_algebra(k);
        REQUIRE((check::lapack_calls > 0) == borrowed);
    }
    test_threads();
    check::return_blas();
    std::puts("blocks: ok");
}
