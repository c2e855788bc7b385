"""Penalised estimators against scikit-learn's, and what is theirs alone."""

from __future__ import annotations

import doctest
import re
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as theirs
from sklearn.exceptions import ConvergenceWarning

from paring import (
    ElasticNet,
    GroupLasso,
    Lasso,
    MultiTaskLasso,
    PenalizedClassifier,
    PenalizedRegressor,
    penalties,
)
from paring.estimators import lasso, multi_task, penalised, penalised_classifier
from tests.estimators.data import TRUE, binary, counts, regression, three_classes


def several() -> tuple[np.ndarray, np.ndarray]:
    X, y = regression()
    return X, np.column_stack([y, X[:, 2] - X[:, 7] + 5, 0.1 * y])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Lasso", {}),
        ("Lasso", {"positive": True}),
        ("ElasticNet", {"l1_ratio": 0.3}),
        ("ElasticNet", {"l1_ratio": 0.0}),
        ("MultiTaskLasso", {}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # theirs, with l1_ratio=0
def test_coefficients_are_scikit_learns(name: str, options: dict[str, Any], intercept: bool, weighted: bool) -> None:
    X, y = several() if name == "MultiTaskLasso" else regression()
    fit: dict[str, Any] = {}
    if weighted and name != "MultiTaskLasso":
        fit["sample_weight"] = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    settings = {"alpha": 0.2, "fit_intercept": intercept, **options}
    ours = globals()[name](tol=1e-12, **settings).fit(X, y, **fit)
    wanted = getattr(theirs, name)(tol=1e-14, max_iter=100_000, **settings).fit(X, y, **fit)
    np.testing.assert_allclose(ours.coef_, wanted.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, wanted.intercept_, atol=1e-5)
    assert np.shape(ours.coef_) == np.shape(wanted.coef_)
    np.testing.assert_allclose(ours.predict(X), wanted.predict(X), atol=1e-4)
    assert ours.n_iter_ >= 1 and ours.dual_gap_ <= 1e-11 * np.sum(y**2)


@pytest.mark.parametrize("name", ["Lasso", "ElasticNet", "MultiTaskLasso"])
def test_the_parameters_are_scikit_learns(name: str) -> None:
    ours, wanted = globals()[name]().get_params(), getattr(theirs, name)().get_params()
    assert ours == wanted


def test_tolerance_means_what_it_does_there() -> None:
    X, y = regression(noise=3.0)
    for tol in (1e-2, 1e-6):
        model = Lasso(0.01, tol=tol).fit(X, y)
        assert model.dual_gap_ <= tol * np.mean((y - y.mean()) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert Lasso(0.01, tol=0).fit(X, y).dual_gap_ <= 1e-10 * np.mean(y**2)


def test_sparse_coefficients_and_sparse_data() -> None:
    X, y = regression()
    dense, sparse = Lasso(0.1).fit(X, y), Lasso(0.1).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_array_equal(dense.sparse_coef_.toarray()[0], dense.coef_)


def test_groups_go_in_whole() -> None:
    X, y = regression()
    groups = np.arange(15) % 5
    model = GroupLasso(0.5, groups=groups).fit(X, y)
    taken = {int(g) for g in groups[model.support_]}
    np.testing.assert_array_equal(model.support_, np.isin(groups, list(taken)))
    assert taken <= {int(g) for g in groups[TRUE]} and len(taken) > 1
    alone = PenalizedRegressor(0.5, penalty="group", groups=groups).fit(X, y)
    np.testing.assert_allclose(alone.coef_, model.coef_, atol=1e-2)
    np.testing.assert_allclose(
        GroupLasso(0.1, tol=1e-12).fit(X, y).coef_, Lasso(0.1, tol=1e-12).fit(X, y).coef_, atol=1e-6
    )


@pytest.mark.parametrize(("loss", "make"), [("squared", regression), ("huber", regression), ("poisson", counts)])
@pytest.mark.parametrize("penalty", [*penalised.PENALTIES, penalties.L1(9.0)])
def test_every_loss_under_every_penalty(loss: str, make: Any, penalty: Any) -> None:
    X, y = make()
    model = PenalizedRegressor(0.1, penalty=penalty, loss=loss, groups=np.arange(15) // 2).fit(X, y)
    assert model.proved_optimal_ and 0 < model.n_nonzero_coefs_ <= 15
    assert set(TRUE) <= set(model.get_support(indices=True))
    assert model.score(X, y) > 0.3


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_classes_are_scikit_learns(C: float) -> None:
    X, y = binary()
    wanted = theirs.LogisticRegression(l1_ratio=1.0, C=C, solver="saga", tol=1e-10, max_iter=100_000).fit(X, y)
    ours = PenalizedClassifier(1 / (C * len(y)), tol=1e-11).fit(X, y)
    np.testing.assert_allclose(ours.coef_, wanted.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), wanted.predict_proba(X), atol=1e-5)
    if C == 1.0:
        np.testing.assert_allclose(PenalizedClassifier(tol=1e-11).fit(X, y).coef_, ours.coef_, atol=1e-7)
        doubled = PenalizedClassifier(tol=1e-11).fit(X, y, sample_weight=np.full(len(y), 2.0))
        np.testing.assert_allclose(
            doubled.coef_, PenalizedClassifier(0.5 / len(y), tol=1e-11).fit(X, y).coef_, atol=1e-6
        )


def test_three_classes() -> None:
    X, y = three_classes()
    wanted = theirs.LogisticRegression(l1_ratio=1.0, C=0.2, solver="saga", tol=1e-10, max_iter=100_000).fit(X, y)
    ours = PenalizedClassifier(1 / (0.2 * len(y)), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, wanted.coef_, atol=1e-5)
    rows = PenalizedClassifier(0.05, penalty="multi_task").fit(X, y)
    assert rows.coef_.shape == (3, 15)
    np.testing.assert_array_equal((rows.coef_ != 0).all(axis=0), rows.support_)


def test_warm_start_goes_on_from_the_last_model() -> None:
    X, y = regression(noise=1.0)
    model = Lasso(0.02, warm_start=True, tol=1e-8).fit(X, y)
    first = model.coef_
    assert model.fit(X, y).n_passes_ <= 4
    np.testing.assert_allclose(model.coef_, first, atol=1e-6)


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (Lasso, {"alpha": 0}, "alpha must be a positive number .for 0, sklearn.linear_model.LinearRegression"),
    (PenalizedRegressor, {"alpha": -1}, "alpha must be a positive number"),
    (PenalizedRegressor, {"penalty": "l0"}, "penalty must be one of l1, elastic_net, group"),
    (PenalizedRegressor, {"loss": "logistic"}, "for classes use PenalizedClassifier"),
    (PenalizedClassifier, {"loss": "squared"}, "for real or count targets use PenalizedRegressor"),
    (PenalizedClassifier, {"loss": "hinge"}, "PenalizedClassifier takes the losses"),
    (PenalizedClassifier, {"alpha": "best"}, "alpha must be a positive number"),
    (ElasticNet, {"l1_ratio": 2}, "l1_ratio must be a number from 0 to 1"),
    (Lasso, {"tol": -1}, "tol must be a number of at least 0"),
]


@pytest.mark.parametrize(("cls", "options", "message"), REFUSED)
def test_refusals(cls: Any, options: dict[str, Any], message: str) -> None:
    make = binary if cls is PenalizedClassifier else regression
    with pytest.raises(ValueError, match=message):
        cls(**options).fit(*make())


def test_several_targets_are_for_the_multi_task_lasso() -> None:
    X, Y = several()
    with pytest.raises(ValueError, match=r"jointly by paring\.MultiTaskLasso"):
        Lasso().fit(X, Y)
    with pytest.raises(ValueError, match=r"use paring\.Lasso"):
        MultiTaskLasso().fit(X, Y[:, 0])


@pytest.mark.parametrize("module", [lasso, multi_task, penalised, penalised_classifier])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("cls", "make"), [(PenalizedRegressor, regression), (PenalizedClassifier, binary), (Lasso, regression)]
)
def test_every_parameter_and_attribute_is_named(cls: type, make: Any) -> None:
    text, model = cls.__doc__ or "", cls().fit(*make())
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    for name in {*model.get_params(), *public}:
        assert re.search(rf"^ +(\w+, )*{name}(, \w+)* : |^ +{name} : ", text, re.MULTILINE), name
