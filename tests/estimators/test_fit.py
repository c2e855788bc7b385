"""How a fit goes and ends: callbacks, Ctrl-C, time, warm starts, cost; and every refusal."""

import statistics
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.utils.validation import validate_data

from paring import SparseClassifier, SparseRegressor, losses
from paring.estimators import base
from tests.estimators.data import TRUE, binary, regression, three_classes

ESTIMATORS = [(SparseRegressor, regression), (SparseClassifier, binary), (SparseClassifier, three_classes)]
FITTED = """
    coef_ intercept_ support_ n_nonzero_coefs_ n_iter_ n_passes_ objective_ dual_gap_ proved_optimal_ result_ path_
"""


def raise_interrupt(progress: Any) -> None:
    raise KeyboardInterrupt


# -- callbacks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "make"), ESTIMATORS)
def test_callbacks_see_progress_and_may_stop(cls: Any, make: Any) -> None:
    X, y = make()
    seen: list[Any] = []
    model = cls(5).set_callbacks(seen.append).fit(X, y)
    assert len(seen) == model.n_iter_ == seen[-1].rounds and seen[-1].n_selected == model.support_.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stopped = cls(5).set_callbacks(lambda progress: True).fit(X, y)
    assert stopped.result_.stop_reason == "callback" and stopped.n_iter_ == 1
    assert stopped.predict(X).shape == y.shape


def test_callbacks_are_no_parameter_and_follow_clones() -> None:
    X, y = regression()
    seen: list[Any] = []
    model = SparseRegressor(2).set_callbacks(seen.append)
    assert "callbacks" not in model.get_params()
    clone(model).fit(X, y)
    assert seen
    model.set_callbacks().fit(X, y)
    before = len(seen)
    model.fit(X, y)
    assert len(seen) == before


@pytest.mark.parametrize("wrong", [1, "print", list, None])
def test_what_is_no_callback_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="callbacks must be callables f\\(progress\\) or instances of scikit-learn's"):
        SparseRegressor().set_callbacks(wrong)


@pytest.mark.parametrize(("cls", "make"), ESTIMATORS)
def test_scikit_learns_own_callbacks(cls: Any, make: Any) -> None:
    pytest.importorskip("sklearn.callback")
    X, y = make()
    events: list[Any] = []

    class Recorder:
        def setup(self, estimator: Any, context: Any) -> None:
            events.append("setup")

        def teardown(self, estimator: Any, context: Any) -> None:
            events.append("teardown")

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            events.append(("begin", context.task_name))

        def on_fit_task_end(self, estimator: Any, context: Any, *, X: Any, fitted_estimator: Any) -> None:
            events.append(("end", context.task_name, None if fitted_estimator is None else fitted_estimator.predict(X)))

    model = cls(3).set_callbacks(Recorder()).fit(X, y)
    assert events[0] == "setup" and events[-1] == "teardown" and events[1] == ("begin", "fit")
    ends = [event for event in events if event[0] == "end" and event[1] == "round"]
    assert len(ends) == events.count(("begin", "round")) == model.n_iter_ + 1
    assert ends[-1][2] is None  # begun and not gone through
    for end in (ends[-2], events[-2]):
        np.testing.assert_array_equal(end[2], model.predict(X))


def test_scikit_learns_callback_may_stop() -> None:
    pytest.importorskip("sklearn.callback")
    X, y = regression()

    class Stop:
        def setup(self, estimator: Any, context: Any) -> None: ...
        def teardown(self, estimator: Any, context: Any) -> None: ...
        def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...
        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
            return context.task_name == "round"

    assert SparseRegressor(5).set_callbacks(Stop()).fit(X, y).result_.stop_reason == "callback"


def test_progress_bar_of_scikit_learn() -> None:
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    X, y = regression()
    assert SparseRegressor(3).set_callbacks(callback.ProgressBar()).fit(X, y).n_nonzero_coefs_ == 3


