"""What a solver does not take, said before it begins, with the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse(problem: Any, solver: Any) -> None:
    """Raise ValueError if ``solver`` cannot take ``problem``.

    A solver that keeps its weights in an l2 ball by projection declares ``projects = True``.
    """
    if not problem.loss.smooth:
        raise ValueError(
            f"{solver.name}: {problem.loss} has no slope at its corner; use loss='squared_hinge' or 'smoothed_hinge'"
        )
    if np.isfinite(problem.constraint.radius) and not getattr(solver, "projects", False):
        raise ValueError(
            f"{solver.name}: minimising on a support within an L2Ball is not implemented; "
            "use solver='iht', or ridge instead of the ball"
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
