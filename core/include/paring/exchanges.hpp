// Which member of the support, exchanged for which outsider, lowers a quadratic model most?
//
//     dF(j out, i in) = w_j^2 / (2 Q_jj) - (g_i - w_j T_ij / Q_jj)^2 / (2 (s_i + T_ij^2 / Q_jj))
//
// Q the inverse Hessian on the support, T = Q H_{S,:}, s the Schur complements of the outsiders. Exact for
// squared loss.
#pragma once

#include <vector>

#include "paring/parallel.hpp"

namespace paring {

struct Ranked {
    double change;
    Index leave, enter;
};

struct ExchangeModel {
    const double* t;  // k x m, row-major, leading dimension ld
    Index k, m, ld;
    const double *q, *w;  // k: diagonal of Q, weights
    const double *g, *s,
        *floor;                  // m: gradients, Schur complements, least curvature after the exchange that is believed
    const unsigned char* fixed;  // k: must not leave; may be null
    const double* correction = nullptr;  // k: added to what leaving costs in the model; may be null
};

// The `count` exchanges of least dF below `below`, best first (ties: lowest indices). Outsiders with s =
// infinity never enter.
std::vector<Ranked> best_exchanges(const ExchangeModel& model, Index count, double below, const Context& context);

// The first `most` of these in which no member and no outsider comes more than `alike` times.
std::vector<Ranked> varied(const std::vector<Ranked>& ranked, int alike, Index most);

}  // namespace paring
