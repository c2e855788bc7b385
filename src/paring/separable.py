"""The one form that all separable penalties take, and what solvers and certificates ask of it.

    Omega(w) = sum over units g of  omega_g |w_g|_2  +  sum_j tau_j |w_j|_1 + (ridge_j/2) |w_j|_2^2,
               lower_j <= w_j <= upper_j

A unit is a feature, or a group of them; with several outputs w_j is a row. Excluded features have lower = upper = 0.
For c = X'(v theta)/n, the slopes with their sign turned:

    prox        argmin_w |w - u|^2/(2 step) + Omega(w)
    conjugate   sup_w c.w - Omega(w);   infinite outside the dual set where nothing but a norm bounds w
    dual_norm   the least s >= 0 with c/s in that set (of the norms alone; the ridge is left out)
    slack       how far c_g lies inside the set, for each unit
    discarded   features that are zero at the optimum, if the optimal c_j lies within ``reach_j`` of c_j

With a ridge the conjugate of a unit is (|soft(c_g, tau)|_2 - omega)_+^2 / (2 ridge).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

HALVINGS = 64  # of an interval that holds the dual norm of a sparse group


@dataclass(frozen=True, eq=False)
class Separable:
    """tau, ridge, lower, upper: one number a feature; omega: one a unit; unit_of: the unit of each feature, or None
    where each is its own. lower and upper are None where nothing is bounded. Numbers that are all the same are kept as
    one (``same``): there may be millions of features."""

    outputs: int
    tau: Array
    omega: Array
    ridge: Array
    lower: Array | None = None
    upper: Array | None = None
    unit_of: Indices | None = None

    @property
    def d(self) -> int:
        return len(self.tau)

    @property
    def units(self) -> int:
        return len(self.omega)

    # -- what there is ------------------------------------------------------------------------------------------

    @cached_property
    def excluded(self) -> Mask:
        if self.lower is None or self.upper is None:
            return _all(False, self.d)
        return (self.lower == 0) & (self.upper == 0)

    @cached_property
    def unpenalised(self) -> Mask:
        """Features that nothing keeps at zero."""
        if _one(self.tau) or (self.unit_of is None and _one(self.omega)):
            return _all(False, self.d)
        return (self.tau == 0) & (self._of_features(self.omega) == 0) & ~self.excluded

    @cached_property
    def hard(self) -> Mask:
        """Features whose conjugate is infinite beyond the dual set: no ridge, and no bound on both sides."""
        if self.lower is None or self.upper is None:
            one = _one(self.ridge)
            return self.ridge == 0 if one is None else _all(one == 0, self.d)
        return (self.ridge == 0) & (np.isinf(self.lower) | np.isinf(self.upper))

    @cached_property
    def all_hard(self) -> bool:
        return _one(self.hard) is True or bool(self.hard.all())

    @cached_property
    def has_norms(self) -> bool:
        one = _one(self.omega)
        return bool(self.omega.any() if one is None else one)

    @property
    def is_plain(self) -> bool:
        """One weight a unit, and no norms: the formulae of a group come down to those of a number."""
        return not self.has_norms and self.unit_of is None and self.outputs == 1

    def on(self, features: Indices) -> Separable:
        """The penalty of those features alone."""
        unit_of, omega = self.unit_of, self.omega
        if unit_of is None:
            omega = _picked(omega, features)
        else:
            present, unit_of = np.unique(unit_of[features], return_inverse=True)
            omega = omega[present]
        lower, upper = (None if end is None else end[features] for end in (self.lower, self.upper))
        tau, ridge = _picked(self.tau, features), _picked(self.ridge, features)
        return Separable(self.outputs, tau, omega, ridge, lower, upper, unit_of)

    def parts(self) -> tuple[Array, ...]:
        """omega, tau, ridge, lower, upper, written out as the core takes them."""
        ends = zip((self.lower, self.upper), (-np.inf, np.inf), strict=True)
        lower, upper = (np.full(self.d, far) if end is None else end for end, far in ends)
        return tuple(map(np.ascontiguousarray, (self.omega, self.tau, self.ridge, lower, upper)))

    def with_ridge(self, ridge: float) -> Separable:
        """The same with that much more of a ridge on every feature."""
        if ridge == 0:
            return self
        one = _one(self.ridge)
        return replace(self, ridge=self.ridge + ridge if one is None else same(one + ridge, self.d))

    # -- sums over units ----------------------------------------------------------------------------------------

    def _rows(self, x: NDArray[Any], like: Any) -> Any:
        """Numbers of features, shaped to combine with ``like``."""
        return x if np.ndim(like) == 1 else x[:, None]

    def _of_features(self, per_unit: NDArray[Any]) -> Any:
        return per_unit if self.unit_of is None else per_unit[self.unit_of]

    def unit_norms(self, x: Array) -> Array:
        """|x_g|_2 of each unit."""
        if x.ndim == 1 and self.unit_of is None:
            return np.abs(x)
        squares = x**2 if x.ndim == 1 else (x**2).sum(axis=1)
        if self.unit_of is not None:
            squares = np.bincount(self.unit_of, squares, self.units)
        return np.sqrt(squares)

    def _over_units(self, x: Array, combine: Any, start: float) -> Array:
        """The least or largest of each unit's numbers."""
        if self.unit_of is None:
            return x
        out = np.full(self.units, start)
        combine.at(out, self.unit_of, x)
        return out

    # -- primal -------------------------------------------------------------------------------------------------

    def value(self, w: Array) -> float:
        absolute, square = np.abs(w), w**2
        if w.ndim == 2:
            absolute, square = absolute.sum(axis=1), square.sum(axis=1)
        sums = self.tau @ absolute + 0.5 * (self.ridge @ square)
        return float(sums + (self.omega @ self.unit_norms(w) if self.has_norms else 0.0))

    def clip(self, w: Array) -> Array:
        if self.lower is None or self.upper is None:
            return w
        return np.clip(w, self._rows(self.lower, w), self._rows(self.upper, w))

    def prox(self, u: Array, step: float = 1.0) -> Array:
        """The norm's prox keeps signs, so that soft thresholding, bounds, the norm and the ridge follow one another."""
        shrink = 1 + step * self._rows(self.ridge, u)
        w = self.clip(soft(u, step * self._rows(self.tau, u)) / shrink)
        if not self.has_norms:
            return w
        norms = self.unit_norms(w)
        # a unit's ridge is one number: with it, omega too is divided by 1 + step ridge
        pull = step * self.omega / self._over_units(shrink.ravel(), np.maximum, 1.0)
        left = np.maximum(norms - pull, 0.0)
        factor = np.divide(left, norms, out=np.zeros_like(norms), where=norms > 0)
        return w * self._rows(self._of_features(factor), w)

    # -- dual ---------------------------------------------------------------------------------------------------

    def reaching(self, c: Array) -> Array:
        """|c_j| where it pulls w_j into its bounds; else 0."""
        if self.lower is None or self.upper is None:
            return np.abs(c)
        up = np.where(self._rows(self.upper, c) > 0, np.maximum(c, 0.0), 0.0)
        return np.maximum(up, np.where(self._rows(self.lower, c) < 0, np.maximum(-c, 0.0), 0.0))

    def dual_norm(self, c: Array) -> float:
        """Over features that are penalised; those that are not must have c = 0 (with no ridge), which is not asked."""
        pull = self.reaching(c)
        if self.unpenalised.any():
            pull = np.where(self._rows(self.unpenalised, c), 0.0, pull)
        rows = pull if pull.ndim == 1 else pull.max(axis=1)
        if not self.has_norms:
            return _largest_ratio(rows, self.tau)
        norms = self.unit_norms(pull)
        if not self.tau.any():
            return _largest_ratio(norms, self.omega)
        return self._sparse_group_norm(pull, rows, norms)

    def _sparse_group_norm(self, pull: Array, rows: Array, norms: Array) -> float:
        """max_g of the s with |soft(c_g, s tau)|_2 = s omega_g: the left side falls, the right one rises."""
        tau = self._rows(self.tau, pull)
        by_norm = np.divide(norms, self.omega, out=np.full_like(norms, np.inf), where=self.omega > 0)
        ratios = np.divide(rows, self.tau, out=np.full_like(rows, np.inf), where=self.tau > 0)
        high = np.where(norms > 0, np.minimum(by_norm, self._over_units(ratios, np.maximum, 0.0)), 0.0)
        low = np.zeros_like(high)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            left = soft(pull, tau * self._rows(self._of_features(middle), pull))
            outside = self.unit_norms(left) > middle * self.omega
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        return float(high.max(initial=0.0))

    def conjugate(self, c: Array) -> float:
        """Omega*(c), where it is finite for every hard feature: c in the dual set there is taken for granted."""
        if self.all_hard:
            return 0.0
        left = np.maximum(self.reaching(c) - self._rows(self.tau, c), 0.0)
        if self.has_norms:  # bounds are none, or one-sided: `reaching` has them
            norms = np.maximum(self.unit_norms(left) - self.omega, 0.0)
            strength = self._over_units(self.ridge, np.maximum, 0.0)
            return float(np.divide(norms**2, 2 * strength, out=np.zeros_like(norms), where=strength > 0).sum())
        strength = np.broadcast_to(self._rows(self.ridge, c), left.shape)
        w = np.divide(left, strength, out=np.full_like(left, np.inf), where=strength > 0)
        if self.lower is not None and self.upper is not None:
            w = np.minimum(w, np.where(c > 0, self._rows(self.upper, c), -self._rows(self.lower, c)))
        w = np.where((left > 0) & ~self._rows(self.hard, c), w, 0.0)
        return float((left * w - 0.5 * strength * w**2).sum())

    def slack(self, c: Array) -> Array:
        """What c_g may move before the unit can leave zero; negative outside the dual set."""
        pull = self.reaching(c)
        if self.is_plain:
            return np.asarray(self.tau - pull)
        rows = pull if pull.ndim == 1 else pull.max(axis=1)
        left = self.unit_norms(np.maximum(pull - self._rows(self.tau, c), 0.0))
        return np.where(left > 0, self.omega - left, self.omega + self._over_units(self.tau - rows, np.minimum, np.inf))

    def discarded(self, c: Array, reach: Array) -> Mask:
        """Features that are zero at the optimum, if there |c*_g - c_g| <= |reach_g| (features alone: reach_j).

        Alone: |c_j| + reach_j < tau_j. A unit with a norm, whole: |soft(c_g, tau)|_2 + |reach_g| < omega_g where
        |c_g|_inf > tau, else (|c_g|_inf + |reach_g| - tau)_+ < omega_g.
        """
        pull = self.reaching(c)
        rows = pull if pull.ndim == 1 else pull.max(axis=1)
        gone = rows + reach < self.tau
        if self.lower is not None:
            gone |= self.excluded
        if not self.has_norms:
            return gone
        slack, span = self.slack(c), self.unit_norms(reach)
        outside = self.unit_norms(np.maximum(pull - self._rows(self.tau, c), 0.0)) > 0
        inside = np.maximum(span - (slack - self.omega), 0.0) < self.omega
        return gone | self._of_features(np.where(outside, span < slack, inside))


def soft(u: Array, t: Any) -> Array:
    """Soft thresholding: u less t in size."""
    return np.sign(u) * np.maximum(np.abs(u) - t, 0.0)


def same(value: float, count: int) -> Array:
    """``count`` times one number, in the room of one."""
    return np.ndarray((count,), np.float64, np.array([value], np.float64), strides=(0,))


def _all(value: bool, count: int) -> Mask:
    return np.ndarray((count,), np.bool_, np.array([value]), strides=(0,))


def _one(x: NDArray[Any]) -> Any:
    """The number that an array of ``same`` repeats; None for another array."""
    return x[0].item() if len(x) and x.strides == (0,) else None


def _picked(x: Array, features: Indices) -> Array:
    one = _one(x)
    return x[features] if one is None else same(one, len(features))


def _largest_ratio(values: Array, by: Array) -> float:
    """max of values / by, where ``by`` is positive."""
    one = _one(by)
    if one is not None:
        return float(values.max(initial=0.0)) / one if one > 0 else 0.0
    return float(np.divide(values, by, out=np.zeros_like(values), where=by > 0).max(initial=0.0))
