"""A thresholded gradient step, and the rules for its length c.

From (w, b) the step goes to the minimiser, over the feasible w' and all b', of the diagonal model

    Q(w', b') = F + g'(w' - w) + gb (b' - b) + (1/2c) (sum_j h_j (w'_j - w_j)^2 + h_b (b' - b)^2),

which is w' = H_k(u), u = w - c g / h, where H_k keeps the u_j with the largest |u_j| sqrt(h_j). ``scaling="none"``:
h = 1, the papers' algorithms. ``scaling="curvature"``: h_j bounds the curvature of F along feature j, so that weights
of features in other units, or of rare and frequent words, compare; with an intercept in centred columns, where b moves
alone.

Rules are values: ``Fixed(step)``, ``Lipschitz()``, ``Normalised()``, ``Backtracking()``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paring.constraints import Feasible
from paring.result import Model

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

LIPSCHITZ_MARGIN = 1.05  # power iteration only bounds the curvature from below
MOST_TRIALS = 100  # halvings of a step before its gradient is disbelieved
LINE_ACCURACY = 1e-8  # relative, of an exact line search


def support_of(constraint: Feasible, w: Array) -> Indices:
    """The features of w's units and of those always kept."""
    used = constraint.units_of(np.flatnonzero(w if w.ndim == 1 else np.any(w != 0, axis=1)))
    return constraint.features(np.union1d(used, np.flatnonzero(constraint.always)))


def model_of(constraint: Feasible, w: Array, b: Any) -> Model:
    """The model of dense weights: their nonzeros, and the features always kept."""
    kept = w != 0 if w.ndim == 1 else np.any(w != 0, axis=1)
    if constraint.always.any():
        kept = kept | (constraint.always if constraint.unit_of is None else constraint.always[constraint.unit_of])
    support = np.flatnonzero(kept)
    return Model(support, w[support], b)


# -- the diagonal model --------------------------------------------------------------------------------------------


class NoDescent(ValueError):
    """No step length lowers F: its gradient is wrong, or lost in rounding."""

    def __init__(self) -> None:
        super().__init__("no step lowers F: is its gradient right?")


@dataclass(frozen=True, eq=False)
class Metric:
    """h of the weights (None: 1) and h_b of the intercept, which moves alone in columns less ``centre`` (None: 0)."""

    h: Array | None
    h_b: float
    centre: Array | None
    first: float  # a step to begin with


def metric_of(problem: Any, scaling: str) -> Metric:
    """The metric that ``scaling`` names: "none" or "curvature"."""
    if scaling == "none":
        largest = float(problem.curvatures().max())
        return Metric(None, 1.0, None, 1.0 / largest if largest > np.finfo(float).tiny else 1.0)
    if scaling != "curvature":
        raise ValueError(f"scaling must be 'none' or 'curvature', got {scaling!r}")
    if np.isfinite(problem.constraint.radius):
        raise ValueError("L2Ball is a ball in the plain metric: use scaling='none'")
    bound = problem.loss.curvature_bound
    centre = problem.means if problem.fit_intercept else None
    return Metric(problem.curvatures(), bound if np.isfinite(bound) else 1.0, centre, 1.0)


@dataclass(frozen=True, eq=False)
class Move:
    """Where a step of length ``step`` leads; ``gain`` is the fall of F that the diagonal model promises."""

    problem: Any
    step: float
    w: Array
    b: Any
    gain: float

    @cached_property
    def model(self) -> Model:
        return model_of(self.problem.constraint, self.w, self.b)

    @cached_property
    def z(self) -> Array:
        return self.problem.scores(self.model)

    @cached_property
    def objective(self) -> float:
        return self.problem.value_at(self.z, self.w)


class Trial:
    """The steps from one point: ``at`` holds w, b, z, g, gb, the objective and the last step (0: none yet).

    ``along``: the features an exact line search goes along; None for the k of largest gradient.
    """

    def __init__(self, problem: Any, at: Any, metric: Metric, along: Indices | None = None) -> None:
        self.problem, self.at, self.metric, self.along = problem, at, metric, along
        self.constraint: Feasible = problem.constraint
        self.g = at.g if metric.centre is None else at.g - np.multiply.outer(metric.centre, at.gb)
        self.h = None if metric.h is None else metric.h.reshape((-1,) + (1,) * (at.w.ndim - 1))
        self.direction: Array = -self.g if self.h is None else -self.g / self.h
        self.thresholdings = 0

    def threshold(self, u: Array) -> Array:
        self.thresholdings += 1
        return self.constraint.project(u, self.metric.h)

    def move(self, c: float) -> Move:
        w = self.threshold(self.at.w + c * self.direction)
        change, b_change = w - self.at.w, -c * self.at.gb / self.metric.h_b
        weighed = change if self.h is None else self.h * change
        bend = float(np.vdot(weighed, change)) + self.metric.h_b * float(np.vdot(b_change, b_change))
        gain = -float(np.vdot(self.g, change) + np.vdot(self.at.gb, b_change)) - bend / (2 * c)
        return Move(self.problem, c, w, self.at.b + b_change - self.recentred(change), max(gain, 0.0))

    def recentred(self, change: Array) -> Any:
        """What the intercept of the columns as they are loses when the weights change and the centred one stays."""
        return 0.0 if self.metric.centre is None else self.metric.centre @ change

    def majorised(self, move: Move) -> bool:
        """F at the move is no more than the model's: F then falls by the gain at least."""
        slack = self.problem.rounding * max(abs(self.at.objective), self.problem.scale)
        return bool(move.objective <= self.at.objective - move.gain + slack)

    def exact_step(self) -> float:
        """argmin_t F(w + t e, b + t e_b): e the step's direction on ``along``. Cost: O(n) a value of t."""
        features = self.along
        if features is None or len(features) == 0:
            features = support_of(self.constraint, self.threshold(self.direction))
        e = self.direction[features]
        whole = np.zeros_like(self.at.w)
        whole[features] = e
        e_b = -self.at.gb / self.metric.h_b - self.recentred(whole)
        along = self.problem.scores(Model(features, e, e_b))
        here = self.at.w[features]

        def slope(t: float) -> float:
            with np.errstate(over="ignore", invalid="ignore"):  # far out on the line: then not finite
                value = np.vdot(self.problem.residuals(self.at.z + t * along), along)
            value += self.problem.ridge * np.vdot(here + t * e, e)
            return float(value) if np.isfinite(value) else np.finfo(float).max

        return _root(slope, self.at.step or self.metric.first)


