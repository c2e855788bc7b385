"""Least absolute deviations as a linear program."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def least_absolute(X: np.ndarray, y: np.ndarray) -> float:
    """min_{w, b} mean |X w + b - y|."""
    n = len(y)
    A = np.column_stack([X, np.ones(n)])
    free = [(None, None)] * A.shape[1]
    costs = np.concatenate([np.zeros(A.shape[1]), np.ones(2 * n)])
    return float(
        linprog(costs, A_eq=np.hstack([A, np.eye(n), -np.eye(n)]), b_eq=y, bounds=free + [(0, None)] * (2 * n)).fun / n
    )
