"""scikit-learn estimators. Each states its Problem; the shared fit is in ``base``."""

from paring.estimators.classifier import SparseClassifier
from paring.estimators.joint_cv import GroupLassoCV, MultiTaskLassoCV
from paring.estimators.lasso import ElasticNet, GroupLasso, Lasso
from paring.estimators.multi_task import MultiTaskLasso
from paring.estimators.penalised import PenalizedRegressor
from paring.estimators.penalised_classifier import PenalizedClassifier
from paring.estimators.penalised_cv import ElasticNetCV, LassoCV, PenalizedClassifierCV, PenalizedRegressorCV
from paring.estimators.regressor import SparseRegressor

__all__ = [
    "ElasticNet",
    "ElasticNetCV",
    "GroupLasso",
    "GroupLassoCV",
    "Lasso",
    "LassoCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "PenalizedClassifier",
    "PenalizedClassifierCV",
    "PenalizedRegressor",
    "PenalizedRegressorCV",
    "SparseClassifier",
    "SparseRegressor",
]
