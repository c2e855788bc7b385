"""Pursuit: the default for exact k.

    min F(w, b)   subject to   |w|_0 <= k   (groups, always, never, bounds)

Grow the support in stages of one fixed sequence of sizes (1, 2, .., 10, three tenths more each time up to 23, then
twice as many, or on a tableau still three tenths more; ending at k); in each stage enter the features of largest gain,
minimise, and exchange members for outsiders while F falls. On small data small sizes are also reached from above (a
few more, exchange, as many fewer, exchange). Every stage ends swap-optimal, so every model on the path is what asking
for its size alone gives by the same way. With a ridge, k is also reached from the support that hard thresholding ends
at, and the lower model kept; on large data with a large ridge from there alone (``opening.py``).

Squared loss of single features without bounds works on a tableau (``tableau.py``): every exchange is judged exactly.
Where columns are so nearly collinear that a Gram matrix does not tell, on an orthogonal basis of the support
(``orthogonal.py``). Otherwise on the quadratic model at the minimiser, whose best exchanges are tried on F before they
are refused (``support.py``), and at a larger ridge on the way where weights might run off (``softened.py``).

Source: paring. Grown from OLS/OMP (Chen, Billings & Luo 1989), exchange as in Efroymson 1960 and abess (Zhu et al.
2020), staged and batched. Cost: about two passes a stage and one a batch of exchanges; stages are 13, then one a
doubling.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.result import Certificate, PathPoint, Result
from paring.solvers import opening
from paring.solvers._loop import Run, State, begun, start_model
from paring.solvers.iterate import OnSupport
from paring.solvers.measure import measured
from paring.solvers.opening import CHEAP_PASS, SHORT
from paring.solvers.orthogonal import Orthogonal
from paring.solvers.softened import Softened, soft_ridge
from paring.solvers.support import Support
from paring.solvers.tableau import Tableau

ONE_BY_ONE = 10  # sizes up to here are all visited
GROWTH = 1.3  # beyond: from a stage to the next,
FEW = 20  # and from sizes beyond this:
FAR_GROWTH = 2.0  # of stages that each cost passes and trials; the exchanges of a tableau cost more than its stages
SAME = 1e-9  # objectives so near, relative to F at the null model, are of one problem
AGREES = 1e-9  # of F at the null model: what a tableau's F and that of the data may differ by
STEEP = 1e-16  # the same: what the slope on a support could gain along one of its columns
TABLEAU_BYTES = 1 << 30  # beyond, |S| d float64 are not kept
STATEMENTS = {
    "exact": "swap-optimal: no exchange of one feature lowers the objective",
    "model": "swap-optimal in the model: of the exchanges it ranks best, none tried lowers the objective",
}
MOST = 10_000  # features exchanged: their inverse Hessian is 0.8 GB, and some copies are needed


def stage_sizes(k: int, first: int = 1, every: bool = False, growth: float = FAR_GROWTH) -> list[int]:
    """The sizes visited on the way from ``first`` to k: a fixed sequence, then k itself. ``growth``: beyond FEW."""
    sizes, size = [], 1
    while size < k:
        if size >= first:
            sizes.append(size)
        size = size + 1 if every or size < ONE_BY_ONE else int(np.ceil(size * (growth if size > FEW else GROWTH)))
    return [*sizes, k]


def planned(problem: Any, begun_with: int, every: bool = False) -> list[int]:
    k, growth = problem.constraint.k, GROWTH if works_on_tableaus(problem) else FAR_GROWTH
    return stage_sizes(k, max(1, min(begun_with, k)), every, growth)


@dataclass
class PursuitState(State):
    """The sizes still to come, of those planned; the engine with the support reached; what to begin again from.

    first : the support it all began with. base : that of the last whole stage. htp : hard thresholding at k, while
    it goes on. twice : that beginning comes after this one. rival : where this one's end came to, from then on.
    """

    engine: Any = None
    plan: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    first: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    base: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    swap_optimal: str | None = None
    htp: OnSupport | None = None
    twice: bool = False
    rival: PursuitState | None = None

    def cut_short(self) -> PursuitState:
        return self if self.rival is None else _lower(self, self.rival)


@dataclass(frozen=True)
class Pursuit:
    """Settings. ``sizes`` visited on the way to k: "stages", "all", "k" (none: from the support of hard thresholding);
    "auto": "k" on large data with a large ridge, else "stages", and with any ridge "k" as well.
    """

    sizes: str = "auto"
    name = "pursuit"

    def init(self, problem: Any, run: Run) -> PursuitState:
        if self.sizes not in opening.WAYS:
            raise ValueError(f"sizes must be one of {', '.join(opening.WAYS)}, got {self.sizes!r}")
        refuse(problem)
        k = problem.constraint.k
        started = problem.constraint.units_of(start_model(problem, run.start).support)
        first = np.union1d(np.flatnonzero(problem.constraint.always), started).astype(np.int64)
        path: dict[int, PathPoint] = {}
        if isinstance(run.start, Result):
            path = _inherited(run.start, problem, min(k, len(first)))
        plan = planned(problem, len(first), self.sizes == "all")
        model, objective = run.first or begun(problem, run.start)
        if opening.goes_straight(problem, run, self.sizes):
            return PursuitState(model, objective, htp=opening.begun(problem, run))
        twice = opening.looks_twice(problem, run, self.sizes)
        return _started(problem, PursuitState(model, objective, path=path, twice=twice), run, first, plan)

    def step(self, problem: Any, state: PursuitState, run: Run) -> PursuitState:
        """A stage, or a round of the thresholding that comes before one. The end of all: the lower of two models."""
        at = state.htp
        state = self._stage(problem, state, run) if at is None else _thresholded(problem, state, at, run)
        if state.done and state.rival is not None:
            return _lower(state, state.rival)
        if state.done == "converged" and state.twice:
            return replace(state, done=None, htp=opening.begun(problem, run), rival=state)
        return state

    def _stage(self, problem: Any, state: PursuitState, run: Run) -> PursuitState:
        """Grow to a size, exchange until no exchange lowers F; see that it is so."""
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
        return Certificate("swap_optimal", state.residual, STATEMENTS[state.swap_optimal])


def _started(problem: Any, state: PursuitState, run: Run, first: NDArray[np.int64], plan: list[int]) -> PursuitState:
    engine = begin(make_engine(problem, run.tol), first)
    return replace(state, engine=engine, plan=plan, sizes=plan, first=first, base=first)


def _from_nothing(problem: Any, state: PursuitState, run: Run) -> PursuitState:
    always = np.flatnonzero(problem.constraint.always)
    return _started(problem, replace(state, htp=None), run, always, planned(problem, len(always)))


def _thresholded(problem: Any, state: PursuitState, before: OnSupport, run: Run) -> PursuitState:
    """A round of thresholding. After the last, a support to exchange members of at size k."""
    at = opening.round_of(problem, before, run)
    if at is None:  # it finds no way from here: the features are too nearly collinear for gradient steps
        return replace(state, done=state.rival.done) if state.rival else _from_nothing(problem, state, run)
    state = replace(state, htp=at, thresholdings=at.thresholdings)
    if state.rival is None:
        state.model, state.objective = at.model, at.objective
    if not at.done:
        return state
    first = opening.units_of(problem, at)
    if state.rival is not None and np.array_equal(first, state.rival.base):
        return replace(state, done=state.rival.done)
    return _started(problem, replace(state, path={}, htp=None), run, first, [problem.constraint.k])


def _lower(state: PursuitState, rival: PursuitState) -> PursuitState:
    """The one whose model is lower, with the rival's path to it."""
    better = state.done == "converged" and state.objective < rival.objective
    path = rival.path | (state.path if better else {})
    ended = replace(state if better else rival, path=path, htp=None, twice=False, rival=None)
    ended.rounds, ended.thresholdings = state.rounds, state.thresholdings
    return ended


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
    if size <= SHORT and max(problem.design.entries, problem.d) <= CHEAP_PASS:
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
    if works_on_tableaus(problem):
        return Tableau(problem)
    return Softened(problem, tol) if problem.ridge < soft_ridge(problem) else Support(problem, tol)


