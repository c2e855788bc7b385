"""Accelerated stochastic block coordinate descent with hard thresholding (ASBCDHT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never, an l2 ball)

    anchor = w,  mu = grad F(anchor),  the columns cut at random, once, into ``blocks`` parts;
    then z times, a batch B of rows and a block G drawn anew:
    w_G <- w_G - c (mean over B of (grad_i(w) - grad_i(anchor)) + mu)_G,       b likewise
    w <- H_k(w)

with z drawn from {0, .., m - 1} (the paper) or z = m (``ends="last"``). Blocks times the mean direction is grad F(w).

Source: Chen & Gu 2016, Algorithm 1; blocks=10, batch 1 or 10, m = n, as there.
Cost of a step: O(k + entries of the batch) on sparse rows (the largest |mu_j| of each block are ranked once a round);
on dense ones k and d / blocks numbers of each row. A round: its steps and a pass. A step counts as batch / (n blocks)
passes. Thresholds every step.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.rules import Sampling
from paring.solvers.sbcd_htp import partition
from paring.solvers.smoothness import mean_curvature, plain_metric, row_squares, safe_length
from paring.solvers.steps import Metric
from paring.solvers.stochastic import Anchor, Stochastic, Swept, anchor_arguments, as_intercept, core_arguments


class ASBCDHT(Stochastic):
    """blocks : parts of the columns. batch : rows of a step. inner : m (default n). ends : "random" or "last".

    step : "estimate" (1 over the curvature of a batch's gradient), a number, a rule, or "tuned".
    sampling : ``Uniform()``, ``Shuffled()`` or ``ByNorm()``. scaling : "none" (the paper) or "curvature".
    tol bounds the fixed-point residual: what a full gradient step would gain, relative to F at the null model.
    """

    blocks: int
    ends: str
    scaling: str
    name: ClassVar[str] = "asbcdht"
    projects: ClassVar[bool] = True

    def __init__(
        self,
        step: Any = "estimate",
        *,
        blocks: int = 10,
        batch: int = 10,
        inner: int | None = None,
        ends: str = "random",
        sampling: Sampling | None = None,
        scaling: str = "none",
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling)
        if blocks < 1:
            raise ValueError(f"asbcdht: blocks must be at least 1, got {blocks!r}")
        if ends not in ("random", "last"):
            raise ValueError(f"asbcdht: ends must be 'random' or 'last', got {ends!r}")
        self._set(blocks=blocks, ends=ends, scaling=scaling)

    def metric(self, problem: Any) -> Metric:
        return plain_metric(problem, self.scaling)

    def measured(self, problem: Any, metric: Metric, rng: np.random.Generator) -> tuple[Any, Any]:
        blocks = min(self.blocks, problem.d)
        block_of = partition(problem.d, blocks, rng)
        return row_squares(problem, metric, block_of, blocks), block_of

    def safe(self, problem: Any, state: Anchor) -> float:
        """A step moves one block: its curvature counts. Blocks drawn at random are alike; the first is looked at."""
        mean = mean_curvature(problem, state.z, state.metric, state.carried == 0) if self.batch > 1 else 0.0
        return safe_length(self.sampling.largest(state.curvatures), mean, self.batch)

    def count(self, problem: Any) -> int:
        return self.inner or int(problem.n)

    def sweep(self, problem: Any, state: Anchor, steps: Any, rng: np.random.Generator) -> Swept:
        blocks = min(self.blocks, problem.d)
        block_of = state.carried
        z = int(rng.integers(len(steps))) if self.ends == "random" else len(steps)
        visits = self.visits(state, z, rng)
        w, b = _core.sweep_frozen(
            **core_arguments(problem, state, visits, np.full(z, steps[0])),
            **anchor_arguments(problem, state),
            block_of=block_of,
            blocks=blocks,
            chosen=rng.integers(blocks, size=z, dtype=np.int32),
        )
        return Swept(w, as_intercept(b), len(visits[0]) / problem.n / blocks, z, block_of)
