"""Stochastic variance reduced gradient hard thresholding (SVRG-HT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never, an l2 ball)

    anchor = w,  mu = grad F(anchor);   then ``inner`` times, a batch B of rows drawn anew:
    w <- H_k(w - c (mean over B of (grad_i(w) - grad_i(anchor)) + mu))       [then w <- w min(1, tau/|w|)]

with grad_i(w) = v_i slope_i x_i + ridge w; the last w is the next anchor. The mean direction is grad F(w). The paper
prints max{|w|, tau} for the ball, which would scale every w up to it.

``coordinates="row"``: only the columns that a row touches move, mu_j + ridge (w_j - anchor_j) times
D_j = n / (rows that store column j), ridge implicitly (stable however rare a column). The mean direction is the same,
its variance larger; for sparse rows.

Source: Li, Zhao, Arora, Liu & Haupt 2016, Algorithm 1. Theory: c about 1 / (18 L), k a multiple of kappa^2 k*.
Cost of a step: O(k + entries of the batch) on sparse rows, whatever d: off the support w is zero before each step, so
that besides the touched columns only the largest |mu_j| can enter, ranked once a round in O(d). Dense rows: one run
along the row and mu. A round: its steps and one pass. Thresholds every step.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.rules import Sampling
from paring.solvers.smoothness import plain_metric
from paring.solvers.steps import Metric
from paring.solvers.stochastic import Anchor, Stochastic, Swept, anchor_arguments, as_intercept, core_arguments


class SVRGHT(Stochastic):
    """step : "estimate" (1 over the curvature of a batch's gradient), a number, a rule, or "tuned".

    batch : rows of a step. inner : steps of a round (default n / batch). sampling : ``Uniform()``, ``Shuffled()`` or
    ``ByNorm()``. coordinates : "all" (the paper) or "row". scaling : "none" (the paper) or "curvature".
    tol bounds the fixed-point residual: what a full gradient step would gain, relative to F at the null model.
    """

    coordinates: str
    scaling: str
    name: ClassVar[str] = "svrg-ht"
    projects: ClassVar[bool] = True

    def __init__(
        self,
        step: Any = "estimate",
        *,
        batch: int = 1,
        inner: int | None = None,
        sampling: Sampling | None = None,
        coordinates: str = "all",
        scaling: str = "none",
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling)
        if coordinates not in ("all", "row"):
            raise ValueError(f"svrg-ht: coordinates must be 'all' or 'row', got {coordinates!r}")
        self._set(coordinates=coordinates, scaling=scaling)

    def metric(self, problem: Any) -> Metric:
        return plain_metric(problem, self.scaling)

    def sweep(self, problem: Any, state: Anchor, steps: Any, rng: np.random.Generator) -> Swept:
        visits, lengths = self.visits(state, len(steps), rng), np.full(len(steps), steps[0])
        given = {**core_arguments(problem, state, visits, lengths), **anchor_arguments(problem, state)}
        if self.coordinates == "row":
            w, b = _core.sweep_by_rows(**given, often=problem.n / np.maximum(problem.design.column_counts(), 1))
        else:
            w, b = _core.sweep_frozen(**given)
        return Swept(w, as_intercept(b), len(visits[0]) / problem.n, len(steps))
