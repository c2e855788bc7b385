"""``solve``: one problem, one solver, one loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from paring.data.design import cores
from paring.problem import Problem
from paring.result import Result
from paring.solvers import registry
from paring.solvers._loop import Progress, Run, Solver, run_loop
from paring.solvers.pursuit import exchangeable
from paring.solvers.refusals import refuse_family

SMALL = 100_000  # entries of X: a pass takes a tenth of a millisecond
MANY = 2000  # features, from which on diht was measured to come lower than pursuit in about as much time, or less


def choose(problem: Problem) -> tuple[str, str]:
    """The name "auto" stands for, and why."""
    if problem.penalty is not None:
        return "cd", "auto: coordinate descent on working sets, the default for penalised problems"
    if not problem.loss.smooth:
        return _choose_for_corners(problem)
    if np.isfinite(problem.constraint.radius):
        return "iht", "auto: L2Ball asks for a projection at every step"
    single = problem.constraint.unit_of is None and problem.constraint.lower is None
    if problem.ridge > 0 and problem.constraint.k >= MANY and single and problem.loss.name in ("squared", "logistic"):
        return "diht", f"auto: with a ridge and k >= {MANY:,} it was measured to come lower than pursuit"
    if not exchangeable(problem):
        return "htp", "auto: the features are too many for pursuit's exchanges"
    return "pursuit", "auto: the data are at hand, and no solver was measured to find better models in less time"


def _choose_for_corners(problem: Problem) -> tuple[str, str]:
    why = f"auto: {problem.loss} has a corner, which the dual solvers take"
    if problem.ridge == 0:
        raise ValueError(
            f"{problem.loss}: without ridge no solver takes a loss without slopes; "
            "use ridge > 0, or loss='squared_hinge' or 'smoothed_hinge'"
        )
    constraint = problem.constraint
    if np.isfinite(constraint.radius):
        raise ValueError(f"{problem.loss}: no solver takes it within an L2Ball; use ridge instead of the ball")
    if constraint.unit_of is not None or constraint.lower is not None:
        return "diht", f"{why}; sdiht takes no groups or bounds"
    if problem.design.entries <= SMALL:
        return "diht", f"{why}; a pass costs next to nothing, and diht draws no random numbers"
    return "sdiht", f"{why}; sdiht needs the fewest passes"


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    *,
    start: Any = None,
    tol: float = 1e-6,
    max_passes: float = 1000,
    time_limit: float | None = None,
    callbacks: Sequence[Callable[[Progress], Any]] | Callable[[Progress], Any] = (),
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    certify: bool = False,
) -> Result:
    """Solve a problem: exact-k, or penalised.

    solver : "auto", a name listed by ``paring solvers``, or an object with settings, e.g. ``IHT(step=Fixed(0.1))``.
    start : None, a Result (path solvers go on from where it ended), a coefficient array, or (coef, intercept).
    tol : relative to F at the null model; what it bounds is the solver's certificate.
    max_passes, time_limit (seconds) : when either is used up, the model so far is returned and marked.
    callbacks : callables ``f(progress)``; a true answer stops.
    certify : also ascend the dual for a better lower bound (``dual_gap``), where there is one.
    Ctrl-C returns the model so far with ``stop_reason="interrupted"``.
    """
    name, why = choose(problem) if solver == "auto" else (solver, "as asked")
    chosen: Any = registry.entry(name).load()() if isinstance(name, str) else name
    if isinstance(chosen, type):
        chosen = chosen()
    if not hasattr(chosen, "init"):
        raise TypeError(f"solver must be a name listed by `paring solvers` or a solver object, got {solver!r}")
    refuse_family(problem, chosen)
    if not (isinstance(tol, Real) and 0 < float(tol) < np.inf):
        raise ValueError(f"tol must be a positive number, got {tol!r}")
    limits = [max_passes] if time_limit is None else [max_passes, time_limit]
    if not all(isinstance(limit, Real) and not np.isnan(limit) for limit in limits):
        raise ValueError(
            f"max_passes and time_limit must be numbers, got {max_passes!r} and {time_limit!r}; "
            "max_passes=numpy.inf and time_limit=None are no limits"
        )
    watchers = (callbacks,) if callable(callbacks) else tuple(callbacks)
    threads = None if n_jobs is None else cores(n_jobs)
    rng = np.random.default_rng(random_state)
    run = Run(float(tol), max_passes, time_limit, start, rng, watchers, certify, threads)
    if not verbose:
        return run_loop(problem, chosen, run, why)
    from paring.solvers.progress import shown

    with shown(chosen.name, problem) as watcher:
        run.callbacks = (*watchers, watcher)
        return run_loop(problem, chosen, run, why)
