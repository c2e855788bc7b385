"""The least F over every support of one size at once: Newton on a stack of small problems."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from paring.problem import Problem

ROUNDS = 200
LONGEST = 1e-12  # steps shorter than this are none


def least(problem: Problem, X: np.ndarray, k: int | None = None) -> float:
    """The optimum over all supports of k features. Squared loss and smooth losses of one output; no bounds."""
    size = problem.constraint.k if k is None else k
    supports = np.array(list(combinations(range(problem.d), size)))
    x = np.moveaxis(np.asarray(X, dtype=np.float64)[:, supports], 1, 0)  # supports x n x k
    if problem.fit_intercept:
        x = np.concatenate([x - np.average(x, axis=1, weights=problem.v)[:, None], np.ones((*x.shape[:2], 1))], axis=2)
    return float(_minimised(problem, x, size).min())


def _minimised(problem: Problem, x: np.ndarray, size: int) -> np.ndarray:
    """F at the minimum of each: damped Newton, each problem with a step of its own."""
    v = problem.v / problem.n
    ridge = np.append(np.full(size, problem.ridge), np.zeros(x.shape[2] - size))
    y = np.broadcast_to(problem.y, x.shape[:2]).copy()
    w = np.zeros((len(x), x.shape[2]))
    if problem.fit_intercept:
        w[:, -1] = problem.null[0]

    def value(w: np.ndarray) -> np.ndarray:
        z = np.einsum("sij,sj->si", x, w)
        with np.errstate(over="ignore"):
            losses = problem.loss.core.value(z.ravel(), y.ravel()).reshape(z.shape)
        return losses @ v + 0.5 * (w**2) @ ridge

    F = value(w)
    for _ in range(ROUNDS):
        z = np.einsum("sij,sj->si", x, w)
        slope = problem.loss.core.slope(z.ravel(), y.ravel()).reshape(z.shape) * v
        curvature = problem.loss.core.curvature(z.ravel(), y.ravel()).reshape(z.shape) * v
        g = np.einsum("sij,si->sj", x, slope) + ridge * w
        H = np.einsum("sij,si,sil->sjl", x, curvature, x, optimize=True)
        H += np.diag(ridge + 1e-13)
        step = -np.linalg.solve(H, g[..., None])[..., 0]
        decrement = -(g * step).sum(axis=1)
        if decrement.max() < LONGEST:
            break
        t = np.ones(len(x))
        for _ in range(40):
            moved = value(w + t[:, None] * step)
            worse = ~(moved <= F - 1e-4 * t * decrement) & (decrement > LONGEST)
            if not worse.any():
                break
            t[worse] /= 2
        better = moved < F
        w[better] += (t[:, None] * step)[better]
        F = np.where(better, moved, F)
        if not better.any():
            break
    return F
