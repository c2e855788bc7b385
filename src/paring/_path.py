"""``path``: a penalised problem at falling weights, each solve from where the last one ended.

    lam_max = the least weight at which no penalised feature enters
    for lam in lams (falling):   (w, b) <- argmin F + Omega_lam, from the last (w, b)

The columns that were used stay with the solver, and the first look at each weight screens by the gap of the last model
(sequential screening). The path ends early where it is told to: no loss gained, enough features, a callback.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring.penalised_dual import slopes_of_features
from paring.penalties import L1, Penalty
from paring.problem import Problem
from paring.result import Model, Result
from paring.solvers import solve

Array = NDArray[np.float64]

NOTHING_ENTERS = 1e-15  # the largest weight where there is nothing to explain
AT_ONCE = 1e3  # times a weight at which nothing but unpenalised features is in
PAST = 1 + 1e-9  # of lam_max: rounding must not let a feature in


@dataclass(frozen=True, eq=False)
class Step:
    """One weight of a path. fit: the mean loss there, without penalty and ridge."""

    lam: float
    model: Model
    fit: float
    objective: float
    dual_gap: float
    converged: bool
    n_iter: int
    n_passes: float
    seconds: float

    @property
    def size(self) -> int:
        """How many features are not zero."""
        return len(self.model.support)


@dataclass(frozen=True, eq=False)
class Path:
    """What ``path`` returns. steps: from the largest weight down. lam_max: the least weight without features, or None
    where the weights were given. stop_reason: "end", "least_gain", "most_features", "callback", "time_limit" or
    "interrupted"."""

    steps: tuple[Step, ...]
    d: int
    lam_max: float | None
    stop_reason: str
    seconds: float

    @property
    def lams(self) -> Array:
        return np.array([step.lam for step in self.steps])

    @property
    def coef(self) -> Array:
        """(steps, d) or (steps, d, outputs). Cost: that much memory."""
        return np.array([step.model.dense(self.d) for step in self.steps])

    @property
    def intercept(self) -> Array:
        return np.array([step.model.intercept for step in self.steps])

    def table(self) -> dict[str, Array]:
        """lam, features, fit, objective, dual_gap, passes and seconds of every step, a column each."""
        rows = [(s.lam, s.size, s.fit, s.objective, s.dual_gap, s.n_passes, s.seconds) for s in self.steps]
        names = ("lam", "features", "fit", "objective", "dual_gap", "passes", "seconds")
        return dict(zip(names, np.array(rows).reshape(len(rows), len(names)).T, strict=True))

    def __repr__(self) -> str:
        sizes = f"{self.steps[0].size} to {self.steps[-1].size} features" if self.steps else "nothing"
        return f"<Path: {len(self.steps)} weights, {sizes}, {self.stop_reason}, {self.seconds:.3g} s>"


def path(
    X: Any,
    y: ArrayLike | None = None,
    loss: Any = "squared",
    *,
    penalty: Penalty | None = None,
    lams: int | ArrayLike = 100,
    eps: float = 0.01,
    solver: Any = "auto",
    tol: float = 1e-6,
    max_passes: float = 1000,
    time_limit: float | None = None,
    least_gain: float = 0.0,
    most_features: int | None = None,
    callbacks: Callable[[Step], Any] | None = None,
    random_state: Any = None,
    **problem: Any,
) -> Path:
    """Solve a penalised problem at many weights.

    X : a penalised ``Problem``, whose weight is replaced; or data, with y and the other arguments of ``Problem``.
    penalty : of ``paring.penalties``; its lam does not matter. Default: ``L1``.
    lams : how many weights, evenly spaced in logarithm from lam_max down to eps lam_max; or the weights themselves.
    solver, tol, max_passes : of each solve, as in ``solve``. time_limit : of the whole, in seconds.
    least_gain : end where the mean loss fell by less than this part of what the null model leaves to explain.
    most_features : end at the first step with more features than this. callbacks : ``f(step)``; a true answer ends it.
    Ctrl-C ends it with the steps so far. Cost: two or three passes a weight, as a rule.
    """
    begin = time.perf_counter()
    posed = X if isinstance(X, Problem) else Problem(X, y, loss, penalty=penalty or L1(1.0), **problem)  # type: ignore[arg-type]
    if isinstance(X, Problem) and (y is not None or penalty is not None or problem):
        raise ValueError("path: a Problem holds y, the penalty and the rest already; give it alone, or give data")
    if posed.penalty is None:
        raise ValueError("path: this problem has a constraint; its path of sizes is `solve(problem).path`")
    largest = largest_weight(posed) if isinstance(lams, Integral) else None
    weights = grid(largest, int(lams), eps) if largest is not None else _given(lams)
    _ = posed.target  # shared by the problems of all weights, so that each solve knows the last one's columns
    steps: list[Step] = []
    reason, last = "end", None
    settings = {"tol": tol, "max_passes": max_passes, "random_state": random_state}
    for lam in weights:
        left = None if time_limit is None else time_limit - (time.perf_counter() - begin)
        here = posed.at(posed.stated.at(float(lam)))  # type: ignore[union-attr]
        last = solve(here, _after(solver, steps), start=last, time_limit=left, **settings)
        if last.stop_reason in ("time_limit", "interrupted"):
            reason = last.stop_reason
            break
        steps.append(_step(here, float(lam), last))
        ended = _ended(posed, steps, least_gain, most_features, callbacks)
        if ended is not None:
            reason = ended
            break
    return Path(tuple(steps), posed.d, largest, reason, time.perf_counter() - begin)


def grid(largest: float, count: int, eps: float) -> Array:
    """``count`` weights from the largest down to eps times it."""
    if count < 1:
        raise ValueError(f"lams must be a positive number of weights, or the weights, got {count}")
    if not 0 < eps < 1:
        raise ValueError(f"eps must lie between 0 and 1, got {eps!r}")
    return np.asarray(largest * np.geomspace(1.0, eps, count))


def largest_weight(problem: Problem) -> float:
    """The least weight at which no penalised feature enters. Cost: a pass; with unpenalised features a small solve."""
    assert problem.stated is not None
    one = problem.at(problem.stated.at(1.0))
    model = Model(np.empty(0, np.int64), one.zeros()[:0], one.null[0])
    largest = _dual_norm(one, model)
    if largest > 0 and one.regulariser.unpenalised.any():
        model = solve(one.at(problem.stated.at(AT_ONCE * largest)), tol=1e-9).model
        largest = _dual_norm(one, model)
    if largest == 0 and not (one.regulariser.tau.any() or one.regulariser.omega.any()):
        raise ValueError("path: without an l1 or group part (l1_ratio=0) no weight is the largest; give lams")
    return max(largest * PAST, NOTHING_ENTERS)


def _dual_norm(problem: Problem, model: Model) -> float:
    a = problem.loss.core.slope(problem.scores(model), problem.y)
    return problem.regulariser.dual_norm(slopes_of_features(problem, a, None))


def _given(lams: Any) -> Array:
    weights = np.sort(np.array(lams, dtype=np.float64).ravel())[::-1]
    if len(weights) == 0 or not (np.isfinite(weights).all() and weights[-1] > 0):
        raise ValueError("lams must be a number of weights, or positive weights")
    return weights


def _after(solver: Any, steps: list[Step]) -> Any:
    """The solver of the next step: a rule that looks back is told the last weight."""
    rule: Any = getattr(solver, "screening", None)
    if not steps or not hasattr(rule, "lam"):
        return solver
    return replace(solver, screening=replace(rule, lam=steps[-1].lam))


def _step(problem: Problem, lam: float, result: Result) -> Step:
    model = result.model
    ridge = 0.5 * problem.ridge * float(np.vdot(model.weights, model.weights))
    fit = result.objective - problem.penalty_of(model) - ridge
    found = (result.objective, result.dual_gap, result.converged, result.n_iter, result.n_passes, result.seconds)
    return Step(lam, model, fit, *found)


def _ended(
    problem: Problem, steps: list[Step], least_gain: float, most_features: int | None, callbacks: Any
) -> str | None:
    if callbacks is not None and callbacks(steps[-1]):
        return "callback"
    if most_features is not None and steps[-1].size > most_features:
        return "most_features"
    if least_gain > 0 and len(steps) > 1 and steps[-1].size > 0:
        gained = steps[-2].fit - steps[-1].fit
        if gained < least_gain * problem.scale:
            return "least_gain"
    return None
