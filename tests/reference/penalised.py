"""Penalised problems by accelerated proximal gradient (FISTA with restarts), dense NumPy: slow, short and exact.

w <- prox(y - step grad F(y), step),    y <- w + momentum,    b alike without prox
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paring.problem import Problem

ROUNDS = 200_000
SETTLED = 1e-15  # a step so short, relative to the point, changes nothing


def minimise(problem: Problem, X: np.ndarray, rounds: int = ROUNDS) -> tuple[np.ndarray, Any]:
    """(w, b) of a problem with a Lipschitz slope, or near enough to one where it starts (backtracking)."""
    regulariser = problem.regulariser
    free = bool(problem.fit_intercept)
    means = np.average(X, axis=0, weights=problem.v) if free else np.zeros(X.shape[1])
    wide = np.hstack([X - means, np.full((len(X), 1), float(free))])
    shape = (wide.shape[1], *problem.zeros().shape[1:])
    keep = regulariser.excluded

    def value(u: np.ndarray) -> float:
        return problem.loss.core.total(wide @ u + problem.base, problem.y, problem.v) / problem.n

    def moved(u: np.ndarray, g: np.ndarray, step: float) -> np.ndarray:
        out = u - step * g
        out[:-1] = regulariser.prox(out[:-1], step)
        out[:-1][keep] = 0.0
        return out

    u = np.zeros(shape)
    u[-1] = problem.null[0] if free else 0.0
    y, t, step = u.copy(), 1.0, 1.0
    for _ in range(rounds):
        z = wide @ y + problem.base
        here, g = value(y), wide.T @ problem.residuals(z)
        while True:
            new = moved(y, g, step)
            d = new - y
            bound = here + np.vdot(g, d) + np.vdot(d, d) / (2 * step)
            if value(new) <= bound + 1e-15 * abs(bound):
                break
            step /= 2
        if np.vdot(y - new, new - u) > 0:  # momentum points uphill: restart
            y, t = u.copy(), 1.0
            if np.abs(d).max() <= SETTLED * (1 + np.abs(u).max()):
                break
            new = moved(y, wide.T @ problem.residuals(wide @ y + problem.base), step)
        size = float(np.abs(new - u).max())
        following = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
        y = new + (t - 1) / following * (new - u)
        u, t = new, following
        if size <= SETTLED * (1 + np.abs(u).max()):
            break
        step *= 1.02
    b = u[-1] - means @ u[:-1]
    return u[:-1], float(b) if u.ndim == 1 else b
