"""Add the largest of |g_j|, minimise, k times."""

from __future__ import annotations

import numpy as np


def omp(F, k, w, b=0.0):
    iterates, S = [], []
    for _ in range(k):
        g, _ = F.gradient(w, b)
        g[S] = 0
        S.append(int(np.argmax(np.abs(g))))
        w, b = F.minimise(S, w, b)
        iterates.append((w, b))
    return iterates
