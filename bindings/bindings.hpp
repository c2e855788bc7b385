// One bind_* function per file of this folder; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace paring {

namespace nb = nanobind;

}  // namespace paring
