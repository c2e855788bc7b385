"""What results show: features that count, bounds that hold, models that callbacks cannot spoil, words of warning."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from paring import Problem, SparseClassifier, SparseRegressor, losses, solve
from paring.certificates import bound_from, lower_bound
from paring.constraints import L2Ball, TopK
from paring.data.scaled import ScaledDesign
from paring.dual import least_bound
from paring.result import Model
from paring.solvers.htp import HTP
from paring.solvers.iht import IHT
from paring.solvers.steps import Backtracking, Fixed
from paring.solvers.svrg_ht import SVRGHT

N, D = 60, 12
FULL = ("pursuit", "htp", "omp", "grasp", "iht")


def columns(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, D))


def targets(loss: str, X: np.ndarray) -> np.ndarray:
    z = X[:, :3] @ [1.0, -2.0, 3.0] + np.random.default_rng(1).normal(size=len(X))
    if loss == "multinomial":
        return np.digitize(z, [-1.0, 1.0]) + 0.0
    return {"poisson": np.floor(np.abs(z)), "squared": z, "huber": z}.get(loss, np.where(z > 0, 1.0, -1.0))


# -- the bound ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [known.name for known in losses.ALL])
def test_no_bound_is_worse_than_the_least_the_loss_can_be(loss: str, intercept: bool) -> None:
    """With next to no ridge, the gains at the slopes of a model far from the best are beyond all measure."""
    X = columns()
    y = targets(loss, X)
    posed = Problem(X, y, loss, constraint=TopK(3), ridge=1e-8, fit_intercept=intercept)
    model = Model(np.array([5, 7]), np.full((2, 3) if loss == "multinomial" else 2, 0.5), posed.null[0])
    objective = posed.objective(model)
    least = np.mean(y - y * np.log(np.maximum(y, 1))) if loss == "poisson" else 0.0
    assert least - 1e-10 <= lower_bound(posed, model) <= objective
    assert bound_from(posed, model, objective) <= objective - least + 1e-10
    assert least_bound(posed) <= least
    if loss == "squared":
        assert solve(posed, "iht", max_passes=2).dual_gap <= objective
    bare = Problem(X, y, loss, constraint=TopK(3), fit_intercept=intercept)
    assert lower_bound(bare, model) == -np.inf
    if losses.get(loss).smooth:
        result = solve(bare, "iht", max_passes=3)
        assert result.dual_gap == np.inf
        assert "no bound" in repr(result)


# -- features that count -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("solver", FULL)
def test_what_is_left_where_nothing_is_left_to_explain_is_not_shown(solver: str, loss: str, intercept: bool) -> None:
    X = columns()
    for scale in (1.0, 1e-6, 1e8):
        delta = losses.huber(1e3 * scale) if loss == "huber" else loss
        y = scale * X[:, :3] @ [1.0, -2.0, 3.0]
        result = solve(Problem(X, y, delta, constraint=TopK(6), fit_intercept=intercept), solver, tol=1e-24)
        size = np.abs(result.coef)
        assert set(result.support) >= {0, 1, 2}
        assert np.all(size[result.support] > 1e-13 * size.max())
        assert not np.delete(result.coef, result.support).any()
        if solver != "iht":
            assert result.support.tolist() == [0, 1, 2]
        for size, point in result.path.items():
            assert len(point.model.support) == min(size, 3)


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "poisson", "multinomial"])
@pytest.mark.parametrize("solver", FULL)
def test_features_that_are_zero_throughout_are_not_shown(solver: str, loss: str) -> None:
    X = columns()
    y = targets(loss, X)
    X[:, 3:] = 0.0
    for form in (X, sp.csr_array(X)):
        result = solve(Problem(form, y, loss, constraint=TopK(6), ridge=1e-3, fit_intercept=True), solver)
        assert result.support.tolist() == [0, 1, 2]
        always = Problem(form, y, loss, constraint=TopK(6, always=[9]), ridge=1e-3, fit_intercept=True)
        assert solve(always, solver).support.tolist() == [0, 1, 2, 9]


def test_groups_are_shown_whole_and_small_weights_that_count_are_shown() -> None:
    X = columns()
    groups = np.arange(D) // 3
    y = X[:, :2] @ [1.0, -2.0]
    result = solve(Problem(X, y, constraint=TopK(2, groups=groups)))
    assert set(result.support) <= {0, 1, 2}
    small = solve(Problem(X * np.where(np.arange(D) == 1, 1e9, 1.0), y + 1e-4 * X[:, 2], constraint=TopK(3)))
    assert small.support.tolist() == [0, 1, 2]
    assert small.coef[1] == pytest.approx(-2e-9)
    assert small.coef[2] == pytest.approx(1e-4)


def test_a_target_without_variation_selects_nothing() -> None:
    X = columns()
    for level in (0.0, 1.0, 1e8):
        fitted = SparseRegressor(n_nonzero_coefs=3).fit(X, np.full(N, level))
        assert not fitted.support_.any()
        assert fitted.intercept_ == pytest.approx(level)


# -- callbacks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
@pytest.mark.parametrize("solver", [*FULL, "svrg-ht"])
def test_callbacks_cannot_write_into_the_model(solver: str, loss: str) -> None:
    X = columns()
    posed = Problem(X, targets(loss, X), loss, constraint=TopK(3), ridge=0.1, fit_intercept=True)
    seen = []

    def spoil(progress: Any) -> None:
        model = progress.model
        seen.append(model)
        for part in (model.support, model.weights, model.intercept):
            if isinstance(part, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    part[...] = 7
                assert part.base is None

    alone = solve(posed, solver, random_state=0, max_passes=20)
    result = solve(posed, solver, random_state=0, max_passes=20, callbacks=spoil)
    assert seen
    np.testing.assert_array_equal(result.coef, alone.coef)


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [1e300, 1e-300, 0, -1.0, np.nan, "a", None])
def test_balls_of_no_sensible_radius(tau: Any) -> None:
    with pytest.raises(ValueError, match="L2Ball: tau must be positive"):
        L2Ball(tau)


def test_a_number_is_a_fixed_step_and_anything_else_is_refused() -> None:
    assert IHT(step=3).rule == Fixed(3.0)
    X = columns()
    posed = Problem(X, targets("squared", X), constraint=TopK(3))
    np.testing.assert_array_equal(solve(posed, IHT(step=0.1)).coef, solve(posed, IHT(step=Fixed(0.1))).coef)
    for wrong in ("a", Backtracking, [1.0]):
        with pytest.raises(TypeError, match=r"step must be a number or one of Backtracking\(\), .* or Fixed\(length\)"):
            HTP(step=wrong)  # type: ignore[arg-type]
        with pytest.raises((TypeError, ValueError), match="step must be a rule, a number, 'estimate' or 'tuned'"):
            SVRGHT(step=wrong)
    for length in ("a", None, -1.0, np.nan):
        with pytest.raises(ValueError, match="Fixed: step must be a positive number"):
            solve(posed, IHT(step=Fixed(length)))  # type: ignore[arg-type]


@pytest.mark.parametrize("tol", [None, "a", 0, -1.0, np.nan, np.inf])
def test_tolerances_that_are_no_positive_number(tol: Any) -> None:
    X = columns()
    with pytest.raises(ValueError, match="tol must be a positive number"):
        solve(Problem(X, targets("squared", X), constraint=TopK(3)), tol=tol)


@pytest.mark.parametrize("labels", [(0.0, 1e9), (0.0, 2.0), (1.0, 2.0), (0.0, 1e300)])
def test_classes_with_gaps(labels: tuple[float, float]) -> None:
    X = columns()
    y = np.where(X[:, 0] > 0, *labels)
    with pytest.raises(ValueError, match=r"number the classes 0 to 1 .* losses\.multinomial\(classes\)"):
        Problem(X, y, "multinomial", constraint=TopK(3))
    if labels[1] < 5:
        assert Problem(X, y, losses.multinomial(3), constraint=TopK(3)).outputs == 3


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_problems_are_pickled_and_copied(form: Any) -> None:
    X = form(columns())
    for design in (X, ScaledDesign(X, scale=np.full(D, 2.0))):
        posed = Problem(
            design, targets("logistic", columns()), "logistic", constraint=TopK(3), ridge=0.1, fit_intercept=True
        )
        before = solve(posed)
        for again in (pickle.loads(pickle.dumps(posed)), copy.deepcopy(posed), copy.copy(posed)):
            np.testing.assert_array_equal(solve(again).coef, before.coef)


# -- separable classes -------------------------------------------------------------------------------------------------


def told(fit: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(each.message) for each in caught if each.category is ConvergenceWarning and "ridge > 0" in str(each)]


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_weights_without_end_are_told_of_once(loss: str) -> None:
    X = columns()
    z = X[:, 0] + 2 * X[:, 1]
    y = np.where(z > 0, 1.0, -1.0) if loss == "logistic" else (z > 0) + 0.0
    for solver in ("auto", "htp", "iht"):
        assert len(told(lambda: solve(Problem(X, y, loss, constraint=TopK(2), fit_intercept=True), solver))) == 1  # noqa: B023
        assert len(told(lambda: SparseClassifier(2, loss=loss, ridge=0, solver=solver).fit(X, y))) == 1  # noqa: B023
        assert not told(lambda: SparseClassifier(2, loss=loss, solver=solver).fit(X, y))  # noqa: B023
    assert not told(lambda: solve(Problem(X, y, loss, constraint=TopK(2) & L2Ball(1.0))))
    assert not told(lambda: solve(Problem(X, y, loss, constraint=TopK(2, bounds=(-1, 1)))))
    assert len(told(lambda: solve(Problem(X, y, loss, constraint=TopK(2, bounds=(-np.inf, np.inf)))))) == 1
    if loss == "logistic":
        assert len(told(lambda: solve(Problem(X, y, loss, constraint=TopK(2, bounds=(0, np.inf)))))) == 1
    noisy = targets("logistic", X)
    noisy[::5] *= -1
    assert not told(lambda: solve(Problem(X, noisy, "logistic", constraint=TopK(3), fit_intercept=True)))


def test_the_warning_points_to_the_caller() -> None:
    X = columns()
    y = np.where(X[:, 0] + 2 * X[:, 1] > 0, 1.0, -1.0)
    model = SparseClassifier(2, ridge=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        solve(Problem(X, y, "logistic", constraint=TopK(2)))
        solve(Problem(X, y, "logistic", constraint=TopK(2)), "iht", verbose=True)
        model.fit(X, y)
        SparseClassifier(2, ridge=0, tol=1e-5).fit(X, y)
    ours = [each for each in caught if each.category is ConvergenceWarning and "ridge > 0" in str(each)]
    assert [each.filename for each in ours] == 4 * [__file__]
    assert len({each.lineno for each in ours}) == 4


def test_one_feature_that_names_its_class_is_enough() -> None:
    X = columns()
    y = np.where(X[:, 0] + np.random.default_rng(3).normal(size=N) > 0, 1.0, -1.0)
    X[:, 1] = (np.arange(N) % 3 == 0) & (y > 0)
    posed = Problem(X, y, "logistic", constraint=TopK(2, always=[0, 1]), fit_intercept=True)
    assert len(told(lambda: solve(posed))) == 1
    X[:, 1] = np.arange(N) % 3 == 0
    assert not told(lambda: solve(Problem(X, y, "logistic", constraint=TopK(2, always=[0, 1]), fit_intercept=True)))


# -- threads -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "classes"), [(1000, 3), (300, 20)])
def test_blas_starts_no_threads_beside_ours(rows: int, classes: int) -> None:
    """With several outputs too, whose Hessians are larger by the square of their number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 40))
    posed = Problem(X, np.arange(rows) % classes + 0.0, "multinomial", constraint=TopK(2), ridge=0.1)
    seen = []

    def count(progress: Any) -> bool:
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return True

    with threadpool_limits(4, user_api="blas"):
        solve(posed, "iht", callbacks=count, n_jobs=1)
    assert set(seen) == {1}
