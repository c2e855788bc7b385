"""Where pursuit begins: with nothing, or with the support of k features that hard thresholding ends at.

Growing from nothing costs a stage for every size on the way. Where the ridge outweighs the curvature of most columns
features hardly stand in for each other, thresholding finds nearly all of the best k at once, and exchanges mend the
rest: the same objectives in a fraction of the time (docs/choose.md has the measurements). Where it does not, neither
beginning is the better one everywhere, and the lower of the two models is returned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.solvers._loop import Run
from paring.solvers.htp import HTP
from paring.solvers.iterate import OnSupport
from paring.solvers.steps import NoDescent

WAYS = ("auto", "stages", "all", "k")

SHORT = 16  # sizes up to here are quick to reach, and can be looked at twice;
CHEAP_PASS = 800_000  # so where X holds no more entries (nor columns): a pass is under a millisecond


def goes_straight(problem: Any, run: Run, sizes: str) -> bool:
    """Whether k is the only size to be visited. By itself only where features hardly interact, on large data."""
    if run.start is not None or sizes in ("stages", "all"):
        return False
    large = problem.constraint.k > SHORT and problem.design.entries > CHEAP_PASS
    return sizes == "k" or (large and ridge_outweighs(problem))


def looks_twice(problem: Any, run: Run, sizes: str) -> bool:
    """Whether the model grown from nothing is held against the one that thresholding begins."""
    return sizes == "auto" and run.start is None and problem.ridge > 0


def ridge_outweighs(problem: Any) -> bool:
    """The ridge is at least the mean curvature of F along a column, as the bound on the loss's has it."""
    return bool(problem.ridge >= problem.loss.curvature_bound * problem.variances.mean())


def begun(problem: Any, run: Run) -> OnSupport:
    """Hard thresholding pursuit, before its first round. Cost: one pass, and one a round."""
    return HTP().init(problem, run)


def round_of(problem: Any, state: OnSupport, run: Run) -> OnSupport | None:
    """None where no step along the gradient lowers F any more."""
    try:
        return HTP().step(problem, state, run)
    except NoDescent:
        return None


def units_of(problem: Any, state: OnSupport) -> NDArray[np.int64]:
    """What pursuit begins from: the support thresholding ended at, and what must always be in."""
    found = problem.constraint.units_of((state.best or state.model).support)
    return np.union1d(np.flatnonzero(problem.constraint.always), found).astype(np.int64)
