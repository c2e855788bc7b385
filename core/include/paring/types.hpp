// Words shared by the whole core.
#pragma once

#include <cstdint>
#include <limits>

#if defined(PARING_NO_CLONES) || !defined(__x86_64__) || !defined(__gnu_linux__)
#define PARING_CLONES
#else
// One source, three machine codes; the loader picks. For leaf kernels only.
#define PARING_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#endif

namespace paring {

using Index = std::int64_t;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace paring
