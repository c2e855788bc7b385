"""SparseRegressor: what it fits, predicts and says."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from sklearn.base import clone
from sklearn.linear_model import HuberRegressor, LinearRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paring import Result, SparseRegressor, losses
from tests.estimators.data import TRUE, counts, regression


def test_finds_the_features_and_their_least_squares() -> None:
    X, y = regression()
    model = SparseRegressor(3).fit(X, y)
    refit = LinearRegression().fit(X[:, TRUE], y)
    assert model.get_support(indices=True).tolist() == TRUE.tolist()
    np.testing.assert_allclose(model.coef_[TRUE], refit.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, refit.intercept_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), refit.predict(X[:, TRUE]), rtol=1e-9)


def test_attributes() -> None:
    X, y = regression()
    model = SparseRegressor(3).fit(X, y)
    assert isinstance(model.result_, Result) and model.result_.state is None
    assert model.coef_.shape == (15,) and isinstance(model.intercept_, float)
    assert model.support_.dtype == bool and model.support_ is model.get_support()
    assert model.n_nonzero_coefs_ == model.support_.sum() == 3
    assert model.n_iter_ >= 1 and model.n_passes_ > 0
    residual = y - model.predict(X)
    np.testing.assert_allclose(model.objective_, 0.5 * np.mean(residual**2), rtol=1e-9)
    assert model.dual_gap_ == model.result_.dual_gap and model.proved_optimal_ is model.result_.proved_optimal
    assert model.path_ is model.result_.path
    assert model.n_features_in_ == 15 and not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(("d", "k"), [(4, 4), (15, 10)])
def test_default_number_is_ten_or_all(d: int, k: int) -> None:
    rng = np.random.default_rng(0)
    model = SparseRegressor().fit(rng.standard_normal((60, d)), rng.standard_normal(60))
    assert model.n_nonzero_coefs is None and model.n_nonzero_coefs_ == k


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_all_features_with_ridge_is_ridge_regression(fit_intercept: bool) -> None:
    X, y = regression(d=12)
    ours = SparseRegressor(12, ridge=0.3, fit_intercept=fit_intercept).fit(X, y)
    theirs = Ridge(0.3 * len(y), fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)


def test_poisson_predicts_mean_counts() -> None:
    X, y = counts()
    model = SparseRegressor(3, loss="poisson", ridge=1e-2).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE.tolist()
    theirs = PoissonRegressor(alpha=1e-2, tol=1e-12, solver="newton-cholesky").fit(X[:, TRUE], y)
    np.testing.assert_allclose(model.coef_[TRUE], theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_), rtol=1e-12)
    np.testing.assert_allclose(model.predict(X).mean(), y.mean(), rtol=1e-8)


def test_poisson_overflow_is_infinity() -> None:
    X, y = counts()
    assert np.isinf(SparseRegressor(3, loss="poisson").fit(X, y).predict(1e6 * np.sign(X))).any()


def test_huber_withstands_outliers() -> None:
    X, y = regression()
    y[:8] += 100
    model = SparseRegressor(3, loss=losses.huber(0.3)).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE.tolist()
    np.testing.assert_allclose(model.coef_[TRUE], [3.0, -2.0, 1.5], atol=0.1)

    def objective(p: Any) -> float:
        r = np.abs(y - X[:, TRUE] @ p[:3] - p[3])
        return float(np.where(r <= 0.3, r**2 / 2, 0.3 * r - 0.045).mean())

    assert (
        model.objective_ <= minimize(objective, [*HuberRegressor().fit(X[:, TRUE], y).coef_.tolist(), 0.7]).fun + 1e-9
    )


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_weights_are_repetitions(loss: str) -> None:
    X, y = counts(n=60)
    repeats = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = SparseRegressor(4, loss=loss, ridge=0.01).fit(X, y, sample_weight=repeats)
    repeated = SparseRegressor(4, loss=loss, ridge=0.01).fit(X.repeat(repeats, axis=0), y.repeat(repeats))
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-7)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-9)


def test_only_ratios_of_weights_matter_and_a_number_is_for_all() -> None:
    X, y = regression()
    weights = np.random.default_rng(1).random(len(y))
    one, other = (SparseRegressor(4).fit(X, y, sample_weight=w) for w in (weights, 7 * weights))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_array_equal(SparseRegressor(4).fit(X, y).coef_, SparseRegressor(4).fit(X, y, 2.0).coef_)


def test_column_order_does_not_matter() -> None:
    X, y = regression(noise=1.0)
    order = np.random.default_rng(1).permutation(X.shape[1])
    np.testing.assert_allclose(
        SparseRegressor(5).fit(X[:, order], y).coef_, SparseRegressor(5).fit(X, y).coef_[order], rtol=1e-8
    )


def test_row_order_does_not_matter() -> None:
    X, y = regression(noise=1.0)
    order = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_allclose(
        SparseRegressor(5).fit(X[order], y[order]).coef_, SparseRegressor(5).fit(X, y).coef_, rtol=1e-8
    )


def test_scale_of_features_and_target_does_not_matter() -> None:
    X, y = regression(noise=1.0)
    scale = 10.0 ** np.random.default_rng(1).integers(-4, 5, X.shape[1])
    plain, scaled = SparseRegressor(5).fit(X, y), SparseRegressor(5).fit(X * scale + 100 * scale, 1e3 * y)
    np.testing.assert_array_equal(scaled.support_, plain.support_)
    np.testing.assert_allclose(scaled.coef_ * scale, 1e3 * plain.coef_, rtol=1e-7)


def test_duplicated_and_empty_columns() -> None:
    X, y = regression()
    X[:, 7] = 0
    X = np.column_stack((X, X[:, TRUE]))
    model = SparseRegressor(18).fit(X, y)
    assert np.isfinite(model.coef_).all() and model.coef_[7] == 0
    assert model.objective_ <= SparseRegressor(15).fit(X[:, :15], y).objective_ * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_constant_target(loss: str) -> None:
    X, _ = regression()
    model = SparseRegressor(3, loss=loss).fit(X, np.full(len(X), 2.5))
    np.testing.assert_allclose(model.coef_, 0, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-9)


def test_no_counts_at_all() -> None:
    X, _ = regression()
    model = SparseRegressor(3, loss="poisson").fit(X, np.zeros(len(X)))
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_) and model.predict(X).max() < 1e-6


def test_rows_of_weight_zero_are_absent() -> None:
    X, y = regression()
    weights = np.ones(len(y))
    weights[:10] = 0
    spoilt = y.copy()
    spoilt[:10] = 1e6
    np.testing.assert_allclose(
        SparseRegressor(3).fit(X, spoilt, weights).coef_, SparseRegressor(3).fit(X[10:], y[10:]).coef_, rtol=1e-7
    )


# -- constraints --------------------------------------------------------------------------------------------------


def test_always_select_by_index() -> None:
    X, y = regression()
    model = SparseRegressor(3, always_select=[0, 14]).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 2, 14]


def test_always_select_by_name() -> None:
    pd = pytest.importorskip("pandas")
    X, y = regression()
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(15)])
    model = SparseRegressor(3, always_select=["gene14", "gene0"]).fit(frame, y)
    assert model.feature_names_in_[model.support_].tolist() == ["gene0", "gene2", "gene14"]


def test_groups_in_any_label_order() -> None:
    X, y = regression()
    labels = np.array([4, 9, 7, 0, 4, 7, 2, 9, 0, 2, 1, 3, 3, 1, 5])  # {2, 5} is group 7, {11, 12} group 3
    model = SparseRegressor(2, groups=labels).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 5, 11, 12]
    named = SparseRegressor(2, groups=[f"g{label}" for label in -labels]).fit(X, y)
    np.testing.assert_array_equal(named.coef_, model.coef_)
    everything = SparseRegressor(groups=labels).fit(X, y)  # there are 8 groups: all of them by default
    assert everything.n_nonzero_coefs_ == 15


def test_scalar_bounds() -> None:
    X, y = regression()
    model = SparseRegressor(5, lower_bounds=0).fit(X, y)
    assert model.coef_.min() >= 0 and model.coef_[2] > 0 and model.coef_[5] == 0
    capped = SparseRegressor(3, lower_bounds=-1, upper_bounds=1, fit_intercept=False).fit(X, y)
    reference = lsq_linear(X[:, capped.support_], y, (-1, 1), tol=1e-14)
    np.testing.assert_allclose(capped.coef_[capped.support_], reference.x, atol=1e-7)
    assert np.count_nonzero(np.abs(capped.coef_) == 1) >= 2


def test_vector_bounds() -> None:
    X, y = regression()
    upper = np.full(15, np.inf)
    upper[2] = 1.25
    model = SparseRegressor(3, upper_bounds=upper).fit(X, y)
    np.testing.assert_allclose(model.coef_[2], 1.25)
    free = LinearRegression().fit(X[:, [5, 11]], y - 1.25 * X[:, 2])
    np.testing.assert_allclose(model.coef_[[5, 11]], free.coef_, rtol=1e-8)


# -- among other estimators ---------------------------------------------------------------------------------------


def test_grid_search_over_the_number_of_features() -> None:
    X, y = regression(noise=1.0)
    search = GridSearchCV(SparseRegressor(), {"n_nonzero_coefs": [1, 2, 3, 6, 12]}).fit(X, y)
    assert search.best_params_["n_nonzero_coefs"] in (3, 6)
    assert search.best_estimator_.support_[TRUE].all()


def test_pipeline_with_scaler() -> None:
    X, y = regression()
    model = make_pipeline(StandardScaler(), SparseRegressor(3)).fit(X * 100 + 5, y)
    assert model[-1].get_support(indices=True).tolist() == TRUE.tolist()
    weighted = model.fit(X, y, sparseregressor__sample_weight=np.arange(len(y)))
    assert weighted.score(X, y) > 0.99


def test_several_targets_through_multi_output() -> None:
    X, y = regression()
    model = MultiOutputRegressor(SparseRegressor(2)).fit(X, np.column_stack((y, X[:, 0])))
    assert [int(np.abs(estimator.coef_).argmax()) for estimator in model.estimators_] == [2, 0]


def test_clone_and_set_params() -> None:
    X, y = regression()
    loss, bounds = losses.huber(2.0), np.zeros(15)
    model = SparseRegressor(3, loss=loss, lower_bounds=bounds).fit(X, y)
    copy = clone(model)
    assert copy.loss == loss and copy.get_params()["n_nonzero_coefs"] == 3 and not hasattr(copy, "coef_")
    np.testing.assert_array_equal(copy.fit(X, y).coef_, model.coef_)
    model.set_params(n_nonzero_coefs=1, loss="squared", lower_bounds=None).fit(X, y)
    assert model.n_nonzero_coefs_ == 1 and model.support_[2]


def test_sample_weight_is_routed_on_request() -> None:
    request = SparseRegressor().get_metadata_routing().fit.requests
    assert request == {"sample_weight": None}
