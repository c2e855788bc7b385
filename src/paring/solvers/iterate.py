"""What the full-gradient solvers keep between rounds, how they arrive at a point, and the certificate they share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from paring.result import Certificate, Model
from paring.solvers._loop import State
from paring.solvers.steps import Backtracking, Metric, Trial, model_of, support_of

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(kw_only=True)
class Iterate(State):
    """A point (w, b) with its scores z and the gradient (g, gb) of F; the metric of its steps and the last length."""

    w: Array
    b: Any
    z: Array
    g: Array
    gb: Any
    metric: Metric
    step: float = 0.0


@dataclass(kw_only=True)
class OnSupport(Iterate):
    """A point minimised on ``features`` (None: not yet), the supports visited, and the best model of them.

    settled : whether the minimum on ``features`` was reached.
    """

    features: Indices | None = None
    settled: bool = True
    visited: frozenset[bytes] = frozenset()
    best: Model | None = None
    best_objective: float = np.inf
    without_progress: int = 0


S = TypeVar("S", bound=OnSupport)


def arrived(problem: Any, model: Model, z: Array | None = None) -> dict[str, Any]:
    """The fields of an ``Iterate`` at that model. Cost: one pass."""
    z = problem.scores(model) if z is None else z
    w, r = model.dense(problem.d), problem.residuals(z)
    return {
        "model": model,
        "objective": problem.value_at(z, w),
        "w": w,
        "b": model.intercept,
        "z": z,
        "g": problem.design.adjoint(r) + problem.ridge * w,
        "gb": r.sum(axis=0) if problem.fit_intercept else 0.0,
    }


def minimised(problem: Any, state: S, w: Array, b: Any, **changes: Any) -> S:
    """Minimise F on the support of w, from (w, b) or from where it was, whichever is lower: the next state.

    Converged where the support is the one before and F at its minimum there; stalled where it is not, or, at the best
    model, where the support was visited earlier (a cycle).
    Cost: a restricted minimisation and one pass.
    """
    constraint = problem.constraint
    features = support_of(constraint, w)
    if state.features is not None and np.array_equal(features, state.features):
        return replace(state, done="converged" if state.settled else "stalled", **changes)
    if features.tobytes() in state.visited:
        return replace(to_best(problem, state), done="stalled", **changes)
    starts = [(w[features], b), (state.w[features], state.b), (np.zeros_like(w[features]), problem.null[0])]
    values = [problem.objective(Model(features, *start)) for start in starts[:2]] + [problem.null[1]]
    found = problem.minimise_on(features, *starts[int(np.argmin(np.nan_to_num(values, nan=np.inf)))])
    w = np.zeros_like(w)
    w[features] = found.w
    here = arrived(problem, model_of(constraint, w, found.b), found.z)
    if not np.isfinite(here["objective"]):
        raise ValueError("the objective is not finite on the support chosen: scale the data, or raise ridge")
    better = here["objective"] < state.best_objective
    return replace(
        state,
        **here,
        features=features,
        settled=found.converged,
        visited=state.visited | {features.tobytes()},
        best=here["model"] if better else state.best,
        best_objective=min(here["objective"], state.best_objective),
        without_progress=0 if better else state.without_progress + 1,
        **changes,
    )


def to_best(problem: Any, state: S) -> S:
    """The state, gone back to the best model visited."""
    if state.best is None or state.best is state.model:
        return state
    return replace(state, **arrived(problem, state.best), features=support_of(problem.constraint, state.w))


def judged(problem: Any, state: S, tol: float) -> S:
    """A state that has ended, with the fixed-point residual as its own: converged only where it is within tol."""
    residual = fixed_point(problem, state, tol).value
    return replace(state, residual=residual, done="converged" if residual <= tol and state.settled else "stalled")


def fixed_point(problem: Any, state: Iterate, tol: float, step: float = 0.0) -> Certificate:
    """What one more thresholded gradient step would gain by its diagonal model; ``step`` 0: backtracked from 1/max h.

    Zero exactly where w = H_k(w - c g / h): at a fixed point of thresholding. Cost: O(d), and scores on k features for
    each step tried.
    """
    trial = Trial(problem, replace(state, step=0.0), state.metric)
    move = trial.move(step) if step else Backtracking().choose(trial)
    value = abs(move.gain) / problem.scale
    statement = (
        f"{'a' if value <= tol else 'not a'} fixed point of thresholding: one more gradient step "
        f"(length {move.step:.2g}), thresholded, would gain {value:.1g} of the null objective by its model"
    )
    return Certificate("fixed_point", value, statement)


def unit_gains(problem: Any, state: Iterate) -> Array:
    """Twice what the diagonal model gains by moving each unit alone from zero: sum h_j (u_j^2 - (u_j - clip u_j)^2)."""
    constraint = problem.constraint
    h = np.full(problem.d, 1.0 / state.metric.first) if state.metric.h is None else state.metric.h
    centre = state.metric.centre
    g = state.g if centre is None else state.g - np.multiply.outer(centre, state.gb)
    u = -g / (h if g.ndim == 1 else h[:, None])
    gains = u**2 - (u - constraint.clip(u)) ** 2
    per_feature: Array = h * (gains if gains.ndim == 1 else gains.sum(axis=1))
    return np.array(constraint.unit_sums(per_feature))
