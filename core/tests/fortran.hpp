// Stand-ins for the LAPACK routines the core borrows: plain loops behind Fortran's calling convention, so that
// the way they are called is tested without a library.
#pragma once

#include <cmath>

#include "check.hpp"
#include "paring/blas.hpp"

namespace check {

inline int lapack_calls = 0;

inline void potrf(char* uplo, int* n, double* a, int* lda, int* info) {
    ++lapack_calls;
    REQUIRE(*uplo == 'L' && *lda >= *n);
    *info = 0;
    for (Index j = 0; j < *n; ++j) {
        double pivot = a[j * *lda + j];
        for (Index p = 0; p < j; ++p) pivot -= a[p * *lda + j] * a[p * *lda + j];
        if (!(pivot > 0)) {
            *info = static_cast<int>(j) + 1;
            return;
        }
        a[j * *lda + j] = std::sqrt(pivot);
        for (Index i = j + 1; i < *n; ++i) {
            double sum = a[j * *lda + i];
            for (Index p = 0; p < j; ++p) sum -= a[p * *lda + i] * a[p * *lda + j];
            a[j * *lda + i] = sum / a[j * *lda + j];
        }
    }
}

// Lower triangle of (L L')^-1, by solving with unit vectors.
inline void potri(char* uplo, int* n, double* a, int* lda, int* info) {
    ++lapack_calls;
    REQUIRE(*uplo == 'L' && *lda >= *n);
    *info = 0;
    const Index k = *n, ld = *lda;
    std::vector<double> inverse(static_cast<std::size_t>(k * k));
    for (Index c = 0; c < k; ++c) {
        double* x = inverse.data() + c * k;
        x[c] = 1;
        for (Index j = 0; j < k; ++j) {
            for (Index p = 0; p < j; ++p) x[j] -= a[p * ld + j] * x[p];
            x[j] /= a[j * ld + j];
        }
        for (Index j = k; j-- > 0;) {
            for (Index p = j + 1; p < k; ++p) x[j] -= a[j * ld + p] * x[p];
            x[j] /= a[j * ld + j];
        }
    }
    for (Index j = 0; j < k; ++j)
        for (Index i = j; i < k; ++i) a[j * ld + i] = inverse[static_cast<std::size_t>(j * k + i)];
}

inline void lend_blas() { paring::install_blas({potrf, potri}); }
inline void return_blas() { paring::install_blas({}); }

}  // namespace check