def _root(slope: Any, guess: float) -> float:
    """Where an increasing slope, negative at 0, turns: exact if it is linear; the guess if it does not begin so."""
    first = slope(0.0)
    if not first < 0:
        return guess
    low, high = 0.0, guess
    for _ in range(60):
        if slope(high) >= 0:
            break
        low, high = high, 2 * high
    else:  # F falls for ever along here
        return low
    from scipy.optimize import brentq

    return float(brentq(slope, low, high, xtol=1e-300, rtol=LINE_ACCURACY)) or guess


# -- rules ---------------------------------------------------------------------------------------------------------


class StepRule(Protocol):
    """``check`` refuses early what the rule cannot do; ``choose`` returns the move of the rule's step."""

    def check(self, problem: Any, metric: Metric) -> None: ...

    def choose(self, trial: Trial) -> Move: ...


@dataclass(frozen=True)
class Fixed:
    """The same step always. Descends if step <= 1/L; may diverge otherwise, which ends with an error."""

    step: float

    def check(self, problem: Any, metric: Metric) -> None:
        check_positive("Fixed: step", self.step)

    def choose(self, trial: Trial) -> Move:
        return trial.move(self.step)

    def lengths(self, safe: float, rounds: Array) -> Array:
        """What stochastic solvers ask for (``rules.Rule``)."""
        return np.full(len(rounds), self.step)


@dataclass(frozen=True)
class Lipschitz:
    """1 / (1.05 L), L the largest curvature of F by power iteration (at most 30 passes, once)."""

    def check(self, problem: Any, metric: Metric) -> None:
        if metric.h is not None:
            raise ValueError("Lipschitz() knows the unscaled curvature only: use step=Backtracking() or scaling='none'")
        problem.lipschitz  # noqa: B018  (raises where there is none, naming the remedy)

    def choose(self, trial: Trial) -> Move:
        bound = trial.problem.lipschitz
        return trial.move(1.0 / (LIPSCHITZ_MARGIN * bound) if bound > 0 else 1.0)


@dataclass(frozen=True)
class Normalised:
    """The exact line search on the current support; shrunk while the support changes and the model does not hold.

    Source: normalised IHT, Blumensath & Davies 2010.
    """

    shrink: float = 0.5

    def check(self, problem: Any, metric: Metric) -> None:
        _check_factor("Normalised: shrink", self.shrink, 0.0, 1.0)

    def choose(self, trial: Trial) -> Move:
        constraint = trial.constraint
        before = support_of(constraint, trial.at.w)
        projected = constraint.lower is not None or np.isfinite(constraint.radius)
        c = trial.exact_step()
        for _ in range(MOST_TRIALS):
            move = trial.move(c)
            if not projected and np.array_equal(support_of(constraint, move.w), before):
                return move
            if trial.majorised(move):
                return move
            c *= self.shrink
        raise NoDescent


@dataclass(frozen=True)
class Backtracking:
    """The last step grown once, then shrunk until the diagonal model bounds F: descent, whatever the loss."""

    shrink: float = 0.5
    grow: float = 1.5

    def check(self, problem: Any, metric: Metric) -> None:
        _check_factor("Backtracking: shrink", self.shrink, 0.0, 1.0)
        _check_factor("Backtracking: grow", self.grow, 1.0, np.inf)

    def choose(self, trial: Trial) -> Move:
        c = trial.at.step * self.grow or trial.metric.first
        for _ in range(MOST_TRIALS):
            move = trial.move(c)
            if trial.majorised(move):
                return move
            c *= self.shrink
        raise NoDescent


def check_positive(name: str, value: Any) -> None:
    if not (isinstance(value, Real) and 0 < float(value) < np.inf):
        raise ValueError(f"{name} must be a positive number, got {value!r}")


def _check_factor(name: str, value: float, low: float, high: float) -> None:
    if not (isinstance(value, Real) and (low < value < high or value == low == 1.0)):
        raise ValueError(f"{name} must be between {low:g} and {high:g}, got {value!r}")


@dataclass(frozen=True, init=False)
class Stepping:
    """Settings of solvers that step: the rule of the step's length (``step=``; a number is meant as ``Fixed``) and the
    scaling of its metric."""

    rule: StepRule
    scaling: str

    def __init__(self, step: StepRule | float | None = None, scaling: str = "none") -> None:
        rule = Backtracking() if step is None else Fixed(float(step)) if isinstance(step, Real) else step
        if isinstance(rule, type) or not hasattr(rule, "choose"):
            rules = "Backtracking(), Normalised(), Lipschitz() or Fixed(length)"
            raise TypeError(f"step must be a number or one of {rules}, got {step!r}")
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "scaling", scaling)
