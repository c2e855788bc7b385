"""The restricted minimiser of several outputs, and of more features than a factor takes, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from paring import Problem, losses, solve
from paring.constraints import TopK
from paring.result import Result
from paring.solvers import large, restricted
from paring.solvers.restricted import minimise_on

S = np.array([6, 0, 3, 5])


def multinomial(layout=np.asarray, classes: int = 4, **options) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 8)) * np.array([1, 5, 0.3, 1, 1, 2, 1, 1]) + 1
    y = np.argmax(X @ rng.standard_normal((8, classes)) + 2 * rng.gumbel(size=(150, classes)), axis=1)
    bounds = options.pop("bounds", None)
    weights = rng.integers(0, 3, 150)
    return Problem(layout(X), y, "multinomial", constraint=TopK(4, bounds=bounds), sample_weight=weights, **options)


def scipys(p: Problem) -> float:
    """F at the minimum by L-BFGS-B, begun again where its line search gave up."""
    size, outputs = len(S), p.outputs

    def both(u):
        W, b = np.zeros((p.d, outputs)), u[size * outputs :] if p.fit_intercept else 0.0
        W[S] = u[: size * outputs].reshape(size, outputs)
        F, g, gb = p.gradient(W, b)
        return F, np.append(g[S].ravel(), gb if p.fit_intercept else [])

    box = (None, None) if p.constraint.lower is None else (p.constraint.lower[0], p.constraint.upper[0])
    ends = [box] * (size * outputs) + [(None, None)] * outputs * p.fit_intercept
    u, options = np.zeros(len(ends)), {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 20000, "maxfun": 100000}
    before = np.inf
    while True:
        result = minimize(both, u, jac=True, method="L-BFGS-B", bounds=ends, options=options)
        if before - result.fun < 1e-13:
            return result.fun
        u, before = result.x, result.fun


@pytest.fixture(params=["factor", "conjugate gradients"])
def method(request, monkeypatch) -> str:
    if request.param != "factor":
        monkeypatch.setattr(large, "LARGEST_WHOLE", 0)
    return request.param


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("bounds", [None, (-0.2, 0.15)], ids=["", "bounds"])
@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
def test_multinomial_against_scipy(method: str, layout, bounds, ridge: float, intercept: bool) -> None:
    p = multinomial(layout, bounds=bounds, ridge=ridge, fit_intercept=intercept)
    found = minimise_on(p, S)
    assert found.converged
    assert found.objective == pytest.approx(scipys(p), rel=1e-9)
    W = np.zeros((p.d, 4))
    W[S] = found.w
    F, g, gb = p.gradient(W, found.b)
    _, g0, _ = p.gradient(p.zeros(), p.null[0])
    inward = g[S]
    if bounds:
        low, high = found.w <= bounds[0], found.w >= bounds[1]
        inward = np.where(low, np.minimum(inward, 0), np.where(high, np.maximum(inward, 0), inward))
        assert low.any()
        assert high.any()
        assert p.constraint.contains(W)
    assert np.abs(inward).max() < 1e-9 * np.abs(g0).max()
    assert np.abs(gb).max() < 1e-9 * np.abs(g0).max()
    np.testing.assert_allclose(found.z, p.design.scores(W) + found.b, atol=1e-9)
    assert pytest.approx(found.objective, rel=1e-12) == F
    np.testing.assert_array_equal(found.model.support, np.sort(S))


def test_without_ridge_the_outputs_sum_to_zero_wherever_it_starts(method: str) -> None:
    p = multinomial(fit_intercept=True)
    rng = np.random.default_rng(1)
    a = minimise_on(p, S)
    b = minimise_on(p, S, rng.standard_normal((4, 4)) + 3, rng.standard_normal(4))
    assert np.abs(a.w.sum(axis=1)).max() < 1e-12
    assert abs(a.b.sum()) < 1e-12
    np.testing.assert_allclose(a.w, b.w, rtol=1e-6, atol=1e-7)


def test_separable_and_degenerate_classes(method: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    X = np.column_stack([X, X[:, 0], np.zeros(40), np.ones(40)])
    y = np.argmax(X[:, :3], axis=1)
    for intercept in (False, True):
        p = Problem(X, y, "multinomial", constraint=TopK(6), fit_intercept=intercept)
        found = minimise_on(p, np.arange(6))
        assert np.isfinite(found.w).all()
        assert found.objective < 1e-3
        empty = Problem(
            X, np.where(y == 1, 3, y), losses.multinomial(4), constraint=TopK(2), ridge=0.1, fit_intercept=intercept
        )
        assert np.isfinite(minimise_on(empty, np.array([0, 1])).w).all()
        none = minimise_on(p, np.empty(0, np.int64))
        assert none.objective == pytest.approx(p.null[1])


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "squared_hinge", "smoothed_hinge", "poisson"])
@pytest.mark.parametrize("bounds", [None, (-0.1, 0.2)], ids=["", "bounds"])
def test_many_features_of_one_output(monkeypatch, loss: str, bounds) -> None:
    from tests.solvers.problems import data

    X, y = data(loss)
    p = Problem(X, y, loss, constraint=TopK(14, bounds=bounds), ridge=0.01, fit_intercept=True)
    whole = minimise_on(p, np.arange(14))
    monkeypatch.setattr(restricted, "LARGEST_FACTOR", 5)
    for largest in (1500, 0):
        monkeypatch.setattr(large, "LARGEST_WHOLE", largest)
        found = minimise_on(p, np.arange(14))
        assert found.objective == pytest.approx(whole.objective, rel=1e-11)
        np.testing.assert_allclose(found.w, whole.w, rtol=1e-6, atol=1e-7)
        assert found.b == pytest.approx(whole.b, abs=1e-7)
        assert isinstance(found.b, float)
        assert found.z.shape == (240,)


@pytest.mark.parametrize("loss", ["logistic", "smoothed_hinge", "huber"])
def test_pursuit_where_the_support_outgrows_the_factor(monkeypatch: pytest.MonkeyPatch, loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 30))
    y = np.sign(X[:, :9] @ np.linspace(1, 3, 9) + 0.5 * rng.standard_normal(120))

    def solved() -> Result:
        return solve(Problem(X, y, loss, constraint=TopK(12), ridge=0.05), "pursuit")

    factored = solved()
    monkeypatch.setattr(restricted, "LARGEST_FACTOR", 5)
    assert solved().objective == pytest.approx(factored.objective, rel=1e-2)
