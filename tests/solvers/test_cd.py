"""cd against slow and foreign solvers, the conditions an optimum obeys, and what must not change the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, solve
from paring.constraints import TopK
from paring.data.scaled import ScaledDesign
from paring.penalties import L1, L1L2, Group, MultiTask, SparseGroup
from paring.result import Result
from paring.screening import GapSafe, StaticSafe, Strong, Unscreened
from paring.solvers.cd import CD
from tests.reference.penalised import minimise
from tests.reference.random_penalised import PENALTIES, SMOOTH, random_problem

N, D = 60, 200
TOL = 1e-10
LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, off centre, four places in ten empty; ten of them matter. float32 holds X exactly."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) + 0.5 * rng.standard_normal((N, 1)) + 0.3
    X[rng.random(X.shape) < 0.4] = 0
    X = X.astype(np.float32).astype(np.float64)
    return X, X[:, ::20] @ rng.standard_normal(10) + 0.5 * rng.standard_normal(N) + 2


def labels(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = data(seed)
    return X, np.where(y > np.median(y), 1.0, -1.0)


def violation(problem: Problem, result: Result) -> float:
    """The largest residual of the optimality conditions of l1 and elastic net, from the plain formula."""
    assert problem.penalty is not None
    _, g, gb = problem.gradient(result.coef, result.intercept)
    w, tau = result.coef, problem.penalty.tau
    g = g + problem.penalty.ridge * w
    at_zero = np.maximum(np.abs(g) - tau, 0)
    return max(float(np.where(w == 0, at_zero, np.abs(g + tau * np.sign(w))).max()), float(abs(gb)))


# -- the answer -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_against_a_slow_solver(loss: Any, penalty: str) -> None:
    rng = np.random.default_rng(7)
    for round_ in range(4):
        free = penalty == "weighted" and loss.targets in ("class", "sign")  # separable data have no optimum then
        X, problem = random_problem(rng, loss, penalty, ridge=0.02 if free else round_ % 2 * 0.05)
        w, b = minimise(problem, X, 30_000)
        reference = problem.value_at(X @ w + b + problem.base, w) + problem.penalty.value(w)  # type: ignore[union-attr]
        result = solve(problem, tol=1e-9)
        assert result.converged, result
        assert result.proved_optimal
        assert -1e-6 * problem.scale <= result.objective - reference <= 2e-9 * problem.scale  # the slow one may lag
        np.testing.assert_array_equal(problem.regulariser.clip(result.coef), result.coef)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.6])
def test_against_scikit_learn(intercept: bool, weighted: bool, ratio: float) -> None:
    from sklearn.linear_model import ElasticNet

    X, y = data()
    v = np.random.default_rng(1).integers(0, 4, N).astype(float) if weighted else None
    theirs = ElasticNet(0.1, l1_ratio=ratio, fit_intercept=intercept, tol=1e-14, max_iter=100_000)
    theirs.fit(X, y, sample_weight=v)
    problem = Problem(X, y, penalty=L1L2(0.1, ratio), sample_weight=v, fit_intercept=intercept)
    ours = solve(problem, tol=TOL)
    np.testing.assert_allclose(ours.coef, theirs.coef_, atol=2e-7)
    assert ours.intercept == pytest.approx(theirs.intercept_, abs=1e-6)
    np.testing.assert_array_equal(np.flatnonzero(ours.coef), ours.support)
    assert violation(problem, ours) < 1e-6


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_classes_against_liblinear(loss: str) -> None:
    """Its objective: sum of losses (the squared hinge without 1/2) + |w|_1 / C."""
    from sklearn.svm import LinearSVC

    X, y = labels()
    problem = Problem(X, y, loss, penalty=L1(0.02))
    ours = solve(problem, tol=TOL)
    assert violation(problem, ours) < 1e-7
    if loss == "squared_hinge":
        theirs = LinearSVC(penalty="l1", C=1 / (N * 0.04), fit_intercept=False, tol=1e-10, max_iter=200_000, dual=False)
        np.testing.assert_allclose(ours.coef, theirs.fit(X, y).coef_[0], atol=1e-5)


def test_rows_of_several_classes_against_a_slow_solver() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 12))
    y = np.argmax(X[:, :4] + rng.gumbel(size=(80, 4)), axis=1).astype(float)
    for penalty in (L1(0.02), MultiTask(0.05), Group(0.05, np.arange(12) // 3)):
        problem = Problem(X, y, "multinomial", penalty=penalty, fit_intercept=True, ridge=0.01)
        result = solve(problem, tol=TOL)
        w, _ = minimise(problem, X, 30_000)
        assert result.proved_optimal
        np.testing.assert_allclose(result.coef, w, atol=1e-5)


# -- what must not change it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_layouts_and_types(layout: str, dtype: Any, loss: str) -> None:
    X, y = data() if loss == "squared" else labels()
    penalty = SparseGroup(0.03, np.arange(D) // 4, 0.5)
    wanted = solve(Problem(X, y, loss, penalty=penalty, fit_intercept=True), tol=1e-11)
    got = solve(Problem(LAYOUTS[layout](X.astype(dtype)), y, loss, penalty=penalty, fit_intercept=True), tol=1e-11)
    np.testing.assert_allclose(got.coef, wanted.coef, atol=1e-5)
    np.testing.assert_array_equal(got.support, wanted.support)
    assert got.objective == pytest.approx(wanted.objective, rel=1e-10)


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
@pytest.mark.parametrize("layout", ["F", "csr"])
def test_weights_equal_repetition(loss: str, layout: str) -> None:
    X, y = labels() if loss == "logistic" else data()
    counts = np.random.default_rng(1).integers(0, 4, N)
    options: dict[str, Any] = {"penalty": L1(0.05), "fit_intercept": True, "ridge": 0.01}
    weighted = solve(Problem(LAYOUTS[layout](X), y, loss, sample_weight=2.5 * counts, **options), tol=1e-11)
    repeated = solve(
        Problem(LAYOUTS[layout](np.repeat(X, counts, axis=0)), np.repeat(y, counts), loss, **options), tol=1e-11
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-6)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-10)


def test_order_of_columns_and_shifts() -> None:
    X, y = data()
    order = np.random.default_rng(2).permutation(D)
    here = solve(Problem(X, y, penalty=L1(0.1), fit_intercept=True), tol=TOL)
    turned = solve(Problem(X[:, order], y, penalty=L1(0.1), fit_intercept=True), tol=TOL)
    np.testing.assert_allclose(turned.coef, here.coef[order], atol=1e-7)
    shift = np.linspace(-1000, 3000, D)
    moved = solve(Problem(X + shift, y + 50, penalty=L1(0.1), fit_intercept=True), tol=1e-9)
    np.testing.assert_allclose(moved.coef, here.coef, atol=1e-5)
    assert moved.intercept == pytest.approx(here.intercept + 50 - shift @ here.coef, abs=0.1)


def test_scaled_designs_are_those_of_scaled_data() -> None:
    X, y = data()
    scale = np.linspace(0.5, 3, D)
    centre = X.mean(axis=0)
    for lying, centred in ((X, centre), (sp.csc_array(X), None)):
        view = ScaledDesign(lying, centred, scale)
        got = solve(Problem(view, y, penalty=L1(0.1), fit_intercept=True), tol=TOL)
        wanted = solve(
            Problem((X - (0 if centred is None else centred)) / scale, y, penalty=L1(0.1), fit_intercept=True), tol=TOL
        )
        np.testing.assert_allclose(got.coef, wanted.coef, atol=1e-7)


def test_same_bits_again() -> None:
    X, y = data()
    first, second = (solve(Problem(X, y, penalty=L1(0.02), fit_intercept=True)) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)


def test_an_offset_is_part_of_the_score() -> None:
    X, y = data()
    offset = np.random.default_rng(5).standard_normal(N)
    with_offset = solve(Problem(X, y, penalty=L1(0.1), fit_intercept=True, offset=offset), tol=TOL)
    without = solve(Problem(X, y - offset, penalty=L1(0.1), fit_intercept=True), tol=TOL)
    np.testing.assert_allclose(with_offset.coef, without.coef, atol=1e-7)
    assert with_offset.dual_gap <= TOL * with_offset.null_objective * 2
    counted = Problem(X, np.round(np.exp(y / 4)), "poisson", penalty=L1(0.05), fit_intercept=True, offset=offset)
    result = solve(counted, tol=TOL)
    assert result.proved_optimal
    assert violation(counted, result) < 1e-5


# -- working sets and screening ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "screening", [GapSafe(), StaticSafe(), Strong(), Unscreened()], ids=lambda rule: type(rule).__name__
)
@pytest.mark.parametrize("first", [1, 7, 1000])
@pytest.mark.parametrize("share", [0.01, 0.1])
def test_every_rule_and_working_set_comes_to_the_same(screening: Any, first: int, share: float) -> None:
    X, y = data()
    largest = np.abs(X.T @ (y - y.mean())).max() / N
    problem = Problem(X, y, penalty=L1(share * largest), fit_intercept=True)
    wanted = solve(problem, CD(screening=Unscreened(), first=D), tol=1e-11)
    result = solve(problem, CD(screening=screening, first=first), tol=1e-11)
    assert result.proved_optimal
    np.testing.assert_allclose(result.coef, wanted.coef, atol=1e-6)
    active = [record.active for record in result.history]
    assert active == sorted(active, reverse=True) or isinstance(screening, Strong)


def test_screening_leaves_few_features() -> None:
    X, y = data()
    result = solve(Problem(X, y, penalty=L1(0.3), fit_intercept=True), tol=1e-9)
    assert result.history[-1].active < D // 3
    assert result.n_passes < 2 + len(result.history)


def test_what_the_strong_rule_takes_wrongly_is_taken_back() -> None:
    """Told that the start is the solution at this very weight, it discards all that lies inside the dual set there: two
    features too many."""
    X, y = data()
    problem = Problem(X, y, penalty=L1(0.1), fit_intercept=True)
    result = solve(problem, CD(screening=Strong(0.1)), tol=TOL)
    slopes = np.abs(X.T @ (y - y.mean())) / N
    assert np.count_nonzero(slopes[result.support] < 0.1) == 2
    assert result.history[0].active == np.count_nonzero(slopes >= 0.1)
    assert result.history[-1].active > result.history[0].active
    assert result.proved_optimal
    assert violation(problem, result) < 1e-6


def test_unpenalised_and_left_out_features() -> None:
    X, y = data()
    factors = np.ones(D)
    factors[[3, 4]], factors[[0, 20]] = 0.0, np.inf
    problem = Problem(X, y, penalty=L1(0.2, factors=factors), fit_intercept=True)
    result = solve(problem, tol=TOL)
    assert result.proved_optimal
    assert result.coef[3] != 0 and result.coef[4] != 0
    assert result.coef[0] == 0 and result.coef[20] == 0
    _, g, _ = problem.gradient(result.coef, result.intercept)
    assert np.abs(g[[3, 4]]).max() < 1e-7
    alone = Problem(X, y, penalty=L1(1e6, factors=factors), fit_intercept=True)
    assert solve(alone).support.tolist() == [3, 4]


# -- hard cases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_that_are_empty_constant_or_alike(loss: str) -> None:
    X, y = data() if loss == "squared" else labels()
    X = X.copy()
    X[:, 1], X[:, 2], X[:, 21], X[:, 41] = 0, 7, X[:, 20], -X[:, 40]
    for layout in ("F", "csc"):
        problem = Problem(LAYOUTS[layout](X), y, loss, penalty=L1(0.01), fit_intercept=True)
        result = solve(problem, tol=TOL)
        assert result.proved_optimal
        assert result.coef[1] == 0 and result.coef[2] == 0
        assert violation(problem, result) < 1e-6


def test_a_weight_at_which_nothing_enters() -> None:
    X, y = data()
    for penalty in (L1(1e3), Group(1e3, np.arange(D) // 5), L1L2(1e3, 0.5)):
        result = solve(Problem(X, y, penalty=penalty, fit_intercept=True))
        assert result.converged and len(result.support) == 0 and result.proved_optimal
        assert result.intercept == pytest.approx(y.mean())


def test_no_l1_at_all_is_ridge_regression() -> None:
    X, y = data()
    result = solve(Problem(X, y, penalty=L1L2(0.5, 0.0)), tol=1e-12)
    wanted = np.linalg.solve(X.T @ X / N + 0.5 * np.eye(D), X.T @ y / N)
    np.testing.assert_allclose(result.coef, wanted, atol=1e-6)


def test_more_rows_than_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 12)) @ rng.standard_normal((12, 12))
    y = X @ rng.standard_normal(12) + rng.standard_normal(4000)
    problem = Problem(X, y, penalty=L1(0.5), fit_intercept=True)
    result = solve(problem, tol=1e-12)
    assert violation(problem, result) < 1e-8


# -- start, end, refusals ---------------------------------------------------------------------------------------------


def test_a_start_is_taken_up() -> None:
    X, y = data()
    problem = Problem(X, y, penalty=L1(0.1), fit_intercept=True)
    cold = solve(problem, tol=TOL)
    warm = solve(problem, tol=TOL, start=cold)
    assert warm.n_passes < cold.n_passes
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-8)
    np.testing.assert_allclose(solve(problem, tol=TOL, start=np.ones(D)).coef, cold.coef, atol=1e-7)
    nearby = solve(problem.at(L1(0.09)), tol=TOL, start=cold)
    np.testing.assert_allclose(
        nearby.coef, solve(Problem(X, y, penalty=L1(0.09), fit_intercept=True), tol=TOL).coef, atol=1e-7
    )


def test_a_problem_with_another_penalty_shares_the_data_alone() -> None:
    X, y = data()
    problem = Problem(X, y, penalty=L1(0.1), ridge=0.1)
    other = problem.at(Group(0.3, np.arange(D) // 2))
    assert other.design is problem.design
    fresh = Problem(X, y, penalty=Group(0.3, np.arange(D) // 2), ridge=0.1)
    assert solve(other, tol=TOL).objective == pytest.approx(solve(fresh, tol=TOL).objective, rel=1e-9)
    assert isinstance(problem.stated, L1)


def test_a_callback_ends_it_with_a_whole_model() -> None:
    X, y = data()
    problem = Problem(X, y, penalty=L1(0.005), fit_intercept=True)
    seen: list[float] = []
    result = solve(problem, callbacks=lambda progress: seen.append(progress.objective) or len(seen) == 2)
    assert result.stop_reason == "callback"
    assert result.n_iter == 2
    assert result.objective == pytest.approx(problem.objective(result.model), rel=1e-12)
    assert result.dual_gap >= result.objective - solve(problem, tol=TOL).objective


def test_no_time_is_the_start() -> None:
    X, y = data()
    result = solve(Problem(X, y, penalty=L1(0.01)), time_limit=0.0)
    assert result.stop_reason == "time_limit"
    assert np.isfinite(result.coef).all() and np.isfinite(result.objective)


REFUSED: list[tuple[Callable[[np.ndarray, np.ndarray], Any], str]] = [
    (lambda X, y: Problem(X, y), "constraint must be .* or penalty one of paring.penalties; got nothing"),
    (lambda X, y: Problem(X, y, penalty=L1(1), constraint=TopK(2)), "give one of them"),
    (lambda X, y: Problem(X, y, penalty=0.1), "penalty must be one of paring.penalties, e.g. L1"),  # type: ignore[arg-type]
    (lambda X, y: Problem(X, y, constraint=TopK(2), offset=y), "offset: only with penalty="),
    (lambda X, y: Problem(X, y, penalty=L1(1), offset=y[:3]), r"offset must hold one number for each of the 60 rows"),
    (lambda X, y: Problem(X, y, penalty=L1(1), offset=y * np.nan), "offset holds NaN"),
    (lambda X, y: solve(Problem(X, y, penalty=L1(1)), "pursuit"), "this one has a penalty: use solver='cd'"),
    (lambda X, y: solve(Problem(X, y, penalty=L1(1)), "htp"), "this one has a penalty: use solver='cd'"),
    (lambda X, y: solve(Problem(X, y, constraint=TopK(2)), "cd"), "use solver='pursuit'"),
    (lambda X, y: solve(Problem(X, np.sign(y), "hinge", penalty=L1(1))), "use loss='squared_hinge'"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refusals(call: Callable[..., Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call(*data())
