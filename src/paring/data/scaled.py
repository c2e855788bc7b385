"""Centring and scaling as a view: (X - centre) / scale behind the verbs of a Design, X untouched.

    X~ w = X (w / scale) - centre'(w / scale)        X~'r = (X'r - centre sum_i r_i) / scale

Sums of squares lose digits as (centre / scale)^2 grows: half of them where a mean is 1e4 deviations from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring import _core
from paring.data.blocks import float64_blocks
from paring.data.design import Array, Design, Indices, as_design

CONSTANT = 1e-13  # a deviation so small against the mean is rounding


class ScaledDesign(Design):
    """(X - centre) / scale, for any X a Design takes; ``Problem(ScaledDesign(...), ...)`` solves in its coordinates.

    centre : (d,) numbers, None for zeros. Sparse X takes none: that would fill it. ``fit_intercept=True`` makes
        centring unnecessary, since every solver then centres exactly.
    scale : (d,) positive numbers, None for ones.
    ``unscaled`` takes weights back to the coordinates of X. Cost: O(d) beyond each verb's; a block is copied twice.
    """

    base: Design
    centre: Array
    scale: Array

    def __init__(
        self, X: Any, centre: ArrayLike | None = None, scale: ArrayLike | None = None, n_jobs: int | None = None
    ) -> None:
        base = as_design(X, n_jobs)
        self.n, self.d, self.dtype, self.is_dense = base.n, base.d, base.dtype, base.is_dense
        shift = _numbers("centre", centre, self.d, 0.0)
        divisor = _numbers("scale", scale, self.d, 1.0)
        if not (divisor > 0).all():
            raise ValueError("scale must be positive; leave constant columns at 1")
        if shift.any() and not self.is_dense:
            raise ValueError(
                "X is sparse: centring would fill it. fit_intercept=True makes centring unnecessary; "
                "or scale alone (centre=None; paring.data.scaled.rescaled)"
            )
        if isinstance(base, ScaledDesign):
            shift, divisor = base.centre + base.scale * shift, base.scale * divisor
            base = base.base
        self.base, self.centre, self.scale = base, shift, divisor

    def __reduce__(self) -> tuple[Any, ...]:
        return ScaledDesign, (self.base, self.centre, self.scale)

    # -- what the loop sets and reads: one state, the base's --------------------------------------------------------

    @property
    def root(self) -> Design:
        return self.base

    @property
    def threads(self) -> int:
        return self.base.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self.base.threads = threads

    @property
    def stop(self) -> _core.Stop:
        return self.base.stop

    @stop.setter
    def stop(self, stop: _core.Stop) -> None:
        self.base.stop = stop

    @property
    def passes(self) -> float:
        return self.base.passes

    @passes.setter
    def passes(self, passes: float) -> None:
        self.base.passes = passes

    @property
    def copied_bytes(self) -> int:
        return self.base.copied_bytes

    @copied_bytes.setter
    def copied_bytes(self, count: int) -> None:
        self.base.copied_bytes = count

    @property
    def entries(self) -> int:
        return self.base.entries

    def column_counts(self) -> Indices:
        return self.base.column_counts()

    @property
    def by_rows(self) -> _core.Rows:
        raise ValueError(
            "sweeps over rows take data as they lie: scale a copy of X (sklearn.preprocessing.StandardScaler), "
            "or use a solver of full gradients, such as 'pursuit' or 'iht'"
        )

    # -- verbs --------------------------------------------------------------------------------------------------

    def scores(self, w: Array) -> Array:
        u = _by_row(w, self.scale)
        return self.base.scores(u) - self.centre @ u

    def adjoint(self, r: Array) -> Array:
        sums = self.base.adjoint(r)
        return _by_row(sums - np.multiply.outer(self.centre, r.sum(axis=0)), self.scale)

    def adjoint_on(self, features: Indices, r: Array) -> Array:
        sums = self.base.adjoint_on(features, r) - np.multiply.outer(self.centre[features], r.sum(axis=0))
        return _by_row(sums, self.scale[features])

    def lend_columns(self, descent: _core.Descent, features: Indices) -> None:
        missing = np.array(descent.missing(features), dtype=np.int64)
        if len(missing):
            picked = self._view(self._picked(missing))
            descent.append(picked, np.arange(len(missing)), missing, self.threads, self.stop)

    def scores_on(self, features: Indices, w: Array) -> Array:
        u = _by_row(w, self.scale[features])
        return self.base.scores_on(features, u) - self.centre[features] @ u

    def moments(self, r: Array, c: Array) -> tuple[Array, Array, Array]:
        slope, first, second = self.base.moments(r, c)
        total = c.sum()
        squares = second - self.centre * (2 * first - self.centre * total)
        return (
            (slope - self.centre * r.sum()) / self.scale,
            (first - self.centre * total) / self.scale,
            np.maximum(squares, 0) / self.scale**2,
        )

    def block(self, features: Indices, centre: Array | None = None, by_rows: bool = True) -> _core.Block:
        chosen = np.asarray(features)
        if chosen.size and (chosen.min() < 0 or chosen.max() >= self.d):
            raise ValueError("no such column")
        picked = self._picked(chosen)
        weights = None if centre is None else np.ascontiguousarray(centre, np.float64)
        every = np.arange(len(chosen))
        return _core.make_block(self._view(picked), every, weights, by_rows, self.threads, self.stop)

    def gram(self, v: Array, means: Array | None) -> Array:
        """As Design's; passes as ``gram_rows``."""
        around, off = self._around(v, means)
        gram = self.base.gram(v, around)
        if off is not None:
            gram += v.sum() * np.outer(off, off)
        return gram / self.scale[:, None] / self.scale

    def _picked(self, chosen: Indices) -> Any:
        """Those columns, centred and scaled."""
        if not self.is_dense:
            picked = self.base._csc[:, chosen].astype(np.float64)
            picked.data /= np.repeat(self.scale[chosen], np.diff(picked.indptr))
            return picked
        out = np.empty((self.n, len(chosen)), order="F")
        for rows, part in float64_blocks(self.base._X, chosen, self.stop):
            np.divide(part - self.centre[chosen], self.scale[chosen], out=out[rows])
        return out

    def gram_rows(self, features: Indices, v: Array, means: Array | None) -> Array:
        """As Design's; without ``means`` and with a centre, two passes: around X's own means nothing cancels."""
        around, off = self._around(v, means)
        gram = self.base.gram_rows(features, v, around)
        if off is not None:
            gram += v.sum() * np.outer(off[features], off)
        return gram / self.scale[features, None] / self.scale

    def _around(self, v: Array, means: Array | None) -> tuple[Array | None, Array | None]:
        """Means in the base's coordinates to take a Gram matrix around, and how far off the asked ones they are."""
        if means is not None:
            return means * self.scale + self.centre, None
        if not self.centre.any() or not v.any():
            return None, None
        own = self.base.adjoint(v) / v.sum()
        return own, own - self.centre

    def parts(self, features: Indices) -> Iterator[tuple[slice, Array]]:
        for rows, part in self.base.parts(features):
            yield rows, (part - self.centre[features]) / self.scale[features]

    def columns(self, features: Indices) -> Array:
        return (self.base.columns(features) - self.centre[features]) / self.scale[features]

    def rows(self, chosen: Indices) -> ScaledDesign:
        return ScaledDesign(self.base.rows(chosen), self.centre, self.scale)

    def row_squares(self, weights: Array | None = None) -> Array:
        u = 1 / self.scale**2 if weights is None else _by_row(weights, self.scale**2)
        squares = self.base._square_scores(u) + self.centre**2 @ u
        if self.centre.any():
            squares -= 2 * self.base.scores(u * self.centre.reshape((-1,) + (1,) * (u.ndim - 1)))
        return np.maximum(squares, 0)

    # -- and back -----------------------------------------------------------------------------------------------

    def unscaled(self, w: Array, b: Any = 0.0) -> tuple[Array, Any]:
        """Weights and intercept for X itself of the model (w, b): the same scores."""
        coef = _by_row(w, self.scale)
        return coef, b - self.centre @ coef


