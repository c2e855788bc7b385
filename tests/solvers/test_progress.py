"""The progress of a solve: on stderr, only when asked for."""

import sys
from typing import Any

import numpy as np
import pytest

from paring import Problem, SparseRegressor, constraints, solve
from paring.solvers import progress

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 30))
Y = X[:, :6] @ np.arange(1.0, 7.0) + RNG.standard_normal(80)


def problem(**options: Any) -> Problem:
    return Problem(X, Y, constraint=constraints.TopK(5, **options), fit_intercept=True)


def test_silent_unless_asked(capfd: pytest.CaptureFixture[str]) -> None:
    solve(problem())
    SparseRegressor(5).fit(X, Y)
    assert capfd.readouterr() == ("", "")


def test_lines(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    result = solve(problem(), verbose=True)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == "" and len(lines) == result.n_iter
    assert lines[-1].startswith("pursuit: round 5  5 features  objective ")
    assert f"objective {result.objective:.6g}" in lines[-1] and "passes" in lines[-1] and lines[-1].endswith(" s")


def test_lines_are_few_and_the_last_round_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    SparseRegressor(5, verbose=1).fit(X, Y)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) <= 3 and "round 5" in lines[-1]


@pytest.mark.parametrize("solver", ["pursuit", "iht"])
@pytest.mark.parametrize("options", [{}, {"groups": np.arange(30) // 3}])
def test_bar(solver: str, options: Any, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    result = solve(problem(**options), solver, verbose=True)
    out, err = capfd.readouterr()
    assert out == "" and solver in err and f"{len(result.support)} features" in err


def test_user_callbacks_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    solve(problem(), verbose=True, callbacks=[lambda p: seen.append(p.rounds)])
    assert seen == [1, 2, 3, 4, 5]
