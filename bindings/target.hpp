// A target with the arrays that own its memory: what minimisers are bound on.
#pragma once

#include "bindings.hpp"
#include "paring/newton.hpp"

namespace paring {

struct OwnedTarget {
    Target target;
    nb::object owners;
};

}  // namespace paring
