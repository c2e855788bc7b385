"""iht, htp, grasp, omp and fnhtp on every smooth loss: what they return, and that it is right where that is known."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, solve
from paring.constraints import L2Ball, TopK
from paring.solvers.fnhtp import FNHTP
from paring.solvers.grasp import GraSP
from paring.solvers.htp import HTP
from paring.solvers.iht import IHT
from paring.solvers.omp import OMP
from paring.solvers.steps import Backtracking, Fixed, Lipschitz, Normalised
from tests.solvers.problems import PLANTED, SMOOTH, data, problem

SOLVERS = {
    "iht": IHT(),
    "iht normalised": IHT(Normalised()),
    "iht scaled": IHT(scaling="curvature"),
    "htp": HTP(),
    "htp normalised": HTP(Normalised()),
    "htp scaled": HTP(scaling="curvature"),
    "grasp": GraSP(),
    "omp": OMP(),
    "omp scaled": OMP(scaling="curvature"),
    "fnhtp": FNHTP(inner=200, batch=20),
}
EVERY = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
REFITTING = pytest.mark.parametrize(
    "solver", [s for name, s in SOLVERS.items() if "iht" not in name], ids=[n for n in SOLVERS if "iht" not in n]
)


def run(p: Problem, solver, **options):
    return solve(p, solver, random_state=0, **options)


@EVERY
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
def test_every_loss_on_dense_and_sparse(solver, loss: str, intercept: bool) -> None:
    dense = run(problem(loss, ridge=0.01, fit_intercept=intercept), solver)
    sparse = run(problem(loss, layout=sp.csr_array, ridge=0.01, fit_intercept=intercept), solver)
    np.testing.assert_array_equal(dense.support, sparse.support)
    np.testing.assert_allclose(dense.coef, sparse.coef, rtol=1e-5, atol=1e-7)
    assert dense.converged
    assert len(dense.support) == 4
    assert np.isfinite(dense.coef).all()
    assert dense.objective < dense.null_objective
    assert dense.certificate.kind == "fixed_point"
    assert 0 <= dense.certificate.value <= 1e-6
    assert "fixed point of thresholding" in dense.certificate.statement
    assert dense.n_thresholdings >= dense.n_iter - 1
    assert dense.n_passes > 0


@EVERY
def test_planted_support(solver) -> None:
    for loss in ("squared", "huber"):
        assert run(problem(loss, fit_intercept=True), solver).support.tolist() == PLANTED.tolist()


@EVERY
def test_global_optimum_of_orthogonal_designs(solver) -> None:
    # X'X = n I: F separates over features, and the k largest |X'y| are the best support.
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.standard_normal((60, 12)))[0] * np.sqrt(60)
    y = X @ rng.standard_normal(12) + rng.standard_normal(60)
    u = X.T @ y / 60 / 1.05
    best = np.where(np.abs(u) >= np.sort(np.abs(u))[-5], u, 0)
    result = run(Problem(X, y, constraint=TopK(5), ridge=0.05), solver, tol=1e-13)
    np.testing.assert_allclose(result.coef, best, rtol=1e-5, atol=1e-6)


@REFITTING
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_gradient_vanishes_on_the_support(solver, loss: str) -> None:
    p = problem(loss, ridge=0.01, fit_intercept=True)
    result = run(p, solver)
    _, g, gb = p.gradient(result.coef, result.intercept)
    _, g0, _ = p.gradient(p.zeros(), p.null[0])
    assert np.abs(g[result.support]).max() < 1e-7 * np.abs(g0).max()
    assert np.abs(gb).max() < 1e-7 * np.abs(g0).max()


def test_htp_ends_at_a_fixed_point_of_thresholding() -> None:
    p = problem("logistic", fit_intercept=True)
    result = run(p, HTP(Lipschitz()))
    _, g, _ = p.gradient(result.coef, result.intercept)
    step = 1 / (1.05 * p.lipschitz)
    again = p.constraint.project(result.coef - step * g)
    np.testing.assert_allclose(again, result.coef, atol=1e-7)


def test_iht_certificate_is_what_the_next_step_gains() -> None:
    p = problem("squared")
    result = run(p, IHT(Fixed(0.05)), tol=1e-3)
    _, g, _ = p.gradient(result.coef)
    change = p.constraint.project(result.coef - 0.05 * g) - result.coef
    gain = -(g @ change + change @ change / 0.1)
    assert result.certificate.value == pytest.approx(gain / p.scale, rel=1e-9)
    assert result.certificate.value <= 1e-3
    unfinished = solve(p, IHT(Fixed(1e-4)), max_passes=3)
    assert unfinished.stop_reason == "max_passes"
    assert unfinished.certificate.statement.startswith("not a fixed point")


def cycling() -> Problem:
    """Two strongly correlated columns that a long step exchanges for ever."""
    X = np.linalg.cholesky(np.array([[1.0, 0.95], [0.95, 1.0]])).T * np.sqrt(2)
    return Problem(X, X @ np.array([1.0, 0.4]), constraint=TopK(1))


def test_htp_detects_a_cycle_and_returns_the_best_model() -> None:
    p = cycling()
    result = run(p, HTP(Fixed(50.0)))
    assert result.stop_reason == "stalled"
    assert not result.converged
    assert result.n_iter < 10
    assert result.objective == pytest.approx(min(record.objective for record in result.history))
    assert run(p, HTP(Backtracking())).converged


def test_omp_equals_scikit_learns() -> None:
    from sklearn.linear_model import orthogonal_mp

    X, y = data("squared", n=60, d=40)
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    result = run(Problem(X, y - y.mean(), constraint=TopK(12)), OMP())
    np.testing.assert_allclose(result.coef, orthogonal_mp(X, y - y.mean(), n_nonzero_coefs=12), rtol=1e-8, atol=1e-10)
    assert sorted(result.path) == list(range(1, 13))
    lone = run(Problem(X, y - y.mean(), constraint=TopK(5)), OMP())
    np.testing.assert_allclose(result.path[5].model.dense(40), lone.coef, rtol=1e-9)


def test_omp_stops_when_nothing_is_left_to_gain() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 10))
    result = run(Problem(X, X[:, [2, 5]] @ [1.0, -2.0], constraint=TopK(6)), OMP())
    assert result.support.tolist() == [2, 5]
    assert result.converged


@EVERY
def test_awkward_columns(solver) -> None:
    # Duplicated, constant, empty columns and more features than rows: an end, and finite weights.
    rng = np.random.default_rng(3)
    X = rng.standard_normal((8, 6))
    X = np.column_stack([X, X[:, :3], np.zeros(8), np.ones(8), rng.standard_normal((8, 5))])
    for y in (rng.standard_normal(8), np.full(8, 3.0), np.zeros(8)):
        for intercept in (False, True):
            result = run(Problem(X, y, constraint=TopK(9), fit_intercept=intercept), solver, max_passes=500)
            assert np.isfinite(result.coef).all()
            assert result.objective <= result.null_objective + 1e-12
    separable = np.where(X[:, 0] > 0, 1.0, -1.0)
    result = run(Problem(X, separable, "logistic", constraint=TopK(3)), solver, max_passes=200)
    assert np.isfinite(result.coef).all()


def test_ball() -> None:
    X, y = data("logistic")
    p = Problem(X, y, "logistic", constraint=TopK(4) & L2Ball(0.8), fit_intercept=True)
    result = run(p, "auto", tol=1e-9)
    assert result.solver == "iht"
    assert np.linalg.norm(result.coef) == pytest.approx(0.8)
    for solver in ("htp", "grasp", "omp", "fnhtp"):
        with pytest.raises(ValueError, match=f"{solver}: .*L2Ball.*use solver='iht', or ridge"):
            run(p, solver)


@pytest.mark.parametrize("name", ["iht", "fg-ht", "htp", "grahtp", "grasp", "cosamp", "omp", "fnhtp"])
def test_names_and_the_refusal_of_the_hinge(name: str) -> None:
    assert run(problem("squared"), name).support.tolist() == PLANTED.tolist()
    X, y = data("logistic")
    with pytest.raises(ValueError, match="hinge has no slope at its corner; use loss='squared_hinge'"):
        run(Problem(X, y, "hinge", constraint=TopK(3)), name)


@EVERY
def test_start(solver) -> None:
    p = problem("logistic", ridge=0.01, fit_intercept=True)
    first = run(p, solver)
    again = run(p, solver, start=first)
    np.testing.assert_array_equal(first.support, again.support)
    assert again.n_iter <= 2
    assert again.objective <= first.objective + 1e-12
    far = run(p, solver, start=(np.full(p.d, 3.0), -1.0))
    assert far.objective < far.null_objective
    with pytest.raises(ValueError, match="start holds NaN"):
        run(p, solver, start=np.full(p.d, np.nan))
    with pytest.raises(ValueError, match="start has shape"):
        run(p, solver, start=np.zeros(3))


def test_fnhtp_is_reproducible_and_counts_fractions_of_passes() -> None:
    a, b = (run(problem("logistic"), FNHTP(inner=60, batch=24)) for _ in range(2))
    np.testing.assert_array_equal(a.coef, b.coef)
    assert a.n_passes == pytest.approx(1 + 1 + a.n_iter * (60 * 24 / 240) + (a.n_iter - 1), abs=2.01)
    with pytest.raises(ValueError, match="fnhtp: inner must be at least 1"):
        run(problem("squared"), FNHTP(inner=0))


@EVERY
def test_a_solve_that_is_cut_short_returns_its_last_whole_round(solver) -> None:
    p = problem("logistic", ridge=0.01, fit_intercept=True)
    at_once = run(p, solver, time_limit=0.0)
    assert at_once.stop_reason == "time_limit"
    assert at_once.objective == pytest.approx(at_once.null_objective)
    seen = []

    def interrupt(progress) -> None:
        seen.append(progress)
        raise KeyboardInterrupt

    cut = run(p, solver, callbacks=[interrupt])
    assert cut.stop_reason == "interrupted"
    assert cut.objective == pytest.approx(seen[0].objective)
    assert p.constraint.contains(cut.coef)
    assert cut.certificate.kind == "none"
    few = run(p, solver, max_passes=1)
    assert few.n_iter <= 2
    assert np.isfinite(few.certificate.value)
