"""Penalised models in files, as tests/test_model_io.py has it for those of k features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from paring import (
    ElasticNet,
    ElasticNetCV,
    GroupLasso,
    GroupLassoCV,
    Lasso,
    LassoCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    PenalizedClassifier,
    PenalizedClassifierCV,
    PenalizedRegressor,
    PenalizedRegressorCV,
    load_model,
    losses,
    penalties,
    save_model,
)
from paring.model_io import ModelFileError
from tests.test_model_io import SCORE, D, N, X, arrays, edit

GROUPS = np.array(["a", "a", "b", "b", "c", "c", "d"])
BINARY = np.where(SCORE > 0, "up", "down")
THREE = np.digitize(SCORE, [-1.0, 1.0])
SEVERAL = np.column_stack([SCORE, X[:, 2] - 1, 2 * SCORE])

MODELS = [
    (PenalizedRegressor(0.1), SCORE),
    (PenalizedRegressor(0.1, penalty="elastic_net", l1_ratio=0.7, loss=losses.huber(0.7), ridge=0.1), SCORE),
    (PenalizedRegressor(0.1, penalty="group", groups=GROUPS, lower_bounds=0, fit_intercept=False), SCORE),
    (PenalizedRegressor(0.1, penalty_factors=[1, 0, np.inf, 1, 1, 2, 1], warm_start=True), SCORE),
    (PenalizedRegressor(0.05, penalty=penalties.SparseGroup(1.0, GROUPS, 0.3)), SCORE),
    (PenalizedRegressor(0.05, penalty=penalties.L1(1.0, bounds=(np.zeros(D), np.inf))), SCORE),
    (PenalizedRegressor(0.1, solver="prox-svrg", random_state=2), SCORE),
    (PenalizedClassifier(), BINARY),
    (PenalizedClassifier(0.05, loss="squared_hinge"), BINARY),
    (PenalizedClassifier(0.05, penalty="multi_task"), THREE),
    (PenalizedClassifier(0.05, fit_intercept=False), THREE),
    (Lasso(0.1, positive=True), SCORE),
    (ElasticNet(0.1, l1_ratio=0.3), SCORE),
    (GroupLasso(0.1, groups=GROUPS.tolist(), penalty_factors=[1, 2, 1, 0.5]), SCORE),
    (MultiTaskLasso(0.1), SEVERAL),
    (MultiTaskLasso(0.1, fit_intercept=False), SEVERAL),
    (MultiTaskLasso(0.1), SEVERAL[:, :1]),
    (PenalizedRegressorCV(alphas=5, cv=3, rule="1se", penalty="group", groups=GROUPS), SCORE),
    (PenalizedClassifierCV(alphas=5, cv=3), BINARY),
    (PenalizedClassifierCV(alphas=[0.1, 0.01], cv=3), THREE),
    (LassoCV(alphas=np.array([0.3, 0.1, 0.03]), cv=3), SCORE),
    (ElasticNetCV(alphas=5, l1_ratio=0.8, cv=3), SCORE),
    (MultiTaskLassoCV(alphas=5, cv=3), SEVERAL),
    (GroupLassoCV(alphas=5, cv=3, groups=GROUPS, rule="1se"), SCORE),
]


def same(one: Any, other: Any) -> None:
    """The same value, shape and type, into tables."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key, value in one.items():
            same(value, other[key])
    else:
        assert np.array_equal(one, other) and np.shape(one) == np.shape(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


@pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda given: type(given).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_loaded_is_what_was_saved(model: Any, y: Any, tmp_path: Path) -> None:
    model.fit(X, y)
    save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m")
    fitted = {name for name in vars(model) if name.endswith("_") and name != "result_"}
    assert {"coef_", "intercept_", "support_", "dual_gap_", "n_features_in_"} <= fitted
    if "CV" in type(model).__name__:
        assert {"alpha_", "alphas_", "path_", "error_path_"} <= fitted
    for name in fitted:
        same(getattr(model, name), getattr(again, name))
    assert again.result_.certificate == model.result_.certificate and again.result_.history == model.result_.history
    assert again.result_.why == model.result_.why and again.result_.stop_reason == model.result_.stop_reason
    same(model.predict(X), again.predict(X))
    if hasattr(model, "predict_proba"):
        same(model.predict_proba(X), again.predict_proba(X))
    same(model.fit(X, y).coef_, again.fit(X, y).coef_)  # the parameters too, and the model that a warm start takes


def test_feature_names_are_kept(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"naïve {j}" for j in range(D)])
    model = MultiTaskLasso(0.1).fit(frame, SEVERAL)
    save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m")
    assert np.array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[frame.columns[::-1]])


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    model = PenalizedRegressorCV(alphas=3, cv=KFold(4)).fit(X, SCORE)
    with pytest.warns(UserWarning, match=r"cv=KFold\(.*\) is not saved with the model; None is"):
        save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m")
    assert again.cv is None and again.error_path_.shape == (3, 4)
    gram = LassoCV(alphas=3, precompute=X.T @ X).fit(X, SCORE)
    with pytest.warns(UserWarning, match="'auto' is"):
        save_model(tmp_path / "g", gram)
    assert load_model(tmp_path / "g").precompute == "auto"


