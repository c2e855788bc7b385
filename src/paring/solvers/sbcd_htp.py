"""Semi-stochastic block coordinate descent hard thresholding pursuit (SBCD-HTP).

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds, an l2 ball)

    anchor = w,  mu = grad F(anchor),  the columns cut at random, once, into ``blocks`` parts;
    then ``inner`` times, a batch B of rows and a block G drawn anew, on S = supp(anchor) u G:
    w_S <- w_S - c (mean over B of (grad_i(w) - grad_i(anchor)) + mu)_S,       b likewise
    and once a round   w <- H_k(w)

Between two thresholdings w uses all features. The mean direction is grad F(w) on the anchor's support and 1/blocks of
it elsewhere, which is not the gradient under any factor; an inequality behind the paper's Theorem 1 fails by
a factor ``blocks``; the rate is not proved.

Source: "Efficient high-dimensional data representation learning via semi-stochastic block coordinate descent methods"
(ICLR 2023 submission), Algorithm 1; blocks=10, batch 3 to 5, 2n steps a round, as there.
Cost of a step: the entries of the batch on sparse rows (columns catch up when they are touched; O(d) a round), O(d) a
row on dense ones. A round: its steps, a pass, one thresholding. A step counts as batch / (n blocks) passes.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.rules import Estimate, Sampling
from paring.solvers.smoothness import plain_metric, row_squares
from paring.solvers.steps import Metric, support_of
from paring.solvers.stochastic import (
    Anchor,
    Stochastic,
    Swept,
    anchor_arguments,
    as_intercept,
    core_arguments,
    no_limits,
)

DEFAULT_STEP = Estimate(0.5)  # of the safe step: what H_k then throws away is less, on text and on dense data


class SBCDHTP(Stochastic):
    """blocks : parts of the columns. batch : rows of a step. inner : steps of a round (default 2 n).

    step : half of the "estimate" (1 over the curvature of a batch's gradient) by default; a number, a rule, or "tuned".
    sampling : ``Uniform()``, ``Shuffled()`` or ``ByNorm()``. scaling : "none" (the paper) or "curvature".
    tol bounds the fixed-point residual: what a full gradient step would gain, relative to F at the null model.
    """

    blocks: int
    scaling: str
    name: ClassVar[str] = "sbcd-htp"
    projects: ClassVar[bool] = True
    only_features: ClassVar[bool] = False

    def __init__(
        self,
        step: Any = DEFAULT_STEP,
        *,
        blocks: int = 10,
        batch: int = 4,
        inner: int | None = None,
        sampling: Sampling | None = None,
        scaling: str = "none",
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling)
        if blocks < 1:
            raise ValueError(f"sbcd-htp: blocks must be at least 1, got {blocks!r}")
        self._set(blocks=blocks, scaling=scaling)

    def metric(self, problem: Any) -> Metric:
        return plain_metric(problem, self.scaling)

    def measured(self, problem: Any, metric: Metric, rng: np.random.Generator) -> tuple[Any, Any]:
        return row_squares(problem, metric), partition(problem.d, min(self.blocks, problem.d), rng)

    def count(self, problem: Any) -> int:
        return self.inner or 2 * problem.n

    def sweep(self, problem: Any, state: Anchor, steps: Any, rng: np.random.Generator) -> Swept:
        blocks = min(self.blocks, problem.d)
        block_of = state.carried
        visits, lengths = self.visits(state, len(steps), rng), np.full(len(steps), steps[0])
        w, b = _core.sweep_blocks(
            **core_arguments(problem, state, visits, lengths, no_limits(problem, state.metric)),
            **anchor_arguments(problem, state),
            group_of=self.groups(problem, state, block_of),
            groups=blocks + 1,
            chosen=rng.integers(1, blocks + 1, size=len(steps), dtype=np.int32),
        )
        return Swept(w, as_intercept(b), len(visits[0]) / problem.n / blocks, 1, block_of)

    def groups(self, problem: Any, state: Anchor, block_of: Any) -> Any:
        """0 for the anchor's support, -1 for features never kept, 1 + block for the others."""
        constraint = problem.constraint
        group_of = block_of + np.int32(1)
        group_of[support_of(constraint, state.w)] = 0
        group_of[constraint.features(np.flatnonzero(constraint.never))] = -1
        return group_of


def partition(d: int, blocks: int, rng: np.random.Generator) -> Any:
    """The block of each column: parts of equal size (within one) drawn at random."""
    return (rng.permutation(d) % blocks).astype(np.int32)
