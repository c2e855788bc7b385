#include "paring/blas.hpp"

#include <cmath>
#include <vector>

#include "paring/kernels.hpp"

namespace paring {

namespace {

Blas installed;
constexpr Index plain_below = 48;  // a LAPACK call costs more than so small a factorisation

bool plain_cholesky(double* h, Index k) {
    for (Index j = 0; j < k; ++j) {
        double* column = h + j * k;
        for (Index p = 0; p < j; ++p) {
            const double factor = h[p * k + j];
            if (factor != 0)
                for (Index i = j; i < k; ++i) column[i] -= factor * h[p * k + i];
        }
        if (!(column[j] > 0) || !std::isfinite(column[j])) return false;
        const double scale = 1 / std::sqrt(column[j]);
        for (Index i = j; i < k; ++i) column[i] *= scale;
    }
    return true;
}

}  // namespace

void install_blas(const Blas& blas) { installed = blas; }

bool cholesky(double* h, Index k) {
    if (installed.dpotrf == nullptr || k < plain_below) return plain_cholesky(h, k);
    char uplo = 'L';
    int kk = static_cast<int>(k), info = 0;
    installed.dpotrf(&uplo, &kk, h, &kk, &info);
    bool finite = info == 0;  // not every library looks for NaN, and an infinite pivot passes all of them
    for (Index j = 0; j < k; ++j) finite = finite && std::isfinite(h[j * k + j]);
    return finite;
}

void cholesky_solve(const double* factor, Index k, double* x) {
    for (Index j = 0; j < k; ++j) {
        x[j] /= factor[j * k + j];
        axpy(-x[j], factor + j * k + j + 1, x + j + 1, k - j - 1);
    }
    for (Index j = k; j-- > 0;) {
        x[j] -= dot(factor + j * k + j + 1, x + j + 1, k - j - 1);
        x[j] /= factor[j * k + j];
    }
}

void cholesky_inverse(double* factor, Index k) {
    if (installed.dpotri != nullptr && k >= plain_below) {
        char uplo = 'L';
        int kk = static_cast<int>(k), info = 0;
        installed.dpotri(&uplo, &kk, factor, &kk, &info);
    } else {
        const std::vector<double> copy(factor, factor + k * k);
        for (Index j = 0; j < k; ++j) {
            double* column = factor + j * k;
            for (Index i = 0; i < k; ++i) column[i] = i == j ? 1.0 : 0.0;
            cholesky_solve(copy.data(), k, column);
        }
    }
    for (Index j = 0; j < k; ++j)
        for (Index i = j + 1; i < k; ++i) factor[i * k + j] = factor[j * k + i];
}

}  // namespace paring
