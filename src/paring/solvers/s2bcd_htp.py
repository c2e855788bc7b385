"""Sparse semi-stochastic block coordinate descent, thresholded once a round: serial (S2BCD-HTP) and asynchronous
(ASBCD-HTP).

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds, an l2 ball)

A round: anchor <- w, mu <- grad F(anchor); m steps with a row i and a block G drawn anew, on S = supp(anchor) u G:

    delta = v_i slope_i(w) - v_i slope_i(anchor)
    w_j  <- (w_j - c (delta x_ij + D_j (mu_j - ridge anchor_j))) / (1 + c ridge D_j)        j in S, stored in row i
    b    <- b - c (delta + mu_b)

then w <- H_k(w). D_j = n / (rows where column j is stored). With q_j = 1 on supp(anchor) and 1/blocks elsewhere, a
step's direction averages to q_j (grad F(w))_j, and with blocks=1 to the gradient.

The paper has no ridge of its own; taken at the old w_j it would be stable only for c ridge D_j < 2, so it is taken at
the new one. Its Algorithm 2 writes into its own anchor: here that is a frozen copy. What workers see of each other:
``semistochastic.py``.

Source: Algorithms 3 and 2 of "Efficient high-dimensional data representation learning via semi-stochastic block
coordinate descent methods" (ICLR 2023 submission). Cost of a round: a pass for mu, m steps of O(nonzeros of a row),
one thresholding.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.rules import Estimate, Sampling
from paring.solvers.semistochastic import IN_EVERY_BLOCK, Plain, Semistochastic, Store, Wild
from paring.solvers.stochastic import Anchor

# Of the safe step: the less w moves in a round, the less is lost when H_k cuts it. Of 2, 1, .. 1/16 the best or next to
# it after 20 rounds on text (two data sets; logistic, squared); the theory asks for 1/60.
DEFAULT_STEP = Estimate(0.125)


class S2BCDHTP(Semistochastic):
    """blocks : parts that the features are cut into, by chance, once a run. batch : rows of a step.

    inner : steps of a round (None: 2 n). step : an eighth of the "estimate" (1 over the curvature of a batch's
    gradient) by default; a number, a rule, or "tuned"; the same in a round. sampling : ``Uniform()``, ``Shuffled()``.
    scaling : "none", or "curvature" to weigh features by the curvature of F along them.
    tol bounds the fixed-point residual of thresholding. Random: the same ``random_state`` gives the same result.
    """

    name: ClassVar[str] = "s2bcd-htp"
    projects: ClassVar[bool] = True
    only_features: ClassVar[bool] = False

    def __init__(
        self,
        step: Any = DEFAULT_STEP,
        *,
        blocks: int = 10,
        batch: int = 1,
        inner: int | None = None,
        sampling: Sampling | None = None,
        scaling: str = "none",
    ) -> None:
        super().__init__(
            step, blocks=blocks, batch=batch, inner=inner, sampling=sampling, scaling=scaling, store=Plain()
        )

    def count(self, problem: Any) -> int:
        return self.inner or 2 * int(problem.n)

    def moving(self, problem: Any, state: Anchor, count: int, rng: np.random.Generator) -> _core.Moving:
        blocks = self.parts(problem)
        if blocks == 1:
            return _core.Moving.everywhere()
        labels = state.carried.copy()
        labels[state.model.support] = IN_EVERY_BLOCK
        return _core.Moving.in_blocks(labels, rng.integers(blocks, size=count, dtype=np.int16))

    def kept(self, problem: Any, state: Anchor) -> None:
        return None

    def thresholdings(self, count: int, workers: int) -> int:
        return 1

    def workers(self, problem: Any) -> int:
        return 1


class ASBCDHTP(S2BCDHTP):
    """The same by ``n_jobs`` workers at once, on one iterate.

    store : ``Wild()`` (default), ``Atomic()`` or ``Plain()``.
    blocks, batch, inner, step, sampling, scaling : as of S2BCDHTP. What a worker may see of the others:
    ``semistochastic.py``. With n_jobs=1 the same ``random_state`` gives the same bits, those of S2BCDHTP; with more
    workers no two runs are alike.
    """

    name: ClassVar[str] = "asbcd-htp"

    def __init__(self, step: Any = DEFAULT_STEP, *, store: Store | None = None, **settings: Any) -> None:
        super().__init__(step, **settings)
        self._set(store=Wild() if store is None else store)

    def workers(self, problem: Any) -> int:
        return int(problem.design.threads)
