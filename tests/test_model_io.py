"""Models in files: what is loaded predicts what was saved, and no file can do harm."""

import hashlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from paring import Problem, SparseClassifier, SparseRegressor, constraints, load_model, losses, save_model, solve
from paring.model_io import ModelFileError, model_files

N, D = 60, 7
RNG = np.random.default_rng(2)
X = RNG.standard_normal((N, D))
SCORE = X[:, 1] - 2 * X[:, 4] + 0.3 * RNG.standard_normal(N)

REGRESSORS = [
    SparseRegressor(3),
    SparseRegressor(3, loss=losses.huber(0.7), ridge=0.1, lower_bounds=-np.inf, upper_bounds=np.full(D, 5.0)),
    SparseRegressor(2, groups=np.array([0, 0, 1, 1, 2, 2, 3]), always_select=[np.int64(6)], fit_intercept=False),
    SparseRegressor(3, solver="htp", random_state=3),
]
CLASSES = [
    np.array(["b", "a"]),
    np.array([-1, 1]),
    np.array([False, True]),
    np.array([3, 7, 9], dtype=np.uint8),
    np.array(["één", "zwei", "три"]),
    np.array(["x", "y"], dtype=object),
    np.array([1.0, 2.0, 3.0]),
]


@pytest.mark.parametrize("model", REGRESSORS)
def test_regressor_predicts_the_same(model: Any, tmp_path: Path) -> None:
    model.fit(X, SCORE)
    files = save_model(tmp_path / "m", model)
    assert files == (tmp_path / "m.json", tmp_path / "m.npz") and all(file.exists() for file in files)
    again = load_model(tmp_path / "m")
    assert np.array_equal(again.predict(X), model.predict(X))
    for name in ("objective_", "dual_gap_", "n_iter_", "n_passes_", "proved_optimal_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.result_.certificate == model.result_.certificate and again.result_.history == model.result_.history
    assert again.path_.keys() == model.path_.keys()
    for size, point in again.path_.items():
        assert np.array_equal(point.model.dense(D), model.path_[size].model.dense(D))
    assert np.array_equal(again.fit(X, SCORE).coef_, model.coef_)  # the parameters too


@pytest.mark.parametrize("labels", CLASSES, ids=lambda labels: f"{labels.dtype}{len(labels)}")
def test_classifier_predicts_the_same(labels: Any, tmp_path: Path) -> None:
    y = labels[np.digitize(SCORE, [0.0, 1.0][: len(labels) - 1])]
    model = SparseClassifier(3).fit(X, y)
    save_model(tmp_path / "m.json", model)
    again = load_model(tmp_path / "m.npz")
    predicted = again.predict(X)
    assert predicted.dtype == model.predict(X).dtype and type(predicted[0]) is type(model.predict(X)[0])
    assert np.array_equal(predicted, model.predict(X)) and again.score(X, y) == model.score(X, y)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X)) and again.coef_.shape == model.coef_.shape


@pytest.mark.parametrize("solver", ["auto", "sdiht"])
def test_a_hinge_classifier(solver: str, tmp_path: Path) -> None:
    y = np.where(SCORE > 0, "up", "down")
    model = SparseClassifier(3, loss="hinge", ridge=0.05, solver=solver, random_state=0).fit(X, y)
    save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m")
    assert np.array_equal(again.predict(X), model.predict(X)) and set(model.predict(X)) == {"up", "down"}
    assert not hasattr(again, "predict_proba") and again.loss == "hinge"
    assert again.result_.history == model.result_.history and again.dual_gap_ == model.dual_gap_
    assert np.array_equal(again.fit(X, y).coef_, model.coef_)


def test_feature_names_are_kept(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"naïve {j}" for j in range(D)])
    model = SparseRegressor(2).fit(frame, SCORE)
    save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m")
    assert np.array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[frame.columns[::-1]])


def test_names_of_files() -> None:
    for given in ("a/m.v2", "a/m.v2.json", "a/m.v2.npz"):
        assert model_files(given) == (Path("a/m.v2.json"), Path("a/m.v2.npz"))


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    from paring.solvers.htp import HTP

    model = SparseRegressor(2, solver=HTP(), random_state=np.random.RandomState(0)).fit(X, SCORE)
    with pytest.warns(UserWarning, match="is not saved") as caught:
        save_model(tmp_path / "m", model)
    assert len(caught) == 2
    assert load_model(tmp_path / "m").solver == "htp" and load_model(tmp_path / "m").random_state is None


def test_only_fitted_models_of_ours(tmp_path: Path) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import Lasso, LinearRegression

    with pytest.raises(TypeError, match=r"SparseRegressor.*of paring, got .*sklearn"):
        save_model(tmp_path / "m", Lasso())
    with pytest.raises(TypeError, match="LinearRegression"):
        save_model(tmp_path / "m", LinearRegression())
    with pytest.raises(NotFittedError):
        save_model(tmp_path / "m", SparseRegressor())
    assert not list(tmp_path.iterdir())


