"""Penalties, by which weights become zero: l1, elastic net, groups, sparse groups, rows of several targets.

    L1(lam, factors)                   lam sum_j f_j |w_j|
    L1L2(lam, l1_ratio, factors)       lam sum_j f_j (l1_ratio |w_j| + (1 - l1_ratio)/2 w_j^2)
    Group(lam, groups, factors)        lam sum_g f_g |w_g|_2
    SparseGroup(lam, groups, l1_ratio) lam (l1_ratio |w|_1 + (1 - l1_ratio) sum_g f_g |w_g|_2)
    MultiTask(lam)                     lam sum_j |W_j|_2, a row of W for each feature

A penalty as the user writes it knows no dimension; ``bind(d, outputs)`` checks it against a problem and returns the
``Separable`` form (``separable.py``) that the solvers work with.

Factors: 0 leaves a feature unpenalised, infinity leaves it out. Those of groups are sqrt(size of the group) by default
(Yuan & Lin 2006). Bounds: (lower, upper) with lower <= 0 <= upper, numbers or one for each feature; for groups and rows
only (0, inf) and (-inf, inf). With several outputs (multinomial, several targets) the l1 penalty is of every weight,
and a group holds all weights of its features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring.constraints import checked_bounds, unit_labels
from paring.separable import Separable, same

Array = NDArray[np.float64]
Bounds: TypeAlias = "tuple[ArrayLike, ArrayLike] | None"


@dataclass(frozen=True, eq=False)
class Penalty:
    """What all penalties share: the weight ``lam``, positive."""

    lam: float

    def __post_init__(self) -> None:
        if not (isinstance(self.lam, Real) and 0 < float(self.lam) < np.inf):
            raise ValueError(f"{type(self).__name__}: lam must be a positive number, got {self.lam!r}")

    def at(self, lam: float) -> Any:
        """The same penalty with another weight."""
        return replace(self, lam=float(lam))

    def bind(self, d: int, outputs: int = 1) -> Separable:
        """The penalty of d features with ``outputs`` weights each, checked."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class L1(Penalty):
    """lam sum_j factors_j |w_j|: the lasso."""

    factors: ArrayLike | None = None
    bounds: Bounds = None

    def bind(self, d: int, outputs: int = 1) -> Separable:
        factors, excluded = _factors(self.factors, d)
        return _separable(d, outputs, self.bounds, excluded, tau=_times(self.lam, factors))


@dataclass(frozen=True, eq=False)
class L1L2(Penalty):
    """lam sum_j factors_j (l1_ratio |w_j| + (1 - l1_ratio)/2 w_j^2): the elastic net."""

    l1_ratio: float = 0.5
    factors: ArrayLike | None = None
    bounds: Bounds = None

    def bind(self, d: int, outputs: int = 1) -> Separable:
        ratio = _ratio(self)
        factors, excluded = _factors(self.factors, d)
        tau, ridge = _times(self.lam * ratio, factors), _times(self.lam * (1 - ratio), factors)
        return _separable(d, outputs, self.bounds, excluded, tau=tau, ridge=ridge)


@dataclass(frozen=True, eq=False)
class Group(Penalty):
    """lam sum_g factors_g |w_g|_2. groups: one label a feature, in any order.

    factors : one number for each label, in the labels' sorted order; by default the square root of the group's size.
    """

    groups: ArrayLike
    factors: ArrayLike | None = None
    bounds: Bounds = None

    def bind(self, d: int, outputs: int = 1) -> Separable:
        unit_of, factors, excluded = _group_factors(self, d)
        return _separable(d, outputs, self.bounds, excluded, omega=self.lam * factors, unit_of=unit_of)


