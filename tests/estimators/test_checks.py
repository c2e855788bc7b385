"""scikit-learn's own checks of estimators, all of them, for estimators of several settings."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from paring import SparseClassifier, SparseRegressor, losses


@parametrize_with_checks(
    [
        SparseRegressor(),
        SparseRegressor(ridge=0.1),
        SparseRegressor(fit_intercept=False),
        SparseRegressor(warm_start=True),
        SparseRegressor(loss="huber"),
        SparseRegressor(loss="poisson", ridge=1e-3),
        SparseRegressor(solver="htp"),
        SparseRegressor(solver="iht"),
        SparseClassifier(),
        SparseClassifier(loss="multinomial"),
        SparseClassifier(fit_intercept=False),
        SparseClassifier(loss="logistic"),
        SparseClassifier(loss="squared_hinge"),
        SparseClassifier(loss=losses.smoothed_hinge(0.5)),
        SparseClassifier(loss="hinge"),
        SparseClassifier(loss="hinge", ridge=0.1, fit_intercept=False),
        SparseClassifier(solver="htp"),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
