"""Data as they come: layouts and types are not copied and make no difference."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn

import paring.estimators.base as base
from paring import SparseClassifier, SparseRegressor
from tests.estimators.data import binary, regression


def wide_indices(X: Any) -> Any:
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def mapped(X: Any, folder: Path, order: str = "C") -> Any:
    path = folder / "X.bin"
    np.memmap(path, X.dtype, "w+", shape=X.shape, order=order)[:] = X
    return np.memmap(path, X.dtype, "r", shape=X.shape, order=order)


LAYOUTS: dict[str, Callable[[Any, Path], Any]] = {
    "C": lambda X, _: np.ascontiguousarray(X),
    "F": lambda X, _: np.asfortranarray(X),
    "CSR": lambda X, _: sp.csr_array(X),
    "CSC": lambda X, _: sp.csc_array(X),
    "csr_matrix": lambda X, _: sp.csr_matrix(X),
    "int64 indices": lambda X, _: wide_indices(X),
    "memory map": mapped,
    "memory map F": lambda X, folder: mapped(X, folder, "F"),
    "strided": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "rows reversed": lambda X, _: np.ascontiguousarray(X[::-1])[::-1],
}


def parts(X: Any) -> list[Any]:
    return [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The Problems that fits make."""
    problems: list[Any] = []

    class Spy(base.Problem):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            problems.append(self)

    monkeypatch.setattr(base, "Problem", Spy)
    return problems


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_agree_and_nothing_is_copied(layout: str, dtype: Any, tmp_path: Path, seen: list[Any]) -> None:
    X, y = regression()
    X = np.where(np.abs(X) < 0.5, 0, X).astype(dtype)
    given = LAYOUTS[layout](X, tmp_path)
    model = SparseRegressor(4).fit(given, y)
    if layout != "rows reversed":  # a negative stride: converted at the door
        stored = seen[-1].design._X
        assert stored.dtype == dtype
        for ours, theirs in zip(parts(stored), parts(given), strict=True):
            assert np.shares_memory(ours, theirs)
    reference = SparseRegressor(4).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(model.support_, reference.support_)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(given), reference.predict(X.astype(np.float64)), rtol=1e-8)
    assert model.coef_.dtype == np.float64


@pytest.mark.parametrize("layout", LAYOUTS)
def test_classifier_layouts_agree(layout: str, tmp_path: Path) -> None:
    X, y = binary()
    X = np.where(np.abs(X) < 0.5, 0, X)
    given = LAYOUTS[layout](X, tmp_path)
    model, reference = SparseClassifier(4).fit(given, y), SparseClassifier(4).fit(X, y)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.predict_proba(given), reference.predict_proba(X), rtol=1e-7)


@pytest.mark.parametrize("convert", [np.ndarray.tolist, lambda X: X.astype(int), lambda X: X.astype(np.float16)])
def test_other_numbers_are_converted(convert: Callable[[Any], Any]) -> None:
    X, y = regression()
    X = np.round(4 * X)
    model = SparseRegressor(3).fit(convert(X), y.tolist())
    np.testing.assert_allclose(model.coef_, SparseRegressor(3).fit(X, y).coef_, rtol=1e-12)


def test_other_sparse_formats_are_converted() -> None:
    X, y = regression()
    X[np.abs(X) < 1] = 0
    reference = SparseRegressor(3).fit(sp.csr_array(X), y)
    for kind in (sp.coo_array, sp.lil_array, sp.dok_array):
        model = SparseRegressor(3).fit(kind(X), y)
        np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-12)
        np.testing.assert_allclose(model.predict(kind(X)), reference.predict(X), rtol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_and_feature_names(library: str) -> None:
    frames = pytest.importorskip(library)
    X, y = regression()
    names = [f"gene{j}" for j in range(15)]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    model = SparseRegressor(3).fit(frame, frames.Series(y))
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_allclose(model.coef_, SparseRegressor(3).fit(X, y).coef_, rtol=1e-12)
    np.testing.assert_allclose(model.predict(frame), X @ model.coef_ + model.intercept_, rtol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[names[::-1]])


def test_predict_reads_the_columns_in_use_only() -> None:
    X, y = regression()
    model = SparseRegressor(3).fit(X, y)
    spoilt = X.copy()
    spoilt[:, ~model.support_] = 1e300
    np.testing.assert_array_equal(model.predict(spoilt), model.predict(X))
    wide = np.full((4, 1000), np.nan)
    long = SparseRegressor(1).fit(np.eye(5, 1000), [0, 0, 1, 0, 0])
    wide[:, long.support_] = 1.0
    with sklearn.config_context(assume_finite=True):
        assert np.isfinite(long.predict(wide)).all()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        long.predict(wide)


def test_a_fitted_estimator_can_be_pickled() -> None:
    for model, (X, y) in ((SparseRegressor(3), regression()), (SparseClassifier(3), binary())):
        copy = pickle.loads(pickle.dumps(model.fit(X, y)))
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.result_.objective == model.objective_
        assert len(pickle.dumps(copy)) < X.nbytes / 2 + 20_000  # no part of X in it
