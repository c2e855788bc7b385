// Eight doubles as one value, for kernels on full matrices.
#pragma once

#include <cstring>

#include "paring/types.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors never cross a call that is not inlined

namespace paring {

constexpr Index width = 8;
using Wide = double __attribute__((vector_size(width * sizeof(double))));
using WideFloat = float __attribute__((vector_size(width * sizeof(float))));

[[gnu::always_inline]] inline Wide load(const double* x) {
    Wide out;
    std::memcpy(&out, x, sizeof out);
    return out;
}
[[gnu::always_inline]] inline Wide load(const float* x) {
    WideFloat narrow;
    std::memcpy(&narrow, x, sizeof narrow);
    return __builtin_convertvector(narrow, Wide);
}
[[gnu::always_inline]] inline void store(double* x, const Wide& wide) { std::memcpy(x, &wide, sizeof wide); }
[[gnu::always_inline]] inline double sum(const Wide& x) {
    return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
}

}  // namespace paring
