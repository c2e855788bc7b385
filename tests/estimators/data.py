"""Small problems with a clear answer, for the tests of estimators."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TRUE = np.array([2, 5, 11])  # the features that matter


def regression(n: int = 80, d: int = 15, noise: float = 0.1, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, TRUE] @ [3.0, -2.0, 1.5] + 0.7 + noise * rng.standard_normal(n)


def binary(n: int = 120, d: int = 15, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Two overlapping classes, 0 and 1."""
    X, y = regression(n, d, noise=2.0, seed=seed)
    return X, (y > 0).astype(np.int64)


def three_classes(n: int = 150, d: int = 15, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Three overlapping classes, 0, 1 and 2."""
    X, y = regression(n, d, noise=2.0, seed=seed)
    return X, np.digitize(y, [-2.0, 2.0])


def counts(n: int = 200, d: int = 15, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, rng.poisson(np.exp(X[:, TRUE] @ [0.8, -0.6, 0.5] + 0.5))
