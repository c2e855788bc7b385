// Columns, penalty, sweeps, Newton steps on the face and the whole descent, against plain loops and the conditions an
// optimum obeys.
#include "fits.hpp"
#include "paring/coordinate/descent.hpp"
#include "paring/products.hpp"

using namespace paring;
using check::Fit;
using check::Layout;
using check::Matrix;

namespace {

constexpr double close = 1e-10, rounding = 1e-13;

std::vector<Layout> column_layouts(const Matrix& a) {
    auto all = check::dense_layouts(a);
    for (auto& layout : check::sparse_layouts(a, true)) all.push_back(layout);
    return all;
}

bool is_dense(const Layout& x) {
    return std::visit([](const auto& view) { return requires { view.line_stride; }; }, x.rows);
}

// -- columns ----------------------------------------------------------------------------------------------------------

// sqrt(kappa) o (x_j - mean), and what is left of the shift.
std::vector<double> scaled_column(const Matrix& a, Index j, const std::vector<double>& kappa, bool centred) {
    double sum = 0, total = 0;
    for (Index i = 0; i < a.n; ++i) sum += kappa[i] * a(i, j), total += kappa[i];
    std::vector<double> x(a.n);
    for (Index i = 0; i < a.n; ++i) x[i] = std::sqrt(kappa[i]) * (a(i, j) - (centred ? sum / total : 0));
    return x;
}

void test_columns(const Matrix& a, const Layout& x, bool centred, bool weighted, Index outputs) {
    check::Random random(3);
    const std::vector<double> ones(a.n, 1.0);
    const auto v = weighted ? random.uniforms(a.n) : ones, kappa = weighted ? random.uniforms(a.n) : ones;
    const Context context{2};
    auto columns = make_columns(is_dense(x), a.n, centred ? v.data() : nullptr);
    const std::vector<Index> first{4, 0}, second{2, 5, 1};
    columns->append(x.rows, x.lines_are_columns, first, context);
    columns->append(x.rows, x.lines_are_columns, second, context);
    columns->keep(std::vector<Index>{0, 2, 3, 4});  // features 4, 2, 5, 1
    const std::vector<Index> features{4, 2, 5, 1}, slots = check::all_columns(4);
    columns->scale(weighted ? kappa.data() : nullptr, slots, context);

    std::vector<double> u((a.n + 1) * outputs), weights = random.normals(4 * outputs), want(a.n * outputs);
    for (Index s = 0; s < 4; ++s) columns->add_scaled(s, &weights[s * outputs], outputs, u.data());
    std::vector<std::vector<double>> scaled;
    for (const Index j : features) scaled.push_back(scaled_column(a, j, kappa, centred));
    for (Index s = 0; s < 4; ++s)
        for (Index i = 0; i < a.n; ++i)
            for (Index c = 0; c < outputs; ++c) want[i * outputs + c] += weights[s * outputs + c] * scaled[s][i];
    double square = 0;
    for (const double value : want) square += value * value;
    REQUIRE_NEAR(columns->square(u.data(), outputs), square, close);

    std::vector<double> gram(16);
    columns->gram(slots, 1, gram.data() + 4, 4, context);
    for (Index s = 0; s < 4; ++s) {
        std::vector<double> got(outputs), plain(outputs), raw = random.normals(a.n * outputs);
        columns->dot_scaled(s, u.data(), outputs, got.data());
        for (Index c = 0; c < outputs; ++c) {
            double sum = 0;
            for (Index i = 0; i < a.n; ++i) sum += scaled[s][i] * want[i * outputs + c];
            REQUIRE_NEAR(got[c], sum, close);
        }
        double own = 0;
        for (Index i = 0; i < a.n; ++i) own += scaled[s][i] * scaled[s][i];
        REQUIRE_NEAR(columns->curvature(s), own, close);
        for (Index t = 0; t <= s && s > 0; ++t) {
            double product = 0;
            for (Index i = 0; i < a.n; ++i) product += scaled[s][i] * scaled[t][i];
            REQUIRE_NEAR(gram[s * 4 + t], product, close);
        }
        columns->dot(s, raw.data(), outputs, plain.data());
        for (Index c = 0; c < outputs; ++c) {
            double sum = 0;
            for (Index i = 0; i < a.n; ++i) sum += (a(i, features[s]) - columns->shift(s)) * raw[i * outputs + c];
            REQUIRE_NEAR(plain[c], sum, close);
        }
    }
}

void test_lower_products() {
    check::Random random(6);
    for (const Index n : {3, 40, 1100})
        for (const Index k : {1, 2, 5, 150}) {
            std::vector<std::vector<double>> lines;
            std::vector<const double*> at;
            for (Index l = 0; l < k; ++l) lines.push_back(random.normals(n));
            for (const auto& line : lines) at.push_back(line.data());
            const Index first = k / 3;
            std::vector<double> out(k * k, -1.0);
            lower_products(at, first, n, out.data() + first * k, k, Context{2});
            for (Index a = first; a < k; ++a)
                for (Index b = 0; b <= a; ++b) {
                    double sum = 0;
                    for (Index i = 0; i < n; ++i) sum += lines[a][i] * lines[b][i];
                    REQUIRE_NEAR(out[a * k + b], sum, close);
                }
            for (Index a = 0; a < first; ++a) REQUIRE(out[a * k] == -1.0);
        }
}

// -- penalty ----------------------------------------------------------------------------------------------------------

Penalty groups(Index d, Index size, double omega, double tau, Index outputs = 1, double ridge = 0) {
    Penalty penalty;
    penalty.outputs = outputs;
    penalty.starts = {0};
    for (Index j = 0; j < d; j += size) penalty.starts.push_back(std::min(j + size, d)), penalty.omega.push_back(omega);
    penalty.tau.assign(d, tau);
    penalty.ridge.assign(d, ridge);
    penalty.lower.assign(d, -infinity);
    penalty.upper.assign(d, infinity);
    return penalty;
}

// At w = prox(u) minus the slopes, h (w - u), lie in the subdifferential.
void test_prox() {
    check::Random random(1);
    for (const Index outputs : {1, 2})
        for (const double omega : {0.0, 0.8})
            for (const double tau : {0.0, 0.5})
                for (const bool positive : {false, true})
                    for (int round = 0; round < 50; ++round) {
                        Penalty penalty = groups(3, 3, omega, tau, outputs);
                        if (positive) penalty.lower.assign(3, 0.0);
                        const double h = 0.2 + 2 * random.uniform();
                        const auto u = random.normals(3 * outputs);
                        auto w = u, slope = u;
                        penalty.prox_block(0, h, w.data());
                        for (std::size_t p = 0; p < w.size(); ++p) slope[p] = h * (w[p] - u[p]);
                        REQUIRE_NEAR(penalty.residual_of_block(0, slope.data(), w.data()), 0.0, 1e-12);
                        slope[0] += 3;  // and not elsewhere
                        REQUIRE(penalty.residual_of_block(0, slope.data(), w.data()) > 0.1 || (positive && w[0] == 0));
                    }
}

// -- descent ----------------------------------------------------------------------------------------------------------

Fit fit_of(const std::pair<std::string, double>& loss, const Matrix& x, bool intercept, bool weighted) {
    check::Random random(11);
    Fit fit{make_loss(loss.first, loss.second), x, check::targets(loss.first, x, random), {}, 0, intercept};
    fit.v = weighted ? random.uniforms(x.n) : std::vector<double>(x.n, 1.0);
    if (weighted) fit.v[3] = 0;
    double total = 0;
    for (const double weight : fit.v) total += weight;
    for (double& weight : fit.v) weight *= static_cast<double>(x.n) / total;
    return fit;
}

// The largest residual of the optimality conditions, from plain loops.
double violation(const Fit& fit, const Penalty& penalty, const DescentPoint& point) {
    auto g = fit.gradient(point.w, point.b.empty() ? 0.0 : point.b[0]);
    for (std::size_t j = 0; j < point.w.size(); ++j) g[j] += penalty.ridge[j] * point.w[j];
    double worst = point.b.empty() ? 0.0 : std::abs(g.back());
    for (Index k = 0; k < penalty.blocks(); ++k) {
        const Index first = penalty.starts[k];
        worst = std::max(worst, penalty.residual_of_block(k, g.data() + first, point.w.data() + first));
    }
    return worst;
}

void test_descent(const std::pair<std::string, double>& loss, const Layout& layout, const Matrix& x,
                  const Penalty& penalty, bool intercept, bool weighted) {
    const Fit fit = fit_of(loss, x, intercept, weighted);
    const Target target = fit.target();
    const Context context{2};
    Descent descent(target, is_dense(layout));
    const auto features = check::all_columns(x.d);
    const auto missing = descent.missing(features);
    REQUIRE(static_cast<Index>(missing.size()) == x.d);
    descent.append(layout.rows, layout.lines_are_columns, missing, missing, context);
    REQUIRE(descent.missing(features).empty());
    DescentPoint point{std::vector<double>(x.d), std::vector<double>(intercept ? 1 : 0), std::vector<double>(x.n)};
    const auto report = descent.minimise(features, penalty, {1e-10, 200}, point, context);
    REQUIRE(!report.stopped && report.rounds >= 1);
    REQUIRE_NEAR(violation(fit, penalty, point), 0.0, 3e-10);
    const auto z = fit.scores(point.w, point.b.empty() ? 0.0 : point.b[0]);
    for (Index i = 0; i < x.n; ++i) REQUIRE_NEAR(point.z[i], z[i], 1e-9);
    double value = fit.objective(point.w, point.b.empty() ? 0.0 : point.b[0]);
    for (Index k = 0; k < penalty.blocks(); ++k) value += penalty.value(k, point.w.data() + penalty.starts[k]);
    REQUIRE_NEAR(report.objective, value, 1e-10);
    // From the optimum nothing moves far, and a smaller working set keeps the others' share of z.
    DescentPoint again = point;
    descent.minimise(features, penalty, {1e-10, 200}, again, context);
    for (Index j = 0; j < x.d; ++j) REQUIRE_NEAR(again.w[j], point.w[j], 1e-7);
}

void test_descents() {
    check::Random random(2);
    const Matrix x = check::random_matrix(60, 9, random);
    const std::vector<Layout> layouts{check::dense<double>(x, true, 0), check::dense<float>(x, false, 1),
                                      check::sparse<double, std::int32_t>(x, true)};
    Penalty box = groups(9, 1, 0, 0.02);
    box.lower.assign(9, -0.1);
    box.upper.assign(9, 0.2);
    Penalty free = groups(9, 1, 0, 0.05);
    free.tau[1] = 0;
    const std::vector<Penalty> penalties{
        groups(9, 1, 0, 0.05),    groups(9, 1, 0, 0.02, 1, 0.1),  box, free, groups(9, 3, 0.08, 0.0),
        groups(9, 4, 0.05, 0.02), groups(9, 9, 0.05, 0.0, 1, 0.1)};
    for (const auto& loss : check::smooth_losses)
        for (const auto& layout : layouts)
            for (const auto& penalty : penalties)
                for (const bool intercept : {false, true})
                    for (const bool weighted : {false, true})
                        test_descent(loss, layout, x, penalty, intercept, weighted);
}

// -- the face ---------------------------------------------------------------------------------------------------------

// A model with slopes as of squared loss: none along an empty column.
Quadratic model_of(const Columns& columns, const Penalty& penalty, std::span<const Index> slots,
                   check::Random& random) {
    const auto r = random.normals(columns.rows());
    std::vector<double> g(slots.size());
    for (std::size_t j = 0; j < g.size(); ++j) columns.dot(slots[j], r.data(), 1, &g[j]);
    return {columns, penalty, slots, g, std::vector<double>(g.size())};
}

// A step on the face lowers E, and where the face stays as it is, its slopes vanish.
void test_face(double omega, double tau) {
    check::Random random(5);
    const Matrix x = check::random_matrix(50, 12, random);
    const Layout layout = check::dense<double>(x, true, 0);
    const auto slots = check::all_columns(12);
    auto columns = make_columns(true, 50, nullptr);
    columns->append(layout.rows, true, slots, {});
    columns->scale(nullptr, slots, {});
    const Penalty penalty = groups(12, omega > 0 ? 3 : 1, omega, tau);
    Quadratic model = model_of(*columns, penalty, slots, random);
    Face face;
    double last = model.energy();
    for (int round = 0; round < 12; ++round) {
        model.sweep(Over::All);
        REQUIRE(model.energy() <= last + rounding);
        last = model.energy();
        const bool lower = face.step(model, {});
        REQUIRE(lower ? model.energy() < last : model.energy() == last);
        last = model.energy();
    }
    for (Index k = 0; k < penalty.blocks(); ++k) {
        const Index first = penalty.starts[k], size = penalty.starts[k + 1] - first;
        std::vector<double> slope(size);
        for (Index j = 0; j < size; ++j) model.slopes(first + j, &slope[j]);
        REQUIRE_NEAR(penalty.residual_of_block(k, slope.data(), &model.w[first]), 0.0, 1e-9);
    }
}

// Sweeps alone, extrapolated, come to the same point.
void test_extrapolation() {
    check::Random random(8);
    const Matrix x = check::random_matrix(40, 10, random);
    const Layout layout = check::sparse<double, std::int32_t>(x, true);
    const auto slots = check::all_columns(10);
    auto columns = make_columns(false, 40, nullptr);
    columns->append(layout.rows, true, slots, {});
    columns->scale(nullptr, slots, {});
    const Penalty penalty = groups(10, 1, 0, 0.1);
    Quadratic plain = model_of(*columns, penalty, slots, random);
    Quadratic faster = plain;
    Extrapolation extrapolation;
    int moved = 0, sweeps = 0;
    while (faster.sweep(Over::All).violation > 1e-12 && ++sweeps < 2000) {
        const double before = faster.energy();
        moved += extrapolation(faster);
        REQUIRE(faster.energy() <= before + rounding);
    }
    REQUIRE(moved > 0 && sweeps < 2000);
    for (int round = 0; round < 4000; ++round) plain.sweep(Over::All);
    for (std::size_t j = 0; j < plain.w.size(); ++j) REQUIRE_NEAR(faster.w[j], plain.w[j], 1e-9);
}

void test_stop() {
    check::Random random(4);
    const Matrix x = check::random_matrix(200, 40, random);
    const Layout layout = check::dense<double>(x, true, 0);
    const Fit fit = fit_of({"logistic", 0}, x, true, false);
    const Target target = fit.target();
    Descent descent(target, true);
    const auto features = check::all_columns(40);
    descent.append(layout.rows, true, features, features, {});
    DescentPoint point{std::vector<double>(40), {0.0}, std::vector<double>(200)};
    StopToken over(0.0);
    const Context late{1, &over};
    bool ended = false;
    try {
        ended = descent.minimise(features, groups(40, 1, 0, 1e-4), {1e-14, 1000}, point, late).stopped;
    } catch (const Stopped&) {
        ended = true;
    }
    REQUIRE(ended);
    for (const double w : point.w) REQUIRE(std::isfinite(w));
}

}  // namespace

int main() {
    check::Random random;
    for (const auto& a : {check::random_matrix(30, 6, random), check::random_matrix(7, 6, random)})
        for (const Layout& x : column_layouts(a))
            for (const bool centred : {false, true})
                for (const bool weighted : {false, true})
                    for (const Index outputs : {1, 3}) test_columns(a, x, centred, weighted, outputs);
    test_lower_products();
    test_prox();
    test_descents();
    test_face(0.0, 0.1);
    test_face(0.3, 0.0);
    test_face(0.2, 0.05);
    test_extrapolation();
    test_stop();
}