def test_before_scikit_learn_had_callbacks() -> None:
    code = """if True:
        import sys
        import sklearn.model_selection  # which imports them itself, where there are any
        sys.modules["sklearn.callback"] = None
        import numpy as np
        from sklearn.base import clone
        from paring import SparseRegressor
        from paring.estimators._callbacks import CallbackSupportMixin
        assert CallbackSupportMixin.__module__ == "paring.estimators._callbacks"
        X = np.random.default_rng(0).standard_normal((40, 5))
        seen = []
        model = SparseRegressor(2)
        assert model.set_callbacks(seen.append) is model
        clone(model).fit(X, X[:, 0])
        assert seen and clone(model).get_params() == model.get_params()
        seen.clear()
        model.set_callbacks().fit(X, X[:, 0])
        assert not seen
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# -- how it ends --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "make"), ESTIMATORS)
def test_interruption_sets_the_attributes_and_is_raised_again(cls: Any, make: Any) -> None:
    X, y = make()
    model = cls(5).set_callbacks(raise_interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert [name for name in FITTED.split() if not hasattr(model, name)] == []
    assert model.result_.stop_reason == "interrupted" and not model.proved_optimal_
    assert model.support_.sum() <= 5 and model.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iter": 1}, "max_iter=1 is used up. Raise max_iter"),
        ({"time_limit": 1e-9}, "time_limit=1e-09 s is over. Raise time_limit"),
    ],
)
@pytest.mark.parametrize(("cls", "make"), ESTIMATORS)
def test_running_out_warns_and_returns(cls: Any, make: Any, options: Any, message: str) -> None:
    X, y = make()
    with pytest.warns(ConvergenceWarning, match=f"not converged: {message}.*best model so far is kept") as caught:
        model = cls(9, **options).fit(X, y)
    assert caught[0].filename == __file__
    assert model.predict(X).shape == y.shape and model.n_iter_ >= 1 and not model.result_.converged


def test_a_stalled_fit_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = regression()
    stalled = replace(SparseRegressor(3).fit(X, y).result_, stop_reason="stalled", converged=False)
    monkeypatch.setattr(base, "solve", lambda *_, **__: stalled)
    with pytest.warns(ConvergenceWarning, match="no progress to within tol=1e-06. Raise tol, standardise the features"):
        SparseRegressor(3).fit(X, y)


def test_a_fit_that_converges_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cls, make in ESTIMATORS:
            cls(4).fit(*make())


def test_warm_start() -> None:
    X, y = regression(noise=1.0)
    model = SparseRegressor(5, warm_start=True).fit(X, y)
    objective = model.objective_
    assert model.fit(X, y).objective_ <= objective * (1 + 1e-9)
    assert model.set_params(n_nonzero_coefs=3).fit(X, y).n_nonzero_coefs_ == 3
    assert model.set_params(n_nonzero_coefs=6).fit(X, y).objective_ <= objective
    assert model.fit(X[:, :8], y).coef_.shape == (8,)  # does not fit any more: starts from nothing
    classes = SparseClassifier(3, warm_start=True).fit(*binary())
    assert classes.fit(*three_classes()).coef_.shape == (3, 15)


def test_the_same_seed_is_the_same_fit() -> None:
    X, y = regression(noise=1.0)
    for seed in (None, 0, np.random.RandomState(0)):
        np.testing.assert_array_equal(
            SparseRegressor(4, random_state=seed).fit(X, y).coef_, SparseRegressor(4).fit(X, y).coef_
        )


def test_verbose_shows_something_and_silence_is_the_default(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = regression()
    SparseRegressor(3).fit(X, y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("cls", "make"), ESTIMATORS)
def test_cost_of_a_fit_beyond_its_parts(cls: Any, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make(100, 20)
    model = cls(2).fit(X, y)
    monkeypatch.setattr(base, "solve", lambda *_, result=model.result_, **__: result)

    def seconds(call: Any) -> float:
        times = []
        for _ in range(200):
            begin = time.process_time()
            call()
            times.append(time.process_time() - begin)
        return statistics.median(times)

    beyond = seconds(lambda: model.fit(X, y)) - seconds(lambda: validate_data(model, X, y))
    assert beyond < 1e-3, f"{1e3 * beyond:.2f} ms"


# -- refusals -----------------------------------------------------------------------------------------------------


def fit(cls: Any = SparseRegressor, make: Any = regression, weight: Any = None, **options: Any) -> Any:
    return cls(**options).fit(*make(), sample_weight=weight)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"n_nonzero_coefs": 16}, "n_nonzero_coefs=16 is more than the 15 features of X: choose n_nonzero_coefs <= 15"),
    ({"n_nonzero_coefs": 0}, "n_nonzero_coefs must be None or a whole number of at least 1, got 0"),
    ({"n_nonzero_coefs": 2.5}, "n_nonzero_coefs must be None or a whole number of at least 1, got 2.5"),
    ({"n_nonzero_coefs": True}, "n_nonzero_coefs must be None or a whole number of at least 1, got True"),
    ({"n_nonzero_coefs": "5"}, "n_nonzero_coefs must be None or a whole number of at least 1, got '5'"),
    (
        {"n_nonzero_coefs": 4, "groups": [0, 1, 2] * 5},
        "n_nonzero_coefs=4 is more than the 3 groups of X: choose n_nonzero_coefs <= 3",
    ),
    ({"groups": [0, 1, 2]}, "groups must hold one label for each of the 15 features"),
    ({"n_nonzero_coefs": 2, "always_select": [0, 1, 2]}, "3 are always kept, but k=2: raise k or shorten always"),
    ({"always_select": [15]}, "always_select must be feature indices from 0 to 14"),
    ({"always_select": [-1]}, "always_select must be feature indices from 0 to 14"),
    ({"always_select": 3}, "always_select must be a list of feature indices or names, got 3"),
    ({"always_select": "age"}, "always_select must be a list of feature indices or names, got 'age'"),
    ({"always_select": ["age"]}, "always_select holds names, but X has no feature names"),
    ({"lower_bounds": 1}, "bounds must allow 0 for every feature"),
    ({"upper_bounds": [1, 2]}, "upper bounds must be one number or 15 of them"),
    ({"ridge": -1}, "ridge must be a number of at least 0, got -1"),
    ({"ridge": "auto"}, "ridge must be a number of at least 0, got 'auto'"),
    ({"tol": 0}, "tol must be a positive number, got 0"),
    ({"max_iter": 0}, "max_iter must be a positive number, got 0"),
    ({"time_limit": 0}, "time_limit must be None or a positive number of seconds, got 0"),
    ({"solver": "lars"}, "unknown solver 'lars'; known: auto, pursuit"),
    ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
    ({"loss": "absolute"}, "SparseRegressor takes the losses squared, huber, poisson, got 'absolute'"),
    ({"loss": "logistic"}, "got 'logistic'; for classes use SparseClassifier"),
    ({"loss": losses.hinge}, "got hinge; for classes use SparseClassifier"),
    ({"loss": "poisson"}, "poisson: targets must be at least 0"),
    ({"weight": np.zeros(80)}, "Sample weights must contain at least one non-zero number: all are zero"),
    ({"weight": np.ones(79)}, "sample_weight must hold one weight for each of the 80 rows"),
    ({"weight": np.linspace(-1, 1, 80)}, "sample_weight must be finite and not negative"),
    ({"weight": np.full(80, np.nan)}, "sample_weight must be finite and not negative"),
]

REFUSED_CLASSES: list[tuple[dict[str, Any], str]] = [
    ({"loss": "squared"}, "got 'squared'; for real or count targets use SparseRegressor"),
    ({"loss": "hinge", "ridge": 0}, "hinge: without ridge no solver takes a loss without slopes; use ridge > 0"),
    ({"loss": "hinge", "solver": "htp"}, "no slope at its corner; use loss='squared_hinge' or .*, or solver='sdiht'"),
    ({"ridge": "C"}, "ridge must be a number of at least 0, got 'C'"),
    (
        {"loss": "logistic", "make": three_classes},
        r"Only binary .* supported by loss='logistic'.*\(3 classes\): use loss='auto'",
    ),
    ({"loss": losses.squared_hinge, "make": three_classes}, "or sklearn.multiclass.OneVsRestClassifier"),
    ({"make": regression}, "Unknown label type: continuous"),
    ({"weight": np.zeros(120)}, "Sample weights must contain at least one non-zero number"),
    ({"weight": np.ones(3)}, "sample_weight must hold one weight for each of the 120 rows"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_regressor_refuses(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(**options)


@pytest.mark.parametrize(("options", "message"), REFUSED_CLASSES)
def test_classifier_refuses(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(SparseClassifier, **{"make": binary, **options})


def test_unknown_names_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    X, y = regression()
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(15)])
    with pytest.raises(ValueError, match="always_select holds names that are no features of X: height, age"):
        SparseRegressor(3, always_select=["gene1", "height", "age"]).fit(frame, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("cls", "make"), ESTIMATORS)
def test_what_is_not_finite_is_refused(cls: Any, make: Any, bad: float) -> None:
    X, y = make()
    spoilt = X.copy()
    spoilt[3, 4] = bad
    with pytest.raises(ValueError, match="X holds NaN or infinity"):
        cls().fit(spoilt, y)
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        cls(2).fit(X, y).predict(spoilt)
    if cls is SparseRegressor:
        y[3] = bad
        with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity)"):
            cls().fit(X, y)


def test_one_class_is_refused() -> None:
    X, y = binary()
    with pytest.raises(
        ValueError, match=r"needs samples of at least 2 classes in the data, but .* only one class: 'a'"
    ):
        SparseClassifier().fit(X, np.full(len(y), "a"))


@pytest.mark.parametrize(("cls", "remedy"), [(SparseRegressor, "Regressor"), (SparseClassifier, "Classifier")])
@pytest.mark.parametrize("as_list", [False, True])
def test_several_targets_are_refused_with_the_remedy(cls: Any, remedy: str, as_list: bool) -> None:
    X, y = binary()
    Y = np.column_stack((y, y, y))
    message = f"y has 3 columns, one is needed: fit each target alone \\(sklearn.multioutput.MultiOutput{remedy}\\)"
    with pytest.raises(ValueError, match=message):
        cls().fit(X, Y.tolist() if as_list else Y)


@pytest.mark.parametrize(("cls", "make"), ESTIMATORS)
def test_a_column_of_targets_warns(cls: Any, make: Any) -> None:
    X, y = make()
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        model = cls(3).fit(X, y[:, None])
    np.testing.assert_array_equal(model.coef_, cls(3).fit(X, y).coef_)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones(5), np.ones(5), "Expected 2D array, got 1D array"),
        (np.ones((0, 3)), np.ones(0), "0 sample"),
        (np.ones((3, 0)), np.ones(3), "0 feature"),
        (np.ones((3, 2)), np.ones(4), "inconsistent numbers of samples"),
        (np.ones((3, 2)), None, "requires y to be passed"),
        (np.array([["a", "b"]] * 3), np.ones(3), "X holds <U1; real numbers are needed"),
        (np.ones((3, 2)) * 1j, np.ones(3), "Complex data not supported"),
    ],
)
@pytest.mark.parametrize("cls", [SparseRegressor, SparseClassifier])
def test_bad_shapes_and_types_are_refused(cls: Any, X: Any, y: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        cls().fit(X, y)


def test_targets_that_are_words_are_refused_by_the_regressor() -> None:
    X, y = regression()
    with pytest.raises((TypeError, ValueError), match="SparseClassifier takes any labels"):
        SparseRegressor().fit(X, np.where(y > 0, "a", "b"))


@pytest.mark.parametrize("cls", [SparseRegressor, SparseClassifier])
def test_unfitted_is_refused(cls: Any) -> None:
    X, _ = regression()
    for call in (cls().get_support, lambda: cls().predict(X)):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()


def test_wrong_number_of_features_is_refused() -> None:
    X, y = regression()
    with pytest.raises(ValueError, match="X has 14 features, but SparseRegressor is expecting 15"):
        SparseRegressor(3).fit(X, y).predict(X[:, 1:])


def test_validation_can_be_left_to_the_user() -> None:
    X, y = regression()
    with sklearn.config_context(assume_finite=True):
        model = SparseRegressor(3).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE.tolist()


def test_always_select_by_mask() -> None:
    X = np.random.default_rng(0).normal(size=(40, 15))
    y, mask = X[:, 0] - X[:, 1], np.arange(15) == 7
    for given in (mask, mask.tolist(), list(mask)):
        assert SparseRegressor(3, always_select=given).fit(X, y).get_support(indices=True).tolist() == [0, 1, 7]
    with pytest.raises(ValueError, match=r"always_select: a mask needs one entry for each of the 15 features"):
        SparseRegressor(3, always_select=mask[:4]).fit(X, y)
