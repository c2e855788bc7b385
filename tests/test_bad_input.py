"""Bad input, through ``solve`` and through the estimators: a clear error, or a sensible answer where there is one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, SparseClassifier, SparseRegressor, losses, solve
from paring.constraints import L2Ball, TopK
from paring.result import Model
from paring.solvers.htp import HTP
from paring.solvers.iht import IHT
from paring.solvers.steps import Fixed

N, D = 40, 6
SMOOTH = ("squared", "huber", "logistic", "squared_hinge", "smoothed_hinge", "poisson", "multinomial")
LAYOUTS = {"dense": np.asarray, "F": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}
FINITE = r"X holds NaN or infinity \(or a root mean square beyond 1e\+70\) in column \d+; impute or drop them first"

EACH_LAYOUT = pytest.mark.parametrize("layout", LAYOUTS)
EACH_LOSS = pytest.mark.parametrize("loss", SMOOTH)
INTERCEPT = pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])


@pytest.fixture(autouse=True)
def no_arithmetic_goes_wrong_unseen() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def data(loss: str = "squared", seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    z = X[:, 1] - X[:, 3] + rng.standard_normal(N)
    if loss in ("squared", "huber"):
        return X, z
    if loss == "poisson":
        return X, np.floor(np.exp(z / 2))
    return X, np.digitize(z, [-0.7, 0.7]).astype(float) if loss == "multinomial" else np.where(z > 0, 1.0, -1.0)


def pose(X: Any = None, y: Any = None, loss: str = "squared", k: Any = 2, **options: Any) -> Problem:
    given = data(loss)
    limits = {name: options.pop(name) for name in ("always", "never", "groups", "bounds") if name in options}
    X, y = (old if new is None else new for new, old in zip((X, y), given, strict=True))
    return Problem(X, y, loss, constraint=TopK(k, **limits), **options)


def sensible(problem: Problem) -> Any:
    """The answer, which is finite, feasible and no worse than the null model."""
    result = solve(problem)
    assert result.converged, result
    assert np.isfinite(result.coef).all() and np.all(np.isfinite(result.intercept))
    assert problem.constraint.contains(result.coef)
    assert np.isfinite(result.objective)
    assert result.objective <= problem.null[1] + 1e-9 * problem.scale
    return result


# -- the matrix and the target ----------------------------------------------------------------------------------------


@EACH_LAYOUT
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite(layout: str, dtype: Any, bad: float) -> None:
    X, y = data()
    X[3, 2] = bad
    given = LAYOUTS[layout](X.astype(dtype))
    for call in (lambda: pose(given), lambda: SparseRegressor(2).fit(given, y)):
        with pytest.raises(ValueError, match=FINITE):
            call()
    with pytest.raises(ValueError, match=FINITE):
        SparseClassifier(2).fit(given, y > 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("loss", ["squared", "huber", "poisson", "logistic"])
def test_targets_that_are_not_finite(loss: str, bad: float) -> None:
    X, y = data(loss)
    y[5] = bad
    with pytest.raises(ValueError, match="y holds NaN or infinity"):
        pose(X, y, loss)
    with pytest.raises(ValueError, match="Input y contains"):
        SparseRegressor(2).fit(X, y)


SHAPES: list[tuple[Any, Any, str, str]] = [
    (np.ones((0, 3)), np.ones(0), "X has 0 rows and 3 columns: at least one of each is needed", "0 sample"),
    (np.ones((3, 0)), np.ones(3), "X has 3 rows and 0 columns: at least one of each is needed", "0 feature"),
    (sp.csr_array((0, 3)), np.ones(0), "X has 0 rows and 3 columns", "0 sample"),
    (sp.csc_array((3, 0)), np.ones(3), "X has 3 rows and 0 columns", "0 feature"),
    (np.ones(5), np.ones(5), "X must have two dimensions, got 1: reshape", "Expected 2D array"),
    (np.ones((2, 3, 4)), np.ones(2), "X must have two dimensions, got 3: reshape", "dim 3"),
    (np.ones((4, 2)), np.ones(3), "X has 4 rows but y has 3", "inconsistent numbers of samples"),
    (
        np.ones((4, 2)),
        np.ones((4, 2)),
        r"y must have one column, got shape \(4, 2\): fit each target alone",
        "2 columns",
    ),
    (
        np.array([["a", "b"]] * 3),
        np.ones(3),
        "X holds <U1; real numbers are needed",
        "X holds <U1; real numbers are needed",
    ),
    (np.ones((3, 2)) * 1j, np.ones(3), "X holds complex128; real numbers are needed", "Complex data not supported"),
    (np.ma.masked_invalid(np.ones((3, 2))), np.ones(3), "X is a masked array: impute it", ""),
]


@pytest.mark.parametrize(("X", "y", "ours", "theirs"), SHAPES)
def test_shapes_and_types(X: Any, y: Any, ours: str, theirs: str) -> None:
    with pytest.raises((ValueError, TypeError), match=ours):
        pose(X, y, k=1)
    if theirs:
        with pytest.raises((ValueError, TypeError), match=theirs):
            SparseRegressor(1).fit(X, y)


TARGETS: list[tuple[str, Any, str]] = [
    ("logistic", np.arange(N) % 2, r"targets must be -1 or \+1; SparseClassifier takes any labels"),
    ("squared_hinge", np.zeros(N), r"targets must be -1 or \+1"),
    ("multinomial", np.full(N, 0.5), "targets must be class numbers 0, 1, .."),
    ("multinomial", np.full(N, -1.0), "targets must be class numbers 0, 1, .."),
    ("poisson", np.full(N, -1.0), "targets must be at least 0"),
    ("squared", ["a"] * N, r"numbers are needed \(SparseClassifier takes any labels\)"),
    ("squared", np.full(N, 1j), "numbers are needed"),
]


@pytest.mark.parametrize(("loss", "y", "message"), TARGETS)
def test_targets_no_loss_is_taken_of(loss: str, y: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        pose(data()[0], y, loss)


# -- settings ---------------------------------------------------------------------------------------------------------

SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"k": D + 1}, "k=7 is more than the 6 features there are: choose k <= 6"),
    ({"k": 4, "groups": [0, 1, 2] * 2}, "k=4 is more than the 3 groups there are: choose k <= 3"),
    ({"k": 0}, "k must be a whole number of at least 1, got 0"),
    ({"k": -3}, "k must be a whole number of at least 1, got -3"),
    ({"k": 1.5}, "k must be a whole number of at least 1, got 1.5"),
    ({"k": np.nan}, "k must be a whole number of at least 1, got nan"),
    ({"k": None}, "k must be a whole number of at least 1, got None"),
    ({"always": [0, 1, 2]}, "3 are always kept, but k=2: raise k or shorten always"),
    ({"always": [1], "never": [1]}, "unit 1 is in both always and never"),
    ({"always": [6]}, "always must be feature indices from 0 to 5"),
    ({"never": [-1]}, "never must be feature indices from 0 to 5"),
    ({"groups": [0, 1]}, "groups must hold one label for each of the 6 features"),
    ({"groups": [0, 1, np.nan, 2, 2, 2]}, "groups holds no label for feature 2: give each feature one"),
    ({"groups": np.array(["a", None, "b", "c", "d", "e"], object)}, "groups holds no label for feature 1"),
    ({"groups": np.array([1, "1", 2, 3, 4, 5], object)}, "groups holds text and numbers"),
    ({"bounds": (0.1, 1)}, "bounds must allow 0 for every feature"),
    ({"bounds": (-1, -0.1)}, "bounds must allow 0 for every feature"),
    ({"bounds": (-1, [1, 2])}, "upper bounds must be one number or 6 of them"),
    ({"bounds": (np.nan, 1)}, "lower bounds hold NaN"),
    ({"bounds": 3}, r"bounds must be a pair \(lower, upper\)"),
    ({"ridge": -1}, "ridge must be a number of at least 0, got -1"),
    ({"ridge": np.nan}, "ridge must be a number of at least 0, got nan"),
    ({"sample_weight": -np.ones(N)}, "sample_weight must be finite and not negative"),
    ({"sample_weight": np.full(N, np.inf)}, "sample_weight must be finite and not negative"),
    ({"sample_weight": np.zeros(N)}, "at least one weight must be positive"),
    ({"sample_weight": np.ones(3)}, "sample_weight must hold one weight for each of the 40 rows"),
    ({"loss": "absolute"}, "unknown loss 'absolute'; known: squared, logistic"),
    ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
]
IN_ESTIMATORS = {
    "always must": "always_select must",  # their words for the same, where they have others
    "k=7 is": "n_nonzero_coefs=7 is",
    "k=4 is": "n_nonzero_coefs=4 is",
    "features there are": "features of X",
    "groups there are": "groups of X",
    "choose k": "choose n_nonzero_coefs",
    "k must be a whole": "n_nonzero_coefs must be None or a whole",
    "at least one weight must be positive": "must contain at least one non-zero number: all are zero",
    "unknown loss 'absolute'; known: squared, logistic": r"takes the losses .*, got 'absolute'; for .* use Sparse",
}
NAMES = {"k": "n_nonzero_coefs", "always": "always_select", "groups": "groups", "ridge": "ridge"}


@pytest.mark.parametrize(("options", "message"), SETTINGS)
def test_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pose(*data(), **options)


@pytest.mark.parametrize(("options", "message"), SETTINGS)
@pytest.mark.parametrize("cls", [SparseRegressor, SparseClassifier])
def test_settings_of_estimators(cls: Any, options: dict[str, Any], message: str) -> None:
    if "never" in options or options.get("bounds") == 3 or options == {"k": None}:
        pytest.skip("not a parameter of estimators, or another meaning there")
    options = dict(options)
    weight = options.pop("sample_weight", None)
    low, high = options.pop("bounds", (None, None))
    named = {"n_nonzero_coefs": 2, "lower_bounds": low, "upper_bounds": high}
    named |= {NAMES.get(name, name): value for name, value in options.items()}
    X, y = data()
    for theirs, ours in IN_ESTIMATORS.items():
        message = message.replace(theirs, ours)
    with pytest.raises((ValueError, TypeError), match=message):
        cls(**named).fit(X, y > 0, sample_weight=weight)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0}, "tol must be a positive number, got 0"),
        ({"tol": np.nan}, "tol must be a positive number, got nan"),
        ({"solver": "lars"}, "unknown solver 'lars'; known: auto, pursuit"),
        ({"start": np.zeros(5)}, r"start has shape \(5,\), the problem's weights \(6,\)"),
        ({"start": np.full(6, np.nan)}, "start holds NaN or infinity"),
        ({"start": (np.zeros(6), np.inf)}, "start holds NaN or infinity"),
        ({"start": Model(np.array([-1]), np.ones(1))}, "start uses feature -1, but there are 6 features"),
        ({"start": Model(np.array([6]), np.ones(1))}, "start uses feature 6, but there are 6 features"),
        ({"start": Model(np.array([3, 1]), np.ones(2))}, "support must be ascending, each feature once"),
        ({"start": Model(np.array([1, 1]), np.ones(2))}, "support must be ascending, each feature once"),
        ({"start": Model(np.array([1.0]), np.ones(1))}, "support must be feature indices, with a weight each"),
        ({"start": Model(np.array([1, 2]), np.ones(1))}, "support must be feature indices, with a weight each"),
        ({"max_passes": None}, "max_passes=numpy.inf and time_limit=None are no limits"),
        ({"time_limit": "soon"}, "max_passes and time_limit must be numbers, got 1000 and 'soon'"),
        ({"n_jobs": 10**12}, "n_jobs must be at most 4096, got 1000000000000; use -1 for all cores"),
    ],
)
def test_settings_of_solve(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve(pose(), **options)


@pytest.mark.parametrize("cls", [SparseRegressor, SparseClassifier])
def test_weights_are_judged_before_they_are_used(cls: Any) -> None:
    X, y = data()
    signs = np.where(np.arange(N) % 2, 1.0, -1.0)  # they sum to zero
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative"):
        cls(2).fit(X, y > 0, sample_weight=signs)


def test_weights_whose_sum_overflows_are_no_silent_ridge_of_zero() -> None:
    X, y = data()
    with pytest.raises(ValueError, match="sample_weight sums to infinity, and ridge='auto' is 1 over that sum"):
        SparseClassifier(2).fit(X, y > 0, sample_weight=np.full(N, 1e308))
    assert np.isfinite(SparseClassifier(2, ridge=0.1).fit(X, y > 0, sample_weight=np.full(N, 1e308)).coef_).all()


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_rows_of_weight_zero_are_as_good_as_absent_whatever_they_hold(loss: str, ridge: float) -> None:
    X, y = data(loss)
    far, keep = X.copy(), np.ones(N, bool)
    keep[[0, 7]] = False
    far[~keep] = 2000
    options = {"constraint": TopK(2), "ridge": ridge, "fit_intercept": True}
    without = solve(Problem(X[keep], y[keep], loss, **options), certify=ridge > 0)
    weighted = solve(Problem(far, y, loss, sample_weight=keep.astype(float), **options), certify=ridge > 0)
    np.testing.assert_array_equal(weighted.support, without.support)
    np.testing.assert_allclose(weighted.coef, without.coef, rtol=1e-6)
    assert weighted.objective == pytest.approx(without.objective, rel=1e-9)
    assert weighted.dual_gap == pytest.approx(without.dual_gap, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("part", ["X", "y", "sample_weight"])
def test_masked_arrays_are_refused(part: str) -> None:
    X, y = data()
    given = {"X": X, "y": y > 0, "sample_weight": np.ones(N)}
    given[part] = np.ma.masked_array(given[part], np.zeros_like(given[part], bool))
    for fit in (SparseRegressor(2).fit, SparseClassifier(2).fit):
        with pytest.raises(TypeError, match=f"{part} is a masked array: impute it, or take {part}.filled"):
            fit(**given)
    with pytest.raises(TypeError, match=f"{part} is a masked array"):
        Problem(given["X"], given["y"], sample_weight=given["sample_weight"], constraint=TopK(2))


@pytest.mark.parametrize("kind", ["M8[s]", "m8[s]"])
def test_dates_are_no_numbers(kind: str) -> None:
    X, y = data()
    with pytest.raises(TypeError, match="real numbers are needed"):
        SparseRegressor(2).fit(X.astype(np.int64).astype(kind), y)


def test_columns_without_end_are_refused_before_memory_is_asked_for() -> None:
    X = sp.csr_array((np.ones(2), [0, 10**9], [0, 1, 2]), shape=(2, 10**9 + 1))
    with pytest.raises(
        ValueError, match=r"X has 1,000,000,001 columns and 2 stored numbers.* leave out those that are empty"
    ):
        Problem(X, [1.0, 2.0], constraint=TopK(1))


def test_constraints_that_do_not_go_together() -> None:
    with pytest.raises(TypeError, match=r"constraint must be paring.constraints.TopK\(k, ...\), or .* got int"):
        Problem(*data(), constraint=3)
    with pytest.raises(ValueError, match=r"bounds and L2Ball cannot be combined: .* use ridge to shrink"):
        Problem(*data(), constraint=TopK(2, bounds=(-1, 1)) & L2Ball(1.0))
    with pytest.raises(ValueError, match="L2Ball is not handled; use solver='iht', or ridge instead of the ball"):
        solve(Problem(*data(), constraint=TopK(2) & L2Ball(1.0)), "pursuit")
    with pytest.raises(ValueError, match="use ridge > 0, or loss='squared_hinge' or 'smoothed_hinge'"):
        solve(pose(loss="hinge"))


@EACH_LOSS
def test_divergent_steps(loss: str) -> None:
    X, y = data(loss)
    for solver in (IHT(Fixed(1e6)), HTP(Fixed(1e6))):
        try:
            result = solve(Problem(100 * X, y, loss, constraint=TopK(2), fit_intercept=True), solver)
        except ValueError as refusal:
            assert "use step=Backtracking()" in str(refusal)
        else:  # htp minimises on whatever support a step of any length gives
            assert np.isfinite(result.coef).all() and result.objective <= result.null_objective


# -- a sensible answer where there is one -----------------------------------------------------------------------------


def test_one_class() -> None:
    X, _ = data()
    with pytest.raises(ValueError, match="only one class"):
        SparseClassifier(2).fit(X, np.ones(N))
    for loss in ("logistic", "squared_hinge", "smoothed_hinge"):
        result = sensible(pose(X, np.ones(N), loss, fit_intercept=True))
        assert not result.coef.any() and result.objective < 1e-8


@INTERCEPT
@EACH_LAYOUT
@pytest.mark.parametrize("constant", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_constant_target(loss: str, constant: float, layout: str, intercept: bool) -> None:
    X, _ = data()
    result = sensible(pose(LAYOUTS[layout](X), np.full(N, constant), loss, ridge=0.01, fit_intercept=intercept))
    if intercept:
        np.testing.assert_allclose(result.coef, 0, atol=1e-6 * max(constant, 1))
        estimator = SparseRegressor(2, loss=loss).fit(X, np.full(N, constant))
        np.testing.assert_allclose(estimator.predict(X), constant, rtol=1e-9, atol=1e-12)


def zero(X: np.ndarray) -> np.ndarray:
    return np.zeros_like(X)


def some_zero(X: np.ndarray) -> np.ndarray:
    return X * (np.arange(D) % 2)


def constant(X: np.ndarray) -> np.ndarray:
    return np.ones_like(X) * np.arange(D)


def duplicated(X: np.ndarray) -> np.ndarray:
    return X[:, [1, 1, 3, 3, 1, 3]]


def few_rows(X: np.ndarray) -> np.ndarray:
    return np.repeat(X[:3], [1, 1, N - 2], axis=0)


def far_off(X: np.ndarray) -> np.ndarray:
    return X + 1e6


def tiny(X: np.ndarray) -> np.ndarray:
    return X * 1e-60


def huge(X: np.ndarray) -> np.ndarray:
    return X * 1e60


def uneven(X: np.ndarray) -> np.ndarray:
    return X * 10.0 ** np.arange(-15, 15, 5)


@INTERCEPT
@EACH_LAYOUT
@EACH_LOSS
@pytest.mark.parametrize(
    "spoil", [zero, some_zero, constant, duplicated, few_rows, far_off, tiny, huge, uneven], ids=lambda f: f.__name__
)
def test_awkward_columns(spoil: Callable[[Any], Any], loss: str, layout: str, intercept: bool) -> None:
    X, y = data(loss)
    X = spoil(X)
    result = sensible(pose(LAYOUTS[layout](X), y, loss, k=4, fit_intercept=intercept))
    if spoil is zero:
        assert not result.coef.any()
    if spoil is constant and intercept:
        assert result.objective == pytest.approx(result.null_objective, rel=1e-9)
        if loss != "multinomial":  # its descent shares what is constant between w and b
            np.testing.assert_allclose(result.coef, 0, atol=1e-6)
    if spoil is duplicated and loss != "multinomial":
        best = solve(pose(data(loss)[0][:, [1, 3]], y, loss, fit_intercept=intercept))
        assert result.objective == pytest.approx(best.objective, rel=1e-6)


@INTERCEPT
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "smoothed_hinge", "multinomial"])
def test_separable_classes_without_a_ridge(loss: str, intercept: bool) -> None:
    X, _ = data()
    y = (X[:, 2] > 0).astype(float) if loss == "multinomial" else np.where(X[:, 2] > 0, 1.0, -1.0)
    result = sensible(pose(X, y, loss, k=3, fit_intercept=intercept))
    assert 2 in result.support


@EACH_LOSS
def test_all_weight_on_one_row(loss: str) -> None:
    weights = np.zeros(N)
    weights[11] = 1e-3
    for intercept in (False, True):
        sensible(pose(loss=loss, sample_weight=weights, fit_intercept=intercept))


def test_no_feature_is_allowed() -> None:
    result = sensible(pose(never=range(D), fit_intercept=True))
    assert len(result.support) == 0
    assert not sensible(pose(bounds=(0, 0))).coef.any()
    assert len(sensible(pose(k=4, never=range(4))).support) == 2


# -- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e69, 1e35, 1e-35, 1e-69])
@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "poisson"])
def test_the_answer_does_not_depend_on_the_units(loss: str, scale: float) -> None:
    """As far as numbers are accepted. (Poisson's targets have units of their own: the rate.)"""
    X, y = data(loss)
    wanted = solve(Problem(X, y, loss, constraint=TopK(3), fit_intercept=True)).support.tolist()
    targets = [y] if loss == "logistic" else [y, y * scale]
    if loss == "huber" and scale > 1:
        targets = [y]  # least absolute deviations: another problem
    for columns in (X, X * scale, X * np.where(np.arange(D) % 2, scale, 1.0)):
        for target in targets:
            if loss == "huber" and target is not y:
                posed = Problem(columns, target, losses.huber(1.35 * scale), constraint=TopK(3), fit_intercept=True)
            else:
                posed = Problem(columns, target, loss, constraint=TopK(3), fit_intercept=True)
            result = solve(posed)
            assert result.support.tolist() == wanted
            assert np.isfinite(result.coef).all()
            assert np.all(result.coef[wanted])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sizes_whose_products_overflow_or_vanish_are_refused(layout: str) -> None:
    X, y = data()
    for scale in (1e80, 1e200):
        with pytest.raises(ValueError, match=r"a root mean square beyond 1e\+70\) in column 0"):
            Problem(LAYOUTS[layout](X * scale), y, constraint=TopK(2))
    for scale in (1e-80, 1e-160, 1e-300):
        columns = X * np.where(np.arange(D) == 4, scale, 1.0)
        with pytest.raises(ValueError, match="column 4 of X has a root mean square below 1e-70: rescale or drop it"):
            Problem(LAYOUTS[layout](columns), y, constraint=TopK(2))
    for loss in ("squared", "huber", "poisson"):
        for scale, what in ((1e80, r"values beyond 1e\+70"), (1e-200, "no value above 1e-70")):
            with pytest.raises(ValueError, match=f"y holds {what} in size: rescale it"):
                Problem(LAYOUTS[layout](X), np.abs(y) * scale, loss, constraint=TopK(2))
    for scale in (1e80, np.finfo(float).max):
        with pytest.raises(ValueError, match=r"ridge must be a number of at most 1e\+70"):
            Problem(LAYOUTS[layout](X), y, constraint=TopK(2), ridge=scale)
    empty = X * np.where(np.arange(D) == 4, 0.0, 1.0)
    assert sensible(Problem(LAYOUTS[layout](empty), 0 * y, constraint=TopK(2))).objective == 0
