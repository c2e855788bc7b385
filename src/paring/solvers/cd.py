"""Coordinate descent on working sets, with safe screening: the default for penalised problems.

    min F(w, b) + Omega(w),      F = (1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2

A round:

    W <- the support and the units (features, groups) nearest to leaving zero: least slack_g / |X_g|
    (w_W, b) <- argmin over W, to a share of how far the slopes of the others lie outside the dual set
    c <- X'(v theta)/n of all active features, theta from the slopes at (w, b): gap, and features that the gap discards

W holds 200 units at first and then twice the support, or more while many others violate. The minimisation is the
core's (``coordinate/descent.hpp``): proximal Newton, whose quadratic models are minimised by sweeps of coordinate
descent with Anderson's extrapolation, and by Newton steps on the face where the weights are once these cost less.

Source: working sets of Massias, Gramfort & Salmon 2018 (celer) and Bertrand et al. 2022 (skglm); gap safe spheres of
Ndiaye et al. 2017; extrapolation of Bertrand & Massias 2021; Newton on the face: as in Chen, Curtis & Robinson 2017.
Cost a round: a pass over the active columns, and sweeps over those of W. Most problems take 3 to 10 rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.penalised_dual import dual_point
from paring.result import Certificate, Model
from paring.screening import GapSafe, Look
from paring.solvers._loop import Run, State, start_model
from paring.solvers.blas import lend_blas

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

WITHIN = 0.9  # of tol: the gap of the active features is a little below that of all
LEAST_GOAL = 1e-13  # of the largest slope: finer, slopes are rounding
STUCK = 8  # rounds without a better gap
MANY = 20  # times the units wanted


@dataclass(kw_only=True)
class Descending(State):
    """The scores of the model, the look at it, what the working set was, and how often the gap failed to improve."""

    z: Array
    engine: _core.Descent
    target: _core.Target
    look: Look | None = None
    units: int = 0
    goal: float = np.inf
    least_goal: float = 0.0
    reached: float = 0.0
    best_gap: float = np.inf
    idle: int = 0
    checked: bool = True
    sweeps: int = 0
    newton_steps: int = 0


@dataclass(frozen=True)
class CD:
    """screening : of ``paring.screening``; ``GapSafe()`` (default), ``StaticSafe()``, ``Strong()`` or ``Unscreened()``.

    first : units of the first working set. growth : the most by which a working set grows.
    share : of the violation outside the working set, what the minimisation inside goes down to.
    tol bounds the dual gap, relative to F at the null model.
    """

    screening: Any = field(default_factory=GapSafe)
    first: int = 200
    growth: float = 4.0
    share: float = 0.1

    name: ClassVar[str] = "cd"
    penalised: ClassVar[bool] = True

    def init(self, problem: Any, run: Run) -> Descending:
        if not problem.loss.smooth:
            raise ValueError(f"cd: {problem.loss} has a corner; use loss='squared_hinge' or 'smoothed_hinge'")
        lend_blas()
        model = start_model(problem, run.start)
        z = problem.scores(model)
        objective = problem.value_at(z, model.weights) + problem.penalty_of(model)
        engine = _core.Descent(problem.target, problem.design.is_dense)
        before = getattr(run.start, "state", None)
        if isinstance(before, Descending) and before.target is problem.target:  # the same data: columns at hand
            engine = before.engine
        state = Descending(model=model, z=z, engine=engine, target=problem.target, objective=objective)
        state.checked = self.screening.is_safe
        at_null = run.start is None and problem.loss.name == "squared" and problem.offset is None and z.ndim == 1
        c = problem.products if at_null else None  # X'V(y - its mean)/n: known since the problem was posed
        features = candidates(problem)
        self._look(problem, state, features, None if c is None else c[features])
        return state

    def step(self, problem: Any, state: Descending, run: Run) -> Descending:
        look = state.look
        assert look is not None
        if state.residual > WITHIN * run.tol:
            self._minimise(problem, state, look, self._working_set(problem, state, look, WITHIN * run.tol))
            self._look(problem, state, look.features)
        self._is_done(problem, state, run)
        return state

    def certificate(self, problem: Any, state: Descending, run: Run) -> Certificate:
        within = "is within" if state.residual <= run.tol else "is not within"
        statement = f"the dual gap, {state.residual:.1g} of the null objective, {within} tol"
        return Certificate("dual_gap", state.residual, statement)

    # -- a round ------------------------------------------------------------------------------------------------

    def _look(self, problem: Any, state: Descending, features: Indices, c: Array | None = None) -> None:
        """Slopes, dual point, gap; what the screening discards leaves the active features. Cost: a pass over them."""
        a = problem.loss.core.slope(state.z, problem.y)
        a[problem.v == 0] = 0.0
        last, every = state.look, len(features) == problem.d
        if last is not None and len(features) == len(last.features):
            regulariser, deviations = last.regulariser, last.deviations
        elif every:
            regulariser, deviations = problem.regulariser, problem.deviations
        else:
            regulariser, deviations = problem.regulariser.on(features), problem.deviations[features]
        point = dual_point(problem, a, None if every else features, c)
        look = Look(features, regulariser, deviations, point, state.objective, last is None)
        gone = self.screening.discarded(problem, look)
        if gone is not None:
            gone[np.searchsorted(features, state.model.support)] = False
            if gone.any():
                kept = np.flatnonzero(~gone)
                look = replace(
                    look,
                    features=features[kept],
                    regulariser=regulariser.on(kept),
                    deviations=deviations[kept],
                    point=replace(point, c=point.c[kept]),
                )
        if last is None:
            state.least_goal = LEAST_GOAL * float(np.abs(point.c).max(initial=0.0))
        state.look, state.active = look, len(look.features)
        state.residual = look.gap / problem.scale

    def _is_done(self, problem: Any, state: Descending, run: Run) -> bool:
        """At the tolerance, of all features where the screening was not safe; or no nearer for many rounds."""
        if state.residual <= WITHIN * run.tol:
            if not self.screening.is_safe and not state.checked:
                self._look(problem, state, candidates(problem))
                state.checked = True
                return self._is_done(problem, state, run)
            state.done = "converged"
        elif state.look is not None and state.look.gap < 0.99 * state.best_gap:
            state.best_gap, state.idle = state.look.gap, 0
        else:
            state.idle += 1
            state.done = "stalled" if state.idle > STUCK else None
        return state.done is not None

    def _working_set(self, problem: Any, state: Descending, look: Look, tol: float) -> Indices:
        """Units: the support, what nothing penalises, and the nearest to leaving zero.

        Sets the goal too: a share of the violation outside. Where there is none, the gap is what the last minimisation
        left, and as a rule in proportion to it.
        """
        regulariser, point = look.regulariser, look.point
        at = np.searchsorted(look.features, state.model.support)
        inside = np.union1d(at, np.flatnonzero(regulariser.unpenalised))
        if regulariser.unit_of is not None:
            inside = np.unique(regulariser.unit_of[inside])
        slack = np.array(regulariser.slack(point.c))
        slack[inside] = 0.0
        violators, worst = int(np.count_nonzero(slack < 0)), -min(float(slack.min(initial=0.0)), 0.0)
        left = state.reached * min(1.0, tol / state.residual)
        state.goal = max(self.share * max(worst, left), state.least_goal)
        size = max(2 * len(inside), self.first, min(int(self.growth * state.units), len(inside) + violators))
        return np.union1d(inside, self._nearest(look, size))

    def _nearest(self, look: Look, count: int) -> Indices:
        """Units nearest to leaving zero. Of very many, only those more than half way there are compared."""
        regulariser, c = look.regulariser, look.point.feasible
        slack = regulariser.slack(c)
        spread = regulariser.unit_norms(look.deviations)
        if regulariser.is_plain and len(slack) > MANY * count:
            near = np.flatnonzero(slack < 0.5 * regulariser.tau)
            if len(near) >= count:
                return near[nearest(slack[near] / spread[near], count)]
        return nearest(slack / spread, count)

    def _minimise(self, problem: Any, state: Descending, look: Look, chosen: Indices) -> None:
        """The core's minimisation over those units, from the model."""
        regulariser, design, outputs = look.regulariser, problem.design, problem.outputs
        at, starts = chosen, np.arange(len(chosen) + 1)
        if regulariser.unit_of is not None:
            at = np.flatnonzero(np.isin(regulariser.unit_of, chosen))
            at = at[np.argsort(regulariser.unit_of[at], kind="stable")]
            starts = np.flatnonzero(np.diff(regulariser.unit_of[at], prepend=-1, append=-1))
        features, part = look.features[at], regulariser.on(at)
        w = state.model.dense(problem.d)[features]
        b = np.zeros(0) if not problem.fit_intercept else np.broadcast_to(state.model.intercept, (outputs,)).copy()
        design.lend_columns(state.engine, features)
        minimise: Any = state.engine.minimise
        posed = (features, starts, *part.parts(), w.ravel(), b, state.z.ravel(), state.goal)
        found = minimise(*posed, threads=design.threads, stop=design.stop)
        w, b, z = found[0].reshape(w.shape), found[1], found[2]
        state.objective, state.reached = found[3], found[4]
        order = np.argsort(features)
        kept = order[(w[order] != 0) if w.ndim == 1 else np.any(w[order] != 0, axis=1)]
        intercept: Any = 0.0 if not len(b) else float(b[0]) if outputs == 1 else b
        state.model = Model(features[kept], w[kept], intercept if outputs == 1 or len(b) else np.zeros(outputs))
        state.z, state.units = z.reshape(state.z.shape), len(chosen)
        state.sweeps, state.newton_steps = state.sweeps + found[6], state.newton_steps + found[7]


def candidates(problem: Any) -> Indices:
    """Features that may enter: not left out, and with variation."""
    return np.flatnonzero(~(problem.penalty.excluded | problem.flat | (problem.squares == 0)))


def nearest(values: Array, count: int) -> Indices:
    """Positions of the ``count`` least, ascending. Cost: O(len(values))."""
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, count - 1)[:count])
