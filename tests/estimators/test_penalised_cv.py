"""alpha by cross-validation, against scikit-learn's and against doing it by hand."""

from __future__ import annotations

import doctest
import re
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model as theirs
from sklearn.model_selection import KFold

from paring import (
    ElasticNetCV,
    GroupLassoCV,
    LassoCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    PenalizedClassifierCV,
    PenalizedRegressor,
    PenalizedRegressorCV,
)
from paring.estimators import joint_cv, penalised_cv
from tests.estimators.data import TRUE, binary, regression, three_classes


@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV", "MultiTaskLassoCV"])
def test_errors_and_choice_are_scikit_learns(name: str) -> None:
    X, y = regression(noise=2.0)
    if name == "MultiTaskLassoCV":
        y = np.column_stack([y, X[:, 2] - X[:, 7] + 5, 0.1 * y])
    options: dict[str, Any] = {"alphas": 20, "eps": 0.01, "cv": KFold(4)}
    ours = globals()[name](tol=1e-9, **options).fit(X, y)
    wanted = getattr(theirs, name)(tol=1e-9, max_iter=100_000, **options).fit(X, y)
    np.testing.assert_allclose(ours.alphas_, wanted.alphas_, rtol=1e-6)
    np.testing.assert_allclose(ours.mse_path_, wanted.mse_path_, rtol=1e-4)
    assert ours.alpha_ == pytest.approx(wanted.alpha_)
    np.testing.assert_allclose(ours.coef_, wanted.coef_, atol=1e-3)


@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV", "MultiTaskLassoCV"])
def test_the_parameters_are_scikit_learns(name: str) -> None:
    ours, wanted = globals()[name]().get_params(), getattr(theirs, name)().get_params()
    assert {key: wanted[key] for key in ours} == ours
    assert set(wanted) - set(ours) <= {"n_alphas"}


def test_held_out_loss_is_what_a_fit_on_the_fold_gives() -> None:
    X, y = regression(noise=2.0)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = PenalizedRegressorCV(alphas=[0.5, 0.1], cv=KFold(3), loss="huber", ridge=0.05).fit(X, y, weights)
    train, test = list(KFold(3).split(X))[1]
    alone = PenalizedRegressor(0.1, loss="huber", ridge=0.05).fit(X[train], y[train], weights[train])
    r = np.abs(alone.predict(X[test]) - y[test])
    huber = np.where(r <= 1.35, r**2 / 2, 1.35 * (r - 1.35 / 2))
    assert model.error_path_[1, 1] == pytest.approx(np.average(huber, weights=weights[test]), rel=1e-4)
    table = model.path_
    mass = [weights[held].sum() for _, held in KFold(3).split(X)]
    np.testing.assert_allclose(table["error"], np.average(model.error_path_, axis=1, weights=mass))
    assert model.alpha_ == table["alpha"][np.argmin(table["error"])]


def test_the_rule_of_one_standard_error_asks_for_more() -> None:
    X, y = regression(noise=4.0)
    least = PenalizedRegressorCV(alphas=30, cv=5).fit(X, y)
    more = PenalizedRegressorCV(alphas=30, cv=5, rule="1se").fit(X, y)
    assert more.alpha_ > least.alpha_ and more.n_nonzero_coefs_ <= least.n_nonzero_coefs_
    table = more.path_
    best = np.argmin(table["error"])
    within = table["error"] <= table["error"][best] + table["standard_error"][best]
    assert more.alpha_ == table["alpha"][within].max()


@pytest.mark.parametrize("make", [binary, three_classes])
def test_classes(make: Any) -> None:
    X, y = make()
    model = PenalizedClassifierCV(alphas=15, cv=3).fit(X, y)
    assert set(TRUE) <= set(model.get_support(indices=True))
    assert model.score(X, y) > 0.7 and len(model.alphas_) == 15


def test_groups() -> None:
    X, y = regression(noise=2.0)
    groups = np.arange(X.shape[1]) // 3
    options: dict[str, Any] = {"alphas": 12, "eps": 0.01, "cv": KFold(4), "rule": "1se", "groups": groups}
    factors = np.array([1.0, 2.0, 1.0, 0.5, np.inf])
    ours = GroupLassoCV(penalty_factors=factors, positive=True, tol=1e-9, **options).fit(X, y)
    general = PenalizedRegressorCV(penalty="group", penalty_factors=factors, lower_bounds=0, tol=1e-9, **options)
    general.fit(X, y)
    np.testing.assert_allclose(ours.error_path_, general.error_path_, rtol=1e-5)
    np.testing.assert_allclose(ours.mse_path_, 2 * ours.error_path_)
    assert ours.alpha_ == general.alpha_ and (ours.coef_ >= 0).all() and not ours.support_[groups == 4].any()
    np.testing.assert_allclose(ours.coef_, general.coef_, atol=1e-5)


def test_several_targets_weighted() -> None:
    X, y = regression(noise=2.0)
    Y, weights = np.column_stack([y, y[::-1]]), np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = MultiTaskLassoCV(alphas=[0.5, 0.1], cv=KFold(3), tol=1e-9).fit(X, Y, weights)
    train, test = list(KFold(3).split(X))[1]
    alone = MultiTaskLasso(0.1, tol=1e-9).fit(X[train], Y[train], weights[train])
    wrong = ((alone.predict(X[test]) - Y[test]) ** 2).sum(axis=1) / 2
    assert model.error_path_[1, 1] == pytest.approx(np.average(wrong, weights=weights[test]), rel=1e-6)
    assert model.coef_.shape == (2, X.shape[1]) and model.predict(X).shape == Y.shape


def test_refusals() -> None:
    X, y = regression()
    with pytest.raises(ValueError, match="rule must be 'min' or '1se'"):
        PenalizedRegressorCV(rule="best").fit(X, y)
    with pytest.raises(ValueError, match="l1_ratio must be one number"):
        ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y)
    with pytest.raises(ValueError, match=r"use paring\.LassoCV"):
        MultiTaskLassoCV().fit(X, y)
    with pytest.raises(ValueError, match=r"jointly by paring\.MultiTaskLasso"):
        GroupLassoCV().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="rule must be 'min' or '1se'"):
        GroupLassoCV(rule="best").fit(X, y)


@pytest.mark.parametrize("module", [penalised_cv, joint_cv])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("cls", [PenalizedRegressorCV, LassoCV, MultiTaskLassoCV, GroupLassoCV])
def test_every_parameter_is_named(cls: type) -> None:
    text = cls.__doc__ or ""
    for name in cls().get_params():
        assert re.search(rf"^ +(\w+, )*{name}(, \w+)* :", text, re.MULTILINE), name
