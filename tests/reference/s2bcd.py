"""w_j <- (w_j - c (delta x_ij + D_j (mu_j - ridge anchor_j))) / (1 + c ridge D_j) on the coordinates a step moves."""

from __future__ import annotations

import numpy as np

from tests.reference.thresholding import SLOPES, keep


def s2bcd(F, loss, anchor, c, order, moved, D, k=None, variance_reduced=True, c_b=None):
    """The points (w, b) after 0, 1, .. steps from the anchor (w, b), one row of ``order`` each.

    ``moved(i, t)``: the coordinates of step t. k: H_k after every step; None: no thresholding. c_b: None for c.
    """
    w, b = anchor
    slope = SLOPES[loss]
    then = F.v * slope(F.X @ w + b, F.y) * variance_reduced
    mu, mu_b = (part * variance_reduced for part in F.gradient(w, b))
    pull = mu - F.ridge * w * variance_reduced
    yield w, b
    for t, i in enumerate(order):
        delta = F.v[i] * slope(F.X[i] @ w + b, F.y[i]) - then[i]
        new = (w - c * (delta * F.X[i] + D * pull)) / (1 + c * F.ridge * D)
        w = np.where(moved(i, t), new, w)
        b = b - (c if c_b is None else c_b) * (delta + mu_b) * F.intercept
        if k is not None:
            w = keep(w, k)
        yield w, b
