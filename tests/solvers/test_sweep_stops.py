"""Ctrl-C and deadlines end a sweep within its steps: the rounds here would take minutes."""

from __future__ import annotations

import os
import signal
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, solve
from paring.constraints import TopK
from paring.solvers.asbcdht import ASBCDHT
from paring.solvers.saga_ht import SAGAHT
from paring.solvers.sbcd_htp import SBCDHTP
from paring.solvers.sg_ht import SGHT
from paring.solvers.svrg_ht import SVRGHT

SOON = 0.3  # seconds
MANY = 3_000_000  # steps of a round

SOLVERS = {
    "sg-ht": SGHT(inner=MANY, batch=2),
    "svrg-ht": SVRGHT(inner=MANY),
    "svrg-ht row": SVRGHT(inner=MANY, coordinates="row"),
    "saga-ht": SAGAHT(inner=MANY),
    "asbcdht": ASBCDHT(inner=MANY, batch=2, ends="last"),
    "sbcd-htp": SBCDHTP(inner=MANY, batch=2),
}
EVERY = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
LAYOUT = pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])


def slow(layout) -> Problem:
    X = np.random.default_rng(0).standard_normal((30, 20_000))
    return Problem(layout(X), X[:, 0], constraint=TopK(5))


@EVERY
@LAYOUT
def test_deadline(solver, layout) -> None:
    p = slow(layout)
    result = solve(p, solver, time_limit=SOON, random_state=0)
    assert result.stop_reason == "time_limit"
    assert result.n_iter == 1
    assert result.objective == pytest.approx(result.null_objective)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to oneself ends a Windows process")
@EVERY
def test_ctrl_c(solver) -> None:
    p = slow(np.asarray)
    timer = threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        result = solve(p, solver, random_state=0)
    finally:
        timer.cancel()
        timer.join()
    assert result.stop_reason == "interrupted"
    assert np.isfinite(result.coef).all()
