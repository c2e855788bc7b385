"""Dual iterative hard thresholding (DIHT).

    max_a D(a) = -(1/n) sum_i v_i loss*(a_i) - max { c.w - (ridge/2) |w|^2 : w feasible },     c = -X'(v a)/n
    (TopK with groups, always, never, bounds; ridge > 0)

    w <- H_k(c / ridge),     a_i <- prox_{s loss*}(a_i + s (x_i.w - t))

t = 0; with an intercept the t for which sum_i v_i a_i = 0. The prox takes the place of the paper's gradient step
a_i + s (x_i.w - loss*'(a_i)), projected: the same update with s/(1 + mu s) for s where loss* is quadratic on its domain
(squared, huber, the hinges), and defined for the logistic loss, whose loss*' is infinite at the ends.
s = 1/(mu (t+1)), which is the paper's n/(mu (t+2)); c/(t+2) for the hinge (mu = 0); and no longer than ``reach`` over
the curvature of D seen along the last steps: without that, a small ridge costs hundreds of rounds before s is short
enough.

Start: the slopes at w = 0. What is kept, minimised on and reported, and when it ends: ``dual_ascent.py``.
Source: Yuan, Liu, Wang, Liu & Metaxas 2020, algorithm 1 (its text lost the minus signs of c).
Cost a round: one pass, O(d) for H_k; with an intercept two searches for a root in O(n) each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.solvers._loop import Run
from paring.solvers.dual_ascent import DualAscent, DualState, Refinement, step_lengths
from paring.solvers.refine import EXCHANGE

Array = NDArray[np.float64]

TURN = 20  # rounds until the hinge's c/(t+2) falls below the inverse of the first curvature seen: measured, diht.md
FORGET = 0.99  # a round's: how slowly a curvature once seen is forgotten


@dataclass(frozen=True)
class DIHT(DualAscent):
    """c : the constant of the hinge's steps (None: from the data). reach : how many times the inverse of the curvature
    seen a step may be; infinity for the paper's steps as they are. refine, patience, settled : see ``refine.py``
    and ``dual_ascent.py``; settled=0 goes on until the gap is within tol.

    tol bounds the dual gap relative to F at the null model; see ``dual_ascent.py`` for where it cannot close.
    """

    c: float | None = None
    reach: float = 1.0
    refine: Refinement = EXCHANGE
    patience: float = 20
    settled: float = 0.25
    name: ClassVar[str] = "diht"

    def init(self, problem: Any, run: Run) -> DualState:
        check_steps(self)
        state = super().init(problem, run)
        first = curvature_along(problem, state, state.a, state.c)
        return replace(state, curvature=first, c_of_steps=self.c or (TURN / first if first > 0 else 1.0))

    def ascend(self, problem: Any, state: DualState, run: Run) -> tuple[Array, DualState]:
        s = float(step_lengths(problem, state.c_of_steps, 1, state.steps))
        if state.curvature > 0:
            s = min(s, self.reach / state.curvature)
        a = moved(problem, state.a + s * state.z, s)
        return a, replace(state, steps=state.steps + 1)

    def step(self, problem: Any, state: DualState, run: Run) -> DualState:
        before = state
        state = super().step(problem, state, run)
        seen = curvature_along(problem, state, state.a - before.a, state.c - before.c)
        return replace(state, curvature=max(seen, FORGET * before.curvature))


def moved(problem: Any, u: Array, s: float) -> Array:
    """prox_{s loss*}(u - t), t = 0 or such that sum v a = 0. Rows without weight stay at 0."""
    core, y, v = problem.loss.core, problem.y, problem.v
    a = _core.balanced_prox(core, u, y, v, s, 0.0) if problem.fit_intercept else core.prox_conjugate(u, y, s)
    a[v == 0] = 0.0
    return a


def curvature_along(problem: Any, state: DualState, a: Array, c: Array) -> float:
    """-D'' along a change of a (in the norm mean v a^2), c changing with it, while the support of w stays."""
    size = float(problem.v @ a**2) / problem.n
    return float((c[state.features] ** 2).sum()) / (problem.ridge * size) if size > 0 else 0.0


def check_steps(solver: Any) -> None:
    """c and reach as settings may be."""
    if solver.c is not None and not (np.isfinite(solver.c) and solver.c > 0):
        raise ValueError(f"{solver.name}: c must be None or a positive number, got {solver.c!r}")
    if not solver.reach > 0:
        raise ValueError(f"{solver.name}: reach must be positive, got {solver.reach!r}")
