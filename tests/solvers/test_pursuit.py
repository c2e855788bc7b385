"""Pursuit: the optimum where it can be enumerated, its path, its exchanges, how it ends, what must not change it."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, solve
from paring.certificates import refit_change, swap_change
from paring.constraints import TopK
from paring.solvers.orthogonal import Orthogonal
from paring.solvers.pursuit import Pursuit, begin, stage_sizes
from paring.solvers.support import Support
from paring.solvers.tableau import Tableau
from tests.matrix.batched import least
from tests.reference.enumeration import optimum
from tests.reference.tableau import Refits
from tests.solvers.problems import PLANTED, SMOOTH, data, problem

ENUMERATED = ("squared", "logistic", "poisson")
FORMS = {"dense": np.asarray, "F": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}


# -- the global optimum -----------------------------------------------------------------------------------------------


def drawn(loss: str, seed: int, most: int) -> tuple[np.ndarray, Problem]:
    """A random problem: d of most or up to four fewer; columns alike, or each like the next, correlated up to 0.9."""
    rng = np.random.default_rng([seed, ENUMERATED.index(loss)])
    d = int(rng.integers(most - 4, most + 1))
    k, n, rho = int(rng.integers(1, min(d, 6) + 1)), int(rng.integers(30, 60)), rng.choice([0, 0.3, 0.6, 0.9])
    X = rng.standard_normal((n, d))
    if rng.integers(2):
        X = np.sqrt(1 - rho) * X + np.sqrt(rho) * rng.standard_normal((n, 1))
    else:
        for j in range(1, d):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    z = X[:, rng.permutation(d)[:k]] @ (rng.choice([-1, 1], k) * rng.uniform(0.5, 1.5, k))
    noise = rng.choice([0.5, 1, 2])
    if loss == "squared":
        y = z + noise * rng.standard_normal(n)
    elif loss == "logistic":
        y = np.where(z + noise * rng.logistic(size=n) > 0, 1.0, -1.0)
    else:
        y = rng.poisson(np.exp(np.clip(z / 2, -4, 3))).astype(float)
    weights = rng.integers(1, 5, n) if rng.integers(2) else None
    options = {"ridge": float(rng.choice([0, 1e-3, 0.05])), "fit_intercept": bool(rng.integers(2))}
    return X, Problem(X, y, loss, constraint=TopK(k), sample_weight=weights, n_jobs=1, **options)


def share_of_optima(loss: str, count: int, most: int) -> float:
    """How many problems in all end at the optimum. On each: not below it, nor the bound above."""
    reached = 0
    for seed in range(count):
        X, posed = drawn(loss, seed, most)
        result, best = solve(posed), least(posed, X)
        assert result.objective >= best - 1e-7 * posed.scale, (loss, seed)
        assert result.objective - result.dual_gap <= best + 1e-9 * max(posed.scale, abs(best)), (loss, seed)
        assert not result.proved_optimal or result.objective <= best + 2e-6 * posed.scale, (loss, seed)
        reached += result.objective <= best + 1e-6 * posed.scale
    return reached / count


@pytest.mark.parametrize("loss", ENUMERATED)
def test_the_optimum_is_reached(loss: str) -> None:
    assert share_of_optima(loss, 100, 9) >= 0.98


@pytest.mark.long
def test_the_optimum_is_reached_in_a_thousand_problems(capsys: pytest.CaptureFixture[str]) -> None:
    shares = {loss: share_of_optima(loss, 1000, 12) for loss in ENUMERATED}
    with capsys.disabled():
        print("\nshare of 1,000 problems that reach the optimum:", *(f"{name} {s:.1%}" for name, s in shares.items()))
    assert min(shares.values()) >= 0.985


@pytest.mark.parametrize(
    "limits",
    [
        {"always": [3], "never": [0, 7]},
        {"groups": [7, -1, 4, 7, 4, -1, 2, 2]},
        {"groups": list("cabcabdd"), "always": [1]},
        {"bounds": (-0.4, 0.5)},
        {"bounds": (0, np.inf), "never": [2]},
    ],
    ids=["always+never", "groups", "groups+always", "bounds", "nonnegative+never"],
)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_constraints_reach_the_optimum_too(loss: str, limits: dict) -> None:
    reached, count = 0, 8
    for seed in range(count):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 8)) + 0.5 * rng.standard_normal((40, 1))
        y = X[:, [1, 4, 6]] @ [1.0, -0.8, 0.6] + rng.standard_normal(40)
        y = np.sign(y) if loss == "logistic" else y
        posed = Problem(X, y, loss, constraint=TopK(3, **limits), ridge=0.01, fit_intercept=bool(seed % 2))
        result, (best, _) = solve(posed), optimum(posed, X)
        assert posed.constraint.contains(result.coef)
        assert set(limits.get("always", ())) <= set(result.support)
        assert result.objective >= best - 1e-6 * posed.scale
        assert result.objective - result.dual_gap <= best + 1e-7 * posed.scale
        reached += result.objective <= best + 1e-6 * posed.scale
    assert reached >= count - 1


# -- the path ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", ["stages", "all"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_every_point_of_the_path_is_what_its_size_alone_gives(loss: str, layout: str, sizes: str) -> None:
    X, y = data(loss, n=200, d=40, seed=1)
    X = FORMS[layout](np.where(np.abs(X) < 0.5, 0, X))
    options = {"ridge": 0.01, "fit_intercept": True}
    path = solve(Problem(X, y, loss, constraint=TopK(22), **options), Pursuit(sizes)).path
    assert list(path) == (list(range(1, 23)) if sizes == "all" else stage_sizes(22))
    for size, point in path.items():
        assert len(point.model.support) == size == point.size
        if size in stage_sizes(size) and (sizes == "stages" or size <= 10):
            alone = solve(Problem(X, y, loss, constraint=TopK(size), **options))
            np.testing.assert_array_equal(alone.support, point.model.support)
            np.testing.assert_allclose(point.model.weights, alone.coef[alone.support], rtol=1e-9, atol=1e-9)
            assert point.objective == pytest.approx(alone.objective, rel=1e-9)
    assert np.all(np.diff([point.objective for point in path.values()]) <= 0)


def test_sizes_are_one_fixed_sequence() -> None:
    whole = stage_sizes(10_000)
    assert whole[:10] == list(range(1, 11))
    for k in (1, 7, 10, 11, 37, 500):
        assert stage_sizes(k) == [size for size in whole if size < k] + [k]
        assert stage_sizes(k, every=True) == list(range(1, k + 1))
        assert stage_sizes(k, first=k) == [k]


# -- exchanges --------------------------------------------------------------------------------------------------------


def awkward(rng: np.random.Generator) -> dict[str, np.ndarray]:
    X = rng.standard_normal((30, 12)) + 0.7 * rng.standard_normal((30, 1))
    empty, constant, duplicated, collinear = X.copy(), X.copy(), X.copy(), X.copy()
    empty[:, [0, 5, 9]], constant[:, [1, 4]] = 0, [3.0, -2.0]
    duplicated[:, 6:] = duplicated[:, :6]
    collinear[:, 5:] = collinear[:, :5] @ rng.integers(-2, 3, (5, 7))
    return {
        "correlated": X,
        "rare": np.where(np.abs(X) < 0.8, 0, X),
        "empty columns": empty,
        "constant columns": constant,
        "duplicated": duplicated,
        "collinear, rank 5": collinear,
        "few rows": X[:5],
        "columns of mean 1e6": X + 1e6,
        "scales": X * 10.0 ** rng.integers(-5, 6, 12),
    }


@pytest.mark.parametrize("design", awkward(np.random.default_rng(0)))
@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize("intercept", [False, True])
def test_squared_loss_ends_swap_optimal(design: str, ridge: float, intercept: bool) -> None:
    """The formula on the data, apart from the solver, finds no exchange (and no entry, where there is room)."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = awkward(rng)[design]
        if design == "columns of mean 1e6" and not intercept:
            X = X - 1e6 + 100  # 1e6 without an intercept: all columns are one, to the rounding of their squares
        y = X[:, [0, 2, 3]] @ [1.0, -1.0, 0.5] / X[:, [0, 2, 3]].std() + rng.standard_normal(len(X))
        weights = rng.integers(0, 4, len(X)) + 0.5 if seed % 2 else None
        for k in (3, 7):
            for form in FORMS.values():
                options = {"ridge": ridge, "sample_weight": weights, "fit_intercept": intercept}
                posed = Problem(form(X), y, constraint=TopK(k), **options)
                result = solve(posed)
                assert result.stop_reason == "converged" and result.swap_optimal == "exact"
                assert np.isfinite(result.coef).all() and np.isfinite(result.intercept)
                assert len(result.support) <= k
                assert swap_change(posed, result.model) >= -1e-7 * posed.scale, (seed, k)


