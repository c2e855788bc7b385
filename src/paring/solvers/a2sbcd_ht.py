"""Asynchronous accelerated stochastic block coordinate descent hard thresholding (A2SBCD-HT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never)

A round: anchor <- w, mu <- grad F(anchor), z uniform on {0, .., m - 1} (``ends="last"``: z = m); then the ``n_jobs``
workers make z steps, each with a row i and one block G of the features drawn anew:

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
from paring.solvers.semistochastic import Semistochastic, Store
from paring.solvers.stochastic import Anchor


class A2SBCDHT(Semistochastic):
    """blocks : parts that the features are cut into, by chance, once a run. batch : rows of a step.

    inner : m (None: 2 n). ends : "random", z is drawn, or "last", z = m.
    store : ``Wild()`` (default), ``Atomic()``, ``Plain()``.
    step, sampling : see ``rules.py``; the step is the same in a round. scaling : "none" or "curvature".
    Random; with n_jobs=1 the same ``random_state`` gives the same bits.
    """

    ends: str
    name: ClassVar[str] = "a2sbcd-ht"

    def __init__(
        self,
        step: Any = "estimate",
        *,
        blocks: int = 10,
        batch: int = 1,
        inner: int | None = None,
        ends: str = "random",
        sampling: Sampling | None = None,
        scaling: str = "none",
        store: Store | None = None,
    ) -> None:
        super().__init__(step, blocks=blocks, batch=batch, inner=inner, sampling=sampling, scaling=scaling, store=store)
        if ends not in ("random", "last"):
            raise ValueError(f"a2sbcd-ht: ends must be 'random' or 'last', got {ends!r}")
        self._set(ends=ends)

    def count(self, problem: Any) -> int:
        return self.inner or 2 * int(problem.n)

    def length(self, count: int, rng: np.random.Generator) -> int:
        return int(rng.integers(count)) if self.ends == "random" else count

    def moving(self, problem: Any, state: Anchor, count: int, rng: np.random.Generator) -> _core.Moving:
        chosen = rng.integers(self.parts(problem), size=count, dtype=np.int16)
        return _core.Moving.in_blocks(state.carried, chosen)
