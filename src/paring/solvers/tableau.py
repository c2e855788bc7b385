"""Pursuit's engine for least squares on single features: the core's tableau (``core/include/paring/tableau.hpp``).

Every gain and every exchange is judged exactly, without refitting. Memory: |S| d float64, and the rows of the Gram
matrix kept for features that come back, or are likely to come. Cost: a Gram row of each feature that enters for the
first time (one pass a batch), |S| d operations for each that moves. Few features (d <= WHOLE_GRAM): the Gram matrix
whole, in one pass.

A Gram matrix has rounding in it, of the columns' curvatures, and what is left of a column that the support nearly spans
may be less. Features are not entered there (RESOLUTION), and ``settle`` says whether that has left anything open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.problem import SPANNED
from paring.result import Model
from paring.solvers.blas import lend_blas
from paring.solvers.measure import outsiders_of

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SWAP_TOLERANCE = 1e-9  # of F at the null model: an exchange that gains less is no gain
HIDDEN = 1e-7  # the same: an exchange that gains more must not be hidden by rounding where "exact" is claimed
ROUNDING = 16 * float(np.finfo(float).eps)  # of an inner product, beside the lengths of its columns as they lie
RESOLUTION = 1e-8  # what must be left of a column's curvature for it to enter by a Gram matrix
UNCLEAR = 1e-8  # rounding of Q, relative: beyond, the Gram matrix does not tell
SETTLINGS = 10  # times the numbers are made anew and exchanges are found by them
DOUBTS = 64  # exchanges that rounding may hide, looked at at most
BATCH = 0.1  # of the support: how many exchanges may be made at once
CACHE_BYTES = 1 << 27  # of Gram rows kept for features that come back
WHOLE_GRAM = 512
AT_ONCE = 24  # Gram rows made in one pass: so many fill the registers, and take little longer than one,
CACHED = 800_000  # unless so few entries of X wait in the cache, and reading them is nothing:
FEW_AT_ONCE = 8


def first_of_gain(gains: Array, count: int, tolerance: float) -> Indices:
    """Positions of the largest, as the core's tableau picks them: within the tolerance of the last, the first."""
    count = min(count, len(gains))
    edge = np.partition(-gains, count - 1)[count - 1]
    keys = np.where(np.abs(-gains - edge) <= min(2 * tolerance, -0.5 * edge), edge, -gains)
    return np.sort(np.argsort(keys, kind="stable")[:count])


def idle(required: Indices, features: Indices) -> Indices:
    """Members of ``always`` that cannot enter, being constant or spanned: at weight 0, and counted."""
    return np.setdiff1d(required, features) if len(required) else required


def model_on(problem: Any, features: Indices, w: Array) -> Model:
    """The model of those weights, with members of ``always`` that could not enter at weight 0."""
    missing = idle(np.flatnonzero(problem.constraint.always), features)
    features, w = np.concatenate([features, missing]).astype(np.int64), np.concatenate([w, np.zeros(len(missing))])
    order = np.argsort(features)
    intercept = problem.null[0] - float(problem.means[features] @ w) if problem.fit_intercept else 0.0
    return Model(features[order], w[order], intercept)


