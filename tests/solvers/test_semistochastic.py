"""s2bcd-htp, asbcd-htp, asg-ht, asvrg-ht and a2sbcd-ht, on one worker: step by step as their twin, and on average along
the gradient."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, _core
from paring.constraints import TopK
from paring.solvers._loop import Run
from paring.solvers.a2sbcd_ht import A2SBCDHT
from paring.solvers.asg_ht import ASGHT
from paring.solvers.asvrg_ht import ASVRGHT
from paring.solvers.s2bcd_htp import S2BCDHTP
from paring.solvers.semistochastic import IN_EVERY_BLOCK
from tests.reference.s2bcd import s2bcd
from tests.reference.thresholding import Dense
from tests.solvers.problems import data

K, BLOCKS, STEPS, C = 4, 3, 25, 0.05
INTERCEPT = pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])


def narrow(X: np.ndarray) -> sp.csr_array:
    return sp.csr_array(X)


def wide(X: np.ndarray) -> sp.csr_array:
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


LAYOUTS = {
    "dense": np.ascontiguousarray,
    "dense float32": lambda X: X.astype(np.float32),
    "by columns": np.asfortranarray,
    "csr": narrow,
    "csr float32": lambda X: narrow(X.astype(np.float32)),
    "csr int64": wide,
    "csr int64 float32": lambda X: wide(X.astype(np.float32)),
    "csc": sp.csc_array,
}
LAYOUT = pytest.mark.parametrize("layout", LAYOUTS)


def half_empty(loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that float32 holds, about half of them zeros, a row and a column without any."""
    X, y = data(loss, n=60)
    X = np.round(X * 64) / 64 * (np.random.default_rng(1).random(X.shape) < 0.5)
    X[7], X[:, 3] = 0, 0
    return X, y


class Case:
    """A problem in one layout with its dense twin, and an anchor of K features."""

    def __init__(self, solver, layout: str, loss: str = "logistic", intercept: bool = True, ridge: float = 0.03):
        X, y = half_empty(loss)
        v = np.random.default_rng(5).integers(1, 4, len(y)).astype(float)
        options = {"ridge": ridge, "sample_weight": v, "fit_intercept": intercept}
        self.problem = Problem(LAYOUTS[layout](X), y, loss, constraint=TopK(K), n_jobs=1, **options)
        self.F, self.loss = Dense(X, y, loss, ridge, v, intercept), loss
        self.solver, self.dense = solver, "csr" not in layout and "csc" not in layout
        start = np.zeros(X.shape[1])
        start[[1, 4, 6, 9]] = 0.3, -0.2, 0.1, 0.4
        self.anchor = start, 0.2 * intercept
        self.state = solver.init(self.problem, Run(start=self.anchor, rng=np.random.default_rng(0)))
        self.stored = np.full(X.shape, self.dense) | (X != 0)
        self.D = len(y) / np.maximum(self.stored.sum(axis=0), 1)

    def ends(self, order, moving) -> list[tuple[np.ndarray, float]]:
        """The sweep over every beginning of the order; ``moving(t)`` of t steps."""
        return [self.solver.along(self.problem, self.state, C, order[:t], moving(t)) for t in range(len(order) + 1)]


