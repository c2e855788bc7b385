"""The prox of the k-support norm, against its optimality conditions and a convex solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from paring.constraints import TopK
from paring.ksupport import prox, shares
from tests.reference.random_problems import GROUPS

NUMBERS = st.floats(-1e3, 1e3).map(lambda x: x if abs(x) > 1e-100 else 0.0)
VECTORS = arrays(np.float64, st.integers(1, 12), elements=NUMBERS)
STEPS = st.floats(1e-6, 1e6)


def largest_squares(p: np.ndarray, k: int) -> float:
    """The square of the dual norm: the k largest squares."""
    return float(np.sort(p**2)[::-1][:k].sum())


def by_solver(u: np.ndarray, k: int, t: float) -> np.ndarray:
    """min over w and s of |w - u|^2/2 + (t/2) sum w^2/s, 0 <= s <= 1, sum s <= k; w = s u/(s + t) leaves s alone."""
    solved = minimize(
        lambda s: t * np.sum(u**2 / (s + t)),
        np.full(len(u), min(1.0, k / len(u))),
        jac=lambda s: -t * u**2 / (s + t) ** 2,
        bounds=[(0, 1)] * len(u),
        constraints={"type": "ineq", "fun": lambda s: k - s.sum(), "jac": lambda s: -np.ones(len(s))},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return solved.x * u / (solved.x + t)


@given(VECTORS, st.integers(1, 12), STEPS)
def test_prox_meets_its_optimality_conditions(u: np.ndarray, k: int, t: float) -> None:
    """(u - w)/t = p is a subgradient of |.|^2/2 at w: p.w = |p|^2 (dual norm) = |w|^2."""
    k = min(k, len(u))
    w, norm = prox(TopK(k).bind(len(u)), u, t)
    p = (u - w) / t
    size = float(u @ u) + 1e-200
    assert abs(p @ w - norm) * t <= 1e-9 * size
    assert abs(p @ w - largest_squares(p, k)) * t <= 1e-9 * size


@given(VECTORS, st.integers(1, 12), STEPS)
def test_shares(u: np.ndarray, k: int, t: float) -> None:
    k = min(k, len(u))
    s = shares(np.abs(u), k, t)
    assert np.all((s >= 0) & (s <= 1))
    assert np.all(s[u == 0] == 0)
    assert s.sum() == pytest.approx(min(k, np.count_nonzero(u)), abs=1e-7)
    order = np.argsort(np.abs(u))
    assert np.all(np.diff(s[order]) >= -1e-12)


def test_prox_against_a_convex_solver() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        d = int(rng.integers(2, 8))
        k, t, u = int(rng.integers(1, d + 1)), 10.0 ** rng.uniform(-2, 1), rng.standard_normal(d)
        w, _ = prox(TopK(k).bind(d), u, t)
        np.testing.assert_allclose(w, by_solver(u, k, t), atol=2e-6)


def test_at_most_k_nonzeros_are_shrunk_alike() -> None:
    u = np.array([0.0, 3.0, 0.0, -1e-12, 0.0])
    np.testing.assert_allclose(prox(TopK(2).bind(5), u, 0.5)[0], u / 1.5)


def test_ties_share_what_is_left() -> None:
    w, _ = prox(TopK(1).bind(4), np.array([2.0, -2.0, 2.0, 2.0]), 1.0)
    np.testing.assert_allclose(w, np.array([2, -2, 2, 2]) * 0.25 / 1.25)


def test_always_never_and_groups() -> None:
    """Always-units keep the plain ridge, never-units are 0, the others share what is left of k by their norms."""
    rng = np.random.default_rng(1)
    u, t = rng.standard_normal(6), 0.3
    feasible = TopK(2, groups=GROUPS, always=[2]).bind(6)
    w, norm = prox(feasible, u, t)
    always = feasible.members[feasible.unit_of[2]]
    np.testing.assert_allclose(w[always], u[always] / 1.3)
    others = [feasible.members[unit] for unit in np.flatnonzero(~feasible.always)]
    sizes = np.array([np.linalg.norm(u[g]) for g in others])
    shrunk, part = prox(TopK(1).bind(2), sizes, t)
    for g, before, after in zip(others, sizes, shrunk, strict=True):
        np.testing.assert_allclose(w[g], u[g] * after / before)
    assert norm == pytest.approx(part + np.sum(w[always] ** 2))
    only = prox(TopK(1, always=[3], never=[0]).bind(6), u, t)[0]
    assert np.flatnonzero(only).tolist() == [3]


def test_rows_of_a_matrix_enter_by_their_norms() -> None:
    u = np.random.default_rng(2).standard_normal((7, 3))
    w, norm = prox(TopK(2).bind(7, 3), u, 0.4)
    sizes = np.linalg.norm(u, axis=1)
    shrunk, same = prox(TopK(2).bind(7), sizes, 0.4)
    np.testing.assert_allclose(w, u * (shrunk / sizes)[:, None])
    assert norm == pytest.approx(same)


def test_many_and_extreme_sizes() -> None:
    rng = np.random.default_rng(3)
    u = rng.standard_normal(50_000) * 10.0 ** rng.uniform(-12, 12, 50_000)
    for k in (1, 100, 49_999):
        for t in (1e-8, 1.0, 1e8):
            s = shares(np.abs(u), k, t)
            assert s.sum() == pytest.approx(k, rel=1e-9)
    for extreme in (1e-300, 1e300):
        assert shares(np.array([extreme, extreme / 2, 0.0]), 1, 1.0).sum() == pytest.approx(1)
    assert shares(np.zeros(3), 1, 1.0).tolist() == [0, 0, 0]
