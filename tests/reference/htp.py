"""S <- supp H_k(w - c g), (w, b) <- argmin on S, until S repeats."""

from __future__ import annotations

import numpy as np

from tests.reference.thresholding import keep


def htp(F, k, step, w, b=0.0, rounds=100):
    """The minimisers met, in order, and whether the last support repeated (else one came back: a cycle)."""
    iterates, visited, S = [], set(), None
    for _ in range(rounds):
        g, _ = F.gradient(w, b)
        new = tuple(np.flatnonzero(keep(w - step * g, k)))
        if new == S or new in visited:
            return iterates, new == S
        S = new
        visited.add(S)
        w, b = F.minimise(S, w, b)
        iterates.append((w, b))
    return iterates, False