def require_same(ours, theirs) -> None:
    for (w, b), (w_twin, b_twin) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(w, w_twin, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(b, b_twin, rtol=1e-11, atol=1e-13)


# -- step by step ----------------------------------------------------------------------------------------------------


@INTERCEPT
@LAYOUT
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_s2bcd_htp(layout: str, loss: str, intercept: bool) -> None:
    case = Case(S2BCDHTP(blocks=BLOCKS), layout, loss, intercept)
    rng = np.random.default_rng(2)
    order, blocks = rng.integers(60, size=STEPS), rng.integers(BLOCKS, size=STEPS).astype(np.int16)
    labels = case.state.carried.copy()
    assert sorted(np.bincount(labels)) == [4, 5, 5]
    labels[case.state.model.support] = IN_EVERY_BLOCK
    twin = s2bcd(
        case.F, loss, case.anchor, C, order,
        lambda i, t: case.stored[i] & ((case.anchor[0] != 0) | (case.state.carried == blocks[t])), case.D,
    )  # fmt: skip
    require_same(case.ends(order, lambda t: _core.Moving.in_blocks(labels, blocks[:t])), twin)


@INTERCEPT
@LAYOUT
@pytest.mark.parametrize("solver", [S2BCDHTP(blocks=1), ASVRGHT(), ASGHT(batch=1)], ids=lambda solver: solver.name)
def test_all_coordinates_of_the_row(solver, layout: str, intercept: bool) -> None:
    case = Case(solver, layout, intercept=intercept)
    order = np.random.default_rng(3).integers(60, size=STEPS)
    k = None if solver.name == "s2bcd-htp" else K
    twin = s2bcd(
        case.F, case.loss, case.anchor, C, order, lambda i, t: case.stored[i], case.D, k, solver.name != "asg-ht"
    )
    require_same(case.ends(order, lambda t: _core.Moving.everywhere()), twin)


@INTERCEPT
@LAYOUT
def test_a2sbcd_ht(layout: str, intercept: bool) -> None:
    case = Case(A2SBCDHT(blocks=BLOCKS), layout, intercept=intercept)
    rng = np.random.default_rng(4)
    order, blocks = rng.integers(60, size=STEPS), rng.integers(BLOCKS, size=STEPS).astype(np.int16)
    labels = case.state.carried
    twin = s2bcd(
        case.F, case.loss, case.anchor, C, order,
        lambda i, t: case.stored[i] & (labels == blocks[t]), case.D, K,
    )  # fmt: skip
    require_same(case.ends(order, lambda t: _core.Moving.in_blocks(labels, blocks[:t])), twin)


@INTERCEPT
@LAYOUT
def test_asvrg_ht_with_sampled_coordinates(layout: str, intercept: bool) -> None:
    case = Case(ASVRGHT(coordinates="sampled"), layout, intercept=intercept)
    rng = np.random.default_rng(5)
    d = case.problem.d
    order, circle, starts = rng.integers(60, size=STEPS), rng.permutation(d), rng.integers(d, size=STEPS)
    place = np.argsort(circle)
    twin = s2bcd(case.F, case.loss, case.anchor, C, order, lambda i, t: (place - starts[t]) % d < K, np.ones(d), K)
    require_same(case.ends(order, lambda t: _core.Moving.in_windows(circle, K, starts[:t])), twin)


def test_a_batch_takes_its_slopes_at_one_point() -> None:
    case = Case(S2BCDHTP(blocks=1, batch=3), "csr")
    order = np.array([5, 11, 40])
    w, b = case.solver.along(case.problem, case.state, C, order, _core.Moving.everywhere())
    (w0, b0), ridge, F = case.anchor, case.F.ridge, case.F
    mu, mu_b = F.gradient(w0, b0)
    expected = w0.copy()
    for i in order:  # at the anchor every delta is 0
        part = (expected - C / 3 * case.D * (mu - ridge * w0)) / (1 + C / 3 * ridge * case.D)
        expected = np.where(case.stored[i], part, expected)
    np.testing.assert_allclose(w, expected, rtol=1e-12)
    assert b == pytest.approx(b0 - C * mu_b)


def test_scaling_is_a_change_of_units() -> None:
    case = Case(ASVRGHT(scaling="curvature"), "csr", ridge=0.0)
    F, h = case.F, case.state.metric.h
    bound = np.mean(F.v[:, None] * F.X**2, axis=0) / 4
    np.testing.assert_allclose(h, np.maximum(bound, 1e-8 * bound.max()), rtol=1e-12)
    order = np.random.default_rng(6).integers(60, size=STEPS)
    w, _ = case.solver.along(case.problem, case.state, C, order, _core.Moving.everywhere())
    in_units = Dense(F.X / np.sqrt(h), F.y, "logistic", 0.0, F.v, intercept=True)
    c_b = C / case.state.metric.h_b
    anchor = case.anchor[0] * np.sqrt(h), case.anchor[1]
    steps = s2bcd(in_units, "logistic", anchor, C, order, lambda i, t: case.stored[i], case.D, K, c_b=c_b)
    *_, (u, _) = steps
    np.testing.assert_allclose(w * np.sqrt(h), u, rtol=1e-11)


# -- on average ------------------------------------------------------------------------------------------------------


def free(kind: type, **settings):
    """That solver, but that its steps keep everything."""
    return type(kind.__name__, (kind,), {"kept": lambda self, problem, state: None})(**settings)


def mean_direction(case: Case, choices, D: np.ndarray) -> tuple[np.ndarray, float]:
    """Over all ``choices`` of (moving, which coordinates it moves in row i) and all rows, at a point off the anchor."""
    rng = np.random.default_rng(8)
    w, b, ridge = rng.standard_normal(case.problem.d), 0.7, case.F.ridge
    w[3] = 0  # stored nowhere
    total, total_b, count = np.zeros_like(w), 0.0, 0
    for moving, moved in choices:
        for i in range(case.problem.n):
            u, u_b = case.solver.along(case.problem, case.state, C, np.array([i]), moving, (w, b))
            explicit = (w - u * (1 + C * ridge * D)) / C + ridge * D * w
            total += np.where(moved(i), explicit, 0)
            total_b += (b - u_b) / C
            count += 1
            np.testing.assert_array_equal(u[~moved(i)], w[~moved(i)])
    return total / count, total_b / count


def gradient_there(case: Case) -> tuple[np.ndarray, float]:
    w = np.random.default_rng(8).standard_normal(case.problem.d)
    w[3] = 0
    return case.F.gradient(w, 0.7)


def require_mean(found, factor, case: Case) -> None:
    (g, g_b), (mean, mean_b) = gradient_there(case), found
    np.testing.assert_allclose(mean, factor * g, rtol=1e-9, atol=1e-12)
    assert mean_b == pytest.approx(g_b, rel=1e-9)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(
    "solver", [S2BCDHTP(blocks=1), free(ASVRGHT), free(ASGHT, batch=1)], ids=lambda solver: solver.name
)
def test_reweighted_directions_average_to_the_gradient(solver, layout: str) -> None:
    case = Case(solver, layout)
    found = mean_direction(case, [(_core.Moving.everywhere(), lambda i: case.stored[i])], case.D)
    require_mean(found, 1.0, case)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_blocks_average_to_their_share_of_the_gradient(layout: str) -> None:
    def choices(case: Case, labels: np.ndarray):
        for block in range(BLOCKS):
            chosen = (labels == block) | (labels == IN_EVERY_BLOCK)
            moving = _core.Moving.in_blocks(labels, np.array([block], np.int16))
            yield moving, lambda i, chosen=chosen: case.stored[i] & chosen

    case = Case(free(A2SBCDHT, blocks=BLOCKS), layout)
    require_mean(mean_direction(case, choices(case, case.state.carried), case.D), 1 / BLOCKS, case)
    case = Case(S2BCDHTP(blocks=BLOCKS), layout)
    labels = case.state.carried.copy()
    labels[case.state.model.support] = IN_EVERY_BLOCK
    q = np.where(case.anchor[0] != 0, 1.0, 1 / BLOCKS)
    require_mean(mean_direction(case, choices(case, labels), case.D), q, case)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_sampled_coordinates_average_to_their_share_of_the_gradient(layout: str) -> None:
    case = Case(free(ASVRGHT, coordinates="sampled"), layout)
    d = case.problem.d
    circle = np.random.default_rng(9).permutation(d)
    place = np.argsort(circle)
    choices = (
        (_core.Moving.in_windows(circle, K, np.array([start])), lambda i, start=start: (place - start) % d < K)
        for start in range(d)
    )
    require_mean(mean_direction(case, choices, np.ones(d)), K / d, case)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("kind", [ASVRGHT, ASGHT])
def test_every_class_goes_along_its_gradient(kind: type, layout) -> None:
    X, y = half_empty("multinomial")
    X = np.delete(X, 3, axis=1)
    p = Problem(layout(X), y, "multinomial", constraint=TopK(5), ridge=0.05, fit_intercept=True, n_jobs=1)
    solver, rng = free(kind, batch=1), np.random.default_rng(1)
    anchor = p.constraint.project(rng.standard_normal((13, 3))), rng.standard_normal(3)
    state = solver.init(p, Run(start=anchor, rng=rng))
    w, b, D = rng.standard_normal((13, 3)), rng.standard_normal(3), solver.rarity(p)[:, None]
    total, total_b = np.zeros_like(w), np.zeros_like(b)
    for i in range(p.n):
        u, u_b = solver.along(p, state, C, np.array([i]), _core.Moving.everywhere(), (w, b))
        moved = np.any(u != w, axis=1)[:, None]
        total += np.where(moved, (w - u * (1 + C * p.ridge * D)) / C + p.ridge * D * w, 0) / p.n
        total_b += (b - u_b) / C / p.n
    _, g, g_b = p.gradient(w, b)
    np.testing.assert_allclose(total, g, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(total_b, g_b, rtol=1e-9, atol=1e-12)


# -- the core's door -------------------------------------------------------------------------------------------------


def test_the_core_checks_what_it_is_given() -> None:
    case = Case(S2BCDHTP(blocks=1), "csr")
    p, n, d = case.problem, case.problem.n, case.problem.d
    everywhere, none = _core.Moving.everywhere(), np.empty(0, np.int64)
    given = {
        "rows": p.design.by_rows, "target": p.target, "order": np.arange(4), "batch": 1, "anchor": np.zeros(n),
        "moves": np.ones((d + 1, 3)), "w": np.zeros(d), "b": np.zeros(1), "moving": everywhere,
    }  # fmt: skip
    _core.sweep_s2bcd(**given)
    labels, flags = np.zeros(d, np.int16), np.zeros(d, np.uint8)
    wrong = {
        "no such row": {"order": np.array([0, n])},
        "whole batches": {"batch": 3},
        "one slope a row": {"anchor": np.zeros(n - 1)},
        "moves: outputs": {"moves": np.ones((d, 3))},
        "differ in size": {"w": np.zeros(d - 1)},
        "one weight a feature": {"b": np.zeros(2)},
        "one block a feature": {"moving": _core.Moving.in_blocks(labels, np.zeros(3, np.int16))},
        "as many features": {"largest": _core.Largest(d - 1, 2, none, flags[1:])},
        "plain, wild or atomic": {"store": "tame"},
        "at least one worker": {"workers": 0},
        "a plain store is for one worker": {"workers": 2},
        "rows must lie by rows": {"rows": _core.Rows.dense(np.ones((n, d), order="F"))},
        "side by side": {"rows": _core.Rows.dense(np.ones((n, 2 * d))[:, ::2], by_rows=True)},
    }
    for message, change in wrong.items():
        with pytest.raises(ValueError, match=message):
            _core.sweep_s2bcd(**{**given, **change})
    for circle, size, starts in ((np.arange(d), d + 1, none), (np.arange(1, d + 1), 2, none), (np.arange(d), 2, [d])):
        with pytest.raises(ValueError, match=r"window|circle"):
            _core.Moving.in_windows(circle, size, np.array(starts, np.int64))
    with pytest.raises(ValueError, match="no such feature"):
        _core.Largest(d, 2, np.array([d]), flags)
