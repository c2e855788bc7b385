"""Single rows of a problem in plain NumPy, for the twins of the stochastic solvers: slopes, shares of a batch, H_k."""

from __future__ import annotations

import numpy as np


class Rows:
    """A dense problem of any loss; w (d, outputs), b (outputs,), slopes (n, outputs)."""

    def __init__(self, X, y, loss, k, *, v=None, ridge=0.0, intercept=False, h=None, h_b=1.0, **limits):
        self.X, self.y, self.loss, self.k, self.ridge, self.intercept = X, y, loss, k, ridge, intercept
        self.n, self.d = X.shape
        self.v = np.ones(self.n) if v is None else v * self.n / v.sum()
        self.h, self.h_b = np.ones(self.d) if h is None else h, h_b
        self.always, self.never = list(limits.pop("always", ())), list(limits.pop("never", ()))
        self.radius = limits.pop("radius", np.inf)
        self.importance = np.ones(self.n) if (given := limits.pop("importance", None)) is None else given
        assert not limits

    def slopes(self, B, w, b):
        """v_i slope_i, a row for each of B."""
        z = self.X[B] @ w + b
        return (
            self.v[B, None] * self.loss.slope(z.reshape(-1), self.y[B]).reshape(z.shape)
            if z.shape[1] == 1
            else (self.v[B, None] * self.loss.slope(z, self.y[B]))
        )

    def share(self, B):
        return self.importance[B, None] / len(B)

    def keep(self, u):
        """H_k, then the ball."""
        scores = self.h * np.sum(u * u, axis=1)
        scores[self.always], scores[self.never] = np.inf, -1
        kept = np.argsort(-scores, kind="stable")[: self.k]
        w = np.zeros_like(u)
        w[kept] = u[kept]
        w[self.never] = 0
        norm = np.linalg.norm(w)
        return w * (self.radius / norm) if norm > self.radius else w

    def gradient(self, w, b):
        """That of the mean loss (without the ridge) in w and in b."""
        r = self.slopes(np.arange(self.n), w, b) / self.n
        return self.X.T @ r, r.sum(axis=0) * self.intercept
