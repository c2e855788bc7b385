"""scikit-learn estimators of exact-k models. Each states its Problem; the shared fit is in ``base``."""

from paring.estimators.classifier import SparseClassifier
from paring.estimators.regressor import SparseRegressor

__all__ = ["SparseClassifier", "SparseRegressor"]
