"""Small random exact-k problems of every loss, constraint and kind of design."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paring import losses
from paring.constraints import TopK
from paring.problem import Problem

D = 6
GROUPS = (7, -1, 4, 7, 4, -1)  # three groups of two, labels in no order

DESIGNS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "gaussian": lambda rng, X: X,
    "correlated": lambda rng, X: np.sqrt(0.1) * X + np.sqrt(0.9) * rng.standard_normal((len(X), 1)),
    "duplicated": lambda rng, X: np.hstack([X[:, : D // 2], X[:, : D // 2]]),
    "off centre": lambda rng, X: X + 10 * rng.standard_normal(D),
    "scales": lambda rng, X: X * 10.0 ** rng.integers(-2, 2, D),
    "rare": lambda rng, X: np.where(rng.random(X.shape) < 0.6, 0.0, X),
}

CONSTRAINTS: dict[str, Callable[[], TopK]] = {
    "k=2": lambda: TopK(2),
    "k=3": lambda: TopK(3),
    "always": lambda: TopK(2, always=[3]),
    "never": lambda: TopK(2, never=[0]),
    "always and never": lambda: TopK(2, always=[4], never=[0, 1]),
    "all always": lambda: TopK(2, always=[2, 4]),
    "groups": lambda: TopK(2, groups=GROUPS),
    "groups, always, never": lambda: TopK(2, groups=GROUPS, always=[1], never=[4]),
    "bounds": lambda: TopK(2, bounds=(-0.3, 0.5)),
    "vector bounds": lambda: TopK(2, bounds=([-1, -0.2, 0, -2, -0.5, 0], [0, 0.2, 1, 2, 0.5, 0])),
    "nonnegative": lambda: TopK(2, bounds=(0, np.inf)),
    "groups and bounds": lambda: TopK(2, groups=GROUPS, bounds=(-0.3, 0.5)),
}
BOUNDED = ("bounds", "vector bounds", "groups and bounds")


def targets(rng: np.random.Generator, loss: losses.Loss, score: np.ndarray, offset: float) -> np.ndarray:
    n = len(score)
    noisy = score + rng.standard_normal(n)
    if loss.targets == "real":
        return 3 * noisy + offset
    if loss.targets == "sign":
        y = np.where(noisy > np.median(noisy), 1.0, -1.0)
        y[:2] = 1, -1
        return y
    if loss.targets == "count":
        return rng.poisson(np.exp(np.clip(noisy / 2, -3, 2))).astype(float)
    y = rng.integers(0, 3, n).astype(float)
    y[:3] = 0, 1, 2
    return y


def random_problem(
    rng: np.random.Generator, loss: losses.Loss, constraint: TopK, ridge: float, **settings: object
) -> tuple[np.ndarray, Problem]:
    """(X, problem). settings: design, intercept, weights; drawn where they are not given. X: the rows that count."""
    n = int(rng.integers(8, 16))
    design = settings.get("design") or str(rng.choice(list(DESIGNS)))
    intercept = bool(settings.get("intercept", rng.integers(2)))
    X = DESIGNS[str(design)](rng, rng.standard_normal((n, D)))
    y = targets(rng, loss, X[:, :2].sum(axis=1) / max(X.std(), 1e-9), 5.0 * intercept)
    weights = None
    if settings.get("weights", rng.integers(2)):
        weights = rng.integers(1, 4, n) + 0.1 * rng.random(n)
        weights[int(rng.integers(3, n))] = 0
    posed = Problem(X, y, loss, constraint=constraint, ridge=ridge, sample_weight=weights, fit_intercept=intercept)
    return posed.design.columns(np.arange(D)), posed