@pytest.mark.parametrize("form", FORMS)
def test_more_columns_than_one_gram_matrix(form: str) -> None:
    """Rows of the Gram matrix on demand, batches of exchanges, columns alike, constant and empty among many."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 600)) + 0.5 * rng.standard_normal((300, 1))
    X[rng.random(X.shape) < 0.3] = 0
    X[:, 300:350], X[:, 400], X[:, 401] = X[:, :50], 5.0, 0.0
    y = X[:, :40] @ rng.standard_normal(40) + 3 * rng.standard_normal(300)
    for ridge, weights in ((0.0, None), (0.02, rng.integers(0, 3, 300))):
        posed = Problem(FORMS[form](X), y, constraint=TopK(45), ridge=ridge, sample_weight=weights, fit_intercept=True)
        result = solve(posed)
        assert result.swap_optimal == "exact" and len(result.support) == 45
        assert not {400, 401} & set(result.support)
        assert swap_change(posed, result.model) >= -1e-7 * posed.scale


@pytest.mark.parametrize("limits", [{}, {"always": [2]}, {"groups": [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6]}])
@pytest.mark.parametrize("loss", SMOOTH)
def test_other_losses_end_swap_optimal_in_the_model(loss: str, limits: dict) -> None:
    """On small problems every exchange, refitted, is refused: more than "model" says (the best modelled ones are)."""
    posed = problem(loss, k=3, ridge=0.02, fit_intercept=True, **limits)
    result = solve(posed)
    assert result.swap_optimal == ("exact" if loss == "squared" and "groups" not in limits else "model")
    assert refit_change(posed, result.model) >= -2e-6 * posed.scale


@pytest.mark.parametrize("loss", SMOOTH[1:])
def test_few_exchanges_are_all_minimised(loss: str) -> None:
    """Few rows of weak signal: the model misjudges exchanges, and says so of none."""
    for seed in range(200, 204 if loss == "multinomial" else 240):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 8))
        z = X[:, :3] @ [1.0, -1, 1] + rng.normal(size=30)
        y = {"multinomial": np.digitize(z, [-0.5, 0.5]) + 0.0, "huber": z, "poisson": np.floor(np.abs(z))}.get(
            loss, np.where(z > 0, 1.0, -1.0)
        )
        posed = Problem(X, y, loss, constraint=TopK(3), ridge=1 / 30, fit_intercept=True)
        result = solve(posed)
        inside = set(result.support.tolist())
        for j in inside:
            for i in set(range(8)) - inside:
                refit = posed.minimise_on(np.array(sorted(inside - {j} | {i})))
                assert refit.objective >= result.objective - 1.1e-6 * posed.scale, (seed, j, i)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_bounds_hold_along_the_path(loss: str) -> None:
    posed = problem(loss, k=6, bounds=(-0.3, 0.4), fit_intercept=True)
    result = solve(posed)
    for point in result.path.values():
        assert posed.constraint.contains(point.model.dense(posed.d))
    assert refit_change(posed, result.model) >= -1e-5 * posed.scale


# -- the tableau, move by move ----------------------------------------------------------------------------------------


MOVES = (("grow", 3), ("polish",), ("grow", 5), ("polish",), ("shrink", 2), ("polish",), ("grow", 4))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("limits", [{}, {"always": [1, 6], "never": [3]}], ids=["", "always+never"])
def test_the_tableau_moves_as_refits_do(intercept: bool, limits: dict) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((25, 9)) + 0.8 * rng.standard_normal((25, 1))
        y, v = X[:, 0] - X[:, 4] + rng.standard_normal(25) + 2, rng.integers(1, 4, 25).astype(float)
        ridge = [0.0, 0.1][seed % 2]
        options = {"ridge": ridge, "sample_weight": v, "fit_intercept": intercept}
        ours = Tableau(Problem(FORMS[list(FORMS)[seed % 4]](X), y, constraint=TopK(5, **limits), **options))
        theirs = Refits(X, y, ridge, v, intercept, tolerance=ours.tolerance, **limits)
        begun = np.array(limits.get("always", []), np.int64)
        ours.enter(begun)
        theirs.S += begun.tolist()
        for move, *size in (
            ("grow", 3),
            ("polish",),
            ("grow", 5),
            ("polish",),
            ("shrink", 2),
            ("polish",),
            ("grow", 4),
        ):
            getattr(ours, move)(*size)
            getattr(theirs, move)(*size)
            model = ours.model()
            np.testing.assert_array_equal(model.support, sorted(theirs.S), err_msg=f"{move} {seed}")
            assert ours.objective == pytest.approx(theirs.F(theirs.S), rel=1e-10, abs=1e-12)
            assert ours.problem.objective(model) == pytest.approx(ours.objective, rel=1e-10, abs=1e-12)


# -- starts, ends -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", SMOOTH)
def test_warm_start_and_resumption(loss: str) -> None:
    """Begun where a smaller model ended, or resumed after an interruption: as good as begun from nothing."""
    whole = solve(problem(loss, k=8, ridge=0.01, fit_intercept=True))
    smaller = solve(problem(loss, k=4, ridge=0.01, fit_intercept=True))
    warm = solve(problem(loss, k=8, ridge=0.01, fit_intercept=True), start=smaller)
    assert warm.n_iter < whole.n_iter
    assert set(range(1, 4)) <= set(warm.path)
    larger = solve(problem(loss, k=4, ridge=0.01, fit_intercept=True), start=whole.coef)
    for result, reference in ((warm, whole), (larger, smaller)):
        assert result.converged and result.swap_optimal
        assert result.objective == pytest.approx(reference.objective, rel=1e-3)

    def interrupt(progress) -> None:
        if progress.rounds == 5:
            raise KeyboardInterrupt

    cut = solve(problem(loss, k=8, ridge=0.01, fit_intercept=True), callbacks=[interrupt])
    assert cut.stop_reason == "interrupted" and not cut.converged and cut.certificate.kind == "none"
    assert len(cut.support) == max(cut.path) < 8
    assert cut.objective == pytest.approx(cut.path[max(cut.path)].objective, rel=1e-12)
    resumed = solve(problem(loss, k=8, ridge=0.01, fit_intercept=True), start=cut)
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-9)
    np.testing.assert_array_equal(resumed.support, whole.support)
    assert set(resumed.path) == set(whole.path)


@pytest.mark.parametrize(
    "limits", [{"never": [1, 4]}, {"bounds": (0, 0.5)}, {"always": [0]}], ids=lambda limits: next(iter(limits))
)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_path_inherits_no_model_that_the_constraint_forbids(loss: str, limits: dict) -> None:
    free = solve(problem(loss, k=8, fit_intercept=True))
    limited = problem(loss, k=8, fit_intercept=True, **limits)
    for size, point in solve(limited, start=free).path.items():
        assert limited.constraint.contains(point.model.dense(limited.d))
        assert set(limits.get("always", ())) <= set(point.model.support.tolist())
        assert len(point.model.support) <= size  # a weight at a bound of 0 is not shown


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_time_limit_returns_the_last_whole_stage(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 1500))
    z = X[:, :150] @ rng.standard_normal(150)
    y = z if loss == "squared" else np.sign(z)
    posed = Problem(X, y + rng.standard_normal(1500) * (loss == "squared"), loss, constraint=TopK(700), ridge=1e-4)
    begin = time.perf_counter()
    result = solve(posed, time_limit=0.3)
    assert time.perf_counter() - begin < 5
    assert result.stop_reason == "time_limit" and not result.converged and result.swap_optimal is None
    assert len(result.support) == max(result.path, default=0) < 700
    assert result.objective == pytest.approx(posed.objective(result.model), rel=1e-12)
    nothing = solve(posed, time_limit=1e-9)
    assert nothing.stop_reason == "time_limit" and len(nothing.support) == 0
    assert nothing.objective == pytest.approx(posed.null[1])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_callback_stops_after_a_stage(loss: str) -> None:
    result = solve(problem(loss, k=8), callbacks=[lambda progress: progress.n_selected >= 3])
    assert result.stop_reason == "callback" and result.certificate.kind == "none"
    assert max(result.path) == len(result.support) == 3


# -- passes and copies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_passes_and_copies(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paring.solvers.tableau.WHOLE_GRAM", 0)
    rng = np.random.default_rng(3)
    X = np.where(rng.random((300, 80)) < 0.5, 0, rng.standard_normal((300, 80)))
    y = X[:, ::9] @ rng.standard_normal(9) + rng.standard_normal(300)
    given = FORMS[form](X)
    posed = Problem(given, y, constraint=TopK(20), fit_intercept=True)
    batches = Counter()
    real = posed.design.gram_rows
    monkeypatch.setattr(posed.design, "gram_rows", lambda *a: (batches.update(["rows"]), real(*a))[1])
    result = solve(posed)
    stages = len(result.path)
    assert result.n_passes == pytest.approx(batches["rows"] + 1, abs=1)  # and one for the certificate
    assert result.n_passes <= 2 * stages + batches["rows"]
    assert batches["rows"] <= 80  # each row of the Gram matrix at most once
    turned = given.tocsc() if form == "csr" else None
    expected = 0 if turned is None else turned.data.nbytes + turned.indices.nbytes + turned.indptr.nbytes
    assert result.copied_bytes == expected


def test_few_columns_need_one_gram_matrix() -> None:
    assert solve(problem("squared", k=6, fit_intercept=True)).n_passes <= 2


@pytest.mark.parametrize("form", FORMS)
def test_copies_with_another_loss(form: str) -> None:
    X, y = data("logistic")
    result = solve(Problem(FORMS[form](X), y, "logistic", constraint=TopK(4), fit_intercept=True))
    assert (result.copied_bytes > 0) == (form == "csr")


# -- what must not change the answer ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", SMOOTH)
def test_float32_selects_as_float64(loss: str, form: str) -> None:
    X, y = data(loss)
    X = X.astype(np.float32)
    single, double = (
        solve(Problem(FORMS[form](A), y, loss, constraint=TopK(4), ridge=0.01, fit_intercept=True))
        for A in (X, X.astype(np.float64))
    )
    np.testing.assert_array_equal(single.support, double.support)
    np.testing.assert_allclose(single.coef, double.coef, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_same_bits_twice(loss: str, threads: int) -> None:
    X, y = data(loss, n=400, d=30)
    one, two = (
        solve(Problem(X, y, loss, constraint=TopK(7), ridge=0.01, fit_intercept=True, n_jobs=threads)) for _ in "12"
    )
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.intercept, two.intercept)
    assert one.objective == two.objective and one.n_passes == two.n_passes


@pytest.mark.parametrize("loss", SMOOTH)
def test_order_scale_and_shift(loss: str) -> None:
    X, y = data(loss)
    n, d = X.shape
    rng = np.random.default_rng(9)
    columns, rows, powers = rng.permutation(d), rng.permutation(n), 2.0 ** rng.integers(-3, 4, d)

    def fitted(X: np.ndarray, y: np.ndarray):
        return solve(Problem(X, y, loss, constraint=TopK(4), fit_intercept=True))

    here = fitted(X, y)
    close = {"rtol": 1e-5, "atol": 1e-7}
    np.testing.assert_allclose(fitted(X[:, columns], y).coef, here.coef[columns], **close)
    np.testing.assert_allclose(fitted(X[rows], y[rows]).coef, here.coef, **close)
    scaled = fitted(X * powers, y)
    np.testing.assert_array_equal(scaled.support, here.support)
    np.testing.assert_allclose((scaled.coef.T * powers).T, here.coef, **close)
    shifted = fitted(X + np.linspace(-50, 80, d), y)
    np.testing.assert_array_equal(shifted.support, here.support)
    np.testing.assert_allclose(shifted.coef, here.coef, **close)
    if loss in ("squared", "huber"):
        np.testing.assert_allclose(fitted(X, y - 1000).coef, here.coef, **close)


@pytest.mark.parametrize("loss", SMOOTH)
def test_weights_are_repetitions(loss: str) -> None:
    X, y = data(loss)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"constraint": TopK(4), "ridge": 0.01, "fit_intercept": True}
    weighted = solve(Problem(X, y, loss, sample_weight=2.5 * counts, **options))
    repeated = solve(Problem(np.repeat(X, counts, axis=0), np.repeat(y, counts), loss, **options))
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-7, atol=1e-7)


# -- the edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_separable_classes_without_a_ridge(form: str, intercept: bool) -> None:
    X, _ = data("logistic", n=60)
    y = np.where(X[:, 2] > 0.3 * intercept, 1.0, -1.0)
    for loss in ("logistic", "squared_hinge", "smoothed_hinge"):
        result = solve(Problem(FORMS[form](X), y, loss, constraint=TopK(5), fit_intercept=intercept))
        assert result.converged
        assert np.isfinite(result.coef).all() and np.isfinite(result.intercept)
        assert result.objective < 0.01 * result.null_objective


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "squared_hinge", "smoothed_hinge", "poisson"])
@pytest.mark.parametrize("target", [0.0, 1.0])
def test_a_constant_target_with_an_intercept_needs_no_feature(loss: str, target: float) -> None:
    posed = problem(loss)
    y = np.full(posed.n, target or -1.0 if posed.loss.targets == "sign" else target)
    result = solve(Problem(data(loss)[0], y, loss, constraint=TopK(4), fit_intercept=True))
    assert result.converged and np.isfinite(result.intercept)
    np.testing.assert_allclose(result.coef, 0, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_smallest_problems(loss: str, intercept: bool) -> None:
    X, y = data(loss, n=50, d=12)
    alone = np.zeros(50)
    alone[7] = 3.0
    for name, rows, d, k, weights in (
        ("n=1", slice(0, 1), 12, 3, None),
        ("d=1", slice(None), 1, 1, None),
        ("k=d", slice(None), 12, 12, None),
        ("all weight on one row", slice(None), 12, 3, alone),
    ):
        options = {"ridge": 0.1, "sample_weight": weights, "fit_intercept": intercept}
        posed = Problem(X[rows, :d], y[rows], loss, constraint=TopK(k), **options)
        result = solve(posed)
        assert result.converged, name
        assert np.isfinite(result.coef).all() and np.all(np.isfinite(result.intercept)), name
        assert len(result.support) <= k
        assert result.objective <= posed.null[1] + 1e-12 * posed.scale, name
        if k == d:
            assert result.objective == pytest.approx(posed.minimise_on(np.arange(d)).objective, abs=1e-9 * posed.scale)


@pytest.mark.parametrize("intercept", [False, True])
def test_poisson_whose_departures_leave_scores_beyond_exp(intercept: bool) -> None:
    """Columns of mean 1e4: a member that leaves would take e^1000 with it, were Newton to begin there."""
    X, y = data("poisson")
    posed = Problem(X + 1e4, y, "poisson", constraint=TopK(3), fit_intercept=intercept)
    engine = Support(posed, 1e-6)
    engine.grow(4)
    engine.polish()
    engine.shrink(3)
    assert engine.objective <= posed.null[1]
    if intercept:
        here = solve(Problem(X, y, "poisson", constraint=TopK(3), fit_intercept=True))
        np.testing.assert_array_equal(solve(posed).support, here.support)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_always_members_count_whether_or_not_they_can_enter(loss: str) -> None:
    X, y = data("squared", n=80)
    parity = np.arange(80) % 2.0
    wide = np.column_stack([X, parity, 1 - parity, np.ones(80), np.zeros(80)])
    for always in ([14, 15], [16], [16, 17], [14, 15, 16, 17]):
        for k in range(len(always), 6):
            posed = Problem(wide, y, loss, constraint=TopK(k, always=always), fit_intercept=True)
            result = solve(posed)
            assert set(always) <= set(result.support)
            assert len(result.support) == k
            assert list(result.path) == list(range(len(always), k + 1))
            free = solve(Problem(X, y, loss, constraint=TopK(max(k - len(always), 1)), fit_intercept=True))
            if k > len(always):
                assert result.objective <= free.objective + 1e-9 * posed.scale
    copied = np.column_stack([X, X[:, PLANTED[0]]])  # what a start brings must not keep a member out that it spans
    start = np.zeros(15)
    start[PLANTED] = 1.0
    result = solve(Problem(copied, y, loss, constraint=TopK(4, always=[14]), fit_intercept=True), start=start)
    assert result.support.tolist() == [*PLANTED[1:], 14]
    assert np.all(result.coef[result.support])


def test_always_members_count_on_an_orthogonal_basis_too() -> None:
    X, y = data("squared", n=80)
    parity = np.arange(80) % 2.0
    wide = np.column_stack([X, parity, 1 - parity, np.ones(80)])
    for always in ([14, 15], [16], [14, 15, 16]):
        posed = Problem(wide, y, constraint=TopK(5, always=always), fit_intercept=True)
        engine = begin(Orthogonal(posed), np.array(always))
        engine.grow(5)
        engine.polish()
        assert engine.size == 5
        assert len(engine.model().support) == 5
        assert set(always) <= set(engine.model().support)
        engine.shrink(4)
        assert len(engine.model().support) == 4
        np.testing.assert_allclose(solve(posed).objective, least_with(posed, always), rtol=1e-9)


def least_with(posed: Problem, always: list[int]) -> float:
    """By enumeration of what goes beside them."""
    rest = [j for j in range(posed.d) if j not in always]
    return min(
        posed.minimise_on(np.array(sorted([*always, *more]))).objective for more in combinations(rest, 5 - len(always))
    )
