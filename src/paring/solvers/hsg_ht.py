"""Hybrid stochastic gradient hard thresholding (HSG-HT): batches that grow from a few rows to all.

    min F(w, b)   subject to   |w|_0 <= k   (always, never, an l2 ball)

    in step t draw B of min(n, first growth^t) rows without repetition;
    w <- H_k(w - c (mean over B of v_i slope_i x_i + ridge w)),       b likewise

Early steps are cheap, and the noise dies out as fast as the error does. Once a batch is all rows this is IHT.

Source: Zhou, Yuan & Feng 2018. Theory: growth of 1 / (1 - 1/(480 kappa)), c about 1 / L.
Cost of a step: O(k + entries of the batch) on sparse rows; a run along each row on dense ones; a pass once the batch is
all rows. A round takes the steps whose rows make up one pass, with the safe step of the first of their batches.
Thresholds every step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.smoothness import mean_curvature, row_curvatures, safe_length
from paring.solvers.stochastic import Anchor, Stochastic, Swept, as_intercept, core_arguments

LONGEST = 100_000  # steps by which any growth has come to all rows, and before which a power overflows


class HSGHT(Stochastic):
    """first : rows of the first step. growth : of the batch from step to step.

    step : "estimate" (1 over the curvature of a batch's gradient), a number, a rule, or "tuned".
    tol bounds the fixed-point residual: what a full gradient step would gain, relative to F at the null model.
    """

    first: int
    growth: float
    name: ClassVar[str] = "hsg-ht"
    projects: ClassVar[bool] = True
    anchored: ClassVar[bool] = False

    def __init__(self, step: Any = "estimate", *, first: int = 1, growth: float = 1.05) -> None:
        super().__init__(step)
        if not (first >= 1 and 1 < growth < np.inf):
            raise ValueError(f"hsg-ht: first must be at least 1 and growth more than 1, got {first!r} and {growth!r}")
        self._set(first=first, growth=growth)

    def sizes(self, problem: Any, t: int) -> list[int]:
        """The batches of a round that begins with step t."""
        sizes: list[int] = []
        while sum(sizes) < problem.n:
            sizes.append(int(min(problem.n, np.ceil(self.first * self.growth ** min(t + len(sizes), LONGEST)))))
        return sizes

    def paced(self, problem: Any, state: Anchor) -> Anchor:
        t, mean = (0, None) if state.carried is None else state.carried
        if mean is None or not np.isfinite(problem.loss.curvature_bound):
            mean = mean_curvature(problem, state.z, state.metric)
        largest = float(row_curvatures(problem, state.squares, state.z, state.metric).max())
        return replace(state, safe=safe_length(largest, mean, self.sizes(problem, t)[0]), carried=(t, mean))

    def count(self, problem: Any) -> int:
        return 1  # steps of a round are of one length

    def sweep(self, problem: Any, state: Anchor, steps: Any, rng: np.random.Generator) -> Swept:
        t, mean = state.carried
        sizes = self.sizes(problem, t)
        carried = (t + len(sizes), mean)
        if sizes[0] == problem.n:
            return self.whole(problem, state, float(steps[0]), carried)
        order = np.concatenate([rng.choice(problem.n, size, replace=False) for size in sizes]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        given = core_arguments(problem, state, (order, starts), np.full(len(sizes), steps[0]))
        w, b = _core.sweep_frozen(**given)
        return Swept(w, as_intercept(b), len(order) / problem.n, len(sizes), carried)

    def whole(self, problem: Any, state: Anchor, c: float, carried: Any) -> Swept:
        """The step with all rows: its gradient is known."""
        b = state.b - c / state.metric.h_b * state.gb if problem.fit_intercept else state.b
        return Swept(state.w - c * state.g, b, 1.0, 1, carried)
