"""The one loop: tolerance, passes, time, callbacks, history, interruption. Every solver runs in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

import numpy as np

from paring import _core
from paring.certificates import gap_to
from paring.result import Certificate, Model, PathPoint, Record, Result
from paring.solvers.blas import one_thread
from paring.solvers.shown import path_without_dust, warn_of_separation, without_dust

PASSES_ROUNDING = 1e-9  # fractions of a pass are added up: a run must not end by what was counted before it


@dataclass
class State:
    """What a solver knows between two rounds. Solvers extend it; ``model`` is always a whole, feasible answer.

    residual : what the solver's certificate has come down to, relative to F at the null model.
    bound : a lower bound on the best F, if the solver has found one by ``paring.dual``.
    active : how many features screening has left; -1 without screening.
    done : why it ended ("converged", "stalled"), or None while it goes on.
    """

    model: Model
    objective: float = np.inf
    residual: float = np.inf
    bound: float = -np.inf
    thresholdings: int = 0
    rounds: int = 0
    done: str | None = None
    active: int = -1
    path: dict[int, PathPoint] = field(default_factory=dict)

    def answer(self) -> tuple[Model, float]:
        """What to return if the run ends here, with its objective: the last model, unless a solver keeps the best."""
        return self.model, self.objective

    def cut_short(self) -> State:
        """The state to end with where the run must end here: another, if this one only tries to better an answer."""
        return self


class Solver(Protocol):
    """Frozen settings and three functions. ``tol`` is handed over by the loop before ``init``."""

    name: str

    def init(self, problem: Any, run: Run) -> Any: ...

    def step(self, problem: Any, state: Any, run: Run) -> Any: ...

    def certificate(self, problem: Any, state: Any, run: Run) -> Certificate: ...


@dataclass
class Run:
    """How one solve may go; solvers read it, the loop alone acts on it."""

    tol: float = 1e-6
    max_passes: float = 1000
    time_limit: float | None = None
    start: Any = None
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    callbacks: Sequence[Callable[[Progress], Any]] = ()
    certify: bool = False
    threads: int | None = None
    first: tuple[Model, float] | None = None  # what there is before the first round; the loop sets it


@dataclass(frozen=True)
class Progress:
    """What a callback sees; ``model`` is a copy that cannot be written to. Return something true to stop."""

    rounds: int
    objective: float
    certificate: float
    passes: float
    thresholdings: int
    seconds: float
    n_selected: int
    model: Model


def start_model(problem: Any, start: Any) -> Model:
    """The model to start from: None, a Result or Model, a coefficient array, or (array, intercept)."""
    if start is None:
        return Model(np.empty(0, np.int64), problem.zeros()[:0], problem.null[0])
    if isinstance(start, Result):
        start = start.model
    if isinstance(start, Model):
        model = start
    else:
        w, b = start if isinstance(start, tuple) else (start, problem.null[0])
        if np.shape(w) != problem.zeros().shape:
            raise ValueError(f"start has shape {np.shape(w)}, the problem's weights {problem.zeros().shape}")
        model = Model.from_dense(np.asarray(w, dtype=np.float64), b)
    _check_support(model, problem.d)
    if model.weights.shape[1:] != problem.zeros().shape[1:]:
        raise ValueError(f"start has weights of shape {model.weights.shape}: it is of a problem with other outputs")
    if not (np.isfinite(model.weights).all() and np.all(np.isfinite(model.intercept))):
        raise ValueError("start holds NaN or infinity")
    w = model.dense(problem.d)
    if not problem.constraint.contains(w):
        model = Model.from_dense(problem.constraint.project(w), model.intercept)
    return model if problem.fit_intercept else Model(model.support, model.weights, problem.null[0])


def _check_support(model: Model, d: int) -> None:
    support = model.support
    if support.ndim != 1 or support.dtype.kind not in "iu" or len(model.weights) != len(support):
        raise ValueError("start: support must be feature indices, with a weight each")
    if len(support) and not (support.min() >= 0 and support.max() < d):
        worst = int(support.max() if support.max() >= d else support.min())
        raise ValueError(f"start uses feature {worst}, but there are {d} features")
    if np.any(support[1:] <= support[:-1]):
        raise ValueError("start: support must be ascending, each feature once")


def begun(problem: Any, start: Any) -> tuple[Model, float]:
    """What there is before the first round: the start with its objective; else the null model, always-units at 0."""
    model = start_model(problem, start)
    if start is None:
        constraint = problem.constraint
        always = constraint.features(np.flatnonzero(constraint.always))
        return Model(always, problem.zeros()[always], model.intercept), problem.null[1]
    return model, problem.objective(model)


def run_loop(problem: Any, solver: Solver, run: Run, why: str) -> Result:
    """Rounds of ``solver`` until it is done or must end; the Result is of the last whole round, whatever happened."""
    begin = time.perf_counter()
    stop = _core.Stop() if run.time_limit is None else _core.Stop(float(run.time_limit))
    size = getattr(problem.design, "entries", 0) * problem.outputs**2
    with _borrowed(problem.design, stop, run.threads), one_thread(size):
        return _rounds(problem, solver, run, why, stop, begin)


_busy: set[int] = set()
_busy_lock = Lock()


@contextmanager
def _borrowed(design: Any, stop: _core.Stop, threads: int | None) -> Iterator[None]:
    """The design with this run's stop and threads; as it was, afterwards. One run at a time, views included."""
    held = id(design.root)
    with _busy_lock:
        if held in _busy:
            raise RuntimeError("this Problem, or one of the same Design, is being solved: build one for each thread")
        _busy.add(held)
    before = design.stop, design.threads
    design.stop, design.threads = stop, threads or design.threads
    try:
        yield
    finally:
        design.stop, design.threads = before
        with _busy_lock:
            _busy.discard(held)


