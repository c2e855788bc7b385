"""``docs/cells.md``: what each loss comes to under each constraint. Written by ``python -m tests.matrix.table``."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from paring import losses
from paring.result import Result
from paring.solvers import registry
from paring.solvers._loop import Run
from tests.matrix.cells import CONSTRAINTS, LAYOUTS, Cell, outcome, pose

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cells.md"
HEAD = """\
# What is solved

Every loss under every constraint, as `paring.solve(problem)` takes it with `solver="auto"`: the solver chosen and what
its answer is shown to be, or *refused* with the reason below. This page is written by the matrix test
(`python -m tests.matrix.table`), which poses each cell on dense, CSR, CSC and memory-mapped data, with and without
sample weights and with and without an intercept, and compares the objective with the optimum found by trying every
support.

"""
FOOT = """
* swap-optimal, exact: no exchange of one selected feature for another lowers the objective.
* swap-optimal, model: the best exchanges of the quadratic model were refitted, and none lowers the objective.
* fixed point: a gradient step followed by the projection returns the same model, which may be a local optimum.
* dual maximum: the dual is at its maximum, and what is left of the gap is that of the convex relaxation; *or
  swap-optimal*: on other data the solver ended where no exchange that it tried lowers the objective.
* bound: `dual_gap` is finite where `ridge > 0`, or within finite bounds or an `L2Ball`; when it closes, the
  certificate is `dual_gap` and the answer is proved optimal. Without any of these it is infinite.
"""


def own_certificate(cell: Cell, result: Result) -> str:
    """The kind the solver itself ends with: whether the dual gap closes as well is a matter of the data."""
    solver = registry.entry(result.solver).load()()
    return str(solver.certificate(pose(cell), result.state, Run()).kind)


def shown(cell: Cell, reasons: list[str]) -> str:
    """One outcome in a few words; refusals by number."""
    result = outcome(cell)
    if isinstance(result, str):
        if result not in reasons:
            reasons.append(result)
        return f"refused [{reasons.index(result) + 1}]"
    assert result.converged, result
    kind = own_certificate(cell, result).replace("_", " ").replace("swap optimal", "swap-optimal")
    level = f", {result.swap_optimal}" if result.swap_optimal else ""
    bound = ", bound" if np.isfinite(result.dual_gap) else ""
    return f"{result.solver}: {kind}{level}{bound}"


def entry(loss: losses.Loss, constraint: str, reasons: list[str]) -> str:
    """What a loss comes to under a constraint, whatever the layout; where the data decide, what they decide between."""
    kinds = product((False, True), (False, True))
    seen = [{shown(Cell(loss, constraint, layout, *kind), reasons) for layout in LAYOUTS} for kind in kinds]
    assert all(len(outcomes) == 1 for outcomes in seen), f"{loss} {constraint}: the layout decides: {seen}"
    return " or ".join(sorted(set.union(*seen)))


def table() -> str:
    """The page. Cost: every cell solved, seconds."""
    reasons: list[str] = []
    lines = [["loss", *CONSTRAINTS], ["---"] * (1 + len(CONSTRAINTS))]
    lines += [[loss.name, *(entry(loss, name, reasons) for name in CONSTRAINTS)] for loss in losses.ALL]
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    notes = "".join(f"\n[{number}] `{reason}`\n" for number, reason in enumerate(reasons, 1))
    return f"{HEAD}{rows}\n{notes}{FOOT}"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(table(), "utf-8")
    print(f"written: {PAGE.name}")
