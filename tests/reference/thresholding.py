"""H_k, plain and scaled, and a dense problem with its gradient: what the twins of the solvers are made of."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import minimize

SLOPES = {
    "squared": lambda z, y: z - y,
    "logistic": lambda z, y: -y / (1 + np.exp(y * z)),
    "poisson": lambda z, y: np.exp(z) - y,
}
VALUES = {
    "squared": lambda z, y: (z - y) ** 2 / 2,
    "logistic": lambda z, y: np.logaddexp(0, -y * z),
    "poisson": lambda z, y: np.exp(z) - y * z,
}


def keep(u: np.ndarray, k: int, h: np.ndarray | float = 1.0) -> np.ndarray:
    """The k largest h u^2, ties to the lowest index; the others 0."""
    kept = np.argsort(-h * u**2, kind="stable")[:k]
    out = np.zeros_like(u)
    out[kept] = u[kept]
    return out


def diagonal_minimum(u: np.ndarray, h: np.ndarray, allowed: list[tuple[int, ...]], lower, upper) -> float:
    """min over supports and boxes of sum h (w - u)^2, by trying every support."""
    inside = np.clip(u, lower, upper)
    return min(
        np.sum(h * u**2) - sum(h[j] * (u[j] ** 2 - (u[j] - inside[j]) ** 2) for j in support) for support in allowed
    )


def subsets(d: int, k: int) -> list[tuple[int, ...]]:
    return [support for size in range(k + 1) for support in combinations(range(d), size)]


class Dense:
    """F(w, b) of a dense problem, with its gradient and its minimiser on a support."""

    def __init__(self, X, y, loss="squared", ridge=0.0, v=None, intercept=False):
        self.X, self.y, self.ridge, self.intercept = X, y, ridge, intercept
        self.v = np.ones(len(y)) if v is None else v * len(y) / v.sum()
        self.loss, self.slope = VALUES[loss], SLOPES[loss]

    def value(self, w, b=0.0):
        return np.mean(self.v * self.loss(self.X @ w + b, self.y)) + self.ridge / 2 * w @ w

    def gradient(self, w, b=0.0):
        r = self.v * self.slope(self.X @ w + b, self.y) / len(self.y)
        return self.X.T @ r + self.ridge * w, r.sum() * self.intercept

    def minimise(self, support, w, b=0.0):
        """(w, b) on the support by BFGS, in columns of mean 0 and length 1 from the point given."""
        support = np.asarray(support)
        shift = self.X[:, support].mean(axis=0) * self.intercept

        def whole(u):
            w = np.zeros(self.X.shape[1])
            w[support] = u[:-1]
            return w, (u[-1] - shift @ u[:-1]) * self.intercept

        def both(u):
            w, b = whole(u)
            g, gb = self.gradient(w, b)
            return self.value(w, b), np.append(g[support] - gb * shift, gb)

        start = np.append(w[support], b + shift @ w[support])
        return whole(minimize(both, start, jac=True, method="BFGS", options={"gtol": 1e-11}).x)