def _rounds(problem: Any, solver: Solver, run: Run, why: str, stop: _core.Stop, begin: float) -> Result:
    design = problem.design
    first_pass = design.passes
    history: list[Record] = []
    state, reason = State(Model(np.empty(0, np.int64), problem.zeros()[:0], 0.0)), None
    try:
        design.stop = _core.Stop()  # short: even a run without time returns what it was given
        run.first = state.model, state.objective = begun(problem, run.start)
        design.stop = stop
        state = solver.init(problem, run)
        while reason is None:
            state = solver.step(problem, state, run)
            state.rounds += 1
            record = Record(
                state.objective,
                state.residual,
                design.passes - first_pass,
                state.thresholdings,
                time.perf_counter() - begin,
                state.active,
            )
            history.append(record)
            asked = _asked_to_stop(run, record, state, stop)
            reason = state.done
            if asked and not reason:
                state = state.cut_short()
                reason = asked if asked == "callback" else state.done or asked
    except KeyboardInterrupt:
        state, reason = state.cut_short(), "interrupted"
    except _core.Stopped:
        state = state.cut_short()
        reason = state.done or "time_limit"
    design.stop = _core.Stop()
    facts = {"history": history, "reason": reason, "why": why, "first_pass": first_pass, "begin": begin, "stop": stop}
    return _finished(problem, solver, run, state, **facts)


def _asked_to_stop(run: Run, record: Record, state: Any, stop: _core.Stop) -> str | None:
    if run.callbacks and _a_callback_stops(run, record, state):
        return "callback"
    if stop.over:
        return "time_limit"
    return "max_passes" if record.passes >= run.max_passes - PASSES_ROUNDING else None


def _a_callback_stops(run: Run, record: Record, state: Any) -> bool:
    progress = Progress(
        state.rounds,
        record.objective,
        record.certificate,
        record.passes,
        record.thresholdings,
        record.seconds,
        len(state.model.support),
        state.model.frozen(),
    )
    return any(callback(progress) for callback in run.callbacks)


def _gap(problem: Any, state: Any, objective: float, run: Run, stop: _core.Stop) -> tuple[float, str | None]:
    """F less its bound; the reason, if the ascent for a better one was cut short by Ctrl-C."""
    model = state.model
    gap = min(problem.gap(model, objective, tol=run.tol), gap_to(problem, objective, state.bound))
    if not run.certify or gap <= run.tol * problem.scale:
        return gap, None
    problem.design.stop = stop  # the ascent ends at the deadline with the best bound so far
    try:
        return min(gap, problem.gap(model, objective, ascend=True)), None
    except _core.Stopped:
        return gap, None
    except KeyboardInterrupt:
        return gap, "interrupted"
    finally:
        problem.design.stop = _core.Stop()


def _finished(
    problem: Any,
    solver: Solver,
    run: Run,
    state: Any,
    *,
    history: list[Record],
    reason: str,
    why: str,
    first_pass: int,
    begin: float,
    stop: _core.Stop,
) -> Result:
    (model, objective), gap = state.answer(), np.inf
    certificate = Certificate("none", np.inf, f"stopped early: {reason}")
    if reason not in ("interrupted", "time_limit"):  # else no pass more: the caller is waiting
        model = without_dust(problem, model)
        objective = problem.objective(model)
        warn_of_separation(problem, model)
        certificate = solver.certificate(problem, state, run)
        gap, ended = _gap(problem, state, objective, run, stop)
        reason = ended or reason
    else:
        gap = gap_to(problem, objective, state.bound)
    proved = bool(np.isfinite(gap) and gap <= run.tol * problem.scale)
    if proved:
        certificate = Certificate("dual_gap", gap / problem.scale, "proved optimal: the dual gap is within tol")
    return Result(
        coef=model.dense(problem.d),
        intercept=model.intercept,
        support=model.support,
        objective=objective,
        null_objective=problem.null[1],
        dual_gap=gap,
        certificate=certificate,
        proved_optimal=proved,
        swap_optimal=getattr(state, "swap_optimal", None),
        stop_reason=reason,
        converged=reason == "converged",
        n_iter=max(1, state.rounds),
        n_passes=problem.design.passes - first_pass,
        n_thresholdings=state.thresholdings,
        seconds=time.perf_counter() - begin,
        copied_bytes=problem.design.copied_bytes,
        solver=solver.name,
        why=why,
        history=tuple(history),
        path=path_without_dust(problem, state.path),
        state=state,
    )
