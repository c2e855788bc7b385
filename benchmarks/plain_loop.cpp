// The steps of s2bcd-htp as one would write them by hand for one problem: logistic loss, CSR of doubles and 32-bit
// indices, one worker, no intercept. What the library's sweep is measured against.
#include <cmath>
#include <cstdint>

extern "C" {

// blocks: of each column, -1 for those in every one; null: every column of a row moves. moves: of each column c,
// 1 / (1 + c ridge D_j), c D_j (mu_j - ridge anchor_j).
void plain_steps(const double* values, const std::int32_t* columns, const std::int32_t* starts, const double* y,
                 const double* v, const double* anchor, const double* moves, const std::int16_t* blocks,
                 const std::int64_t* order, const std::int16_t* chosen, std::int64_t steps, double* w) {
    for (std::int64_t t = 0; t < steps; ++t) {
        const std::int64_t i = order[t];
        double z = 0;
        for (std::int32_t p = starts[i]; p < starts[i + 1]; ++p) z += values[p] * w[columns[p]];
        const double delta = -v[i] * y[i] / (1 + std::exp(y[i] * z)) - anchor[i];
        for (std::int32_t p = starts[i]; p < starts[i + 1]; ++p) {
            const std::int32_t j = columns[p];
            if (blocks != nullptr && blocks[j] != -1 && blocks[j] != chosen[t]) continue;
            const double* m = moves + 3 * static_cast<std::int64_t>(j);
            w[j] = (w[j] - m[0] * delta * values[p] - m[2]) * m[1];
        }
    }
}
}
