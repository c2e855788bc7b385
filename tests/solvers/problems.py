"""Small problems that the tests of the solvers share: one of every loss, with a planted support."""

from __future__ import annotations

import numpy as np

from paring import Problem
from paring.constraints import TopK

SMOOTH = ("squared", "huber", "logistic", "squared_hinge", "smoothed_hinge", "poisson", "multinomial")
PLANTED = np.array([1, 4, 7, 10])


def data(loss: str, n: int = 240, d: int = 14, seed: int = 0, noise: float = 1.0):
    """(X, y): correlated columns of different lengths, the features PLANTED active."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.3 * rng.standard_normal((n, 1)) + 0.2
    z = X[:, PLANTED] @ np.array([1.6, -1.3, 1.1, -1.4])
    if loss in ("squared", "huber"):
        return X, z + 0.5 + 0.3 * noise * rng.standard_normal(n)
    if loss == "poisson":
        return X, rng.poisson(np.exp(0.4 * z)).astype(float)
    if loss == "multinomial":
        scores = np.stack([z, -z, X[:, PLANTED[0]] * 2], axis=1)
        return X, np.argmax(scores + noise * rng.gumbel(size=(n, 3)), axis=1).astype(float)
    return X, np.where(z + 0.4 + noise * rng.logistic(size=n) > 0, 1.0, -1.0)


def problem(loss: str, k: int = 4, layout=np.asarray, **options) -> Problem:
    X, y = data(loss)
    limits = {name: options.pop(name) for name in ("always", "never", "groups", "bounds") if name in options}
    return Problem(layout(X), y, loss, constraint=TopK(k, **limits), **options)
