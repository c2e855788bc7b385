"""A race: several solvers on one problem, their histories as traces, every model judged after the clock has stopped.

The clock is the solver's own: it runs over ``solve`` alone. Each starts at w = 0 on a Problem of its own, so nobody
finds what another has computed. Objectives are evaluated again here, in float64, by formulae of this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paring import Problem, constraints, solve
from paring.result import Model, Record
from paring.solvers import registry
from paring.solvers.steps import Fixed

POINTS = 60  # of a trace that are kept: the first, the last, and between them evenly on a logarithmic scale
AGREES = 1e-6  # relative: a solver's own objective and ours
NEVER = 1e-15  # tol of a race: let it run until its time is over, or until nothing moves


@dataclass(frozen=True)
class Tuned:
    """A setting found by trials (``tuning.py``): ``make`` of the number found."""

    make: Callable[[float], Any] = Fixed


TUNED = Tuned()


@dataclass(frozen=True)
class Entrant:
    """A solver in a race. ``settings``: those of the paper; one that is ``Tuned`` is found by trials.

    loss : another loss than the race's, for solvers that cannot take it; it is judged by the race's own all the same.
    tol : where it may end by itself. patience : times the race's seconds and passes, for one whose answer is there at
    its end only.
    """

    label: str
    solver: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    loss: Any = None
    n_jobs: int = 1
    tol: float = NEVER
    patience: float = 1.0


PURSUIT = Entrant("pursuit", "pursuit", patience=4.0)  # the default solver, beside the papers' in every picture


@dataclass(frozen=True)
class Data:
    """X and y, held-out rows and planted weights where there are any."""

    X: Any
    y: np.ndarray
    X_test: Any = None
    y_test: Any = None
    truth: Any = None


@dataclass(frozen=True)
class Race:
    """min (1/n) sum loss + (ridge/2) |w|^2 over k features, and how long each may take.

    trial_passes : how long a trial of a step is. In passes, not seconds: what is found is the same on a busy machine.
    """

    title: str
    data: Data
    loss: Any
    k: int
    ridge: float = 0.0
    max_passes: float = np.inf
    seconds: float = np.inf
    seed: int = 0
    trial_passes: float = 30

    def problem(self, loss: Any = None) -> Problem:
        bound = constraints.TopK(self.k)
        return Problem(self.data.X, self.data.y, loss or self.loss, constraint=bound, ridge=self.ridge)


@dataclass
class Trace:
    """What became of an entrant: a point a round, of each measure; or the ``error`` that ended it.

    final : the objective of what it returned, which may be the best of its rounds.
    """

    label: str
    solver: str
    step: float | None = None
    error: str = ""
    ended: str = ""
    selected: int = 0
    final: float = np.inf
    passes: list[float] = field(default_factory=list)
    thresholdings: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    certificate: list[float] = field(default_factory=list)
    measures: dict[str, list[float]] = field(default_factory=dict)

    def of(self, name: str) -> list[float]:
        if self.error:
            return []
        return self.measures[name] if name in self.measures else getattr(self, name)

    def at(self, axis: str, limit: float, measure: str = "objective") -> float:
        """The measure at the last point within the limit; infinity before the first."""
        within = [y for x, y in zip(self.of(axis), self.of(measure), strict=True) if x <= limit]
        return within[-1] if within else np.inf

    def reaches(self, target: float, axis: str, measure: str = "objective") -> float:
        """Where the measure first comes down to the target; infinity if never."""
        for x, y in zip(self.of(axis), self.of(measure), strict=True):
            if y <= target:
                return x
        return np.inf


def built(entrant: Entrant, step: float | None) -> Any:
    settings = {
        name: value.make(step) if isinstance(value, Tuned) else value for name, value in entrant.settings.items()
    }
    return registry.entry(entrant.solver).load()(**settings)


def is_tuned(entrant: Entrant) -> bool:
    return any(isinstance(value, Tuned) for value in entrant.settings.values())


# -- judging -------------------------------------------------------------------------------------------------------


def loss_values(z: np.ndarray, y: np.ndarray, loss: Any) -> np.ndarray:
    name, parameter = getattr(loss, "name", loss), getattr(loss, "parameter", None)
    if name == "squared":
        return (z - y) ** 2 / 2
    if name == "logistic":
        return np.logaddexp(0, -y * z)
    short = np.maximum(1 - y * z, 0)
    if name == "hinge":
        return short
    if name == "smoothed_hinge":
        return np.where(short > parameter, short - parameter / 2, short**2 / (2 * parameter))
    raise ValueError(f"no loss {loss!r} here")


def scores(X: Any, model: Model) -> np.ndarray:
    columns = X[:, model.support]  # alone: the whole of a float32 matrix would be widened
    return np.asarray(columns.astype(np.float64) @ model.weights + model.intercept)


def objective(race: Race, model: Model) -> float:
    losses = loss_values(scores(race.data.X, model), race.data.y, race.loss)
    return float(np.mean(losses) + race.ridge / 2 * (model.weights @ model.weights))


def held_out(race: Race, model: Model) -> float:
    """Share of wrong classes, or mean squared error."""
    z, y = scores(race.data.X_test, model), race.data.y_test
    return float(np.mean((z - y) ** 2) if race.loss == "squared" else np.mean(np.where(z > 0, 1, -1) != y))


def distance(race: Race, model: Model) -> float:
    """|w - truth| / |truth|."""
    truth = race.data.truth
    return float(np.linalg.norm(model.dense(len(truth)) - truth) / np.linalg.norm(truth))


Judge = Callable[[Race, Model], float]


# -- running -------------------------------------------------------------------------------------------------------


def run(race: Race, entrant: Entrant, step: float | None = None, judges: Mapping[str, Judge] | None = None) -> Trace:
    """One entrant's trace. What it refuses, or where it diverges, is an error on the trace, not an exception."""
    models: list[Model] = []
    trace = Trace(entrant.label, entrant.solver, step)
    try:
        problem = race.problem(entrant.loss)
        start = Record(problem.null[1], np.inf, 0.0, 0, 0.0)
        result = solve(
            problem,
            built(entrant, step),
            tol=entrant.tol,
            max_passes=entrant.patience * race.max_passes,
            time_limit=entrant.patience * race.seconds if np.isfinite(race.seconds) else None,
            callbacks=lambda progress: models.append(progress.model),
            random_state=race.seed,
            n_jobs=entrant.n_jobs,
        )
    except ValueError as reason:
        trace.error = str(reason)
        return trace
    trace.ended, trace.selected = result.stop_reason, len(result.support)
    trace.final = objective(race, result.model)
    nothing = Model(np.empty(0, np.int64), np.empty(0), 0.0)
    points = list(zip([start, *result.history], [nothing, *models], strict=True))
    if result.objective < points[-1][0].objective:  # it returns the best model met: the last point, at no cost
        points.append((replace(points[-1][0], objective=result.objective), result.model))
    for record, model in [points[i] for i in kept(len(points))]:
        trace.passes.append(record.passes)
        trace.thresholdings.append(record.thresholdings)
        trace.seconds.append(record.seconds)
        trace.objective.append(objective(race, model))
        trace.certificate.append(record.certificate)
        for name, judge in (judges or {}).items():
            trace.measures.setdefault(name, []).append(judge(race, model))
    if entrant.loss is None and abs(trace.final - result.objective) > AGREES * max(abs(result.objective), AGREES):
        told = f"says its objective is {result.objective:.9g}; its coefficients have {trace.final:.9g}"
        return Trace(entrant.label, entrant.solver, step, error=told)
    return trace


def kept(count: int) -> list[int]:
    """Indices of the points kept of that many."""
    if count <= POINTS:
        return list(range(count))
    return sorted({0, *np.unique(np.geomspace(1, count - 1, POINTS - 1).round().astype(int)).tolist()})


def lowest(traces: Sequence[Trace], measure: str = "objective") -> float:
    """The lowest value that anybody reached."""
    return min(min(trace.of(measure)) for trace in traces if trace.objective)
