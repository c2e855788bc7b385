"""Asynchronous stochastic gradient hard thresholding (ASG-HT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never)

Each of ``n_jobs`` workers, again and again, with a row i (or a batch: their steps shared out) drawn anew:

    w_j <- (w_j - c v_i slope_i(w) x_ij) / (1 + c ridge D_j)        j stored in row i
    b   <- b - c v_i slope_i(w),        w <- H_k(w)

D_j = n / (rows where column j is stored), so that the directions average to grad F(w). There is no anchor: with a
constant step w ends in a ball around the answer; ``Decreasing`` steps shrink it.

What a worker may see of the others, and what H_k is while they work: ``semistochastic.py``.

Source: SG-HT (Nguyen, Needell & Woolf 2017), carried over to shared memory as in the experiments of ASBCD-HTP.
Cost of a round: n steps of O(nonzeros of a row + k), and a pass for the certificate.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring.solvers.rules import Sampling
from paring.solvers.semistochastic import Semistochastic, Store
from paring.solvers.stochastic import Anchor

Array = NDArray[np.float64]


class ASGHT(Semistochastic):
    """batch : rows of a step; what single rows draw into the support is mostly noise.

    inner : steps of a round (None: n / batch). store : ``Wild()`` (default), ``Atomic()``, ``Plain()``.
    step, sampling : see ``rules.py``; the step is the same in a round. Random; with n_jobs=1 the same ``random_state``
    gives the same bits.
    """

    name: ClassVar[str] = "asg-ht"
    anchored: ClassVar[bool] = False

    def __init__(
        self,
        step: Any = "estimate",
        *,
        batch: int = 20,
        inner: int | None = None,
        sampling: Sampling | None = None,
        store: Store | None = None,
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling, store=store)

    def reference(self, problem: Any, state: Anchor) -> tuple[Array, Array, Any]:
        return np.zeros_like(state.z), np.zeros_like(state.w), 0.0