def test_penalties_of_others_are_refused(tmp_path: Path) -> None:
    class L1(penalties.L1):
        """By the name of one that is known."""

    model = PenalizedRegressor(0.1, penalty=L1(1.0)).fit(X, SCORE)
    with pytest.raises(TypeError, match="cannot be saved"):
        save_model(tmp_path / "m", model)
    assert not list(tmp_path.iterdir())


# -- hostile files -----------------------------------------------------------------------------------------------------


def saved(several: bool, path: Path) -> Path:
    if several:
        save_model(path / "m", MultiTaskLasso(0.1).fit(X, SEVERAL))
    else:
        penalty = penalties.Group(1.0, np.arange(D))
        save_model(path / "m", PenalizedRegressorCV(alphas=4, cv=3, penalty=penalty).fit(X, SCORE))
    return path / "m"


def fields(head: dict[str, Any]) -> dict[str, Any]:
    return head["parameters"]["penalty"]["fields"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("several", "change", "message"),
    [
        (True, lambda h: h.update(targets=None), "targets"),
        (True, lambda h: h.update(targets=True), "targets"),
        (True, lambda h: h.update(targets=0), "targets"),
        (True, lambda h: h.update(targets=2**30, n_features=2**40), "memory"),
        (True, lambda h: h.update(targets=2), "does not fit"),
        (True, lambda h: h.update(estimator="Lasso"), "targets"),
        (True, lambda h: h.update(targets=None, estimator="Lasso"), "parameters"),
        (True, lambda h: h.update(targets=None, estimator="PenalizedModel"), "estimator"),
        (True, lambda h: h.update(classes={"type": "str", "values": ["a", "b"]}), "classes"),
        (False, lambda h: h.update(targets=3), "targets"),
        (False, lambda h: h["parameters"].update(penalty={"penalty": "Popen", "fields": {}}), "unknown entry"),
        (False, lambda h: h["parameters"].update(penalty={"penalty": [], "fields": {}}), "unknown entry"),
        (False, lambda h: h["parameters"]["penalty"].update(fields=3), "unknown entry"),
        (False, lambda h: fields(h).update(other=1), "unknown entry"),
        (False, lambda h: fields(h).update(lam=-1), "lam must be a positive number"),
        (False, lambda h: fields(h).update(lam={"float": "inf"}), "lam must be a positive number"),
        (False, lambda h: fields(h).update(factors={"call": "x"}), "unknown entry"),
    ],
)
def test_damaged_json(several: bool, change: Any, message: str, tmp_path: Path) -> None:
    path = saved(several, tmp_path)
    edit(path, change)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


TABLE = np.column_stack([[4.0, 3.0, 2.0, 1.0], np.ones((4, 3))])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"selection": None}, "no array"),
        ({"selection": TABLE[:, :3]}, "does not fit"),
        ({"selection": TABLE.astype(np.int64)}, "does not fit"),
        ({"selection": np.zeros(())}, "does not fit"),
        ({"selection": TABLE[::-1].copy()}, "positive and falling"),
        ({"selection": np.where(TABLE == 4, np.nan, TABLE)}, "positive and falling"),
        ({"selection": np.zeros((4, 4))}, "positive and falling"),
        ({"selection": TABLE, "selection_errors": np.ones((3, 3))}, "does not fit"),
        ({"selection": TABLE, "selection_errors": np.ones(4)}, "does not fit"),
        ({"selection": TABLE, "selection_errors": np.ones(())}, "does not fit"),
        ({"selection_chosen": np.array([4])}, "not a row"),
        ({"selection_chosen": np.array([-1])}, "not a row"),
        ({"selection_chosen": np.array([1, 2])}, "not a row"),
        ({"selection_chosen": np.array([1.0])}, "not a row"),
        ({"selection_errors": np.array([{}], dtype=object)}, "Python objects"),
    ],
)
def test_a_damaged_choice(tmp_path: Path, changed: Any, message: str) -> None:
    save_model(tmp_path / "m", PenalizedRegressorCV(alphas=4, cv=3).fit(X, SCORE))
    arrays(tmp_path / "m", **changed)
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path / "m")


def test_rows_of_several_targets_must_fit(tmp_path: Path) -> None:
    model = MultiTaskLasso(0.1).fit(X, SEVERAL)
    save_model(tmp_path / "m", model)
    assert len(model.predict(X)) == N
    for wrong in (np.ones(model.n_nonzero_coefs_), np.ones((model.n_nonzero_coefs_, 2))):
        arrays(tmp_path / "m", weights=wrong)
        with pytest.raises(ModelFileError, match="does not fit"):
            load_model(tmp_path / "m")
