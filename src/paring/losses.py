"""Losses of a score z and a target y, by name. The formulae live in the core (``core/src/formulae.hpp``).

>>> import paring
>>> paring.losses.huber(1.5).value([0.0, 3.0], [0.0, 0.0])
array([0.   , 3.375])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring import _core
from paring.limits import LARGEST, SMALLEST

Array = NDArray[np.float64]

DEFAULT_GAMMA = 0.25  # the smoothed hinge of the dual papers' experiments
DEFAULT_DELTA = 1.35  # Huber's 95 % efficiency on residuals of unit variance


@dataclass(frozen=True)
class Loss:
    """One loss. ``targets`` says what y may be: "real", "sign" (-1, +1), "class" (0, 1, ..), "count" (>= 0)
    or "row" (the number of a row of targets).

    ``smooth`` losses have a slope everywhere; those with a finite ``curvature_bound`` also a Lipschitz one.
    """

    name: str
    targets: str
    parameter: float = 0.0
    smooth: bool = True

    @cached_property
    def core(self) -> _core.Loss:
        """The compiled loss. Multinomial: once ``parameter`` holds the number of classes."""
        if self.name == "multinomial" and self.parameter < 2:
            raise ValueError("multinomial: the number of classes is not known yet; use losses.multinomial(classes)")
        return _core.make_loss(self.name, self.parameter)

    def __call__(self, parameter: float) -> Loss:
        """The same loss with another parameter: ``huber(2.0)``, ``smoothed_hinge(0.5)``, ``multinomial(5)``."""
        if self.name not in _PARAMETERS:
            raise TypeError(f"{self.name} takes no parameter")
        if not (isinstance(parameter, Real) and SMALLEST <= float(parameter) <= LARGEST):
            what = f"must be positive ({SMALLEST:g} to {LARGEST:g})"
            raise ValueError(f"{self.name}: {_PARAMETERS[self.name]} {what}, got {parameter!r}")
        return Loss(self.name, self.targets, float(parameter), self.smooth)

    def __reduce__(self) -> tuple[type[Loss], tuple[str, str, float, bool]]:
        return Loss, (self.name, self.targets, self.parameter, self.smooth)  # copies make the compiled loss anew

    @property
    def outputs(self) -> int:
        """Scores a row has: 1, or the number of classes."""
        return int(self.parameter) if self.name == "multinomial" else 1

    @property
    def is_quadratic(self) -> bool:
        """Whether it is squared loss, of one target or several."""
        return self.name.startswith("squared") and self.targets != "sign"

    @property
    def curvature_bound(self) -> float:
        return self.core.curvature_bound

    def value(self, z: ArrayLike, y: ArrayLike) -> Array:
        return self.core.value(_floats(z), self._targets(y))

    def slope(self, z: ArrayLike, y: ArrayLike) -> Array:
        return self.core.slope(_floats(z), self._targets(y))

    def curvature(self, z: ArrayLike, y: ArrayLike) -> Array:
        """Second derivative; for multinomial the diagonal p (1 - p) of it."""
        return self.core.curvature(_floats(z), self._targets(y))

    def conjugate(self, a: ArrayLike, y: ArrayLike) -> Array:
        """sup_z a z - loss(z, y): infinity outside the domain."""
        return self.core.conjugate(_floats(a), self._targets(y))

    def domain(self, y: ArrayLike) -> tuple[Array, Array]:
        """Ends of the interval of slopes where the conjugate is finite."""
        return self.core.domain(_floats(y))

    def _targets(self, y: ArrayLike) -> Array:
        """y as the core takes it, checked: a class number it does not know would be read past the end of a row."""
        floats = _floats(y)
        self.check_targets(floats)
        return floats

    def check_targets(self, y: Array) -> None:
        """Raise ValueError unless y is what this loss can be taken of."""
        if self.targets == "sign" and not np.all(np.abs(y) == 1):
            raise ValueError(f"{self.name}: targets must be -1 or +1; SparseClassifier takes any labels")
        if self.targets == "count" and np.any(y < 0):
            raise ValueError(f"{self.name}: targets must be at least 0")
        if self.targets == "class" and (np.any(y < 0) or np.any(y != np.floor(y)) or np.any(y >= self.outputs)):
            raise ValueError(f"{self.name}: targets must be class numbers 0, 1, ..; SparseClassifier takes any labels")

    def __repr__(self) -> str:
        return f"{self.name}({self.parameter:g})" if self.name in _PARAMETERS and self.parameter else self.name


@dataclass(frozen=True, eq=False)
class SquaredRows(Loss):
    """Squared loss of several targets, |z - t|^2 / 2. A row's target y is the number of its row t in ``table``."""

    table: Array = field(default_factory=lambda: np.empty((0, 1)), repr=False)

    @cached_property
    def core(self) -> _core.Loss:
        return _core.make_squared_rows(self.table)

    @property
    def outputs(self) -> int:
        return self.table.shape[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return squared_rows, (self.table,)


def squared_rows(table: Array) -> SquaredRows:
    return SquaredRows("squared_rows", "row", table=table)


def _floats(x: ArrayLike) -> Array:
    return np.ascontiguousarray(x, dtype=np.float64)


_PARAMETERS = {"smoothed_hinge": "gamma", "huber": "delta", "multinomial": "the number of classes"}

squared = Loss("squared", "real")
logistic = Loss("logistic", "sign")
multinomial = Loss("multinomial", "class")
hinge = Loss("hinge", "sign", smooth=False)
squared_hinge = Loss("squared_hinge", "sign")
smoothed_hinge = Loss("smoothed_hinge", "sign", DEFAULT_GAMMA)
huber = Loss("huber", "real", DEFAULT_DELTA)
poisson = Loss("poisson", "count")

ALL = (squared, logistic, multinomial, hinge, squared_hinge, smoothed_hinge, huber, poisson)


def get(loss: str | Loss) -> Loss:
    """The loss of that name; a Loss passes through."""
    if isinstance(loss, Loss):
        return loss
    for known in ALL:
        if known.name == loss:
            return known
    raise ValueError(f"unknown loss {loss!r}; known: {', '.join(known.name for known in ALL)}")
