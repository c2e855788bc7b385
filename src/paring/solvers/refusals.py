"""What a solver does not take, said before it begins, with the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse(problem: Any, solver: Any) -> None:
    """Raise ValueError if ``solver`` cannot take ``problem``.

    A solver that keeps its weights in an l2 ball by projection declares ``projects = True``; one whose thresholding
    knows features alone (no groups, no bounds) ``only_features = True``.
    """
    if not problem.loss.smooth:
        raise ValueError(
            f"{solver.name}: {problem.loss} has no slope at its corner; use loss='squared_hinge' or 'smoothed_hinge', "
            "or solver='sdiht'"
        )
    if np.isfinite(problem.constraint.radius) and not getattr(solver, "projects", False):
        raise ValueError(
            f"{solver.name}: minimising on a support within an L2Ball is not implemented; "
            "use solver='iht', or ridge instead of the ball"
        )
    if getattr(solver, "only_features", False) and (
        problem.constraint.unit_of is not None or problem.constraint.lower is not None
    ):
        raise ValueError(
            f"{solver.name}: thresholds after every step, which is implemented for features without groups or bounds; "
            "use solver='sbcd-htp', which thresholds once a round, or 'pursuit'"
        )


def refuse_dual(problem: Any, solver: Any) -> None:
    """The same for the solvers on the dual: they need a ridge, and a conjugate that is strongly convex or the hinge's.

    One that takes single features within no bounds declares ``only_features = True``.
    """
    constraint = problem.constraint
    if problem.loss.name in ("multinomial", "poisson"):
        raise ValueError(
            f"{solver.name}: no dual step for loss {problem.loss} is implemented; use solver='pursuit' or 'htp'"
        )
    if not problem.ridge > 0:
        raise ValueError(f"{solver.name}: without ridge the dual has no step; use ridge > 0, or solver='pursuit'")
    if np.isfinite(constraint.radius):
        raise ValueError(
            f"{solver.name}: minimising on a support within an L2Ball is not implemented; use ridge instead of the ball"
        )
    if solver.only_features and (constraint.unit_of is not None or constraint.lower is not None):
        what = "groups" if constraint.unit_of is not None else "bounds"
        raise ValueError(f"{solver.name}: {what} are not handled step by step; use solver='diht'")


def refuse_proximal(problem: Any, solver: Any) -> None:
    """The same for the stochastic solvers of penalised problems."""
    refuse(problem, solver)
    if problem.outputs > 1:
        raise ValueError(f"{solver.name}: steps have one score a row, {problem.loss} has several; use solver='cd'")
    if problem.offset is not None:
        raise ValueError(
            f"{solver.name}: steps know no offset; use solver='cd', or for squared loss subtract it from y"
        )


def refuse_family(problem: Any, solver: Any) -> None:
    """Raise ValueError where the problem is penalised and the solver asks for k features, or the other way round.

    A solver of penalised problems declares ``penalised = True``.
    """
    takes = getattr(solver, "penalised", False)
    penalty = getattr(problem, "penalty", None)
    if penalty is not None and not takes:
        raise ValueError(f"{solver.name}: for exact-k problems; this one has a penalty: use solver='cd'")
    if penalty is None and takes:
        raise ValueError(
            f"{solver.name}: for penalised problems; this one has a constraint: use solver='pursuit', "
            "or Problem(..., penalty=paring.penalties.L1(lam))"
        )
