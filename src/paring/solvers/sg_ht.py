"""Stochastic gradient hard thresholding (SG-HT, StoIHT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never, an l2 ball)

    draw a batch B of rows;   w <- H_k(w - c (mean over B of v_i slope_i x_i + ridge w)),   b likewise

with one step c, or one that falls. With a constant step it settles at a distance from the optimum that the noise of
single rows sets; the best model met is returned.

Source: Nguyen, Needell & Woolf 2017 (StoIHT); the SG-HT of Li et al. 2016.
Cost of a step: O(k + entries of the batch) on sparse rows, one run along each row on dense ones. Thresholds every step.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.rules import Sampling
from paring.solvers.stochastic import Anchor, Stochastic, Swept, as_intercept, core_arguments


class SGHT(Stochastic):
    """step : "estimate" (1 over the curvature of a batch's gradient), ``Decreasing(..)``, a number, or "tuned".

    batch : rows of a step; what single rows draw into the support is mostly noise.
    inner : steps between two looks at F (default n / batch: one pass).
    sampling : ``Uniform()``, ``Shuffled()`` or ``ByNorm()``.
    tol bounds the fixed-point residual, which steps that do not fall seldom reach.
    """

    name: ClassVar[str] = "sg-ht"
    projects: ClassVar[bool] = True
    anchored: ClassVar[bool] = False

    def __init__(
        self, step: Any = "estimate", *, batch: int = 20, inner: int | None = None, sampling: Sampling | None = None
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling)

    def sweep(self, problem: Any, state: Anchor, steps: Any, rng: np.random.Generator) -> Swept:
        visits = self.visits(state, len(steps), rng)
        w, b = _core.sweep_frozen(**core_arguments(problem, state, visits, steps))
        return Swept(w, as_intercept(b), len(visits[0]) / problem.n, len(steps))
