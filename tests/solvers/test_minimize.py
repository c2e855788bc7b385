"""``paring.minimize`` against enumeration, and what it refuses."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import Bounds
from scipy.optimize import minimize as scipy_minimize

import paring
from paring.solvers.htp import HTP
from paring.solvers.steps import Fixed, Lipschitz

D = 7
RNG = np.random.default_rng(0)
A = RNG.standard_normal((20, D))
Q = A.T @ A / 20 + 0.2 * np.eye(D)
LINEAR = np.array([2.0, -0.1, 0.3, -2.5, 0.2, 1.5, 0.1])
GROUPS = [0, 1, 1, 2, 2, 0, 3]


def fun(x):
    return 0.5 * x @ Q @ x - LINEAR @ x + np.sum(np.cosh(0.5 * x)) + 10


def jac(x):
    return Q @ x - LINEAR + 0.5 * np.sinh(0.5 * x)


def hessp(x, p):
    return Q @ p + 0.25 * np.cosh(0.5 * x) * p


def best(k: int, bounds=None, groups=None, always=(), never=()) -> float:
    """The least value over every support."""
    labels = np.arange(D) if groups is None else np.asarray(groups)
    found = np.inf
    for chosen in combinations(np.unique(labels), k):
        if set(labels[list(always)]) - set(chosen) or set(labels[list(never)]) & set(chosen):
            continue
        S = np.flatnonzero(np.isin(labels, chosen))

        def on_support(u, S=S):
            x = np.zeros(D)
            x[S] = u
            return fun(x), jac(x)[S]

        box = None if bounds is None else [bounds] * len(S)
        result = scipy_minimize(on_support, np.zeros(len(S)), jac=True, method="L-BFGS-B", bounds=box)
        found = min(found, result.fun)
    return found


@pytest.mark.parametrize("solver", ["grahtp", "htp", "iht", "grasp", "omp"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_against_enumeration(solver: str, k: int) -> None:
    result = paring.minimize(fun, k, np.zeros(D), jac=jac, solver=solver, tol=1e-10)
    assert result.objective == pytest.approx(best(k), rel=1e-8)
    assert result.objective == fun(result.coef)
    assert np.count_nonzero(result.coef) == k
    assert result.converged
    assert result.certificate.kind == "fixed_point"
    assert np.isinf(result.dual_gap)


@pytest.mark.parametrize("solver", ["grahtp", "iht", "omp"])
@pytest.mark.parametrize(
    "limits",
    [{"groups": GROUPS}, {"always": [6]}, {"never": [3]}, {"groups": GROUPS, "always": [6], "never": [4]}],
    ids=str,
)
def test_limits_against_enumeration(solver: str, limits: dict) -> None:
    result = paring.minimize(fun, 2, np.zeros(D), jac=jac, solver=solver, tol=1e-10, **limits)
    assert result.objective == pytest.approx(best(2, **limits), rel=1e-8)


@pytest.mark.parametrize("solver", ["grahtp", "iht", "omp"])
def test_bounds_against_enumeration(solver: str) -> None:
    for bounds in ((-0.4, 0.6), Bounds(-0.4, 0.6), (np.full(D, -0.4), np.full(D, 0.6))):
        result = paring.minimize(fun, 3, np.zeros(D), jac=jac, solver=solver, bounds=bounds, tol=1e-10)
        assert result.objective == pytest.approx(best(3, (-0.4, 0.6)), rel=1e-8)
        assert result.coef.min() >= -0.4
        assert result.coef.max() <= 0.6


def test_value_and_gradient_together_and_hessp() -> None:
    calls = []

    def both(x):
        calls.append(x)
        return fun(x), jac(x)

    together = paring.minimize(both, 3, np.zeros(D), jac=True)
    apart = paring.minimize(fun, 3, np.zeros(D), jac=jac)
    curved = paring.minimize(fun, 3, np.zeros(D), jac=jac, hessp=hessp)
    for result in (together, curved):
        np.testing.assert_allclose(result.coef, apart.coef, rtol=1e-5, atol=1e-7)
    assert curved.n_passes <= apart.n_passes
    assert together.n_passes <= len(calls)


def test_a_nonconvex_function_from_where_it_starts() -> None:
    def double_well(x):
        return np.sum((x**2 - 1) ** 2) + 0.1 * np.sum(x), 4 * x * (x**2 - 1) + 0.1

    x0 = np.array([0.5, 0.0, -0.5, 0.0, 0.4])
    result = paring.minimize(double_well, 2, x0, jac=True)
    assert result.support.tolist() == [0, 2]
    assert result.coef[0] > 0.9
    assert result.coef[2] < -0.9


def test_limits_on_time_rounds_and_callbacks() -> None:
    few = paring.minimize(fun, 3, np.zeros(D), jac=jac, solver="iht", tol=1e-14, max_iter=3)
    assert few.stop_reason == "max_iter"
    assert few.n_iter == 3
    assert not few.converged
    stopped = paring.minimize(
        fun, 3, np.zeros(D), jac=jac, solver="iht", tol=1e-14, callbacks=[lambda p: p.rounds == 2]
    )
    assert stopped.stop_reason == "callback"
    alone = paring.minimize(fun, 3, np.zeros(D), jac=jac, solver="iht", tol=1e-14, callbacks=lambda p: p.rounds == 2)
    assert alone.stop_reason == "callback" and alone.n_iter == 2

    def slow(x):
        import time

        time.sleep(0.02)
        return fun(x), jac(x)

    late = paring.minimize(slow, 3, np.zeros(D), jac=True, solver="iht", tol=1e-300, time_limit=0.3)
    assert late.stop_reason == "time_limit"
    assert np.isfinite(late.objective)


def test_float32_functions() -> None:
    def single(x):
        x = x.astype(np.float32)
        return np.float32(fun(x)), jac(x).astype(np.float32)

    for solver in ("grahtp", "iht"):
        result = paring.minimize(single, 2, np.zeros(D), jac=True, solver=solver)
        assert fun(result.coef) == pytest.approx(best(2), rel=1e-4)


def test_refusals() -> None:
    x0 = np.zeros(D)
    with pytest.raises(ValueError, match="jac is not the gradient of fun"):
        paring.minimize(fun, 2, x0, jac=lambda x: -jac(x))
    with pytest.raises(ValueError, match=r"jac must be a callable, True .* got None"):
        paring.minimize(fun, 2, x0, jac=None)
    with pytest.raises(ValueError, match="a number and jac a vector of 7"):
        paring.minimize(fun, 2, x0, jac=lambda x: jac(x)[:3])
    with pytest.raises(ValueError, match="solver must be one of iht, htp, grasp, omp, got 'fnhtp'"):
        paring.minimize(fun, 2, x0, jac=jac, solver="fnhtp")
    with pytest.raises(ValueError, match=r"not known; use step=Backtracking\(\)"):
        paring.minimize(fun, 2, x0, jac=jac, solver=HTP(Lipschitz()))
    with pytest.raises(ValueError, match="k=9 is more than the 7 features"):
        paring.minimize(fun, 9, x0, jac=jac)
    with pytest.raises(ValueError, match="x0 must be a vector"):
        paring.minimize(fun, 2, np.zeros((D, 1)), jac=jac)
    with pytest.raises(ValueError, match="x0 holds NaN"):
        paring.minimize(fun, 2, np.full(D, np.nan), jac=jac)
    with pytest.raises(ValueError, match="not finite at x0"):
        paring.minimize(lambda x: np.inf, 2, x0, jac=jac)
    with pytest.raises(ValueError, match="not bounded below"), np.errstate(over="ignore"):
        paring.minimize(lambda x: -np.exp(x.sum()), 2, x0, jac=lambda x: np.full(D, -np.exp(x.sum())))
    assert paring.minimize(fun, 2, x0, jac=jac, solver=HTP(Fixed(0.1))).objective == pytest.approx(best(2))


def test_functions_in_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    numpy = jax.numpy

    def in_jax(x):
        return 0.5 * x @ (Q @ x) - LINEAR @ x + numpy.sum(numpy.cosh(0.5 * x)) + 10

    assert paring.minimize(in_jax, 3, np.zeros(D), jac="jax").objective == pytest.approx(best(3), rel=1e-4)
    assert paring.minimize(in_jax, 3, np.zeros(D), jac=jax.grad(in_jax)).objective == pytest.approx(best(3), rel=1e-4)


def test_functions_in_torch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    matrix, linear = torch.tensor(Q), torch.tensor(LINEAR)

    def in_torch(x):
        return 0.5 * x @ (matrix @ x) - linear @ x + torch.cosh(0.5 * x).sum() + 10

    assert paring.minimize(in_torch, 3, np.zeros(D), jac="torch").objective == pytest.approx(best(3), rel=1e-8)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_a_missing_package_is_named(monkeypatch, name: str) -> None:
    import sys

    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"pip install {name}"):
        paring.minimize(fun, 2, np.zeros(D), jac=name)


@pytest.mark.parametrize("solver", ["grahtp", "iht", "grasp", "omp"])
@pytest.mark.parametrize("units", [1e-60, 1e-30, 1e-8, 1e8, 1e30, 1e60])
def test_the_answer_does_not_depend_on_the_units(solver: str, units: float) -> None:
    """Of fun, and of x."""
    scaled = paring.minimize(
        lambda x: units * fun(x), 3, np.zeros(D), jac=lambda x: units * jac(x), solver=solver, tol=1e-10
    )
    moved = paring.minimize(
        lambda x: fun(x * units), 3, np.zeros(D), jac=lambda x: units * jac(x * units), solver=solver, tol=1e-10
    )
    for result, length in ((scaled, 1.0), (moved, units)):
        assert len(result.support) == 3
        assert result.coef[result.support] * length == pytest.approx(least_on(result.support), rel=1e-3)
    assert scaled.objective <= units * (best(3) + 0.5)
    assert moved.objective <= best(3) + 0.5


def least_on(support: np.ndarray) -> np.ndarray:
    def part(u):
        x = np.zeros(D)
        x[support] = u
        return fun(x), jac(x)[support]

    return scipy_minimize(part, np.zeros(len(support)), jac=True, options={"gtol": 1e-10}).x


@pytest.mark.parametrize("solver", ["grahtp", "iht", "grasp", "omp"])
def test_functions_without_a_minimum_end_in_an_error(solver: str) -> None:
    ones = np.ones(D)
    endless = [
        (lambda x: -x.sum(), lambda x: -ones),
        (lambda x: -(x @ x) - x[0], lambda x: -2 * x - np.eye(D)[0]),
        (lambda x: -np.log1p(x * x).sum() - x.sum(), lambda x: -2 * x / (1 + x * x) - ones),
        (lambda x: -np.exp(x).sum(), lambda x: -np.exp(x)),
        (lambda x: 0.5 * x[0] ** 2 - x[:2].sum(), lambda x: x * np.eye(D)[0] - (np.arange(D) < 2)),
    ]
    for f, g in endless:
        with np.errstate(over="ignore"), pytest.raises(ValueError, match="not bounded below"):
            paring.minimize(f, 3, np.zeros(D), jac=g, solver=solver)
    inside = paring.minimize(lambda x: -x.sum(), 3, np.zeros(D), jac=lambda x: -ones, bounds=(-1, 2), solver=solver)
    assert inside.objective == pytest.approx(-6)


@pytest.mark.parametrize("units", [1e-200, 1e-100, 1e100, 1e300])
def test_functions_whose_squares_overflow_or_vanish_are_refused(units: float) -> None:
    with pytest.raises(ValueError, match=r"the gradient at x0 is of size .*: rescale fun \(1e-70 to 1e\+70\)"):
        paring.minimize(lambda x: units * fun(x), 3, np.zeros(D), jac=lambda x: units * jac(x))


def test_bounds_in_every_form() -> None:
    low, high = np.append(-1.0, np.zeros(D - 1)), np.full(D, 1.5)
    pairs = [(each or None, 1.5) for each in low]  # None: no limit
    free = [(None if each else 0.0, 1.5) for each in low]
    for bounds, lower in ((pairs, np.where(low == 0, -np.inf, low)), (free, np.where(low == 0, 0, -np.inf))):
        wanted = paring.minimize(fun, 3, np.zeros(D), jac=jac, bounds=(lower, high))
        for form in (bounds, tuple(bounds), np.array(bounds, dtype=float), Bounds(lower, high)):
            form = np.nan_to_num(form, nan=-np.inf, posinf=np.inf) if isinstance(form, np.ndarray) else form
            np.testing.assert_array_equal(paring.minimize(fun, 3, np.zeros(D), jac=jac, bounds=form).coef, wanted.coef)
    found = paring.minimize(lambda x: -x.sum(), 2, np.zeros(2), jac=lambda x: -np.ones(2), bounds=[(0, 1), (0, 5)])
    np.testing.assert_allclose(found.coef, [1, 5])  # two pairs: of the coordinates, as in SciPy


UNITS = [1.0, 1e-12, 1e12]  # of values, and of x


@pytest.mark.parametrize("kind", ["quadratic", "exponential", "bounds"])
def test_a_restart_at_an_exact_fit(kind: str) -> None:
    """Nothing is left of value and gradient there but rounding; beside it, third derivatives, or second at a bound."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, goal = rng.normal(size=(30, 8)), np.append(rng.uniform(0.5, 2, 3), np.zeros(5))
        bent = np.exp if kind == "exponential" else lambda z: z
        slope = np.exp if kind == "exponential" else np.ones_like
        height, width = UNITS[seed % 3], UNITS[seed // 3 % 3]
        y = bent(X @ goal / 3)

        def f(x, X=X, y=y, bent=bent, height=height, width=width):
            return height * 0.5 * np.sum((bent(X @ (x / width) / 3) - y) ** 2)

        def g(x, X=X, y=y, bent=bent, slope=slope, height=height, width=width):
            z = X @ (x / width) / 3
            return height / width * X.T @ ((bent(z) - y) * slope(z)) / 3

        limits = {"bounds": (0, np.inf)} if kind == "bounds" else {}
        found = paring.minimize(f, 3, np.zeros(8), jac=g, **limits)
        for start in (found.coef, goal * width):
            again = paring.minimize(f, 3, start, jac=g, **limits)
            assert again.converged and again.objective <= f(start)
        with pytest.raises(ValueError, match="jac is not the gradient"):
            paring.minimize(f, 3, goal * width, jac=lambda x, g=g: g(x) + 0.1 * np.abs(g(np.zeros(8))), **limits)
