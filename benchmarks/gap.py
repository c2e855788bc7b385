"""The one judge of penalised fits: objective and duality gap, in float64, from the coefficients alone.

    P(w) = (1/n) sum_i loss(x_i.w, y_i) + lam Omega(w)        D(s) = -(1/n) sum_i loss*(s a_i, y_i),    a = loss'(Xw)

s a is dual feasible once s times the dual norm of X'a/n is within lam. P - D bounds what any other model could gain; it
is given relative to P(0), and no fit is helped by a dual point that another has found. No intercept. Coefficients are d
numbers, or d x K of a multinomial fit.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

TINY = 1e-300


@dataclass(frozen=True)
class Penalty:
    """Omega. group, sparse_group: consecutive columns in groups of `size`, each weighted by the root of its size."""

    kind: str = "l1"
    size: int = 1
    l1_ratio: float = 0.5

    def _norms(self, w: np.ndarray) -> np.ndarray:
        return np.linalg.norm(w.reshape(-1, self.size), axis=1) * np.sqrt(self.size)

    def value(self, w: np.ndarray) -> float:
        if self.kind == "l1":
            return float(np.abs(w).sum())
        norms = float(self._norms(w).sum())
        if self.kind == "group":
            return norms
        return self.l1_ratio * float(np.abs(w).sum()) + (1 - self.l1_ratio) * norms

    def dual_norm(self, c: np.ndarray) -> float:
        """The least mu with c in mu times the dual ball."""
        if self.kind == "l1":
            return float(np.abs(c).max(initial=0.0))
        if self.kind == "group":
            return float(self._norms(c).max()) / self.size
        return self._sparse_group_norm(np.abs(c).reshape(-1, self.size))

    def _sparse_group_norm(self, c: np.ndarray) -> float:
        """By bisection: in mu times the ball, a group's part above mu l1_ratio is within mu (1 - l1_ratio) weight."""
        low, high = 0.0, float(c.max()) / self.l1_ratio
        for _ in range(60):
            mu = (low + high) / 2
            left = np.linalg.norm(np.maximum(c - mu * self.l1_ratio, 0), axis=1)
            if left.max() <= mu * (1 - self.l1_ratio) * np.sqrt(self.size):
                high = mu
            else:
                low = mu
        return high


def _entropy(q: np.ndarray) -> np.ndarray:
    return q * np.log(np.maximum(q, TINY))


@dataclass(frozen=True)
class Loss:
    """Labels: numbers (squared), -1 and +1 (logistic), 0 to K-1 (multinomial)."""

    kind: str
    y: np.ndarray

    @property
    def outputs(self) -> int:
        return int(self.y.max()) + 1 if self.kind == "multinomial" else 1

    def _picked(self) -> np.ndarray:
        return np.eye(self.outputs)[self.y.astype(np.int64)]

    def values(self, z: np.ndarray) -> np.ndarray:
        if self.kind == "squared":
            return (z - self.y) ** 2 / 2
        if self.kind == "logistic":
            return np.logaddexp(0, -self.y * z)
        top = z.max(axis=1)
        return top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - (z * self._picked()).sum(axis=1)

    def slopes(self, z: np.ndarray) -> np.ndarray:
        if self.kind == "squared":
            return z - self.y
        if self.kind == "logistic":
            return -self.y * np.exp(-np.logaddexp(0, self.y * z))
        shares = np.exp(z - z.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True) - self._picked()

    def conjugates(self, a: np.ndarray) -> np.ndarray:
        if self.kind == "squared":
            return a * a / 2 + a * self.y
        if self.kind == "logistic":
            p = np.clip(-a * self.y, 0.0, 1.0)
            return _entropy(p) + _entropy(1 - p)
        return _entropy(np.clip(a + self._picked(), 0.0, 1.0)).sum(axis=1)


class GapJudge:
    """What a table says of the fits of one problem."""

    def __init__(self, X: Any, y: np.ndarray, loss: str, penalty: Penalty) -> None:
        self.X, self.loss, self.penalty = X, Loss(loss, y), penalty
        self.n, self.d = X.shape
        z = np.zeros((self.n, self.loss.outputs)) if loss == "multinomial" else np.zeros(self.n)
        self.null = float(self.loss.values(z).mean())
        self.lam_max = penalty.dual_norm(X.T @ self.loss.slopes(z) / self.n)

    def judge(self, coef: np.ndarray, lam: float) -> dict[str, Any]:
        w = coef.reshape(self.d, -1) if self.loss.kind == "multinomial" else coef
        z = self.X @ w
        primal = float(self.loss.values(z).mean()) + lam * self.penalty.value(w)
        slopes = self.loss.slopes(z)
        most = lam / max(self.penalty.dual_norm(self.X.T @ slopes / self.n), TINY)
        scales = [min(1.0, most)]
        if self.loss.kind == "squared":  # here the best scale is known
            scales.append(float(np.clip(-(self.loss.y @ slopes) / max(slopes @ slopes, TINY), 0, most)))
        dual = max(-float(self.loss.conjugates(s * slopes).mean()) for s in scales)
        return {"objective": primal, "gap": (primal - dual) / self.null, "nonzeros": int(np.count_nonzero(w))}
