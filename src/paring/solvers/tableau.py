"""Pursuit's engine for least squares on single features: the core's tableau (``core/include/paring/tableau.hpp``).

Every gain and every exchange is judged exactly, without refitting. Memory: |S| d float64, and the rows of the Gram
matrix kept for features that come back or are likely to come. Cost: a Gram row of each feature that enters for the
first time (one pass for ``AT_ONCE``), |S| d operations for each that moves. Few features (d <= WHOLE_GRAM): the Gram
matrix whole, in one pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.result import Model
from paring.solvers.blas import lend_blas

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SWAP_TOLERANCE = 1e-9  # of F: an exchange that gains less is no gain
BATCH = 0.1  # of the support: how many exchanges may be made at once
CACHE_BYTES = 1 << 27  # of Gram rows kept for features that come back
WHOLE_GRAM = 512
AT_ONCE = 24  # Gram rows made in one pass: reading X takes as long as computing so many


class GramRows:
    """Rows of H = X'VX/n + ridge I, on demand. Knows the problem only: the core holds on to it."""

    def __init__(self, problem: Any) -> None:
        self.design, self.ridge = problem.design, problem.ridge
        self.weights = problem.v / problem.n
        self.means = problem.means if problem.fit_intercept else None

    def whole(self) -> Array:
        gram = self.design.gram(self.weights, self.means)
        gram[np.diag_indices_from(gram)] += self.ridge
        return gram

    def __call__(self, features: Indices) -> Array:
        rows = np.ascontiguousarray(self.design.gram_rows(features, self.weights, self.means))
        rows[np.arange(len(features)), features] += self.ridge
        return rows


class Tableau:
    """One least-squares pursuit."""

    swap_optimal = "exact"
    modelled = True
    settled = True

    def __init__(self, problem: Any) -> None:
        lend_blas()
        self.problem, self.design = problem, problem.design
        self.means = problem.means if problem.fit_intercept else None
        self.tolerance = SWAP_TOLERANCE * problem.scale
        constraint = problem.constraint
        self.always = np.flatnonzero(constraint.always)
        gram: Any = GramRows(problem)
        if problem.d <= WHOLE_GRAM:
            gram = gram.whole()
        # A constant column's variance is rounding, and so is all that is divided by it.
        self.flat = problem.flat
        self.core = _core.Tableau(
            -problem.products,
            problem.variances + problem.ridge,
            problem.null[1],
            constraint.always.view(np.uint8),
            (constraint.never | self.flat).view(np.uint8),
            gram,
            self.tolerance,
            BATCH,
            CACHE_BYTES,
            AT_ONCE if problem.d > WHOLE_GRAM else 1,
        )

    @property
    def size(self) -> int:
        return self.core.size + len(self.idle)

    @property
    def idle(self) -> Indices:
        """Members of ``always`` that cannot enter, being constant or spanned: at weight 0, and counted."""
        return np.setdiff1d(self.always, self.core.features) if len(self.always) else self.always

    @property
    def objective(self) -> float:
        return self.core.objective

    def enter(self, features: Indices) -> None:
        varying = np.asarray(features, np.int64)
        varying = varying[~self.flat[varying]]
        self.core.enter(varying, self.design.threads, self.design.stop)

    def grow(self, size: int) -> None:
        self.core.grow(size - len(self.idle), self.design.threads, self.design.stop)

    def shrink(self, size: int) -> None:
        self.core.shrink(size - len(self.idle), self.design.threads, self.design.stop)

    def polish(self) -> None:
        self.core.polish(self.design.threads, self.design.stop)

    def settle(self) -> None:
        """Nothing: every exchange has been judged exactly."""

    def saved(self) -> Any:
        return self.core.saved()

    def restore(self, saved: Any) -> None:
        self.core.restore(saved)

    def model(self) -> Model:
        features = np.concatenate([self.core.features, self.idle]).astype(np.int64)
        w = np.concatenate([self.core.weights, np.zeros(len(self.idle))])
        order = np.argsort(features)
        intercept = 0.0 if self.means is None else self.problem.null[0] - float(self.means[features] @ w)
        return Model(features[order], w[order], intercept)
