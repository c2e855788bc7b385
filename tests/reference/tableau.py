"""Pursuit on least squares with single features, every exchange and every entry judged by refitting with lstsq."""

from __future__ import annotations

import numpy as np


class Refits:
    """The moves of a tableau, one at a time (batches of one). F counts from w = 0, intercept minimised out."""

    def __init__(self, X, y, ridge=0.0, v=None, intercept=False, always=(), never=(), tolerance=1e-9):
        v = np.ones(len(y)) if v is None else v * len(y) / v.sum()
        root = np.sqrt(v / len(y))[:, None]
        X, y = (a - intercept * np.average(a, axis=0, weights=v) for a in (X, y[:, None]))
        self.A = np.vstack([root * X, np.sqrt(ridge) * np.eye(X.shape[1])])
        self.t = np.append(root * y, np.zeros(X.shape[1]))
        self.always, self.never, self.tolerance, self.S = set(always), set(never), tolerance, []

    def F(self, S):
        w = np.linalg.lstsq(self.A[:, S], self.t, rcond=None)[0]
        return float(np.sum((self.A[:, S] @ w - self.t) ** 2) / 2)

    def outside(self):
        return [i for i in range(self.A.shape[1]) if i not in self.S and i not in self.never]

    def grow(self, size):
        """Those of largest gain alone, all at once; again where some were left out."""
        gains = sorted((self.F([*self.S, i]), i) for i in self.outside())
        self.S += [i for _, i in gains[: size - len(self.S)]]

    def shrink(self, size):
        while len(self.S) > size:
            leaving = [j for j in self.S if j not in self.always]
            self.S.remove(min(leaving, key=lambda j: self.F([p for p in self.S if p != j])))

    def best_exchange(self):
        """(F after it, j out, i in) of the best; None where no exchange lowers F."""
        pairs = [(j, i) for j in self.S if j not in self.always for i in self.outside()]
        tried = [(self.F([p for p in self.S if p != j] + [i]), j, i) for j, i in pairs]
        best = min(tried, default=None)
        return best if best and best[0] < self.F(self.S) - self.tolerance else None

    def polish(self):
        while best := self.best_exchange():
            self.S = [p for p in self.S if p != best[1]] + [best[2]]
