"""Asynchronous accelerated stochastic block coordinate descent hard thresholding (A2SBCD-HT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never)

A round: anchor <- w, mu <- grad F(anchor), z uniform on {0, .., m - 1}; then the ``n_jobs`` workers make z steps, each
with a row i and one block G of the features drawn anew:

    delta = v_i slope_i(w) - v_i slope_i(anchor)
    w_j  <- (w_j - c (delta x_ij + D_j (mu_j - ridge anchor_j))) / (1 + c ridge D_j)        j in G, stored in row i
    b    <- b - c (delta + mu_b),        w <- H_k(w)

D_j = n / (rows where column j is stored): blocks times the directions average to grad F(w) (the intercept, in every
step, to its own).

What a worker may see of the others, and what H_k is while they work: ``semistochastic.py``.

Source: ASBCDHT (Chen & Gu 2016, Algorithm 1), carried over to sparse rows and shared memory as in the experiments of
ASBCD-HTP. Cost of a round: a pass for mu, and z steps of O(nonzeros of a row + k).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paring import _core
from paring.solvers.rules import Sampling
from paring.solvers.semistochastic import Semistochastic, SparseAnchor, Store, Wild


class A2SBCDHT(Semistochastic):
    """blocks : parts that the features are cut into, by chance, once a run. batch : rows of a step.

    inner : m, one more than the most steps of a round (None: 2 n / batch).
    store : ``Wild()`` (default), ``Atomic()``, ``Plain()``.
    step, sampling : see ``rules.py``; the step is the same in a round. scaling : "none" or "curvature".
    Random; with n_jobs=1 the same ``random_state`` gives the same bits.
    """

    name: ClassVar[str] = "a2sbcd-ht"

    def __init__(
        self,
        step: Any = "estimate",
        *,
        blocks: int = 10,
        batch: int = 1,
        inner: int | None = None,
        sampling: Sampling | None = None,
        scaling: str = "none",
        store: Store | None = None,
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling)
        self._set(blocks=blocks, scaling=scaling, store=Wild() if store is None else store)

    def count(self, problem: Any) -> int:
        return self.inner or max(1, 2 * problem.n // self.batch)

    def length(self, count: int, rng: np.random.Generator) -> int:
        return int(rng.integers(count))

    def moving(self, problem: Any, state: SparseAnchor, count: int, rng: np.random.Generator) -> _core.Moving:
        blocks = rng.integers(self.blocks, size=count, dtype=np.int16)
        return _core.Moving.in_blocks(state.block_of, blocks)
