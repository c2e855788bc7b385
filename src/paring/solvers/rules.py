"""Step rules and samplings of the stochastic solvers, as values.

``safe`` is 1 over the largest curvature of a row's gradient (see ``stochastic.row_curvatures``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paring.solvers.steps import Fixed, Metric, check_positive

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# -- steps ---------------------------------------------------------------------------------------------------------


class Rule(Protocol):
    """How long steps are; ``rounds``: how many have passed, with fractions within one."""

    def check(self, problem: Any, metric: Metric) -> None: ...

    def lengths(self, safe: float, rounds: Array) -> Array: ...


@dataclass(frozen=True)
class Estimate:
    """``factor`` over the largest curvature of a row. A round that diverges is done again with a quarter of it."""

    factor: float = 1.0

    def check(self, problem: Any, metric: Metric) -> None:
        check_positive("Estimate: factor", self.factor)

    def lengths(self, safe: float, rounds: Array) -> Array:
        return np.full(len(rounds), self.factor * safe)


@dataclass(frozen=True)
class Decreasing:
    """first / (1 + rounds / hold)^power. first: None for the ``Estimate``. Source: Robbins & Monro 1951."""

    first: float | None = None
    hold: float = 1.0
    power: float = 0.5

    def check(self, problem: Any, metric: Metric) -> None:
        for name, value in (("first", self.first), ("hold", self.hold), ("power", self.power)):
            if value is not None:
                check_positive(f"Decreasing: {name}", value)

    def lengths(self, safe: float, rounds: Array) -> Array:
        out: Array = (safe if self.first is None else self.first) / (1 + rounds / self.hold) ** self.power
        return out


@dataclass(frozen=True)
class Tuned:
    """The step of least F after ``rounds`` trial rounds: up and down a geometric grid from the ``Estimate``.

    The papers choose steps so, by hand. Seeded by the run; the trials' passes are counted.
    """

    rounds: int = 2
    ratio: float = 4.0
    most: int = 10

    def check(self, problem: Any, metric: Metric) -> None:
        if not (self.rounds >= 1 and self.most >= 1 and 1 < self.ratio < np.inf):
            raise ValueError("Tuned: rounds and most must be at least 1, ratio more than 1")

    def lengths(self, safe: float, rounds: Array) -> Array:
        raise RuntimeError("Tuned: choose() must come first")

    def choose(self, safe: float, value: Callable[[float], float]) -> Fixed:
        """The best length of the grid; ``value(c)`` is F after the trial rounds, infinity where they diverged."""
        best, least = safe, value(safe)
        tried = 1
        for ratio in (self.ratio, 1 / self.ratio) if np.isfinite(least) else (1 / self.ratio,):
            c = best * ratio
            while tried < self.most:
                f, tried = value(c), tried + 1
                if not f < least and np.isfinite(least):
                    break
                best, least, c = c, f, c * ratio
            if best > safe:  # longer was better: shorter is not tried
                break
        return Fixed(best)


def rule_of(step: Any) -> Any:
    """The rule meant by ``step``: a rule, a number, "estimate" or "tuned"."""
    if isinstance(step, str):
        named: dict[str, Any] = {"estimate": Estimate(), "tuned": Tuned()}
        if step not in named:
            raise ValueError(f"step must be a rule, a number, 'estimate' or 'tuned', got {step!r}")
        return named[step]
    rule = Fixed(float(step)) if isinstance(step, Real) else step
    if isinstance(rule, type) or not hasattr(rule, "lengths"):
        raise TypeError(f"step must be a rule, a number, 'estimate' or 'tuned', got {step!r}")
    return rule


# -- rows ----------------------------------------------------------------------------------------------------------


class Sampling(Protocol):
    """Which rows are drawn. ``curvatures`` are those of the rows."""

    def largest(self, curvatures: Array) -> float:
        """The curvature that the safe step is 1 over."""
        ...

    def order(self, curvatures: Array, count: int, rng: np.random.Generator) -> Indices:
        """``count`` rows in the order in which they are visited."""
        ...

    def importance(self, curvatures: Array) -> Array | None:
        """What each row's gradient is multiplied by so that directions keep their mean; None: by 1."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Each row with the same chance, again and again: the papers' sampling."""

    def largest(self, curvatures: Array) -> float:
        return float(curvatures.max())

    def order(self, curvatures: Array, count: int, rng: np.random.Generator) -> Indices:
        return rng.integers(len(curvatures), size=count)

    def importance(self, curvatures: Array) -> Array | None:
        return None


@dataclass(frozen=True)
class Shuffled:
    """Every row once in a random order, then in another."""

    def largest(self, curvatures: Array) -> float:
        return float(curvatures.max())

    def order(self, curvatures: Array, count: int, rng: np.random.Generator) -> Indices:
        n = len(curvatures)
        turns = [rng.permutation(n) for _ in range(-(-count // n))]
        return np.concatenate(turns)[:count].astype(np.int64)

    def importance(self, curvatures: Array) -> Array | None:
        return None


@dataclass(frozen=True)
class ByNorm:
    """Rows with chances p_i in proportion to their curvature, their gradients times 1 / (n p_i).

    The safe step is then 1 over the mean curvature, not the largest. Source: Zhao & Zhang 2015; Xiao & Zhang 2014.
    """

    def largest(self, curvatures: Array) -> float:
        return float(curvatures.mean())

    def order(self, curvatures: Array, count: int, rng: np.random.Generator) -> Indices:
        ends = np.cumsum(curvatures)
        found = np.searchsorted(ends, rng.random(count) * ends[-1], side="right")
        return np.minimum(found, len(curvatures) - 1).astype(np.int64)

    def importance(self, curvatures: Array) -> Array | None:
        mean = float(curvatures.mean())
        return np.divide(mean, curvatures, out=np.zeros_like(curvatures), where=curvatures > 0)