def standardised(X: Any, sample_weight: ArrayLike | None = None, n_jobs: int | None = None) -> ScaledDesign:
    """X with columns of weighted mean 0 and variance 1; constant columns become 0. Cost: two passes."""
    design = as_design(X, n_jobs)
    if not design.is_dense:
        raise ValueError(
            "X is sparse: centring would fill it. fit_intercept=True makes centring unnecessary; "
            "for columns of one size use paring.data.scaled.rescaled"
        )
    v = _shares(sample_weight, design.n)
    mean = _finite(design.adjoint(v))
    variance = np.zeros(design.d)
    view = ScaledDesign(design, mean)
    for rows, part in float64_blocks(view.base._X, None, design.stop):
        variance += v[rows] @ ((part - view.centre) / view.scale) ** 2
    design.passes += 1
    deviation = np.sqrt(variance)
    constant = np.flatnonzero(deviation <= CONSTANT * np.abs(mean))
    mean[constant] = design.rows(np.flatnonzero(v)[:1]).columns(constant)[0]  # not its rounded mean: then they become 0
    deviation[constant] = 1.0
    return ScaledDesign(design, mean, deviation)


def rescaled(X: Any, sample_weight: ArrayLike | None = None, n_jobs: int | None = None) -> ScaledDesign:
    """X with columns of weighted mean square 1, empty ones left alone; X may be sparse. Cost: one pass."""
    design = as_design(X, n_jobs)
    v = _shares(sample_weight, design.n)
    sizes = np.sqrt(_finite(design.moments(v, v)[2]))
    return ScaledDesign(design, None, np.where(sizes > 0, sizes, 1.0))


def _by_row(x: Array, divisor: Array) -> Array:
    return x / (divisor if x.ndim == 1 else divisor[:, None])


def _numbers(name: str, given: ArrayLike | None, size: int, default: float) -> Array:
    if given is None:
        return np.full(size, default)
    numbers = np.array(given, dtype=np.float64)
    if numbers.shape != (size,):
        raise ValueError(f"{name} must hold {size} numbers, got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} holds NaN or infinity")
    return numbers


def _shares(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.full(n, 1 / n)
    v = _numbers("sample_weight", sample_weight, n, 1.0)  # one a row
    if v.min() < 0 or not v.any():
        raise ValueError("sample_weight must be not negative, and positive somewhere")
    return v / v.sum()


def _finite(sums: Array) -> Array:
    if not np.isfinite(sums).all():
        column = int(np.flatnonzero(~np.isfinite(sums))[0])
        raise ValueError(f"X holds NaN or infinity (column {column}); impute or drop them first")
    return sums
