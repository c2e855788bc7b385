"""What the stochastic solvers of penalised problems share: sparse proximal steps between looks at all that is active.

A round: the slopes at w, the gradient mu of the mean loss over the active features, dual point and gap; what the
screening discards leaves the active features, and its weights are dropped; then steps with a row i each,

    delta = v_i slope_i(w) - s_i
    u_g   = w_g - c (delta x_ig + D_g p_g)                                 units g stored in row i (features, groups)
    w_g  <- prox of c D_g (penalty_g + (ridge/2) |.|^2) at u_g
    b    <- b - c (delta + p_b)

D_g = n / (rows that store a column of g), counted again when columns leave a group. What s and p are says the solver
(``Anchored``, ``Remembered``, ``Plain``); the anchor's slopes and mu belong to the *untruncated* anchor, the point
before the discarded weights were dropped: taken anew at the truncated one they would leave a bias. In the mean over all
rows the direction is the gradient, and the penalty counts once. All coordinates of a touched group move.

Workers: as in ``semistochastic.py`` (sparse rows: one shared iterate through a store; dense rows: an iterate each, and
their mean). Of single features the prox is applied to the number that is there; of a group the difference is added, so
that racing workers may leave tiny numbers: a full proximal step ends the run there.

The steps walk over rows of the active columns alone, repacked when half of those packed are gone.
Passes: a step counts 1/n times the active part of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.penalised_dual import dual_point, slopes_of_features
from paring.result import Certificate, Model
from paring.screening import Look, Unscreened
from paring.solvers._loop import Run, State, start_model
from paring.solvers.cd import candidates
from paring.solvers.packed import Packed, packed_of
from paring.solvers.refusals import refuse_proximal
from paring.solvers.rules import Estimate, Sampling, Tuned, Uniform, rule_of
from paring.solvers.semistochastic import Plain, Store, Wild
from paring.solvers.smoothness import plain_metric, row_curvatures, row_squares

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

WITHIN = 0.9  # of tol: the gap of the active features is a little below that of all
WINDOW = 20  # rounds that must together lower the gap, or the run has stalled
SHRINK = 0.25  # of an estimated step, where a round under it diverged
LEAST_SHRUNK = SHRINK**15
RISEN = 1.0  # times the null objective above the round's beginning: no step that descends on average comes here


@dataclass(kw_only=True)
class Proceeding(State):
    """The point with its scores and the look at it; mu and the slopes are those of ``here``, the untruncated anchor.

    shrunk : of an estimated step. remembered : the rows' slopes of a table. lately : the best gaps.
    """

    w: Array
    b: float
    z: Array
    curvatures: Array
    packed: Packed
    look: Look | None = None
    slopes: Array
    mu: Array
    mu_b: float = 0.0
    shrunk: float = 1.0
    remembered: tuple[Array, Array, float] | None = None
    best: Model
    best_objective: float
    best_gap: float = np.inf
    since: int = 0
    checked: bool = True

    def answer(self) -> tuple[Model, float]:
        return (self.model, self.objective) if self.done == "converged" else (self.best, self.best_objective)


# -- what reduces the variance ----------------------------------------------------------------------------------------


class Anchored:
    """s: the slopes at the anchor; p: the gradient there."""

    def sweep(self, state: Proceeding, arguments: dict[str, Any], point: Array) -> Array:
        pull = np.append(state.mu[state.packed.features], state.mu_b)
        return _core.sweep_proximal(w=point, slopes=state.slopes, pull=pull, **arguments)


class NotReduced:
    """s = 0 and p = 0."""

    def sweep(self, state: Proceeding, arguments: dict[str, Any], point: Array) -> Array:
        return _core.sweep_proximal(w=point, **arguments)


class Remembered:
    """s: the slope a row had last; p: the mean of s_i x_i, kept up to date. n numbers of memory."""

    def sweep(self, state: Proceeding, arguments: dict[str, Any], point: Array) -> Array:
        slopes, mean, mean_b = state.remembered or (state.slopes, state.mu, state.mu_b)
        features = state.packed.features
        everything = np.concatenate([point, mean[features], [mean_b], slopes])
        found: Array = _core.sweep_proximal(w=everything, **arguments)
        after, own = mean.copy(), len(point)
        after[features] = found[own : 2 * own - 1]
        state.remembered = (found[2 * own :], after, float(found[2 * own - 1]))
        return found[:own]


# -- the solver -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class Proximal:
    """step : a rule of ``rules.py`` or a number; "estimate": ``share`` over the largest curvature of a row.

    inner : steps of a round (None: 2 n, of a table n). sampling : ``Uniform()`` or ``Shuffled()``.
    screening : of ``paring.screening``. store : ``Wild()`` (default), ``Atomic()`` or ``Plain()``.
    tol bounds the dual gap, relative to F at the null model. Random: with one worker the same ``random_state`` gives
    the same bits.
    """

    rule: Any
    inner: int | None
    sampling: Sampling
    screening: Any
    store: Store

    name: ClassVar[str]
    penalised: ClassVar[bool] = True
    reduced: ClassVar[Any] = Anchored()
    screens: ClassVar[Any] = Unscreened()
    share: ClassVar[float] = 0.5
    rounds_of_rows: ClassVar[int] = 2
    parallel: ClassVar[bool] = True

    def __init__(
        self,
        step: Any = "estimate",
        *,
        inner: int | None = None,
        sampling: Sampling | None = None,
        screening: Any = None,
        store: Store | None = None,
    ) -> None:
        own = Wild() if self.parallel else Plain()
        settings = {
            "rule": Estimate(self.share) if isinstance(step, str) and step == "estimate" else rule_of(step),
            "inner": inner,
            "sampling": Uniform() if sampling is None else sampling,
            "screening": self.screens if screening is None else screening,
            "store": own if store is None else store,
        }
        for setting, value in settings.items():
            object.__setattr__(self, setting, value)

    def workers(self, problem: Any) -> int:
        return int(problem.design.threads) if self.parallel else 1

    def init(self, problem: Any, run: Run) -> Proceeding:
        refuse_proximal(problem, self)
        if isinstance(self.rule, Tuned):
            raise ValueError(f"{self.name}: step='tuned' is not for penalised problems; use 'estimate' or a number")
        if self.inner is not None and not self.inner >= 1:
            raise ValueError(f"{self.name}: inner must be at least 1, got {self.inner!r}")
        self.store.check(self.name, self.workers(problem))
        if self.sampling.importance(np.ones(problem.n)) is not None:
            raise ValueError(f"{self.name}: D asks for rows drawn alike; use sampling=Uniform() or Shuffled()")
        model = start_model(problem, run.start)
        z, metric = problem.scores(model), plain_metric(problem, "none")
        objective = problem.value_at(z, model.weights) + problem.penalty_of(model)
        every = candidates(problem)
        state = Proceeding(
            model=model,
            objective=objective,
            w=model.dense(problem.d),
            b=float(model.intercept),
            z=z,
            curvatures=row_curvatures(problem, row_squares(problem, metric), z, metric),
            packed=packed_of(problem, every),
            slopes=np.zeros(problem.n),
            mu=np.zeros(problem.d),
            best=model,
            best_objective=objective,
            checked=self.screening.is_safe,
        )
        self._look(problem, state, every)
        return state

    def step(self, problem: Any, state: Proceeding, run: Run) -> Proceeding:
        assert state.look is not None
        if state.residual > WITHIN * run.tol and not self._move(problem, state, run):
            return state
        self._is_done(problem, state, run)
        return state

    def certificate(self, problem: Any, state: Proceeding, run: Run) -> Certificate:
        within = "is within" if state.residual <= run.tol else "is not within"
        statement = f"the dual gap, {state.residual:.1g} of the null objective, {within} tol"
        return Certificate("dual_gap", state.residual, statement)

    # -- a round ------------------------------------------------------------------------------------------------

    def _look(self, problem: Any, state: Proceeding, features: Indices) -> None:
        """Slopes, mu, gap; discards. Cost: a pass over the features, two with an intercept."""
        a = problem.loss.core.slope(state.z, problem.y)
        a[problem.v == 0] = 0.0
        c = slopes_of_features(problem, a, features)
        state.slopes = problem.v * a
        state.mu = np.zeros(problem.d)
        state.mu[features], state.mu_b = -c, float(state.slopes.sum() / problem.n) * problem.fit_intercept
        regulariser, deviations = problem.regulariser.on(features), problem.deviations[features]
        point = dual_point(problem, a, features, None if problem.fit_intercept else c)
        look = Look(features, regulariser, deviations, point, state.objective, state.look is None)
        gone = self.screening.discarded(problem, look)
        if gone is not None and gone.any():
            kept = np.flatnonzero(~gone)
            look = replace(
                look,
                features=features[kept],
                regulariser=regulariser.on(kept),
                deviations=deviations[kept],
                point=replace(point, c=point.c[kept]),
            )
            state.w = np.where(np.isin(np.arange(problem.d), look.features), state.w, 0.0)
        state.look, state.active = look, len(look.features)
        state.residual = look.gap / problem.scale
        if (
            2 * len(look.features) < len(state.packed.features)
            or not np.isin(look.features, state.packed.features).all()
        ):
            state.packed = packed_of(problem, look.features)

    def _move(self, problem: Any, state: Proceeding, run: Run) -> bool:
        """The steps of a round; False where they diverged, and a shorter estimate is to be tried."""
        count = self.inner or self.rounds_of_rows * problem.n
        safe = 1 / max(float(state.curvatures.max()), float(np.finfo(float).tiny))
        c = state.shrunk * float(self.rule.lengths(safe, np.array([float(state.rounds)]))[0])
        order = self.sampling.order(state.curvatures, count, run.rng)
        look, packed = state.look, state.packed
        point = np.append(state.w[packed.features], state.b)
        remembered = state.remembered
        found = self.reduced.sweep(state, self._arguments(problem, look, packed, c, order), point)
        problem.design.passes += count / problem.n * len(packed.features) / problem.d
        w, b = np.zeros(problem.d), float(found[-1])
        w[packed.features] = found[:-1]
        model, objective = state.model, np.inf
        if np.isfinite(found).all():
            model = Model.from_dense(w, b)
            z = problem.scores(model)
            objective = problem.value_at(z, model.weights) + problem.penalty_of(model)
        if not objective <= max(state.objective, problem.null[1]) + RISEN * problem.scale:
            state.remembered = remembered
            return self._shortened(state, c)
        state.w, state.b, state.z, state.model, state.objective = w, b, z, model, objective
        self._look(problem, state, look.features)  # type: ignore[union-attr]
        return True

    def _arguments(self, problem: Any, look: Any, packed: Packed, c: float, order: Indices) -> dict[str, Any]:
        omega, tau, ridge, lower, upper = problem.regulariser.on(packed.features).parts()
        out = ~np.isin(packed.features, look.features)
        lower[out], upper[out] = 0.0, 0.0
        penalty = np.ascontiguousarray([c * packed.reach, tau, ridge, lower, upper])
        return {
            "rows": packed.rows,
            "target": problem.target,
            "order": order,
            "c": c,
            "penalty": penalty,
            "omega": omega,
            "units": packed.units,
            "store": self.store.core,
            "workers": self.workers(problem),
            "stop": problem.design.stop,
        }

    def _shortened(self, state: Proceeding, c: float) -> bool:
        if not isinstance(self.rule, Estimate) or state.shrunk <= LEAST_SHRUNK:
            raise ValueError(
                f"{self.name}: the step {c:.3g} is too long, the objective grows without end; "
                "use step='estimate', or a shorter one"
            )
        state.shrunk *= SHRINK
        return False

    def _is_done(self, problem: Any, state: Proceeding, run: Run) -> None:
        assert state.look is not None
        if state.objective < state.best_objective:
            state.best, state.best_objective = state.model, state.objective
        if state.residual <= WITHIN * run.tol:
            if not state.checked:  # the rule was not safe: all features are looked at, what was wrong comes back
                state.checked, state.best_gap, state.since = True, np.inf, 0
                safe = replace_rule(self)
                safe._look(problem, state, candidates(problem))
                state.remembered = None
                return self._is_done(problem, state, run)
            state.residual = max(state.residual, problem.gap(state.model, state.objective) / problem.scale)
            if state.residual <= run.tol:
                self._polish(problem, state, run)
                state.done = "converged"
                return
        if state.look.gap < 0.99 * state.best_gap:
            state.best_gap, state.since = state.look.gap, 0
        else:
            state.since += 1
            state.done = "stalled" if state.since > WINDOW else None

    def _polish(self, problem: Any, state: Proceeding, run: Run) -> None:
        """A full proximal step, which puts at zero what racing workers left near it; kept where within tol too."""
        if self.workers(problem) == 1 or problem.regulariser.unit_of is None:
            return
        step = 1 / max(float(state.curvatures.max()), float(np.finfo(float).tiny))
        gone: Array = state.w - step * state.mu  # mu is 0 where it was not looked at, as w is
        model = Model.from_dense(np.where(state.w != 0, problem.regulariser.prox(gone, step), 0.0), state.b)
        objective = problem.objective(model)
        if objective <= state.objective and problem.gap(model, objective) <= run.tol * problem.scale:
            state.model, state.objective = model, objective


def replace_rule(solver: Proximal) -> Proximal:
    """The same solver without screening."""
    other: Proximal = object.__new__(type(solver))
    for setting, value in {**vars(solver), "screening": Unscreened()}.items():
        object.__setattr__(other, setting, value)
    return other