def works_on_tableaus(problem: Any) -> bool:
    constraint = problem.constraint
    exact = problem.loss.name == "squared" and constraint.unit_of is None and constraint.lower is None
    return exact and 8 * constraint.k * int(problem.d) <= TABLEAU_BYTES


def finer(problem: Any, tol: float) -> Any:
    """The engine that takes over from a tableau whose Gram matrix does not tell: an orthogonal basis, within memory."""
    fits = 8 * problem.constraint.k * (problem.n + problem.d) <= TABLEAU_BYTES
    return Orthogonal(problem) if fits else Support(problem, tol)


def exchangeable(problem: Any) -> bool:
    """Whether matrices of |S| x |S| can be kept."""
    k, unit_of = problem.constraint.k, problem.constraint.unit_of
    return bool((k if unit_of is None else np.sort(np.bincount(unit_of))[::-1][:k].sum()) <= MOST)


def refuse(problem: Any) -> None:
    """Problems pursuit cannot take, with the remedy."""
    if not problem.loss.smooth:
        raise ValueError(
            f"pursuit: {problem.loss} has no slope everywhere; use loss='squared_hinge' or 'smoothed_hinge', "
            "or solver='sdiht'"
        )
    if np.isfinite(problem.constraint.radius):
        raise ValueError("pursuit: L2Ball is not handled; use solver='iht', or ridge instead of the ball")
    if not exchangeable(problem):
        raise ValueError(
            f"pursuit: exchanges of more than {MOST:,} features need matrices of that size squared; use solver='htp', "
            "or with a ridge 'diht'"
        )
