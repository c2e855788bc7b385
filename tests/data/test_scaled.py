"""Centring and scaling as a view: the explicitly scaled matrix in every verb, and the same models."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import paring
from paring import _core
from paring.constraints import TopK
from paring.data.design import Design, as_design
from paring.data.scaled import ScaledDesign, rescaled, standardised
from paring.problem import Problem
from tests.data.layouts import DENSE, SPARSE, check_verbs, values

SHAPE = (53, 17)


def shift_and_scale(d: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(d), np.exp(rng.standard_normal(d))


# -- verbs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", DENSE)
def test_every_verb_of_a_dense_view(layout: str, dtype: Any) -> None:
    A = values(*SHAPE, dtype)
    centre, scale = shift_and_scale(SHAPE[1])
    X = DENSE[layout](A)
    before = X.copy()
    view = ScaledDesign(X, centre, scale)
    check_verbs(view, (A.astype(np.float64) - centre) / scale)
    np.testing.assert_array_equal(X, before)
    assert view.copied_bytes == 0
    check_verbs(ScaledDesign(X, centre), A.astype(np.float64) - centre)


@pytest.mark.parametrize("layout", SPARSE)
def test_every_verb_of_a_scaled_sparse_matrix(layout: str) -> None:
    A = values(*SHAPE, np.float32)
    _, scale = shift_and_scale(SHAPE[1])
    check_verbs(ScaledDesign(SPARSE[layout](A), None, scale), A.astype(np.float64) / scale)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rows_and_their_squares(kind: str) -> None:
    A = values(*SHAPE)
    centre, scale = shift_and_scale(SHAPE[1])
    if kind == "csr":
        centre[:] = 0
    view = ScaledDesign(A if kind == "dense" else sp.csr_array(A), centre, scale)
    B = (A - centre) / scale
    np.testing.assert_allclose(view.row_squares(), (B**2).sum(axis=1), rtol=1e-12, atol=1e-12)
    check_verbs(view.rows(np.array([7, 3, 20])), B[[7, 3, 20]])


def test_a_view_of_a_view_is_one_view() -> None:
    A = values(*SHAPE)
    centre, scale = shift_and_scale(SHAPE[1])
    more, wider = shift_and_scale(SHAPE[1], seed=6)
    view = ScaledDesign(ScaledDesign(A, centre, scale), more, wider)
    assert type(view.base) is Design
    check_verbs(view, ((A - centre) / scale - more) / wider)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_verb_on_all_threads(threads: int) -> None:
    A = values(1201, 907)
    centre, scale = shift_and_scale(907)
    check_verbs(ScaledDesign(A, centre, scale, n_jobs=threads), (A - centre) / scale)


def test_gram_matrices_far_from_zero() -> None:
    """Means of 1e6 deviations: the squares of X could not tell them apart from their means."""
    rng = np.random.default_rng(0)
    B, v = rng.standard_normal((200, 6)), rng.random(200)
    view = ScaledDesign(1e6 + B, np.full(6, 1e6))
    features = np.array([4, 0])
    exact = (1e6 + B) - 1e6
    np.testing.assert_allclose(
        view.gram_rows(features, v, None), exact[:, features].T @ (v[:, None] * exact), rtol=1e-8
    )
    np.testing.assert_allclose(view.gram(v, None), exact.T @ (v[:, None] * exact), rtol=1e-8)
    zero = np.zeros(200)
    np.testing.assert_array_equal(view.gram_rows(features, zero, None), 0)
    np.testing.assert_array_equal(view.gram(zero, None), 0)


def test_no_copy_of_x(peak_of: Callable[[Callable[[], Any]], int]) -> None:
    X = np.ones((3000, 4000), np.float32)
    c, few = np.ones(3000), np.arange(5)

    def use() -> None:
        view = standardised(X)
        view.scores(np.ones(4000))
        view.adjoint(c)
        view.moments(c, c)
        view.block(few, c)
        view.gram_rows(few, c, None)
        view.centred_squares(few, c, np.zeros(4000))

    assert peak_of(use) < 32 << 20 < X.nbytes


def test_state_is_the_base_s() -> None:
    base = Design(sp.csr_array(values(*SHAPE)))
    view = ScaledDesign(base, None, np.full(SHAPE[1], 2.0))
    assert as_design(view) is view and isinstance(view, Design)
    view.threads = 1
    view.stop = _core.Stop()
    assert base.threads == 1 and base.stop is view.stop
    view.adjoint(np.ones(SHAPE[0]))
    assert view.passes == base.passes == 1
    view.block(np.array([1]))
    once = view.copied_bytes
    view.gram_rows(np.array([1]), np.ones(SHAPE[0]), None)
    assert view.copied_bytes == base.copied_bytes == once > 0
    assert view.entries == base.entries
    view.stop.request()
    with pytest.raises(_core.Stopped):
        view.scores(np.ones(SHAPE[1]))


def test_views_of_one_design_are_solved_one_at_a_time() -> None:
    base = Design(values(*SHAPE))
    y = np.arange(float(SHAPE[0]))
    outer, inner = (Problem(ScaledDesign(base, None, np.full(SHAPE[1], c)), y, constraint=TopK(2)) for c in (1.0, 2.0))
    with pytest.raises(RuntimeError, match="one of the same Design, is being solved: build one for each thread"):
        paring.solve(outer, callbacks=lambda progress: paring.solve(inner))
    assert paring.solve(inner).converged


# -- makers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_standardised(weighted: bool) -> None:
    A = values(*SHAPE) * np.exp(np.arange(SHAPE[1])) + 10.0 ** np.arange(-8, 9)
    A[:, 4], A[:, 5] = 0.1, 0
    v = np.random.default_rng(2).random(SHAPE[0]) if weighted else None
    if v is not None:
        v[:3] = 0
    view = standardised(A, v)
    B = view.columns(np.arange(SHAPE[1]))
    constant = np.ptp(A, axis=0) == 0
    np.testing.assert_array_equal(B[:, constant], 0)
    np.testing.assert_array_equal(view.scale[constant], 1)
    np.testing.assert_allclose(np.average(B, axis=0, weights=v), 0, atol=1e-7)
    np.testing.assert_allclose(np.average(B[:, ~constant] ** 2, axis=0, weights=v), 1, rtol=1e-7)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_rescaled(make: Callable[[np.ndarray], Any]) -> None:
    A, v = values(*SHAPE), np.random.default_rng(2).random(SHAPE[0])
    for weights in (None, v):
        view = rescaled(make(A), weights)
        squares = np.average(view.columns(np.arange(SHAPE[1])) ** 2, axis=0, weights=weights)
        np.testing.assert_allclose(squares, (A != 0).any(axis=0), rtol=1e-12)


def test_there_and_back() -> None:
    A, rng = values(*SHAPE), np.random.default_rng(1)
    view = standardised(A)
    for w, b in ((rng.standard_normal(SHAPE[1]), 0.3), (rng.standard_normal((SHAPE[1], 3)), np.arange(3.0))):
        coef, intercept = view.unscaled(w, b)
        np.testing.assert_allclose(A @ coef + intercept, view.scores(w) + b, atol=1e-12)


# -- refusals -------------------------------------------------------------------------------------------------------


def test_refusals() -> None:
    A = values(*SHAPE)
    S, d = sp.csr_array(A), SHAPE[1]
    remedy = "X is sparse: centring would fill it. fit_intercept=True makes centring unnecessary"
    with pytest.raises(ValueError, match=remedy):
        ScaledDesign(S, np.ones(d))
    with pytest.raises(ValueError, match=remedy):
        standardised(S)
    ScaledDesign(S, np.zeros(d))
    for name, bad in (("centre", {"centre": np.ones(d - 1)}), ("scale", {"scale": np.ones((d, 1))})):
        with pytest.raises(ValueError, match=f"{name} must hold {d} numbers, got shape"):
            ScaledDesign(A, **bad)
    with pytest.raises(ValueError, match="centre holds NaN or infinity"):
        ScaledDesign(A, np.full(d, np.nan))
    for bad_scale in (0.0, -1.0):
        with pytest.raises(ValueError, match="scale must be positive; leave constant columns at 1"):
            ScaledDesign(A, None, np.full(d, bad_scale))
    for weights in (np.zeros(SHAPE[0]), -np.ones(SHAPE[0])):
        with pytest.raises(ValueError, match="sample_weight must be not negative, and positive somewhere"):
            standardised(A, weights)
    for j in (-1, d):
        with pytest.raises(ValueError, match="no such column"):
            ScaledDesign(A).block(np.array([j]))
    with pytest.raises(ValueError, match="sweeps over rows take data as they lie"):
        ScaledDesign(A).by_rows  # noqa: B018
    A[3, 2] = np.nan
    for maker in (standardised, rescaled):
        with pytest.raises(ValueError, match=r"X holds NaN or infinity \(column 2\); impute or drop them first"):
            maker(A)


# -- models ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_the_same_model_as_of_the_scaled_matrix(kind: str, loss: str, intercept: bool) -> None:
    rng = np.random.default_rng(7)
    n, d = 120, 30
    A = np.where(rng.random((n, d)) < 0.6, rng.standard_normal((n, d)), 0) * np.exp(rng.standard_normal(d))
    z = A[:, 2] / A[:, 2].std() - A[:, 9] / A[:, 9].std() + 0.4 * rng.standard_normal(n)
    y = z if loss == "squared" else np.where(z > 0, 1.0, -1.0)
    v = rng.random(n)
    view = standardised(A, v) if kind == "dense" else rescaled(sp.csr_array(A), v)
    explicit = view.columns(np.arange(d))
    options: dict[str, Any] = {"constraint": TopK(5), "ridge": 0.01, "sample_weight": v, "fit_intercept": intercept}
    problem = Problem(view, y, loss, **options)
    got = paring.solve(problem)
    want = paring.solve(Problem(explicit, y, loss, **options))
    np.testing.assert_array_equal(got.support, want.support)
    assert got.objective == pytest.approx(want.objective, rel=1e-10)
    np.testing.assert_allclose(got.coef, want.coef, atol=1e-6)
    np.testing.assert_allclose(got.intercept, want.intercept, atol=1e-6)
    coef, b = view.unscaled(got.coef, got.intercept)
    np.testing.assert_allclose(A @ coef + b, explicit @ want.coef + want.intercept, atol=1e-5)
