"""w_g <- prox of c D_g (penalty_g + ridge) at w_g - c (delta x_ig + D_g p_g), on the units that row i stores."""

from __future__ import annotations

import numpy as np

from paring.separable import Separable


def proximal(X, y, v, slope, order, c, D, penalty: Separable, start, slopes=None, pull=None, intercept=False):
    """The points (w, b) after 0, 1, .. steps. slopes, pull: of an anchor (d + 1 numbers); "table": those of SAGA, begun
    at the start; None: 0. D, and ``penalty``: of every feature. Stored numbers are those that are not 0."""
    w, b = start
    n, d = X.shape
    label = np.arange(d) if penalty.unit_of is None else penalty.unit_of
    table = isinstance(slopes, str)
    if table:
        slopes = v * slope(X @ w + b, y)
        pull = np.append(X.T @ slopes, slopes.sum()) / n
    s, p = (np.zeros(n) if slopes is None else slopes.copy()), (np.zeros(d + 1) if pull is None else pull.copy())
    yield w, b
    for i in order:
        fresh = v[i] * slope(X[i] @ w + b, y[i])
        delta = fresh - s[i]
        moved = np.isin(label, label[X[i] != 0])
        u, w = w - c * (delta * X[i] + D * p[:d]), w.copy()
        for g in np.unique(label[moved]):
            members = np.flatnonzero(label == g)
            w[members] = penalty.on(members).prox(u[members], c * D[members[0]])
        b = b - c * (delta + p[d]) * intercept
        if table:
            p += delta * np.append(X[i], intercept) / n
            s[i] = fresh
        yield w, b
