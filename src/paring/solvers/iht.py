"""Iterative hard thresholding with the full gradient (IHT, FG-HT).

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds, an l2 ball)

    w <- H_k(w - c grad F(w)),        b <- b - c dF/db

with the step c, and the metric in which H_k keeps the largest, of ``steps.py``. With backtracking F falls every round.

Source: Blumensath & Davies 2009, normalised steps 2010; FG-HT of Li et al. 2016; for any loss: Yuan, Li & Zhang 2014.
Cost a round: one pass, O(d) for H_k, and scores on k features for each step tried.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from paring.result import Certificate
from paring.solvers._loop import Run, start_model
from paring.solvers.iterate import Iterate, arrived, fixed_point
from paring.solvers.refusals import refuse
from paring.solvers.steps import Move, Stepping, Trial, metric_of, support_of

DIVERGED = 1e3  # times the null objective: no step that descends on average comes here
VANISHED = 1e-12  # of the first step: what backtracking shrinks to where the gradient is not that of F


class IHT(Stepping):
    """step : ``Backtracking()`` (default), ``Normalised()``, ``Lipschitz()`` or ``Fixed(step)``.

    scaling : "none", or "curvature" to weigh features by the curvature of F along them.
    tol bounds the fixed-point residual: what the next step is modelled to gain, relative to F at the null model.
    """

    name: ClassVar[str] = "iht"
    projects: ClassVar[bool] = True

    def init(self, problem: Any, run: Run) -> Iterate:
        refuse(problem, self)
        metric = metric_of(problem, self.scaling)
        self.rule.check(problem, metric)
        return Iterate(**arrived(problem, start_model(problem, run.start)), metric=metric)

    def step(self, problem: Any, state: Iterate, run: Run) -> Iterate:
        trial = Trial(problem, state, state.metric, support_of(problem.constraint, state.w))
        move = self.rule.choose(trial)
        state = replace(
            state,
            residual=move.gain / problem.scale,
            thresholdings=state.thresholdings + trial.thresholdings,
            step=move.step,
        )
        if state.residual <= run.tol:
            state.done = "stalled" if move.step < VANISHED * state.metric.first else "converged"
            return state
        self._check_descent(problem, state, move)
        return replace(state, **arrived(problem, move.model, move.z))

    def _check_descent(self, problem: Any, state: Iterate, move: Move) -> None:
        limit = max(state.objective, problem.null[1] + DIVERGED * problem.scale)
        if not move.objective <= limit:
            raise ValueError(
                f"iht: the step {move.step:.3g} is too long, the objective rises to {move.objective:.3g}; "
                "use step=Backtracking(), or a shorter one"
            )

    def certificate(self, problem: Any, state: Iterate, run: Run) -> Certificate:
        return fixed_point(problem, state, run.tol, state.step)
