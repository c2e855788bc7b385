"""Fast Newton hard thresholding pursuit (FNHTP): a baseline.

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds)

    u <- c grad F(w),   then ``inner`` times, on rows B drawn anew:   u <- c grad F(w) + (I - c Hess_B F(w)) u
    S <- supp H_k(w - u),        (w, b) <- argmin { F(w, b) : supp w in S }

u tends to Hess^-1 grad F in the mean (with the first c; without it, to 1/c of it); ``repeats`` runs are averaged. It
contracts for c <= 1 / max_i (v_i loss''_i |x_i|^2 + ridge), which is the c taken. The intercept is a coordinate of u.
It ends when a support returns, at the best model met: converged where that is a fixed point of thresholding.

Source: Chen & Gu 2017. Cost a round: 1 + repeats inner batch / n passes, one thresholding, a restricted minimisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paring.result import Certificate
from paring.solvers._loop import Run, start_model
from paring.solvers.iterate import OnSupport, arrived, fixed_point, judged, minimised, to_best
from paring.solvers.large import Curvature
from paring.solvers.refusals import refuse
from paring.solvers.steps import metric_of


@dataclass(kw_only=True)
class NewtonState(OnSupport):
    """With |x_i|^2 + 1 of every row (the 1 for an intercept)."""

    norms: Any = None


@dataclass(frozen=True)
class FNHTP:
    """inner : steps of the recursion. batch : rows in each (default k). repeats : runs averaged.

    Random: the same ``random_state`` gives the same result.
    """

    inner: int = 1000
    batch: int | None = None
    repeats: int = 1
    name: ClassVar[str] = "fnhtp"

    def init(self, problem: Any, run: Run) -> NewtonState:
        refuse(problem, self)
        for setting, value in (("inner", self.inner), ("batch", self.batch), ("repeats", self.repeats)):
            if value is not None and not value >= 1:
                raise ValueError(f"fnhtp: {setting} must be at least 1, got {value!r}")
        norms = problem.design.row_squares() + float(problem.fit_intercept)
        metric = metric_of(problem, "none")
        return NewtonState(**arrived(problem, start_model(problem, run.start)), metric=metric, norms=norms)

    def step(self, problem: Any, state: NewtonState, run: Run) -> NewtonState:
        u, u_b = self.direction(problem, state, run.rng)
        w = problem.constraint.project(state.w - u)
        before = state.objective
        state = minimised(problem, state, w, state.b - u_b, thresholdings=state.thresholdings + 1)
        state.residual = max(0.0, before - state.objective) / problem.scale
        return state if state.done is None else judged(problem, to_best(problem, state), run.tol)

    def direction(self, problem: Any, state: NewtonState, rng: np.random.Generator) -> tuple[Any, Any]:
        """(u, u_b): the Newton direction by the stochastic recursion."""
        curvature = Curvature(problem, state.z)
        c = step_of(problem, state, curvature)
        batch = min(self.batch or problem.constraint.k, problem.n)
        total, total_b = np.zeros_like(state.w), state.gb * 0.0
        for _ in range(self.repeats):
            u, u_b = c * state.g, c * state.gb
            for _ in range(self.inner):
                B = rng.integers(problem.n, size=batch)
                rows = problem.design.rows(B)
                r = curvature.times(rows.scores(u) + u_b, B) * (problem.n / batch)
                u = c * state.g + u - c * (rows.adjoint(r) + problem.ridge * u)
                if problem.fit_intercept:
                    u_b = c * state.gb + u_b - c * r.sum(axis=0)
                problem.design.passes += batch / problem.n
                problem.design.stop.check()
            total, total_b = total + u, total_b + u_b
        return total / self.repeats, total_b / self.repeats

    def certificate(self, problem: Any, state: NewtonState, run: Run) -> Certificate:
        return fixed_point(problem, state, run.tol)


def step_of(problem: Any, state: NewtonState, curvature: Curvature) -> float:
    """c = 1 / max_i (v_i loss''_i |x_i|^2 + ridge); with the loss's bound where no row has curvature."""
    largest = float((problem.v * curvature.largest() * state.norms).max()) + problem.ridge
    if largest == 0:
        largest = float((problem.v * problem.loss.curvature_bound * state.norms).max())
    return 1.0 / largest if largest > np.finfo(float).tiny else 1.0
