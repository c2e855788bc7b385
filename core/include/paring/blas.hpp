// The LAPACK routines the core calls, by Fortran's calling convention. Plain loops stand in
// until the host program installs a tuned library (the Python side lends SciPy's, so that no second one is
// loaded).
#pragma once

#include "paring/types.hpp"

namespace paring {

struct Blas {
    using Potrf = void(char*, int*, double*, int*, int*);
    Potrf* dpotrf = nullptr;
    Potrf* dpotri = nullptr;
};

void install_blas(const Blas& blas);

// Lower Cholesky factor of the k x k matrix in place (leading dimension k); false where it is not positive
// definite.
bool cholesky(double* h, Index k);

// x <- (L L')^-1 x.
void cholesky_solve(const double* factor, Index k, double* x);

// Both triangles of (L L')^-1, over the factor.
void cholesky_inverse(double* factor, Index k);

}  // namespace paring
