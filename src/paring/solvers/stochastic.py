"""What the stochastic solvers share: step rules, samplings, the anchor, the end of a round.

A round runs a compiled sweep over rows drawn here, with a step c that stays the same in a round (or falls in it:
``lengths``). All randomness is the run's ``rng``: the same seed gives the same rows. A solver derives from
``Stochastic`` and writes one method:

    sweep(problem, state, steps, rng) -> Swept        from the anchor ``state``, whose gradient is mu

A step of at most 1 over the curvature of a batch's gradient is safe (``smoothness.py``).

Effective passes: n row gradients over all columns are one; a block gradient counts 1/blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.result import Certificate, Model
from paring.solvers._loop import Run, start_model
from paring.solvers.iterate import Iterate, arrived
from paring.solvers.refusals import refuse
from paring.solvers.rules import ByNorm, Decreasing, Estimate, Rule, Sampling, Shuffled, Tuned, Uniform, rule_of
from paring.solvers.smoothness import mean_curvature, row_curvatures, row_squares, safe_length
from paring.solvers.steps import Fixed, Metric, Trial, metric_of, model_of

__all__ = ["ByNorm", "Decreasing", "Estimate", "Fixed", "Shuffled", "Tuned", "Uniform"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

DIVERGED = 1e3  # times the null objective above it: no step that descends on average comes here
RISEN = 1.0  # the same where a shorter step can be tried
WINDOW = 10  # rounds that must together lower F by more than tol, or the run has stalled
MOST_SHRINKS = 30
SHRINK = 0.25  # of an estimated step, where a round under it diverged


# -- the round -----------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Anchor(Iterate):
    """The point between two rounds and all that the next begins with; (g, gb) is its gradient (mu, mu_b).

    squares, curvatures : of the rows, as ``row_squares`` and ``row_curvatures`` say.
    importance : factor of each row's gradient under the sampling, None for 1.
    shrunk : how much an estimated step was shortened since. best : the best model met, with its objective.
    lately : the best objective after each round. carried : what a solver keeps from round to round.
    """

    rule: Rule
    squares: Array
    curvatures: Array
    importance: Array | None
    safe: float
    shrunk: float = 1.0
    best: Model
    best_objective: float
    lately: tuple[float, ...] = ()
    carried: Any = None

    def answer(self) -> tuple[Model, float]:
        if self.done == "converged":
            return self.model, self.objective
        return self.best, self.best_objective

    def slopes(self, problem: Any) -> Array:
        """v_i slope_i at the anchor."""
        return np.ascontiguousarray(problem.residuals(self.z) * problem.n)

    def lengths(self, count: int) -> Array:
        """The steps of this round, ``count`` of them."""
        rounds = self.rounds + np.arange(count) / max(count, 1)
        return np.asarray(self.shrunk * self.rule.lengths(self.safe, rounds), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Swept:
    """Where a sweep ended (feasible or not: the end of the round projects), what it cost in effective passes and
    thresholdings, and what the solver carries to the next round."""

    w: Array
    b: Any
    passes: float
    thresholdings: int
    carried: Any = None


@dataclass(frozen=True, init=False)
class Stochastic:
    """Settings that stochastic solvers have in common.

    step : a rule of ``rules.py``, a number, "estimate" (default) or "tuned".
    batch : rows of a step. inner : steps of a round (None: the solver's own number).
    sampling : ``Uniform()``, ``Shuffled()`` or ``ByNorm()``.
    tol bounds the fixed-point residual of thresholding. Random: the same ``random_state`` gives the same result.
    """

    rule: Rule
    batch: int
    inner: int | None
    sampling: Sampling

    name: ClassVar[str]
    only_features: ClassVar[bool] = True
    anchored: ClassVar[bool] = True  # else the gradient between rounds serves the certificate alone, and is not counted

    def __init__(
        self, step: Any = "estimate", *, batch: int = 1, inner: int | None = None, sampling: Sampling | None = None
    ) -> None:
        self._set(rule=rule_of(step), batch=batch, inner=inner, sampling=Uniform() if sampling is None else sampling)

    def _set(self, **settings: Any) -> None:
        for setting, value in settings.items():
            object.__setattr__(self, setting, value)

    # -- what a solver writes: ---------------------------------------------------------------------------------------

    def sweep(self, problem: Any, state: Anchor, steps: Array, rng: np.random.Generator) -> Swept:
        """One round from the anchor, a step for each of ``steps``; leaves the anchor as it is."""
        raise NotImplementedError

    def metric(self, problem: Any) -> Metric:
        """That of its steps and of its H_k."""
        return metric_of(problem, "none")

    def count(self, problem: Any) -> int:
        """Steps of a round: n / batch of them where ``inner`` is None."""
        return self.inner or max(1, problem.n // self.batch)

    def visits(self, state: Anchor, steps: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
        """The rows of all steps in one array, and where each step's begin in it."""
        order = self.sampling.order(state.curvatures, steps * self.batch, rng)
        return order, np.arange(steps + 1) * self.batch

    def paced(self, problem: Any, state: Anchor) -> Anchor:
        """The state with the safe step of its scores: shorter where a loss without a bound on its curvature rises."""
        if np.isfinite(problem.loss.curvature_bound):
            return state
        here = np.maximum(row_curvatures(problem, state.squares, state.z, state.metric), state.curvatures)
        if np.all(here == state.curvatures):
            return state
        state = replace(state, curvatures=here, importance=self.sampling.importance(here))
        return replace(state, safe=min(state.safe, self.safe(problem, state)))

    def measured(self, problem: Any, metric: Metric, rng: np.random.Generator) -> tuple[Array, Any]:
        """Squares of the rows, of what a step moves of them, and what the solver carries from the first round on."""
        return row_squares(problem, metric), None

    def safe(self, problem: Any, state: Anchor) -> float:
        """1 over the curvature of a batch (1 where nothing is curved). Cost: none for single rows."""
        mean = mean_curvature(problem, state.z, state.metric) if self.batch > 1 else 0.0
        return safe_length(self.sampling.largest(state.curvatures), mean, self.batch)

    # -- what they share: --------------------------------------------------------------------------------------------

    def init(self, problem: Any, run: Run) -> Anchor:
        refuse(problem, self)
        for setting, value in (("batch", self.batch), ("inner", self.inner)):
            if value is not None and not value >= 1:
                raise ValueError(f"{self.name}: {setting} must be at least 1, got {value!r}")
        metric = self.metric(problem)
        self.rule.check(problem, metric)
        problem.design.by_rows  # noqa: B018  (raises, naming the remedy, where rows cannot be walked along)
        before = problem.design.passes
        here = arrived(problem, start_model(problem, run.start))
        problem.design.passes = before + self.anchored
        squares, carried = self.measured(problem, metric, run.rng)
        curvatures = row_curvatures(problem, squares, here["z"], metric)
        state = Anchor(
            **here,
            metric=metric,
            rule=self.rule,
            squares=squares,
            curvatures=curvatures,
            importance=self.sampling.importance(curvatures),
            safe=1.0,
            best=here["model"],
            best_objective=here["objective"],
            lately=(here["objective"],),
            carried=carried,
        )
        return replace(state, safe=self.safe(problem, state))

    def step(self, problem: Any, state: Anchor, run: Run) -> Anchor:
        if isinstance(state.rule, Tuned):
            state = _tuned(problem, state, state.rule, run, self)
        state = self.paced(problem, state)
        steps = state.lengths(self.count(problem))
        swept = self.sweep(problem, state, steps, run.rng)
        return ended(problem, state, swept, float(steps[-1]), run, self)

    def certificate(self, problem: Any, state: Anchor, run: Run) -> Certificate:
        model, _ = state.answer()
        if model is not state.model:
            state = replace(state, **arrived(problem, model))
        value = residual_of(problem, state, state.step or state.safe)
        statement = (
            f"{'a' if value <= run.tol else 'not a'} fixed point of thresholding with steps of {state.step:.2g}: "
            f"a full gradient step would gain {value:.1g} of the null objective by its model"
        )
        return Certificate("fixed_point", value, statement)


def limits_of(problem: Any, metric: Metric) -> _core.Limits:
    """What the core's sweeps keep to when they threshold."""
    constraint = problem.constraint
    always, never = (flags.astype(np.uint8) for flags in (constraint.always, constraint.never))
    return _core.Limits(problem.d, constraint.k, always, never, constraint.radius, metric.h, metric.h_b)


def no_limits(problem: Any, metric: Metric) -> _core.Limits:
    """Those of a sweep that does not threshold."""
    nothing = np.zeros(problem.d, np.uint8)
    return _core.Limits(problem.d, problem.d, nothing, nothing, np.inf, metric.h, metric.h_b)


def core_arguments(
    problem: Any, state: Anchor, visits: tuple[Indices, Indices], lengths: Array, limits: _core.Limits | None = None
) -> dict[str, Any]:
    """What every sweep of the core is given; ``limits`` None: those of the problem."""
    order, starts = visits
    return {
        "rows": problem.design.by_rows,
        "target": problem.target,
        "limits": limits or limits_of(problem, state.metric),
        "order": order,
        "starts": starts,
        "lengths": lengths,
        "w": state.w,
        "b": as_vector(problem, state.b),
        "importance": state.importance,
        "stop": problem.design.stop,
    }


def anchor_arguments(problem: Any, state: Anchor) -> dict[str, Any]:
    """What a variance-reduced sweep knows of the anchor; nu = mu - ridge anchor is the gradient of the loss alone."""
    nu = state.g - problem.ridge * state.w
    return {"nu": nu, "nu_b": as_vector(problem, state.gb), "slopes": state.slopes(problem)}


def as_vector(problem: Any, b: Any) -> Array:
    """The intercept as the core takes it: one number an output."""
    return np.ascontiguousarray(np.broadcast_to(np.asarray(b, dtype=np.float64), (problem.outputs,)))


def as_intercept(b: Array) -> Any:
    """The intercept as models hold it."""
    return b if len(b) > 1 else float(b[0])


def residual_of(problem: Any, state: Anchor, length: float) -> float:
    """What a full gradient step of that length, thresholded, gains by its model, relative to F at the null model.

    Short steps gain little and look converged: the gain is multiplied by (1 / max h) / length where that is above 1.
    """
    move = Trial(problem, state, state.metric).move(length)
    return float(move.gain * max(1.0, state.metric.first / length) / problem.scale)


def ended(problem: Any, state: Anchor, swept: Swept, length: float, run: Run, solver: Stochastic) -> Anchor:
    """The next anchor: thresholded where a sweep left more than k, with its gradient, and what the run has come to.

    A round that diverged raises ValueError; after an estimated step it is done again with a shorter one.
    Cost: one pass.
    """
    before = problem.design.passes
    state = replace(state, thresholdings=state.thresholdings + swept.thresholdings)
    here = _arrival(problem, state, swept)
    problem.design.passes = before + swept.passes + solver.anchored
    if here is None:
        if not isinstance(state.rule, Estimate) or state.shrunk <= SHRINK**MOST_SHRINKS:
            raise ValueError(
                f"{solver.name}: the step {length:.3g} is too long, the objective grows without end; "
                "use step='estimate', or a shorter one"
            )
        return replace(state, shrunk=SHRINK * state.shrunk)
    better = here["objective"] < state.best_objective
    state = replace(
        state,
        **here,
        step=length,
        carried=swept.carried,
        best=here["model"] if better else state.best,
        best_objective=min(here["objective"], state.best_objective),
    )
    state.lately = (*state.lately, state.best_objective)[-WINDOW - 1 :]
    state.residual = residual_of(problem, state, length)
    slack = run.tol * problem.scale
    if state.residual <= run.tol and state.objective <= state.best_objective + slack:
        state.done = "converged"
    elif len(state.lately) > WINDOW and state.lately[0] - state.lately[-1] <= slack:
        state.done = "stalled"
    return state


def _arrival(problem: Any, state: Anchor, swept: Swept) -> dict[str, Any] | None:
    """The fields of an ``Iterate`` at the sweep's end; None where the sweep diverged."""
    if not (np.isfinite(swept.w).all() and np.all(np.isfinite(swept.b))):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        w = problem.constraint.project(swept.w, state.metric.h)
        here = arrived(problem, model_of(problem.constraint, w, swept.b))
    often = RISEN if isinstance(state.rule, Estimate) else DIVERGED
    limit = max(state.objective, problem.null[1] + often * problem.scale)
    return here if here["objective"] <= limit else None


def _tuned(problem: Any, state: Anchor, rule: Tuned, run: Run, solver: Stochastic) -> Anchor:
    """The state with the step chosen that ``Tuned`` searches for."""
    seed = int(run.rng.integers(2**63))

    def value(length: float) -> float:
        trial = replace(state, rule=Fixed(length))
        trial_run = replace(run, rng=np.random.default_rng(seed), tol=np.finfo(float).tiny)
        try:
            for _ in range(rule.rounds):
                trial = solver.step(problem, trial, trial_run)
                trial.rounds += 1
        except ValueError:
            return float(np.inf)
        return trial.objective

    return replace(state, rule=rule.choose(state.safe, value))
