"""Gradient support pursuit (GraSP; for squared loss CoSaMP).

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds)

    Z <- the 2k largest of grad F(w),   T <- Z + supp w,   u <- argmin { F : supp in T },   S <- supp H_k(u),
    (w, b) <- argmin { F : supp in S }                                                      (debiased)

It ends when S repeats, at a support visited before, or after PATIENCE rounds without a better model (F may rise from
one round to the next): the best model met is the answer, converged where it is a fixed point of thresholding.

Source: Bahmani, Raj & Boufounos 2013; CoSaMP: Needell & Tropp 2009.
Cost a round: one pass, and restricted minimisations on up to 3k and on k features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paring.result import Certificate
from paring.solvers._loop import Run, start_model
from paring.solvers.iterate import OnSupport, arrived, fixed_point, judged, minimised, to_best, unit_gains
from paring.solvers.refusals import refuse
from paring.solvers.steps import metric_of

PATIENCE = 5


@dataclass(frozen=True)
class GraSP:
    """scaling : "none", or "curvature" to weigh features by the curvature of F along them."""

    scaling: str = "none"
    name: ClassVar[str] = "grasp"

    def init(self, problem: Any, run: Run) -> OnSupport:
        refuse(problem, self)
        metric = metric_of(problem, self.scaling)
        return OnSupport(**arrived(problem, start_model(problem, run.start)), metric=metric)

    def step(self, problem: Any, state: OnSupport, run: Run) -> OnSupport:
        constraint = problem.constraint
        Z = constraint.best_units(unit_gains(problem, state), 2 * constraint.k)
        T = np.union1d(constraint.features(Z), np.flatnonzero(state.w if state.w.ndim == 1 else state.w.any(axis=1)))
        found = problem.minimise_on(T, state.w[T], state.b)
        u = np.zeros_like(state.w)
        u[T] = found.w
        w = constraint.project(u, state.metric.h)
        before = state.objective
        state = minimised(problem, state, w, found.b, thresholdings=state.thresholdings + 2)
        state.residual = max(0.0, before - state.objective) / problem.scale
        if state.done is None and state.without_progress < PATIENCE:
            return state
        return judged(problem, to_best(problem, state), run.tol)

    def certificate(self, problem: Any, state: OnSupport, run: Run) -> Certificate:
        return fixed_point(problem, state, run.tol)
