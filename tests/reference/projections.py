"""The nearest feasible point by trying every support."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np


def distance(u: np.ndarray, w: np.ndarray, h: np.ndarray | None) -> float:
    weight = np.ones(len(u)) if h is None else h
    return float(weight @ ((u - w) ** 2).reshape(len(u), -1).sum(axis=1))


def project(feasible: Any, u: np.ndarray, h: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """(the least distance, a point at it). A ball: scaling is nearest on a given support, in the plain metric."""
    always = set(np.flatnonzero(feasible.always))
    free = [unit for unit in range(feasible.units) if unit not in always and not feasible.never[unit]]
    unit_of = np.arange(feasible.d) if feasible.unit_of is None else feasible.unit_of
    best, nearest = np.inf, np.zeros_like(u)
    for size in range(min(feasible.k - len(always), len(free)) + 1):
        for chosen in combinations(free, size):
            kept = np.isin(unit_of, [*always, *chosen])
            w = np.where(kept.reshape((-1,) + (1,) * (u.ndim - 1)), _clipped(feasible, u), 0.0)
            norm = np.linalg.norm(w)
            if norm > feasible.radius:
                w = w * (feasible.radius / norm)
            far = distance(u, w, h)
            if far < best:
                best, nearest = far, w
    return best, nearest


def _clipped(feasible: Any, u: np.ndarray) -> np.ndarray:
    if feasible.lower is None:
        return u
    shape = (-1,) + (1,) * (u.ndim - 1)
    return np.minimum(np.maximum(u, feasible.lower.reshape(shape)), feasible.upper.reshape(shape))
