"""Constraints of exact-k problems: at most k features (or groups), some always or never, within bounds; an l2 ball.

    w in { |w|_0 <= k, always in the support, never out of it, lower <= w <= upper, |w|_2 <= tau }

A constraint as the user writes it knows no dimension; ``bind(d, outputs)`` checks it against a problem and returns the
``Feasible`` set the solvers work with. Its *units* are what k counts: features, or groups of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring.limits import LARGEST, SMALLEST

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TopK:
    """At most k features, or k groups where ``groups`` (one label a feature, in any order) is given.

    always, never : features that must be, or must not be, in the support: indices, or masks; ``always`` counts in k.
        With groups, the whole group of the feature.
    bounds : (lower, upper), each a number or one number a feature, lower <= 0 <= upper.
    """

    k: int
    always: Sequence[int] = ()
    never: Sequence[int] = ()
    groups: ArrayLike | None = None
    bounds: tuple[ArrayLike, ArrayLike] | None = None
    radius: float = field(default=np.inf, repr=False)

    def __and__(self, other: L2Ball) -> TopK:
        if not isinstance(other, L2Ball):
            raise TypeError(f"TopK combines with L2Ball, not with {type(other).__name__}")
        return replace(self, radius=min(self.radius, other.tau))

    def bind(self, d: int, outputs: int = 1) -> Feasible:
        """The feasible set for d features, checked. Raises ValueError naming what does not fit."""
        unit_of = unit_labels(self.groups, d)
        units = d if unit_of is None else int(unit_of.max()) + 1
        k = _count(self.k, units, "groups" if self.groups is not None else "features")
        always, never = (
            _mask(value, name, d, unit_of, units) for value, name in ((self.always, "always"), (self.never, "never"))
        )
        if np.any(always & never):
            raise ValueError(f"unit {int(np.flatnonzero(always & never)[0])} is in both always and never")
        if always.sum() > k:
            raise ValueError(f"{int(always.sum())} are always kept, but k={k}: raise k or shorten always")
        lower, upper = checked_bounds(self.bounds, d)
        if lower is not None and np.isfinite(self.radius):
            raise ValueError(
                "bounds and L2Ball cannot be combined: their joint projection is not implemented; "
                "use ridge to shrink within bounds"
            )
        return Feasible(d, outputs, k, unit_of, always, never, lower, upper, self.radius)


class TopKGroups(TopK):
    """At most k groups: TopK(k, groups=groups)."""

    def __init__(self, k: int, groups: ArrayLike, **options: Any) -> None:
        super().__init__(k, groups=groups, **options)


@dataclass(frozen=True)
class L2Ball:
    """|w|_2 <= tau, combined with TopK by ``&``; infinite: no limit. Solvers that project take it: iht, svrg-ht."""

    tau: float

    def __post_init__(self) -> None:
        if not (isinstance(self.tau, Real) and (SMALLEST <= float(self.tau) <= LARGEST or self.tau == np.inf)):
            what = f"must be positive ({SMALLEST:g} to {LARGEST:g}, or infinite)"
            raise ValueError(f"L2Ball: tau {what}, got {self.tau!r}")

    def __and__(self, other: TopK) -> TopK:
        return other & self


@dataclass(frozen=True, eq=False)
class Feasible:
    """A constraint bound to d features with ``outputs`` weights each. ``unit_of`` None: every feature is a unit."""

    d: int
    outputs: int
    k: int
    unit_of: Indices | None
    always: NDArray[np.bool_]
    never: NDArray[np.bool_]
    lower: Array | None = None
    upper: Array | None = None
    radius: float = np.inf

    @property
    def units(self) -> int:
        return len(self.always)

    @cached_property
    def members(self) -> list[Indices]:
        """The features of each unit."""
        if self.unit_of is None:
            return [np.array([j]) for j in range(self.d)]
        order = np.argsort(self.unit_of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.unit_of, minlength=self.units))[:-1])

    def features(self, units: Indices) -> Indices:
        """The features of those units, ascending."""
        if self.unit_of is None:
            return np.sort(units)
        return np.sort(np.concatenate([self.members[u] for u in units])) if len(units) else np.empty(0, np.int64)

    def units_of(self, features: Indices) -> Indices:
        return np.unique(features if self.unit_of is None else self.unit_of[features])

    def unit_sums(self, per_feature: Array) -> Array:
        """Sums over the features of each unit."""
        if self.unit_of is None:
            return per_feature
        return np.asarray(np.bincount(self.unit_of, per_feature, self.units), dtype=np.float64)

    def best_units(self, gains: Array, k: int | None = None) -> Indices:
        """The k units of largest gain, ascending; always-units first, never-units out, ties to the lowest index."""
        k = self.k if k is None else k
        ranked = np.where(self.never, -np.inf, np.where(self.always, np.inf, gains))
        k = min(k, self.units - int(self.never.sum()))
        return largest(ranked, k)

    def clip(self, w: Array, features: Indices | slice = slice(None)) -> Array:
        if self.lower is None or self.upper is None:
            return w
        shape = (-1,) + (1,) * (w.ndim - 1)
        return np.clip(w, self.lower[features].reshape(shape), self.upper[features].reshape(shape))

    def project(self, u: Array, h: Array | None = None) -> Array:
        """The nearest feasible point to u, in the metric of ``h`` (one positive number a feature) if given.

        The units kept are those whose loss by being dropped, sum h_j (u_j^2 - (u_j - clip(u_j))^2), is largest.
        """
        inside = self.clip(u)
        gains = u**2 if inside is u else u**2 - (u - inside) ** 2
        if u.ndim == 2:
            gains = gains.sum(axis=1)
        kept = self.features(self.best_units(self.unit_sums(gains if h is None else h * gains)))
        w = np.zeros_like(u)
        w[kept] = inside[kept]
        norm = np.linalg.norm(w)
        return w * (self.radius / norm) if norm > self.radius else w

    def contains(self, w: Array, rounding: float = 1e-12) -> bool:
        """Whether w is feasible (always-units may have zero weight)."""
        used = self.units_of(np.flatnonzero(w if w.ndim == 1 else np.any(w != 0, axis=1)))
        if len(np.union1d(used, np.flatnonzero(self.always))) > self.k or np.any(self.never[used]):
            return False
        near = np.allclose(w, self.clip(w), rtol=0, atol=rounding)
        return bool(near and np.linalg.norm(w) <= self.radius * (1 + rounding))


def largest(values: Array, k: int) -> Indices:
    """Indices of the k largest, ascending; ties go to the lowest index. Cost: O(len(values))."""
    if k <= 0:
        return np.empty(0, np.int64)
    if k >= len(values):
        return np.arange(len(values))
    edge = np.partition(values, len(values) - k)[len(values) - k]
    above = np.flatnonzero(values > edge)
    ties = np.flatnonzero(values == edge)[: k - len(above)]
    return np.sort(np.concatenate([above, ties]))


def _count(k: Any, units: int, what: str) -> int:
    try:
        whole = not isinstance(k, bool | np.bool_) and int(k) == k and k >= 1
    except (TypeError, ValueError, OverflowError):  # None, NaN, infinity
        whole = False
    if not whole:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
    if k > units:
        raise ValueError(f"k={k} is more than the {units} {what} there are: choose k <= {units}")
    return int(k)


def unit_labels(groups: ArrayLike | None, d: int) -> Indices | None:
    """The number of each feature's group, in the order of the labels; None without groups."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (d,):
        raise ValueError(f"groups must hold one label for each of the {d} features, got shape {labels.shape}")
    missing = np.array([label is None or label != label for label in labels.tolist()])
    if missing.any():
        raise ValueError(
            f"groups holds no label for feature {int(np.flatnonzero(missing)[0])}: "
            "give each feature one, its own if it stands alone"
        )
    kinds = {str if isinstance(label, str) else float for label in labels.tolist()}
    if len(kinds) > 1:
        raise ValueError("groups holds text and numbers: make all labels text, or all numbers")
    _, numbers = np.unique(labels, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64).ravel()


