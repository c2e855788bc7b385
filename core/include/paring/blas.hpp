// The few BLAS and LAPACK routines the core calls, by Fortran's calling convention. Plain loops stand in
// until the host program installs a tuned library (the Python side lends SciPy's, so that no second one is
// loaded).
#pragma once

#include "paring/types.hpp"

namespace paring {

struct Blas {
    using Syrk = void(char*, char*, int*, int*, double*, double*, int*, double*, double*, int*);
    using Gemm = void(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*);
    using Potrf = void(char*, int*, double*, int*, int*);
    Syrk* dsyrk = nullptr;
    Gemm* dgemm = nullptr;
    Potrf* dpotrf = nullptr;
    Potrf* dpotri = nullptr;
};

void install_blas(const Blas& blas);

// H += A'A of the lower triangle; A is n x k by columns, H k x k.
void add_gram(const double* a, Index n, Index k, double* h);

// out (m x k, row-major) = B'A of n x k and n x m matrices by columns; false where no tuned library is
// installed.
bool multiply_transposed(const double* a, const double* b, Index n, Index k, Index m, double* out);

// Lower Cholesky factor of the k x k matrix in place (leading dimension k); false where it is not positive
// definite.
bool cholesky(double* h, Index k);

// x <- (L L')^-1 x.
void cholesky_solve(const double* factor, Index k, double* x);

// Both triangles of (L L')^-1, over the factor.
void cholesky_inverse(double* factor, Index k);

}  // namespace paring
