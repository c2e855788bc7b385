#include "bindings.hpp"

NB_MODULE(_core, m) {
    nanobind::set_leak_warnings(false);  // objects alive at exit are the interpreter's to end, not news for users
    m.doc() = "The compiled sweeps of paring.";
    m.attr("version") = PARING_VERSION;
    paring::bind_parallel(m);
    paring::bind_loss(m);
    paring::bind_rows(m);
    paring::bind_block(m);
    paring::bind_newton(m);
    paring::bind_tableau(m);
    paring::bind_descent(m);
    paring::bind_dual(m);
    paring::bind_formats(m);
    paring::bind_proximal(m);
    paring::bind_s2bcd(m);
    paring::bind_sweeps(m);
}
