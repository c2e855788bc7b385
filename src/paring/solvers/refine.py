"""What the dual solvers do with the supports they come by. Their own candidates are w(a), with weights far from the
minimum on their support wherever the dual has not settled.

``Nothing()``    the paper's algorithm as it is.
``Minimise()``   minimise F on a support that stays from one round to the next; after 8, 16, 32, .. rounds and at the
                 end on those of the best candidate and of the mean of all candidates. The slopes at each minimum are
                 tried as a dual point.
``Exchange()``   the same, and where the gap stays open pursuit's exchanges of members for outsiders while F falls;
                 under the hinge with the hinge smoothed over a width, then minimised as it is (``corner.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import losses
from paring.dual import balanced, dual_point, slopes_at
from paring.result import Certificate, Model
from paring.solvers.corner import minimise_corners
from paring.solvers.dual_ascent import DualState, gap_of
from paring.solvers.pursuit import STATEMENTS, begin, exchangeable, finer, make_engine, stage
from paring.solvers.restricted import Restricted
from paring.solvers.steps import model_of, support_of

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

WIDTH = 1.0  # of the hinge in exchanges: rows on both sides of the corner have a say (0.25 was worse: docs/sdiht.md)
WORTH = 1e-3  # a gap, relative to F at the null model, that exchanges are tried for
CHEAP = 1_000_000  # entries of X: below, any gap is worth them
FIRST_LOOK = 8  # rounds
TRIED = "of the exchanges ranked best, none tried lowers the objective"


@dataclass(frozen=True)
class Nothing:
    """Nothing."""

    def between(self, problem: Any, state: DualState, stays: bool) -> DualState:
        return state

    def finish(self, problem: Any, state: DualState, tol: float) -> DualState:
        return state


@dataclass(frozen=True)
class Minimise:
    """Minimisation on supports that stay, and at the end."""

    def between(self, problem: Any, state: DualState, stays: bool) -> DualState:
        if stays:
            state = minimised(problem, state, state.features)
        look = state.rounds >= FIRST_LOOK and state.rounds & (state.rounds - 1) == 0
        return minimised_on_the_best(problem, state) if look else state

    def finish(self, problem: Any, state: DualState, tol: float) -> DualState:
        return minimised_on_the_best(problem, state)


@dataclass(frozen=True)
class Exchange(Minimise):
    """The same, then exchanges where the gap is more than tol, on large data more than ``worth``, of F at the null
    model, and the features are not too many for them."""

    worth: float = WORTH

    def finish(self, problem: Any, state: DualState, tol: float) -> DualState:
        state = super().finish(problem, state, tol)
        worth = tol if problem.design.entries <= CHEAP else max(tol, self.worth)
        known = gap_of(problem, state) <= worth or state.exchanged is not None or not exchangeable(problem)
        return state if known else exchanged(problem, state, tol)


EXCHANGE = Exchange()


def minimised_on_the_best(problem: Any, state: DualState) -> DualState:
    """Minimised on the supports of the best model and of the mean candidate."""
    constraint = problem.constraint
    for w in (state.model.dense(problem.d), constraint.project(state.mean_w)):
        state = minimised(problem, state, support_of(constraint, w))
    return state


def minimised(problem: Any, state: DualState, features: Indices) -> DualState:
    """Minimise F on ``features``, once, from the state's w: a primal candidate, its slopes a dual one.

    Cost: that, and a pass.
    """
    key = features.tobytes()
    if key in state.minimised:
        return state
    state = replace(state, minimised=state.minimised | {key})
    b = problem.best_intercept(state.z) if problem.fit_intercept else 0.0
    if problem.loss.smooth:
        return taken(problem, state, problem.minimise_on(features, state.w[features], b))
    return taken(problem, state, minimise_corners(problem, features, state.w[features], b, state.a))


def taken(problem: Any, state: DualState, found: Restricted) -> DualState:
    """The state with that minimum, and its slopes as a dual point, where they are better."""
    if found.objective < state.objective:
        state.take(model_on(problem, found), found.objective)
    if found.a is None:
        a, _ = slopes_at(problem, found.z - found.b)
    else:
        a = balanced(problem, found.a) if problem.fit_intercept else found.a
    bound = dual_point(problem, a).bound()
    if bound > state.bound:
        state.dual, state.bound = a, bound
    state.residual = gap_of(problem, state)
    return state


def model_on(problem: Any, found: Restricted) -> Model:
    w = problem.zeros()
    w[found.features] = found.w
    return model_of(problem.constraint, w, found.b)


def exchanged(problem: Any, state: DualState, tol: float) -> DualState:
    """Exchanges from the best model's support while F falls; the state at the minimum they end at.

    What they show, they show of the model they end at. Where that is not the lowest (the hinge, smoothed, leads to
    others; an engine may not see rounding) nothing is known of exchanges from the one kept.
    """
    smooth = problem if problem.loss.smooth else problem.with_loss(losses.smoothed_hinge(WIDTH))
    engine = _ended(smooth, problem.constraint.units_of(_support(problem, state.model)), tol)
    features, w = _support(problem, engine.model()), engine.model().dense(problem.d)
    found = problem.minimise_on(features, w[features], engine.model().intercept)
    state = taken(problem, replace(state), found)
    state.exchanged, state.swap_optimal = Certificate("none", np.inf, "exchanges led to no better model"), None
    same = np.array_equal(_support(problem, state.model), _support(problem, model_on(problem, found)))
    if engine.settled and same and state.objective <= found.objective:
        statement = f"swap-optimal with the hinge smoothed over a width of {WIDTH:g}: {TRIED}"
        if smooth is problem:
            state.swap_optimal = engine.swap_optimal
            statement = STATEMENTS[engine.swap_optimal]
        state.exchanged = Certificate("swap_optimal", tol, statement)
    return state


def _ended(problem: Any, first: Indices, tol: float) -> Any:
    """Pursuit's engine where its exchanges from ``first`` end."""
    engine, k = begin(make_engine(problem, tol), first), problem.constraint.k
    stage(problem, engine, k)
    while not engine.settle(k):
        engine = begin(finer(problem, tol), first)
        stage(problem, engine, k)
    return engine


def _support(problem: Any, model: Model) -> Indices:
    return support_of(problem.constraint, model.dense(problem.d))
