"""Every solver, round by round, against its twin in ``tests/reference``."""

from __future__ import annotations

import numpy as np
import pytest

from paring import Problem, solve
from paring.constraints import TopK
from paring.solvers._loop import Run
from paring.solvers.fnhtp import FNHTP
from paring.solvers.grasp import GraSP
from paring.solvers.htp import HTP
from paring.solvers.iht import IHT
from paring.solvers.omp import OMP
from paring.solvers.steps import Backtracking, Fixed, Lipschitz, Normalised
from tests.reference import fnhtp, grasp, htp, iht, omp
from tests.reference.thresholding import Dense
from tests.solvers.problems import data

K = 4
LOSSES = ["squared", "logistic", "poisson"]
INTERCEPT = pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])


def both(loss: str, intercept: bool) -> tuple[Problem, Dense]:
    X, y = data(loss)
    v = np.random.default_rng(5).integers(1, 4, len(y)).astype(float)
    problem = Problem(X, y, loss, constraint=TopK(K), ridge=0.02, sample_weight=v, fit_intercept=intercept)
    return problem, Dense(X, y, loss, 0.02, v, intercept)


def models_of(problem: Problem, solver, rounds: float = np.inf) -> list[tuple[np.ndarray, float]]:
    seen = []

    def watch(progress) -> bool:
        seen.append((progress.model.dense(problem.d), progress.model.intercept))
        return len(seen) >= rounds

    solve(problem, solver, tol=1e-300, callbacks=[watch])
    return seen


def assert_same(ours, theirs, accuracy: float = 1e-9) -> None:
    for (w, b), (w_twin, b_twin) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(w != 0, w_twin != 0)
        np.testing.assert_allclose(w, w_twin, rtol=accuracy, atol=accuracy)
        np.testing.assert_allclose(b, b_twin, rtol=accuracy, atol=accuracy)


@INTERCEPT
@pytest.mark.parametrize("loss", LOSSES)
def test_iht_fixed_and_backtracking(loss: str, intercept: bool) -> None:
    problem, F = both(loss, intercept)
    w, b = np.zeros(problem.d), problem.null[0]
    first = 1 / problem.curvatures().max()
    assert_same(models_of(problem, IHT(Fixed(0.03)), 12), iht.iht(F, K, lambda *_: 0.03, 12, w, b))
    choose = iht.backtracking(F, K, first)
    assert_same(models_of(problem, IHT(Backtracking()), 12), iht.iht(F, K, choose, 12, w, b))


@INTERCEPT
def test_iht_lipschitz_and_normalised(intercept: bool) -> None:
    problem, F = both("squared", intercept)
    w, b = np.zeros(problem.d), problem.null[0]
    ours = models_of(problem, IHT(Normalised()), 12)
    assert_same(ours, iht.iht(F, K, iht.normalised(F, K), 12, w, b))
    step = iht.lipschitz(F)
    assert 1 / (1.05 * problem.lipschitz) == pytest.approx(step, rel=0.02)
    ours = models_of(problem, IHT(Lipschitz()), 12)
    step = 1 / (1.05 * problem.lipschitz)
    assert_same(ours, iht.iht(F, K, lambda *_: step, 12, w, b))


@INTERCEPT
@pytest.mark.parametrize("loss", LOSSES)
def test_htp(loss: str, intercept: bool) -> None:
    problem, F = both(loss, intercept)
    ours = models_of(problem, HTP(Fixed(0.05)))
    theirs, repeated = htp.htp(F, K, 0.05, np.zeros(problem.d), problem.null[0])
    assert repeated
    assert_same(ours[:-1], theirs, 1e-6)
    assert_same(ours[-1:], theirs[-1:], 1e-6)  # the round that saw S repeat


@INTERCEPT
@pytest.mark.parametrize("loss", LOSSES)
def test_grasp(loss: str, intercept: bool) -> None:
    problem, F = both(loss, intercept)
    ours = models_of(problem, GraSP())
    theirs = grasp.grasp(F, K, np.zeros(problem.d), problem.null[0])
    assert_same(ours[: len(theirs)], theirs, 1e-6)
    assert len(ours) == len(theirs) + 1


@INTERCEPT
@pytest.mark.parametrize("loss", LOSSES)
def test_omp(loss: str, intercept: bool) -> None:
    problem, F = both(loss, intercept)
    ours = models_of(problem, OMP())
    assert_same(ours, omp.omp(F, K, np.zeros(problem.d), problem.null[0]), 1e-6)


@INTERCEPT
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_fnhtp_direction(loss: str, intercept: bool) -> None:
    problem, F = both(loss, intercept)
    solver = FNHTP(inner=30, batch=3, repeats=2)
    start = 0.1 * np.random.default_rng(2).standard_normal(problem.d) * (np.arange(problem.d) < K)
    run = Run(start=(start, 0.2), rng=np.random.default_rng(7))
    state = solver.init(problem, run)
    u, u_b = solver.direction(problem, state, run.rng)
    twin = fnhtp.direction(F, loss, start, 0.2 * intercept, 30, 3, 2, np.random.default_rng(7))
    np.testing.assert_allclose(u, twin[0], rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(u_b, twin[1], rtol=1e-10, atol=1e-14)


def test_fnhtp_direction_tends_to_newtons() -> None:
    # With the whole data as the batch the recursion is deterministic and its limit Hess^-1 g, not Hess^-1 g / c.
    problem, F = both("squared", False)
    rng = np.random.default_rng(3)
    solver = FNHTP(inner=4000, batch=40, repeats=20)
    state = solver.init(problem, Run())
    u, _ = solver.direction(problem, state, rng)
    H = F.X.T @ (F.v[:, None] * F.X) / len(F.y) + F.ridge * np.eye(problem.d)
    newton = np.linalg.solve(H, F.gradient(np.zeros(problem.d))[0])
    assert np.linalg.norm(u - newton) < 0.05 * np.linalg.norm(newton)