@dataclass(frozen=True, eq=False)
class SparseGroup(Penalty):
    """lam (l1_ratio |w|_1 + (1 - l1_ratio) sum_g factors_g |w_g|_2). groups and factors: as of ``Group``."""

    groups: ArrayLike
    l1_ratio: float = 0.5
    factors: ArrayLike | None = None
    bounds: Bounds = None

    def bind(self, d: int, outputs: int = 1) -> Separable:
        ratio = _ratio(self)
        unit_of, factors, excluded = _group_factors(self, d)
        omega, tau = self.lam * (1 - ratio) * factors, same(self.lam * ratio, d)
        return _separable(d, outputs, self.bounds, excluded, tau=tau, omega=omega, unit_of=unit_of)


@dataclass(frozen=True, eq=False)
class MultiTask(Penalty):
    """lam sum_j factors_j |W_j|_2: a feature enters for all targets (or classes) or for none."""

    factors: ArrayLike | None = None
    bounds: Bounds = None

    def bind(self, d: int, outputs: int = 1) -> Separable:
        factors, excluded = _factors(self.factors, d)
        return _separable(d, outputs, self.bounds, excluded, omega=_times(self.lam, factors))


def _separable(
    d: int,
    outputs: int,
    bounds: Bounds,
    excluded: NDArray[np.bool_] | None,
    *,
    tau: Array | None = None,
    omega: Array | None = None,
    ridge: Array | None = None,
    unit_of: NDArray[np.int64] | None = None,
) -> Separable:
    lower, upper = checked_bounds(bounds, d)
    if omega is not None and lower is not None and upper is not None:
        whole = np.isin(lower, (0, -np.inf)).all() and np.isin(upper, (0, np.inf)).all()
        if not whole:
            raise ValueError("bounds of groups must be 0 or infinite: the prox of a norm in a box is not implemented")
    if excluded is not None and excluded.any():
        lower = np.where(excluded, 0.0, -np.inf if lower is None else lower)
        upper = np.where(excluded, 0.0, np.inf if upper is None else upper)
    units = d if unit_of is None else int(unit_of.max()) + 1
    zeros = same(0.0, d)
    return Separable(
        outputs=outputs,
        tau=zeros if tau is None else tau,
        omega=same(0.0, units) if omega is None else omega,
        ridge=zeros if ridge is None else ridge,
        lower=lower,
        upper=upper,
        unit_of=unit_of,
    )


def _ratio(penalty: Any) -> float:
    ratio = penalty.l1_ratio
    if not (isinstance(ratio, Real) and 0 <= float(ratio) <= 1):
        raise ValueError(f"{type(penalty).__name__}: l1_ratio must be a number from 0 to 1, got {ratio!r}")
    return float(ratio)


def _factors(given: ArrayLike | None, count: int, what: str = "features") -> tuple[Array, NDArray[np.bool_] | None]:
    """(factors, 0 where they are infinite; where they are, or None)."""
    if given is None:
        return same(1.0, count), None
    factors = np.array(given, dtype=np.float64)
    if factors.shape != (count,):
        raise ValueError(f"factors must hold {count} numbers, one for each of the {what}, got shape {factors.shape}")
    if np.isnan(factors).any() or factors.min() < 0:
        raise ValueError("factors must be at least 0 (0: not penalised; infinity: left out)")
    excluded = np.isinf(factors)
    return np.where(excluded, 0.0, factors), excluded


def _times(lam: float, factors: Array) -> Array:
    return same(lam * factors[0], len(factors)) if factors.strides == (0,) else lam * factors


def _group_factors(penalty: Any, d: int) -> tuple[NDArray[np.int64], Array, NDArray[np.bool_] | None]:
    unit_of = unit_labels(penalty.groups, d)
    if unit_of is None:
        raise ValueError(f"{type(penalty).__name__}: groups must hold one label for each feature")
    sizes = np.bincount(unit_of)
    if penalty.factors is None:
        return unit_of, np.sqrt(sizes), None
    factors, excluded = _factors(penalty.factors, len(sizes), "groups")
    return unit_of, factors, None if excluded is None else excluded[unit_of]
