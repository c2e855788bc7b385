"""The matrix test: every loss x constraint x layout x weights x intercept is solved to the enumerated optimum, or
refused with a remedy; and the page that says which is which is the one these cells give."""

import numpy as np
import pytest

from paring.result import Result
from tests.matrix.cells import Cell, best, cells, outcome, pose
from tests.matrix.table import PAGE, table

EQUAL = 1e-6  # of F at the null model
REMEDIES = ("use loss=", "use ridge", "use solver=")


@pytest.mark.parametrize("cell", list(cells()), ids=str)
def test_cell(cell: Cell) -> None:
    answer = outcome(cell)
    if isinstance(answer, str):
        assert any(remedy in answer for remedy in REMEDIES), answer
        return
    assert isinstance(answer, Result)
    problem = pose(cell)
    assert answer.converged, answer
    assert np.isfinite(answer.coef).all() and np.all(np.isfinite(answer.intercept))
    assert problem.constraint.contains(answer.coef), answer.coef
    assert cell.intercept or np.all(answer.intercept == 0)
    reach = best(cell.loss, cell.constraint, cell.weights, cell.intercept)
    assert answer.objective == pytest.approx(problem.objective(answer.model), rel=1e-12)
    assert abs(answer.objective - reach) <= EQUAL * problem.scale, (answer.objective, reach)
    assert answer.objective - answer.dual_gap <= reach + 1e-8 * problem.scale


def test_the_page_of_cells_is_what_the_cells_give() -> None:
    assert PAGE.read_text("utf-8") == table(), "run: python -m tests.matrix.table"
