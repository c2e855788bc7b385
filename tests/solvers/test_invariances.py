"""What must not change the answer (weights, shifts, order), and what every answer keeps to (groups, bounds, always)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, solve
from paring.constraints import TopK
from paring.solvers.asbcdht import ASBCDHT
from paring.solvers.fnhtp import FNHTP
from paring.solvers.grasp import GraSP
from paring.solvers.hsg_ht import HSGHT
from paring.solvers.htp import HTP
from paring.solvers.iht import IHT
from paring.solvers.omp import OMP
from paring.solvers.s2bcd_htp import ASBCDHTP, S2BCDHTP
from paring.solvers.saga_ht import SAGAHT
from paring.solvers.sbcd_htp import SBCDHTP
from paring.solvers.sg_ht import SGHT
from paring.solvers.steps import Normalised
from paring.solvers.svrg_ht import SVRGHT
from tests.solvers.problems import SMOOTH, data, problem

DETERMINISTIC = {
    "iht": IHT(),
    "iht scaled": IHT(scaling="curvature"),
    "htp": HTP(),
    "htp normalised": HTP(Normalised()),
    "grasp": GraSP(),
    "omp": OMP(),
}
ALL = {
    **DETERMINISTIC,
    "fnhtp": FNHTP(inner=100, batch=20),
    "sbcd-htp": SBCDHTP(blocks=3),
    "s2bcd-htp": S2BCDHTP(),
    "asbcd-htp": ASBCDHTP(),
}
STEPWISE = {  # they threshold after every step: features alone, no groups or bounds
    "sg-ht": SGHT(),
    "hsg-ht": HSGHT(),
    "svrg-ht": SVRGHT(),
    "svrg-ht row": SVRGHT(coordinates="row"),
    "saga-ht": SAGAHT(),
    "asbcdht": ASBCDHT(blocks=3),
}
STOCHASTIC = {**STEPWISE, "sbcd-htp": SBCDHTP(blocks=3)}
EACH = pytest.mark.parametrize("solver", DETERMINISTIC.values(), ids=DETERMINISTIC)
EACH_STOCHASTIC = pytest.mark.parametrize("solver", STOCHASTIC.values(), ids=STOCHASTIC)
EVERY = pytest.mark.parametrize("solver", ALL.values(), ids=ALL)
GROUPS = np.array([3, 0, 1, 2, 0, 4, 3, 1, 5, 5, 2, 4, 6, 6])


@EACH
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("ridge", [0.0, 0.02])
def test_weights_equal_repetition(solver, loss: str, layout, ridge: float) -> None:
    X, y = data(loss)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"constraint": TopK(4), "ridge": ridge, "fit_intercept": True}
    weighted = solve(Problem(layout(X), y, loss, sample_weight=2.5 * counts, **options), solver)
    repeated = solve(Problem(layout(np.repeat(X, counts, axis=0)), np.repeat(y, counts), loss, **options), solver)
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(weighted.intercept, repeated.intercept, rtol=1e-7, atol=1e-7)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-12)


@EACH
def test_shifted_targets_shift_the_intercept(solver) -> None:
    X, y = data("squared")
    here, there = (solve(Problem(X, t, constraint=TopK(4), fit_intercept=True), solver) for t in (y, y + 100))
    np.testing.assert_allclose(there.coef, here.coef, rtol=1e-6, atol=1e-8)
    assert there.intercept == pytest.approx(here.intercept + 100)


@pytest.mark.parametrize("solver", [HTP(scaling="curvature"), GraSP(), OMP()], ids=["htp scaled", "grasp", "omp"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_shifted_columns_leave_the_weights(solver, loss: str) -> None:
    X, y = data(loss)
    shift = np.linspace(-20, 30, X.shape[1])
    here, there = (
        solve(Problem(A, y, loss, constraint=TopK(4), ridge=0.01, fit_intercept=True), solver) for A in (X, X + shift)
    )
    np.testing.assert_array_equal(there.support, here.support)
    np.testing.assert_allclose(there.coef, here.coef, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(there.intercept, here.intercept - shift @ here.coef, rtol=1e-5, atol=1e-6)


@EVERY
@pytest.mark.parametrize("loss", SMOOTH)
def test_bounds(solver, loss: str) -> None:
    bounds = (np.where(np.arange(14) % 2, 0.0, -0.3), 0.4)
    p = problem(loss, bounds=bounds, fit_intercept=True)
    result = solve(p, solver, random_state=0)
    assert p.constraint.contains(result.coef)
    rows = result.coef.reshape(14, -1)
    assert np.all(rows >= bounds[0][:, None])
    assert np.all(rows <= bounds[1])
    assert result.objective < result.null_objective
    free = solve(problem(loss, fit_intercept=True), solver, random_state=0)
    assert result.objective > free.objective


@pytest.mark.parametrize("solver", [HTP(), OMP()], ids=["htp", "omp"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_bounded_weights_are_stationary_on_their_support(solver, loss: str) -> None:
    p = problem(loss, bounds=(-0.3, 0.4), ridge=0.01, fit_intercept=True)
    result = solve(p, solver)
    _, g, gb = p.gradient(result.coef, result.intercept)
    w, g = result.coef[result.support], g[result.support]
    inward = np.where(w <= -0.3, np.minimum(g, 0), np.where(w >= 0.4, np.maximum(g, 0), g))
    assert np.abs(inward).max() < 1e-7
    assert np.abs(gb).max() < 1e-7


@EVERY
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_groups_always_and_never(solver, loss: str) -> None:
    p = problem(loss, k=3, groups=GROUPS, always=[8], never=[7], ridge=0.01, fit_intercept=True)
    result = solve(p, solver, random_state=0)
    used = set(GROUPS[result.support])
    assert 5 in used
    assert 1 not in used
    assert len(used) == 3
    assert {0, 5} < used  # features 1 and 4, both planted, share group 0
    assert result.objective < result.null_objective


@pytest.mark.parametrize("solver", {**ALL, **STEPWISE}.values(), ids={**ALL, **STEPWISE})
def test_a_feature_always_kept_is_in_the_support_though_its_weight_is_zero(solver) -> None:
    X, y = data("squared")
    X[:, 3] = 0
    result = solve(Problem(X, y, constraint=TopK(3, always=[3]), ridge=0.1), solver, random_state=0)
    assert 3 in result.support
    assert len(result.support) == 3


@EACH
def test_order_of_columns(solver) -> None:
    X, y = data("logistic")
    order = np.random.default_rng(4).permutation(X.shape[1])
    here, there = (
        solve(Problem(A, y, "logistic", constraint=TopK(4), fit_intercept=True), solver) for A in (X, X[:, order])
    )
    np.testing.assert_allclose(there.coef, here.coef[order], rtol=1e-6, atol=1e-8)


# -- stochastic solvers: repeated rows are drawn in another order; what holds of every path ------------------------


@EACH_STOCHASTIC
def test_the_scale_of_weights_changes_nothing(solver) -> None:
    X, y = data("logistic")
    v = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    options = {"constraint": TopK(4), "ridge": 0.02, "fit_intercept": True}
    here, there = (
        solve(Problem(X, y, "logistic", sample_weight=weights, **options), solver, random_state=0, max_passes=20)
        for weights in (v, 8 * v)
    )
    np.testing.assert_allclose(there.coef, here.coef, rtol=1e-9, atol=1e-12)


@EACH_STOCHASTIC
@pytest.mark.parametrize("loss", SMOOTH)
def test_rows_of_no_weight_count_for_nothing(solver, loss: str) -> None:
    X, y = data(loss)
    there = X.copy()
    there[::5] = np.random.default_rng(2).standard_normal(X[::5].shape)
    v = (np.arange(len(y)) % 5 > 0).astype(float)
    options = {"constraint": TopK(4), "ridge": 0.02, "fit_intercept": True, "sample_weight": v}
    a, b = (solve(Problem(A, y, loss, **options), solver, random_state=0, max_passes=20) for A in (X, there))
    np.testing.assert_allclose(b.coef, a.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(b.intercept, a.intercept, rtol=1e-9, atol=1e-12)


@EACH_STOCHASTIC
def test_powers_of_two_in_columns_weights_and_steps_cancel(solver) -> None:
    # w of 4 X is w / 4, and the step that leads there is a sixteenth: all exact.
    X, y = data("squared")
    here, there = (
        solve(Problem(scale * X, y, constraint=TopK(4)), solver, random_state=0, max_passes=20) for scale in (1.0, 4.0)
    )
    np.testing.assert_allclose(4 * there.coef, here.coef, rtol=1e-9, atol=1e-12)


@EACH_STOCHASTIC
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_weights_and_repeated_rows_share_their_certificates(solver, loss: str) -> None:
    # Where one stops, the other has no more to gain: F, its gradient and H_k are the same.
    X, y = data(loss)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"constraint": TopK(4), "ridge": 0.05, "fit_intercept": True}
    weighted = Problem(X, y, loss, sample_weight=2.5 * counts, **options)
    repeated = Problem(np.repeat(X, counts, axis=0), np.repeat(y, counts), loss, **options)
    result = solve(weighted, solver, random_state=0, max_passes=200)
    there = solve(repeated, solver, start=result, random_state=0, max_passes=20)
    assert repeated.objective(result.model) == pytest.approx(result.objective, rel=1e-12)
    if result.converged:
        assert there.objective >= result.objective - 1e-5 * result.null_objective