def spread(problem: Any) -> Array:
    """How many times as long each column is as what centring leaves of it: rounding grows with it."""
    h = problem.variances + problem.ridge
    whole = problem.squares + problem.ridge
    return np.sqrt(np.divide(whole, h, out=np.ones(problem.d), where=h > 0))


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

    swap_optimal = "exact"  # once ``settle`` has said so
    modelled = True
    settled = True

    def __init__(self, problem: Any) -> None:
        lend_blas()
        self.problem, self.design = problem, problem.design
        self.means = problem.means if problem.fit_intercept else None
        self.tolerance = SWAP_TOLERANCE * problem.scale
        self.constraint = constraint = problem.constraint
        self.required = np.flatnonzero(constraint.always)
        gram: Any = GramRows(problem)
        if problem.d <= WHOLE_GRAM:
            gram = gram.whole()
        # A constant column's variance is rounding, and so is all that is divided by it.
        self.flat = problem.flat
        self.h = problem.variances + problem.ridge
        self.noise, self.always = spread(problem), constraint.always
        self.core = _core.Tableau(
            -problem.products,
            self.h,
            problem.null[1],
            constraint.always.view(np.uint8),
            (constraint.never | self.flat).view(np.uint8),
            gram,
            self.tolerance,
            BATCH,
            CACHE_BYTES,
            1 if problem.d <= WHOLE_GRAM else FEW_AT_ONCE if problem.design.entries <= CACHED else AT_ONCE,
            RESOLUTION,
        )

    @property
    def size(self) -> int:
        """Features that count: also those of ``always`` that cannot enter."""
        return int(self.core.size) + len(idle(self.required, self.core.features))

    @property
    def units(self) -> Indices:
        return self.core.features

    @property
    def objective(self) -> float:
        return self.core.objective

    def enter(self, features: Indices) -> None:
        varying = np.asarray(features, np.int64)
        varying = varying[~self.flat[varying]]
        self.core.enter(varying, self.design.threads, self.design.stop)

    def grow(self, size: int) -> None:
        self.core.grow(size - self.size + self.core.size, self.design.threads, self.design.stop)

    def shrink(self, size: int) -> None:
        self.core.shrink(size - self.size + self.core.size, self.design.threads, self.design.stop)

    def polish(self) -> bool:
        return self.core.polish(self.design.threads, self.design.stop)

    def saved(self) -> Any:
        return self.core.saved()

    def restore(self, saved: Any) -> None:
        self.core.restore(saved)

    def model(self) -> Model:
        return model_on(self.problem, self.core.features, self.core.weights)

    # -- what is claimed ------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """All numbers anew from the rows of the Gram matrix: what moves have added up is gone."""
        self.core.refresh(self.design.threads, self.design.stop)

    def settle(self, size: int) -> bool:
        """Exchange by fresh numbers until none lowers F, and see what rounding could hide from them.

        False where a Gram matrix does not tell: its rounding counts in F or Q, or a nearly spanned column, judged from
        the data, would lower F after all. Cost: |S| d operations, now and then |S|^2 d; |S| n a column in doubt.
        """
        for _ in range(SETTLINGS):
            self.refresh()
            before = self.core.features
            if self.polish() and np.array_equal(self.core.features, before):
                return self._clear() and self._nothing_hidden(self.size < size)
        return False

    def _clear(self) -> bool:
        """Whether rounding in the Gram matrix is nothing beside its inverse on the support, nor beside F."""
        rounding = ROUNDING * (1 + self.core.inflation.sum()) * self.noise[self.core.features].max(initial=1.0)
        return bool(rounding <= UNCLEAR)

    def _nothing_hidden(self, room: bool) -> bool:
        if self.core.size == 0 or self.objective <= self.tolerance:
            return True
        rounding = ROUNDING * (1 + self.core.inflation.sum()) * self.noise * self.h
        hidden, design = HIDDEN * self.problem.scale, self.design
        doubtful = self.core.doubtful(rounding, hidden, DOUBTS, design.threads, design.stop)
        return all(self._judged(some, room) for some in np.array_split(doubtful, len(doubtful) // DOUBTS + 1))

    def _judged(self, outsiders: Indices, room: bool) -> bool:
        """Whether none of these can be exchanged or entered with gain, by what is left of their columns in the data."""
        if len(outsiders) == 0:
            return True
        core, floor = self.core, SPANNED * self.h[outsiders]
        t, q, w = core.regressions(outsiders, self.design.threads, self.design.stop), core.inverse, core.weights
        t, s, g = outsiders_of(self.problem, core.features, w, outsiders, t, q)
        size = np.sqrt(q.diagonal())
        u, a = t / size, w / size
        curvature = s[:, None] + u**2
        may = curvature > floor[:, None]
        may[:, self.always[core.features]] = False
        gains = np.where(may, (g[:, None] - a * u) ** 2 / np.where(may, curvature, 1.0) - a**2, 0.0)
        outside = s > floor
        entries = np.where(outside & (room | self.always[outsiders]), g**2 / np.where(outside, s, 1.0), 0.0)
        return bool(max(gains.max(initial=0.0), entries.max()) <= 2 * self.tolerance)
