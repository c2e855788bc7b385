#include "bindings.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled sweeps of paring.";
    m.attr("version") = PARING_VERSION;
}
