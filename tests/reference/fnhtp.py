"""u <- c g + (I - c Hess_B) u from u = c g: the stochastic Newton direction, rows drawn as the solver draws them."""

from __future__ import annotations

import numpy as np

CURVATURES = {
    "squared": lambda z, y: np.ones_like(z),
    "logistic": lambda z, y: np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))) ** 2,
}


def direction(F, loss, w, b, inner, batch, repeats, rng):
    """(u, u_b); the intercept is a coordinate, without ridge."""
    A = np.column_stack([F.X, np.full(len(F.y), float(F.intercept))])
    ridge = np.append(np.full(F.X.shape[1], F.ridge), 0.0)
    curvature = F.v * CURVATURES[loss](F.X @ w + b, F.y)
    c = 1 / (np.max(curvature * np.sum(A**2, axis=1)) + F.ridge)
    g, total = np.append(*F.gradient(w, b)), 0.0
    for _ in range(repeats):
        u = c * g
        for _ in range(inner):
            B = rng.integers(len(F.y), size=batch)
            u = c * g + u - c * (A[B].T @ (curvature[B] * (A[B] @ u)) / batch + ridge * u)
        total = total + u / repeats
    return total[:-1], total[-1]
