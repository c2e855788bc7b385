"""Orthogonal matching pursuit, for any smooth loss.

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds)

    j <- argmax over outsiders of (dF/dw_j)^2 / h_j,   S <- S + {j},   (w, b) <- argmin { F : supp w in S };   k times

h = 1 (scaling="none"), or the curvature of F along each feature ("curvature"): the gain of moving that weight alone.
Units always kept enter first; within bounds only the gain inside them counts. It ends early where no unit gains.

Squared loss without bounds: the Cholesky factor of the support's Gram matrix grows by a row a feature. Otherwise each
minimisation starts from the last.

Source: Pati, Rezaiifar & Krishnaprasad 1993; Cholesky updating: Rubinstein, Zibulevsky & Elad 2008; with any loss:
gradient pursuit, Blumensath & Davies 2008.
Cost a feature: one pass, and 2 n |S| + |S|^2 (squared), or a restricted minimisation. Memory: n k numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring.result import Certificate, PathPoint
from paring.solvers._loop import Run, start_model
from paring.solvers.factor import Collinear, GrowingFactor
from paring.solvers.iterate import Iterate, arrived, fixed_point, unit_gains
from paring.solvers.refusals import refuse
from paring.solvers.steps import metric_of, model_of, support_of

Indices = NDArray[np.int64]

NEGLIGIBLE = 1e-20  # of the null objective: a gain this small is made of rounding


@dataclass(kw_only=True)
class Growing(Iterate):
    """The minimiser on ``features``, in order of entry; ``factor``: their Gram matrix's, where it is of use.

    settled : whether the minimum on ``features`` was reached.
    """

    features: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    factor: GrowingFactor | None = None
    settled: bool = True


@dataclass(frozen=True)
class OMP:
    """scaling : "none", or "curvature" to weigh features by the curvature of F along them.

    ``result.path`` holds the model of every size on the way.
    """

    scaling: str = "none"
    name: ClassVar[str] = "omp"

    def init(self, problem: Any, run: Run) -> Growing:
        refuse(problem, self)
        metric = metric_of(problem, self.scaling)
        model = start_model(problem, run.start)
        state = Growing(**arrived(problem, model), metric=metric)
        if problem.loss.name == "squared" and problem.constraint.lower is None:
            state.factor = GrowingFactor(problem)
        begun = support_of(problem.constraint, state.w)
        return self._entered(problem, state, begun) if len(begun) else state

    def step(self, problem: Any, state: Growing, run: Run) -> Growing:
        constraint = problem.constraint
        chosen = constraint.units_of(state.features)
        gains = unit_gains(problem, state)
        gains[chosen] = gains[constraint.never] = -1.0
        j = int(np.argmax(gains))
        state = replace(state, residual=max(0.0, 0.5 * gains[j]) / problem.scale)
        if len(chosen) >= constraint.k or state.residual <= NEGLIGIBLE:
            return replace(state, done=_ended(state))
        state = self._entered(problem, state, constraint.features(np.array([j])))
        return replace(state, done=_ended(state)) if len(chosen) + 1 == constraint.k else state

    def _entered(self, problem: Any, state: Growing, new: Indices) -> Growing:
        """The minimiser once ``new`` features have joined. Cost: a minimisation and one pass."""
        features = np.concatenate([state.features, new])
        w, factor, settled = np.zeros_like(state.w), state.factor, True
        if factor is not None:
            try:
                w[features], b, z = factor.entered(new)
            except Collinear:
                factor = None
        if factor is None:
            found = problem.minimise_on(features, state.w[features], state.b)
            w[features], b, z, settled = found.w, found.b, found.z, found.converged
        here = arrived(problem, model_of(problem.constraint, w, b), z)
        size = len(problem.constraint.units_of(features))
        point = PathPoint(size, here["model"], here["objective"])
        thresholdings = state.thresholdings + 1
        path = {**state.path, size: point}
        state = replace(state, **here, features=features, factor=factor, thresholdings=thresholdings, path=path)
        return replace(state, settled=settled)

    def certificate(self, problem: Any, state: Growing, run: Run) -> Certificate:
        return fixed_point(problem, state, run.tol)


def _ended(state: Growing) -> str:
    return "converged" if state.settled else "stalled"
