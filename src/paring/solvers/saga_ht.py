"""Stochastic average gradient hard thresholding (SAGA-HT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never, an l2 ball)

    draw a batch B of rows;   new_i = v_i slope_i(w)
    w <- H_k(w - c (mean over B of (new_i - table_i) x_i + mean + ridge w)),       b likewise
    mean <- mean + sum over B of (new_i - table_i) x_i / n,     table_i <- new_i

The table holds one number a row (and class), not a gradient; ``mean`` is that of table_i x_i. It begins with the slopes
at the start, at the cost of one pass, and needs no other full gradient. The mean direction is grad F(w). (The paper's
box averages the table after its update, which is biased.)

Source: Li, Zhao, Arora, Liu & Haupt 2016, Algorithm 2; SAGA: Defazio, Bach & Lacoste-Julien 2014.
Cost of a step: on sparse rows O(k + entries of the batch + d / 4096) and 64 for each block of columns in which some
|mean_j| grew to where it may enter; on dense rows two runs along the row and the mean. Memory: n + d numbers a class.
Thresholds every step.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.rules import Sampling
from paring.solvers.smoothness import plain_metric
from paring.solvers.steps import Metric
from paring.solvers.stochastic import Anchor, Stochastic, Swept, anchor_arguments, as_intercept, core_arguments


class SAGAHT(Stochastic):
    """step : "estimate" (1 over the curvature of a batch's gradient), a number, a rule, or "tuned".

    batch : rows of a step. inner : steps between two looks at F (default n / batch: one pass).
    sampling : ``Uniform()``, ``Shuffled()`` or ``ByNorm()``. scaling : "none" (the paper) or "curvature".
    tol bounds the fixed-point residual: what a full gradient step would gain, relative to F at the null model.
    """

    scaling: str
    name: ClassVar[str] = "saga-ht"
    projects: ClassVar[bool] = True
    anchored: ClassVar[bool] = False

    def __init__(
        self,
        step: Any = "estimate",
        *,
        batch: int = 1,
        inner: int | None = None,
        sampling: Sampling | None = None,
        scaling: str = "none",
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling)
        self._set(scaling=scaling)

    def metric(self, problem: Any) -> Metric:
        return plain_metric(problem, self.scaling)

    def sweep(self, problem: Any, state: Anchor, steps: Any, rng: np.random.Generator) -> Swept:
        first = state.carried is None
        if first:
            begun = anchor_arguments(problem, state)
            table, mean, mean_b = begun["slopes"], begun["nu"], begun["nu_b"]
        else:
            table, mean, mean_b = state.carried
        visits = self.visits(state, len(steps), rng)
        given = core_arguments(problem, state, visits, np.full(len(steps), steps[0]))
        w, b, *carried = _core.sweep_moving(**given, table=table, mean=mean, mean_b=mean_b)
        passes = len(visits[0]) / problem.n + first
        return Swept(w, as_intercept(b), passes, len(steps), tuple(carried))
