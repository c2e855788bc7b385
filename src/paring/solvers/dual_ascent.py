"""What diht and sdiht share: a round on the dual of an exact-k problem, what it shows of the primal one, and its end.

    D(a) = -(1/n) sum_i v_i loss*(a_i) - max { c.w - (ridge/2) |w|^2 : w feasible },    c = -X'(v a)/n

(``paring.dual``; concave, at most F(w, b) for every feasible w, and -infinity unless sum v a = 0 where the intercept is
free). A round moves a by a super-gradient step, whose super-gradient is (v_i/n) (z_i - loss*'(a_i)) at the scores z of

    w(a) = argmax { c.w - (ridge/2) |w|^2 : w feasible } = H_k(c / ridge)

D need not rise: the best a is kept. w(a), with the b that minimises F, is a primal candidate; the best is kept, and
refined as ``refine.py`` says. How far D can rise at all is bounded by the weighted means of the candidates (weights 1,
2, 3, ..; z_ the mean of their scores):

    max_a D(a) <= reach = (1/n) sum_i v_i loss(z_i + b, y_i) + (ridge/2) mean |w(a)|^2

It ends where the gap F - D is within tol; or where reach - D is within tol or the share ``settled`` of the gap: what is
left is then the gap of the relaxation, which no a can close; or where ``patience`` rounds have gained next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from paring.dual import balanced, corner_slopes, dual_point, slopes_at
from paring.result import Certificate, Model
from paring.solvers._loop import Run, State, begun, start_model
from paring.solvers.refusals import refuse_dual
from paring.solvers.steps import model_of, support_of

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

PROGRESS = 0.05  # the share by which gap and reach - D together must fall in ``patience`` rounds
CURVATURE_OF_CONJUGATE = {"squared": 1.0, "huber": 1.0, "squared_hinge": 1.0, "logistic": 4.0, "hinge": 0.0}
FARTHEST = 1e100  # a weight: beyond, squares overflow
LONGEST = 1e12  # a step: a is then the slope itself, to the last digits


@dataclass(kw_only=True)
class DualState(State):
    """A dual point a with c; its primal candidate w = w(a) on ``features``, scores z without intercept.

    dual, bound : the best a and D there. mean_* : of the candidates, whose ``reach`` bounds D from above.
    steps : dual steps made. c_of_steps : the constant of their lengths. curvature : of D along the last one (diht).
    """

    a: Array
    c: Array
    w: Array
    z: Array
    features: Indices
    dual: Array
    mean_w: Array
    mean_z: Array
    mean_square: float = 0.0
    reach: float = np.inf
    steps: int = 0
    c_of_steps: float = 0.0
    curvature: float = 0.0
    minimised: frozenset[bytes] = field(default_factory=frozenset)
    mark: tuple[int, float] = (0, np.inf)
    swap_optimal: str | None = None
    exchanged: Certificate | None = None  # what exchanges have shown of the model; nothing once there is a better one

    def take(self, model: Model, objective: float) -> None:
        self.model, self.objective = model, objective
        self.swap_optimal, self.exchanged = None, None


class Refinement(Protocol):
    """What is done with supports between rounds, and with the best model at the end. The values: ``refine.py``."""

    def between(self, problem: Any, state: DualState, stays: bool) -> DualState: ...

    def finish(self, problem: Any, state: DualState, tol: float) -> DualState: ...


class DualAscent:
    """The round. A solver writes ``ascend(problem, state, run) -> (a, state)``, its step on a."""

    name: ClassVar[str]
    only_features: ClassVar[bool] = False
    refine: Refinement
    patience: float
    settled: float

    def ascend(self, problem: Any, state: DualState, run: Run) -> tuple[Array, DualState]:
        raise NotImplementedError

    def init(self, problem: Any, run: Run) -> DualState:
        refuse_dual(problem, self)
        a = starting_point(problem, run)
        model, objective = run.first or begun(problem, run.start)
        nothing, rows = problem.zeros(), np.zeros(problem.n)
        state = DualState(
            model=model,
            objective=objective,
            a=a,
            c=nothing,
            w=nothing,
            z=rows,
            features=np.empty(0, np.int64),
            dual=a,
            mean_w=nothing,
            mean_z=rows,
        )
        return arrived(problem, state, a)

    def step(self, problem: Any, state: DualState, run: Run) -> DualState:
        a, state = self.ascend(problem, state, run)
        before = state.features
        state = arrived(problem, state, a)
        state = self.refine.between(problem, state, bool(np.array_equal(state.features, before)))
        return self.judged(problem, state, run.tol)

    def judged(self, problem: Any, state: DualState, tol: float) -> DualState:
        """The state with its gap as residual; converged or stalled where it is time."""
        state.residual = gap_of(problem, state)
        if self.is_settled(problem, state, tol):
            state = self.refine.finish(problem, state, tol)  # may shrink the gap, of which what is left is a share
        if state.residual <= tol or self.is_settled(problem, state, tol):
            state.done = "converged"
        elif state.residual + left(problem, state) < (1 - PROGRESS) * state.mark[1]:
            state.mark = (state.rounds, state.residual + left(problem, state))
        elif state.rounds - state.mark[0] >= self.patience:
            state = self.refine.finish(problem, state, tol)
            shown = state.residual <= tol or self.is_settled(problem, state, tol) or state.exchanged is not None
            state.done = "converged" if shown else "stalled"
        return state

    def is_settled(self, problem: Any, state: DualState, tol: float) -> bool:
        return left(problem, state) <= max(tol, self.settled * gap_of(problem, state))

    def certificate(self, problem: Any, state: DualState, run: Run) -> Certificate:
        more, at_its_best = left(problem, state), self.is_settled(problem, state, run.tol)
        if state.exchanged is not None and state.exchanged.kind == "swap_optimal" and not at_its_best:
            return state.exchanged
        return Certificate(
            "dual_maximum",
            more,
            f"the dual is {'' if at_its_best else 'not '}at its maximum: no dual point raises the bound by more than "
            f"{more:.1g} of the null objective, of a gap of {state.residual:.1g}",
        )


def starting_point(problem: Any, run: Run) -> Array:
    """The slopes at w = 0, or at the start; on the hinge's corner those that explain the start's weights."""
    model = start_model(problem, run.start)
    z = problem.design.scores_on(model.support, model.weights)
    if problem.loss.smooth:
        return slopes_at(problem, z)[0]
    corner = None if run.start is None else corner_slopes(problem, z + model.intercept, model)
    if corner is not None:
        return corner
    a = np.where(problem.v > 0, problem.loss.core.slope(z, problem.y), 0.0)
    return balanced(problem, a) if problem.fit_intercept else a


# -- a round -------------------------------------------------------------------------------------------------------


def arrived(problem: Any, state: DualState, a: Array) -> DualState:
    """The state at a: D, the primal candidate, the means. Cost: one pass, and a search for the intercept."""
    point = dual_point(problem, a)
    if not np.abs(point.c).max() < FARTHEST * problem.ridge:
        raise ValueError("the dual steps are too long: the weights overflow; use reach=1, or raise ridge")
    value = point.bound()
    w = problem.constraint.project(point.c / problem.ridge)
    used = np.flatnonzero(w)
    z = problem.design.scores_on(used, w[used])
    state = replace(state, a=a, c=point.c, w=w, z=z, features=support_of(problem.constraint, w))
    state.thresholdings += 1
    if value > state.bound:
        state.dual, state.bound = a, value
    state = offered(problem, state, model_of(problem.constraint, w, 0.0), z)
    share = 2.0 / (state.rounds + 2)
    state.mean_w = (1 - share) * state.mean_w + share * w
    state.mean_z = (1 - share) * state.mean_z + share * z
    state.mean_square = (1 - share) * state.mean_square + share * float(w @ w)
    b = problem.best_intercept(state.mean_z) if problem.fit_intercept else 0.0
    reach = problem.value_at(state.mean_z + b, np.zeros(0)) + 0.5 * problem.ridge * state.mean_square
    state.reach = min(state.reach, reach)
    return state


def offered(problem: Any, state: DualState, model: Model, z: Array) -> DualState:
    """The state, with that model (scores z without intercept) at its best intercept if it is better."""
    b = problem.best_intercept(z) if problem.fit_intercept else 0.0
    objective = problem.value_at(z + b, model.weights)
    if objective < state.objective:
        state.take(Model(model.support, model.weights, b), objective)
    return state


# -- the end -------------------------------------------------------------------------------------------------------


def gap_of(problem: Any, state: DualState) -> float:
    """F - D of the best, relative to F at the null model."""
    return max(state.objective - state.bound, 0.0) / float(problem.scale)


def left(problem: Any, state: DualState) -> float:
    """What D may still gain, relative to the same."""
    return max(state.reach - state.bound, 0.0) / float(problem.scale)


# -- steps ---------------------------------------------------------------------------------------------------------


def conjugate_curvature(problem: Any) -> float:
    """mu: loss* is mu-strongly convex."""
    loss = problem.loss
    return float(loss.parameter if loss.name == "smoothed_hinge" else CURVATURE_OF_CONJUGATE[loss.name])


def step_lengths(problem: Any, c: float, blocks: int, t: Any) -> Array:
    """s_t of the update a <- prox_{s loss*}(a + s z), t = 0, 1, ..: blocks / (mu (t + 2 - blocks)), or blocks c/(t+2)
    where mu = 0.

    The first is the paper's gradient step of blocks n/(mu (t+2)) where loss* is quadratic, from t = blocks on; before,
    the paper's leads past the slope, where this one ends.
    """
    mu = conjugate_curvature(problem)
    if mu == 0:
        return np.minimum(blocks * c / (t + 2.0), LONGEST)
    return np.minimum(blocks / (mu * np.maximum(t + 2.0 - blocks, 1 / LONGEST)), LONGEST)