def test_joblib_and_results_of_solve(tmp_path: Path) -> None:
    model = SparseClassifier(2).fit(X, SCORE > 0)
    joblib.dump(model, tmp_path / "m.joblib")
    assert np.array_equal(joblib.load(tmp_path / "m.joblib").predict(X), model.predict(X))
    problem = Problem(X, SCORE, constraint=constraints.TopK(2))
    result = solve(problem)
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.coef, result.coef) and again.state is None and result.state is not None
    assert solve(problem, start=again).objective == pytest.approx(result.objective, rel=1e-9)


# -- hostile files -----------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_model(tmp_path / "m", SparseClassifier(3).fit(X, SCORE > 0))
    return tmp_path / "m"


def edit(saved: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    file = model_files(saved)[0]
    head = json.loads(file.read_text())
    change(head)
    file.write_text(json.dumps(head))


def arrays(saved: Path, **changed: Any) -> None:
    """Change arrays, with the checksum that fits them."""
    file = model_files(saved)[1]
    with np.load(file) as old:
        whole = {**old, **changed}
    np.savez(file, **{name: array for name, array in whole.items() if array is not None})
    edit(saved, lambda head: head.update(sha256=hashlib.sha256(file.read_bytes()).hexdigest()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(version=2), "version 2"),
        (lambda h: h.update(format="other"), "not a model"),
        (lambda h: h.update(estimator="Popen"), "estimator"),
        (lambda h: h.update(n_features=2**61), "memory"),
        (lambda h: h.update(n_features=-1), "n_features"),
        (lambda h: h.update(n_features=2), "not ascending feature indices|more than 2"),
        (lambda h: h.update(feature_names=["a"]), "feature_names"),
        (lambda h: h.update(classes=None), "classes"),
        (lambda h: h["classes"].update(values=[False, False]), "twice"),
        (lambda h: h["classes"].update(values=[0, 1]), "type bool"),
        (lambda h: h["classes"].update(type="complex"), "type"),
        (lambda h: h["classes"].update(type="int8", values=[1, 300]), "out of bounds|int8"),
        (lambda h: h["parameters"].update(extra=1), "parameters"),
        (lambda h: h["parameters"].update(loss={"loss": "magic", "parameter": 0}), "unknown loss"),
        (lambda h: h["parameters"].update(ridge={"float": "nan"}), "unknown entry"),
        (lambda h: h["fit"].update(objective="low"), "fit"),
        (lambda h: h["fit"].update(objective=float("nan")), "NaN"),
        (lambda h: h["fit"].pop("seconds"), "fit"),
        (lambda h: h.update(certificate={}), "certificate"),
        (lambda h: h.update(sha256="0"), "checksum"),
        (lambda h: h.clear(), "not a model"),
    ],
)
def test_damaged_json(saved: Path, change: Any, message: str) -> None:
    edit(saved, change)
    with pytest.raises(ModelFileError, match=message):
        load_model(saved)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"support": np.array([1, 2, 99])}, "ascending"),
        ({"support": np.array([-1, 2, 3])}, "ascending"),
        ({"support": np.array([2, 2, 3])}, "ascending"),
        ({"support": np.array([1.0, 2.0, 3.0])}, "does not fit"),
        ({"support": np.array([1, 2])}, "does not fit"),
        ({"lengths": np.array([2**62])}, "more than"),
        ({"lengths": np.array([4, -1])}, "expected one model"),
        ({"lengths": np.array([-1])}, "negative"),
        ({"lengths": np.array([2])}, "says otherwise"),
        ({"lengths": np.zeros(1 << 21, np.int64)}, "expected one model"),
        ({"path_lengths": np.zeros(1 << 21, np.int64)}, "longer than any path"),
        ({"history": np.zeros((1 << 17, 5))}, "history"),
        ({"weights": np.array([1.0, np.nan, 2.0])}, "NaN"),
        ({"weights": np.ones((3, 2))}, "does not fit"),
        ({"weights": None}, "no array"),
        ({"intercepts": np.array([np.inf])}, "infinity"),
        ({"path_sizes": np.array([1])}, "path"),
        ({"history": np.zeros((2, 2))}, "history"),
        ({"support": np.array([{}, 1, 2], dtype=object)}, "Python objects"),
    ],
)
def test_damaged_arrays(saved: Path, changed: Any, message: str) -> None:
    arrays(saved, **changed)
    with pytest.raises(ModelFileError, match=message):
        load_model(saved)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_truncated_anywhere(saved: Path, suffix: str) -> None:
    file = saved.with_suffix(suffix)
    whole = file.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 25)):
        file.write_bytes(whole[:length])
        if suffix == ".npz":  # past the checksum, so that the reader itself is tried
            edit(saved, lambda head: head.update(sha256=hashlib.sha256(file.read_bytes()).hexdigest()))
        with pytest.raises(ModelFileError):
            load_model(saved)
    file.unlink()
    with pytest.raises(ModelFileError, match="no such file"):
        load_model(saved)


def test_deep_json(saved: Path) -> None:
    saved.with_suffix(".json").write_text("[" * 100_000)
    with pytest.raises(ModelFileError):
        load_model(saved)
