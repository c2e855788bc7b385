"""Pursuit: the default for exact k.

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds)

Grow the support in stages of one fixed sequence of sizes (1, 2, .., 10, then three tenths more each time, ending at k);
in each stage enter the features of largest gain, minimise, and exchange members for outsiders while F falls. On small
data small sizes are also reached from above (a few more, exchange, as many fewer, exchange). Every stage ends
swap-optimal, so every model on the path is what asking for its size alone gives.

Squared loss of single features without bounds works on a tableau (``tableau.py``): every exchange is judged exactly.
Where columns are so nearly collinear that a Gram matrix does not tell, on an orthogonal basis of the support
(``orthogonal.py``). Otherwise on the quadratic model at the minimiser, whose best exchanges are tried on F before they
are refused (``support.py``).

Source: paring. Grown from OLS/OMP (Chen, Billings & Luo 1989), exchange as in Efroymson 1960 and abess (Zhu et al.
2020), staged and batched. Cost: about two passes a stage and one a batch of exchanges; stages are 10 + 9 log10(k/10).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.result import Certificate, PathPoint, Result
from paring.solvers._loop import Run, State, begun, start_model
from paring.solvers.measure import measured
from paring.solvers.orthogonal import Orthogonal
from paring.solvers.support import Support
from paring.solvers.tableau import Tableau

ONE_BY_ONE = 10  # sizes up to here are all visited
GROWTH = 1.3
SAME = 1e-9  # objectives so near, relative to F at the null model, are of one problem
SECOND_LOOK = 16  # sizes up to here are also reached from above: it costs little and escapes most poor local optima
CHEAP_PASS = 800_000  # entries of X, and columns: a pass is under a millisecond
AGREES = 1e-9  # of F at the null model: what a tableau's F and that of the data may differ by
STEEP = 1e-16  # the same: what the slope on a support could gain along one of its columns
TABLEAU_BYTES = 1 << 30  # beyond, |S| d float64 are not kept


def stage_sizes(k: int, first: int = 1, every: bool = False) -> list[int]:
    """The sizes visited on the way from ``first`` to k: a fixed sequence, then k itself."""
    sizes, size = [], 1
    while size < k:
        if size >= first:
            sizes.append(size)
        size = size + 1 if every or size < ONE_BY_ONE else int(np.ceil(size * GROWTH))
    return [*sizes, k]


@dataclass
class PursuitState(State):
    """The sizes still to come, of those planned; the engine with the support reached; what to begin again from.

    first : the support it all began with. base : that of the last whole stage.
    """

    engine: Any = None
    plan: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    first: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    base: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    swap_optimal: str | None = None


@dataclass(frozen=True)
class Pursuit:
    """Settings. ``sizes``: "stages", or "all" to visit every size up to k."""

    sizes: str = "stages"
    name = "pursuit"

    def init(self, problem: Any, run: Run) -> PursuitState:
        if self.sizes not in ("stages", "all"):
            raise ValueError(f"sizes must be 'stages' or 'all', got {self.sizes!r}")
        refuse(problem)
        k = problem.constraint.k
        started = problem.constraint.units_of(start_model(problem, run.start).support)
        first = np.union1d(np.flatnonzero(problem.constraint.always), started).astype(np.int64)
        path: dict[int, PathPoint] = {}
        if isinstance(run.start, Result):
            path = _inherited(run.start, problem, min(k, len(first)))
        plan = stage_sizes(k, max(1, min(len(first), k)), self.sizes == "all")
        model, objective = run.first or begun(problem, run.start)
        engine = begin(make_engine(problem, run.tol), first)
        return PursuitState(model, objective, engine=engine, plan=plan, sizes=plan, first=first, base=first, path=path)

    def step(self, problem: Any, state: PursuitState, run: Run) -> PursuitState:
        """One stage: grow to its size, exchange until no exchange lowers F; see that it is so."""
        size = state.sizes[0]
        stage(problem, state.engine, size)
        while not (state.engine.settle(size) and _no_worse(state, size)):
            state.engine = begin(finer(problem, run.tol), state.base)
            stage(problem, state.engine, size)
        engine = state.engine
        state.sizes = state.sizes[1:]
        state.model, state.objective, state.base = engine.model(), engine.objective, engine.units
        if len(state.model.support) and engine.size:  # of fewer where no further feature adds anything
            state.path.setdefault(engine.size, PathPoint(engine.size, state.model, state.objective))
        state.residual = max(0.0, engine.tolerance / problem.scale)
        if not state.sizes and _measured(problem, state, run):
            state.objective = state.path[engine.size].objective if engine.size in state.path else state.objective
            state.swap_optimal = engine.swap_optimal if engine.settled else None
            state.done = "converged" if engine.settled else "stalled"
        return state

    def certificate(self, problem: Any, state: PursuitState, run: Run) -> Certificate:
        if state.done == "stalled":
            return Certificate(
                "none", np.inf, "the minimum on the support was not reached: nothing is known of exchanges"
            )
        if state.swap_optimal is None:
            return Certificate("none", np.inf, "stopped before the last stage: fewer features than asked for")
        statement = {
            "exact": "swap-optimal: no exchange of one feature lowers the objective",
            "model": "swap-optimal in the model: of the exchanges it ranks best, none tried lowers the objective",
        }[state.swap_optimal]
        return Certificate("swap_optimal", state.residual, statement)


def begin(engine: Any, first: NDArray[np.int64]) -> Any:
    """The engine with a support to grow from: ``always`` before the others, which might span them and keep them out."""
    if len(first):
        always = np.flatnonzero(engine.constraint.always)
        engine.enter(always)
        engine.enter(np.setdiff1d(first, always))
        engine.shrink(engine.constraint.k)
    return engine


def stage(problem: Any, engine: Any, size: int) -> None:
    engine.grow(size)
    engine.polish()
    if size <= SECOND_LOOK and max(problem.design.entries, problem.d) <= CHEAP_PASS:
        second_look(engine, size, rank_bound(problem))


def rank_bound(problem: Any) -> int:
    """Features that can be told apart, at most: rows that count, less the intercept."""
    if problem.ridge > 0:
        return int(problem.d)
    return int(np.count_nonzero(problem.v)) - problem.fit_intercept


def _no_worse(state: PursuitState, size: int) -> bool:
    """More features do no worse than fewer, or rounding has misled the tableau: the other engines see F itself."""
    before = max((point for point in state.path if point < size), default=None)
    if before is None or not isinstance(state.engine, Tableau):
        return True
    return bool(state.engine.objective <= state.path[before].objective + state.engine.tolerance)


def _measured(problem: Any, state: PursuitState, run: Run) -> bool:
    """Whether the path measured on the data is what tableaus say it is; the objectives are then the data's.

    If not, back to the first size that is not, with a finer engine. Cost: the columns on the path, once.
    """
    if not (state.path and works_on_tableaus(problem)):
        return True
    points = [state.path[size] for size in sorted(state.path)]
    objectives, steep = measured(problem, [point.model for point in points])
    off = steep > np.sqrt(STEEP * problem.scale)
    for at, point in enumerate(points):
        off[at] |= not abs(objectives[at] - point.objective) <= AGREES * problem.scale
        state.path[point.size] = PathPoint(point.size, point.model, float(objectives[at]))
    if not (off.any() and isinstance(state.engine, Tableau)):
        return True
    wrong = int(off.argmax())
    state.sizes = [size for size in state.plan if size >= points[wrong].size]
    state.path = {point.size: state.path[point.size] for point in points[:wrong]}
    state.base = points[wrong - 1].model.support if wrong else state.first
    state.engine = begin(finer(problem, run.tol), state.base)
    return False


def _inherited(start: Result, problem: Any, below: int) -> dict[int, PathPoint]:
    """The path so far, where it is of this very problem: its objectives tell, and its constraint takes the models."""
    near, constraint = SAME * problem.scale, problem.constraint
    needed = constraint.features(np.flatnonzero(constraint.always))
    return {
        size: point
        for size, point in start.path.items()
        if size < below
        and abs(problem.objective(point.model) - point.objective) <= near
        and np.isin(needed, point.model.support).all()
        and len(constraint.units_of(point.model.support)) == size
        and constraint.contains(point.model.dense(problem.d))
    }


def second_look(engine: Any, size: int, most: int) -> None:
    """Arrive from above as well: a few more, exchange, give as many up, exchange; stay where F is lower."""
    looks = (1,) if not engine.modelled else (1, 2, size) if size <= ONE_BY_ONE else (1, 2)
    engine.refresh()
    for more in looks:
        saved, objective = engine.saved(), engine.objective
        engine.grow(min(size + more, most))
        if engine.size > size:
            engine.polish()
            engine.shrink(size)
            engine.polish()
            engine.refresh()
        if not (engine.size == size and engine.objective < objective - engine.tolerance):
            engine.restore(saved)


def make_engine(problem: Any, tol: float) -> Any:
    """Tableau where every exchange can be judged exactly within memory; else the quadratic model at the minimiser."""
    return Tableau(problem) if works_on_tableaus(problem) else Support(problem, tol)


def works_on_tableaus(problem: Any) -> bool:
    constraint = problem.constraint
    exact = problem.loss.name == "squared" and constraint.unit_of is None and constraint.lower is None
    return exact and 8 * constraint.k * int(problem.d) <= TABLEAU_BYTES


def finer(problem: Any, tol: float) -> Any:
    """The engine that takes over from a tableau whose Gram matrix does not tell: an orthogonal basis, within memory."""
    fits = 8 * problem.constraint.k * (problem.n + problem.d) <= TABLEAU_BYTES
    return Orthogonal(problem) if fits else Support(problem, tol)


def refuse(problem: Any) -> None:
    """Problems pursuit cannot take, with the remedy."""
    if not problem.loss.smooth:
        raise ValueError(
            f"pursuit: {problem.loss} has no slope everywhere; use loss='squared_hinge' or 'smoothed_hinge', "
            "or solver='sdiht'"
        )
    if np.isfinite(problem.constraint.radius):
        raise ValueError("pursuit: L2Ball is not handled; use solver='iht', or ridge instead of the ball")
