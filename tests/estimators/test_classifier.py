"""SparseClassifier: labels, shapes, probabilities, weights."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paring import SparseClassifier, losses
from tests.estimators.data import TRUE, binary, three_classes

TWO_LABELS = {
    "strings": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "booleans": np.array([False, True]),
    "signs": np.array([-1, 1]),
    "zero and one": np.array([0, 1]),
    "far apart": np.array([-7, 1000]),
    "floats": np.array([1.0, 2.0]),
}


@pytest.mark.parametrize("labels", TWO_LABELS.values(), ids=TWO_LABELS)
def test_two_labels_of_any_kind(labels: Any) -> None:
    X, y = binary()
    model = SparseClassifier(3).fit(X, labels[y])
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.predict(X).dtype == labels.dtype
    plain = SparseClassifier(3).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X), labels[plain.predict(X)])
    assert model.score(X, labels[y]) > 0.8


def test_labels_swapped_is_coefficients_negated() -> None:
    X, y = binary()
    one, other = SparseClassifier(3).fit(X, y), SparseClassifier(3).fit(X, 1 - y)
    np.testing.assert_allclose(one.coef_, -other.coef_, rtol=1e-7)
    np.testing.assert_allclose(one.intercept_, -other.intercept_, rtol=1e-6)


@pytest.mark.parametrize("labels", [np.array(["b", "a", "c"]), np.array([10, 0, -3]), np.array([2.0, 1.0, 3.0])])
def test_three_labels_of_any_kind(labels: Any) -> None:
    X, y = three_classes()
    model = SparseClassifier(3).fit(X, labels[y])
    np.testing.assert_array_equal(model.classes_, np.sort(labels))
    assert model.coef_.shape == (3, 15) and model.coef_.flags.c_contiguous and model.intercept_.shape == (3,)
    assert model.n_nonzero_coefs_ == model.support_.sum() == 3
    assert model.get_support(indices=True).tolist() == TRUE.tolist()
    assert set(model.predict(X)) == set(labels) and model.score(X, labels[y]) > 0.7
    plain = SparseClassifier(3).fit(X, y)
    np.testing.assert_allclose(model.coef_[np.argsort(labels).argsort()], plain.coef_, rtol=1e-5, atol=1e-8)


def test_shapes_for_two_classes() -> None:
    X, y = binary()
    for loss in ("auto", "logistic", "multinomial"):
        model = SparseClassifier(3, loss=loss).fit(X, y)
        assert model.coef_.shape == (1, 15) and model.intercept_.shape == (1,)
        assert model.decision_function(X).shape == (len(X),) and model.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("make", [binary, three_classes])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 3, 150)], ids=["plain", "weighted"])
def test_all_features_is_scikit_learn_with_c_one(make: Any, fit_intercept: bool, weights: Any) -> None:
    X, y = make(n=150, d=12)
    ours = SparseClassifier(12, fit_intercept=fit_intercept).fit(X, y, weights)
    theirs = LogisticRegression(fit_intercept=fit_intercept, tol=1e-12, max_iter=10_000).fit(X, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_ridge_auto_and_numbers() -> None:
    X, y = binary()
    weights = np.linspace(0.5, 2, len(y))
    auto, number = SparseClassifier(3), SparseClassifier(3, ridge=1 / weights.sum())
    np.testing.assert_array_equal(auto.fit(X, y, weights).coef_, number.fit(X, y, weights).coef_)
    assert auto.ridge == "auto"
    assert np.abs(SparseClassifier(3, ridge=10.0).fit(X, y).coef_).max() < np.abs(auto.coef_).max()


def test_binary_probabilities() -> None:
    X, y = binary()
    model = SparseClassifier(3).fit(X, y)
    p, z = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(p[:, 1], expit(z))
    np.testing.assert_allclose(z, X @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(p), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), p.argmax(axis=1))
    assert np.isfinite(model.predict_log_proba(1e4 * X)).all()


def test_multinomial_probabilities() -> None:
    X, y = three_classes()
    model = SparseClassifier(3).fit(X, y)
    p, z = model.predict_proba(X), model.decision_function(X)
    assert p.shape == z.shape == (len(X), 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(p, softmax(z, axis=1), rtol=1e-14)
    np.testing.assert_allclose(z, X @ model.coef_.T + model.intercept_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(p), rtol=1e-10)
    assert np.isfinite(model.predict_log_proba(1e4 * X)).all()


@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge", losses.smoothed_hinge(1.0), "hinge"])
def test_hinges_decide_but_give_no_probabilities(loss: Any) -> None:
    X, y = binary()
    model = SparseClassifier(3, loss=loss).fit(X, y)
    assert model.score(X, y) > 0.8 and model.get_support(indices=True).tolist() == TRUE.tolist()
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    assert not hasattr(model, "predict_proba") and not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as caught:
        model.predict_proba(X)
    assert "gives no probabilities; use loss='auto'" in str(caught.value.__cause__)


def test_hinges_on_three_classes_one_versus_rest() -> None:
    X, y = three_classes()
    assert OneVsRestClassifier(SparseClassifier(3, loss="squared_hinge")).fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("loss", ["logistic", "multinomial", "squared_hinge", "smoothed_hinge", "hinge"])
def test_weights_are_repetitions(loss: str) -> None:
    X, y = (three_classes if loss == "multinomial" else binary)()
    repeats = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = SparseClassifier(4, loss=loss).fit(X, y, sample_weight=repeats)
    repeated = SparseClassifier(4, loss=loss).fit(X.repeat(repeats, axis=0), y.repeat(repeats))
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-7, atol=1e-7)


def test_a_class_without_weight_is_absent() -> None:
    X, y = three_classes()
    weights = (y != 1).astype(float)
    model = SparseClassifier(3).fit(X, y, weights)
    assert model.classes_.tolist() == [0, 2]
    alone = SparseClassifier(3).fit(X[y != 1], y[y != 1])
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-7)
    with pytest.raises(ValueError, match="at least 2 classes in the data, but the data contains only one class: 2"):
        SparseClassifier().fit(X, y, (y == 2).astype(float))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_separable_data_stay_finite_without_ridge() -> None:
    X, y = binary()
    X[:, 0] = y - 0.5
    model = SparseClassifier(2, ridge=0).fit(X, y)
    assert np.isfinite(model.coef_).all() and model.score(X, y) == 1


def test_constraints_for_three_classes() -> None:
    X, y = three_classes()
    model = SparseClassifier(3, always_select=[0]).fit(X, y)
    assert model.support_[0] and model.support_.sum() == 3
    labels = [f"pair {j // 2}" for j in range(15)]
    grouped = SparseClassifier(2, groups=labels).fit(X, y)
    assert grouped.support_.sum() == 4 and (grouped.support_[0:14:2] == grouped.support_[1:14:2]).all()


def test_among_other_estimators() -> None:
    X, y = three_classes()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SparseClassifier()), {"sparseclassifier__n_nonzero_coefs": [1, 3]}, cv=3
    ).fit(X, y)
    assert search.best_params_["sparseclassifier__n_nonzero_coefs"] == 3
    assert BaggingClassifier(SparseClassifier(2), n_estimators=2, random_state=0).fit(X, y).score(X, y) > 0.6


def test_clone_and_set_params() -> None:
    X, y = binary()
    model = SparseClassifier(3, loss=losses.smoothed_hinge(0.5)).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "coef_")
    assert hasattr(copy.set_params(loss="logistic").fit(X, y), "predict_proba")
