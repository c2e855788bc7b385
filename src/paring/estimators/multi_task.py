"""``MultiTaskLasso``: several targets that share their features."""

from __future__ import annotations

from typing import Any

import numpy as np

from paring import losses
from paring.estimators._callbacks import with_callbacks
from paring.estimators.base import Array, LinearModel, row_weights
from paring.estimators.lasso import LeastSquares
from paring.penalties import MultiTask


class MultiTaskLasso(LeastSquares):
    """The lasso of several targets that share their features, with the parameters of scikit-learn's.

    Minimises ``(1/2n) |Y - X W' - b|^2 + alpha sum_j |W_j|``: a feature enters for all targets or for none.

    Cost: as of ``Lasso``, whose attributes it has; ``coef_`` is (n_targets, n_features), ``intercept_`` (n_targets,).

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, positive.
    fit_intercept, max_iter, tol, warm_start :
        As of ``Lasso``.
    copy_X, random_state, selection :
        Without effect.

    Examples
    --------
    >>> from paring import MultiTaskLasso
    >>> model = MultiTaskLasso(alpha=0.1).fit([[0, 1], [1, 2], [2, 4]], [[0, 0], [1, 1], [2, 3]])
    >>> model.coef_.round(2)
    array([[0.  , 0.61],
           [0.  , 0.95]])
    """

    positive = False

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> MultiTaskLasso:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative.
        check_input : bool, default=True
            Without effect.

        Returns
        -------
        self : MultiTaskLasso
        """
        X, y = self._validated(X, y, "", y_numeric=True, multi_output=True)
        if y.ndim == 1:
            single = type(self).__name__.removeprefix("MultiTask")
            raise ValueError(f"y has one column: for a single target use paring.{single}")
        self._fit(X, y, losses.squared, 0.0, row_weights(sample_weight, len(y)))
        return self

    def predict(self, X: Any) -> Array:
        """Predict targets: ``X @ coef_.T + intercept_``. Cost: a pass over X at most.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples, n_targets)
        """
        return self._scores(X).reshape(-1, len(self.coef_))

    def _posed(self, d: int) -> dict[str, Any]:
        return {"penalty": MultiTask(self._alpha())}

    def _shaped(self, coef: Array, intercept: Any) -> dict[str, Any]:
        rows = coef[None] if coef.ndim == 1 else np.asfortranarray(coef.T)
        return {"coef_": rows, "intercept_": np.full(len(rows), intercept, dtype=np.float64)}

    def __sklearn_tags__(self) -> Any:
        tags = LinearModel.__sklearn_tags__(self)
        tags.target_tags.multi_output, tags.target_tags.single_output = True, False
        return tags
