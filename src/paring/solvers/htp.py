"""Hard thresholding pursuit (HTP, GraHTP).

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds)

    S <- supp H_k(w - c grad F(w)),        (w, b) <- argmin { F(w, b) : supp w in S }

with the step c, and the metric in which H_k keeps the largest, of ``steps.py``. It ends when S repeats: w is then the
minimiser on S and a fixed point of thresholding. A support visited before (a cycle; not with backtracking, where F
falls) ends it at the best model met.

Source: Foucart 2011; GraHTP: Yuan, Li & Zhang 2014.
Cost a round: one pass, O(d) for H_k, a restricted minimisation (n k^2 and a factor of k^3/3 for each of its Hessians).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from paring.result import Certificate
from paring.solvers._loop import Run, start_model
from paring.solvers.iterate import OnSupport, arrived, fixed_point, minimised
from paring.solvers.refusals import refuse
from paring.solvers.steps import Stepping, Trial, metric_of


class HTP(Stepping):
    """step : ``Backtracking()`` (default), ``Normalised()``, ``Lipschitz()`` or ``Fixed(step)``.

    scaling : "none", or "curvature" to weigh features by the curvature of F along them.
    It ends at a fixed point whatever tol is.
    """

    name: ClassVar[str] = "htp"

    def init(self, problem: Any, run: Run) -> OnSupport:
        refuse(problem, self)
        metric = metric_of(problem, self.scaling)
        self.rule.check(problem, metric)
        return OnSupport(**arrived(problem, start_model(problem, run.start)), metric=metric)

    def step(self, problem: Any, state: OnSupport, run: Run) -> OnSupport:
        trial = Trial(problem, state, state.metric)
        move = self.rule.choose(trial)
        state = replace(
            state,
            residual=move.gain / problem.scale,
            thresholdings=state.thresholdings + trial.thresholdings,
            step=move.step,
        )
        return minimised(problem, state, move.w, move.b)

    def certificate(self, problem: Any, state: OnSupport, run: Run) -> Certificate:
        return fixed_point(problem, state, run.tol, state.step)