def _mask(chosen: Sequence[int], name: str, d: int, unit_of: Indices | None, units: int) -> NDArray[np.bool_]:
    mask = np.zeros(units, dtype=bool)
    indices = indices_of(chosen, name, d)
    mask[indices if unit_of is None else unit_of[indices]] = True
    return mask


def indices_of(chosen: Any, name: str, d: int) -> Indices:
    """Feature indices, given as such or by a mask of all features; refused by the name they were given under."""
    given = np.asarray(chosen)
    if given.size == 0:
        return np.empty(0, np.int64)
    if given.dtype.kind == "b":
        if given.shape != (d,):
            raise ValueError(f"{name}: a mask needs one entry for each of the {d} features, got shape {given.shape}")
        return np.flatnonzero(given)
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= d:
        raise ValueError(f"{name} must be feature indices from 0 to {d - 1}, got {chosen!r}")
    return np.asarray(given, dtype=np.int64)


def bounds_of(bounds: Any, d: int) -> Any:
    """(lower, upper) of bounds as SciPy takes them: ``Bounds``, or d pairs (low, high), None for no limit. A pair of
    pairs is read so where d = 2. Anything else as it is."""
    if hasattr(bounds, "lb"):
        return bounds.lb, bounds.ub
    if not hasattr(bounds, "__len__") or len(bounds) != d:
        return bounds
    if any(np.shape(pair) != (2,) for pair in bounds):
        return bounds
    ends = [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds]
    return tuple(np.array(ends, dtype=np.float64).T)


def checked_bounds(bounds: tuple[ArrayLike, ArrayLike] | None, d: int) -> tuple[Array | None, Array | None]:
    if bounds is None:
        return None, None
    if np.isscalar(bounds) or len(bounds) != 2:
        raise ValueError("bounds must be a pair (lower, upper)")
    ends = []
    for name, end in zip(("lower", "upper"), bounds, strict=True):
        values = np.asarray(end, dtype=np.float64)
        if values.ndim > 1 or values.size not in (1, d):
            raise ValueError(f"{name} bounds must be one number or {d} of them, got shape {values.shape}")
        if np.isnan(values).any():
            raise ValueError(f"{name} bounds hold NaN")
        ends.append(np.ascontiguousarray(np.broadcast_to(values.ravel() if values.size == d else values, (d,))))
    if np.any(ends[0] > 0) or np.any(ends[1] < 0):
        raise ValueError("bounds must allow 0 for every feature (lower <= 0 <= upper): unselected weights are 0")
    if np.all(np.isinf(ends[0])) and np.all(np.isinf(ends[1])):
        return None, None
    return ends[0], ends[1]
