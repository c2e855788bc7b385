"""scikit-learn's own checks of estimators, all of them, for estimators of several settings."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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
    SparseClassifier,
    SparseRegressor,
    losses,
)


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
        PenalizedRegressor(alpha=0.1),
        PenalizedRegressor(alpha=0.1, penalty="sparse_group", fit_intercept=False),
        PenalizedRegressor(alpha=0.1, loss="huber", ridge=0.1),
        PenalizedRegressor(alpha=0.1, loss="poisson", penalty="elastic_net"),
        PenalizedRegressor(alpha=0.1, warm_start=True),
        PenalizedClassifier(),
        PenalizedClassifier(loss="squared_hinge", penalty="group"),
        PenalizedClassifier(penalty="multi_task", fit_intercept=False),
        PenalizedClassifier(alpha=0.01, penalty="elastic_net"),
        Lasso(),
        Lasso(0.1, positive=True),
        ElasticNet(),
        GroupLasso(0.1),
        MultiTaskLasso(),
        PenalizedRegressorCV(alphas=5, cv=3),
        PenalizedClassifierCV(alphas=5, cv=3),
        LassoCV(alphas=5, cv=3),
        ElasticNetCV(alphas=5, cv=3),
        MultiTaskLassoCV(alphas=5, cv=3),
        GroupLassoCV(alphas=5, cv=3),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
