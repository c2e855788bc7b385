"""``Lasso``, ``ElasticNet``, ``GroupLasso``: scikit-learn's parameters where it has the estimator.

    (1/2n) sum_i v_i |y_i - x_i.w - b|^2 + alpha penalty(w)

``precompute``, ``selection``, ``copy_X``, ``check_input`` and ``random_state`` are taken and have no effect: the solver
needs none of them, and gives the same answer. ``tol`` has scikit-learn's meaning: gap <= tol |y|^2 / n (y centred where
there is an intercept).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paring import losses
from paring.estimators._callbacks import with_callbacks
from paring.estimators.base import is_number, require, row_weights
from paring.estimators.penalised import checked_alpha
from paring.estimators.regressor import LinearRegressor
from paring.penalties import L1, L1L2, Group

LEAST_TOL = 1e-15  # finer, gaps are rounding


class LeastSquares(LinearRegressor):
    """Squared loss under a penalty, with scikit-learn's tolerance."""

    def _tolerance(self) -> float:
        require(is_number(self.tol) and self.tol >= 0, "tol", "a number of at least 0", self.tol)
        return max(2 * float(self.tol), LEAST_TOL)  # of |y|^2 / 2n, the loss without features

    def _alpha(self) -> float:
        return checked_alpha(self.alpha)

    def _bounds(self) -> Any:
        return (0.0, np.inf) if self.positive else None

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; a weight of 2 counts as the row given twice.
        check_input : bool, default=True
            Without effect.

        Returns
        -------
        self : the estimator itself.
        """
        remedy = "sklearn.multioutput.MultiOutputRegressor, or jointly by paring.MultiTaskLasso"
        X, y = self._validated(X, y, remedy, y_numeric=True)
        self._fit(X, y, losses.squared, 0.0, row_weights(sample_weight, len(y)))
        return self

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a sparse matrix of shape (1, n_features)."""
        return sp.csr_matrix(self.coef_)


class Lasso(LeastSquares):
    """The lasso, with the parameters of scikit-learn's.

    Minimises ``(1/2n) |y - X w - b|^2 + alpha |w|_1``, with sample weights if given.

    Cost: five or six passes over X as a rule; X is not copied if it is float32 or float64, dense, CSR or CSC.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, positive.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute, copy_X : default=False, True
        Without effect.
    max_iter : int, default=1000
        Limit on passes over X.
    tol : float, default=1e-4
        The dual gap to come down to, divided by ``|y|^2 / n``.
    warm_start : bool, default=False
        Whether to start from the last fit's model.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state, selection : default=None, "cyclic"
        Without effect.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    dual_gap_ : float
        The objective minus a lower bound on the least one possible.
    n_iter_, n_passes_ : int
        Rounds of the solver, and passes over X.
    support_ : ndarray of shape (n_features,) of bool
        Which coefficients are not zero.
    n_nonzero_coefs_ : int
        How many are not zero.
    objective_ : float
        The minimised objective at the model.
    proved_optimal_ : bool
        Whether the gap is within ``tol``.
    result_ : paring.Result
        All the solver returned.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has feature names that are all strings.

    Examples
    --------
    >>> from paring import Lasso
    >>> model = Lasso(alpha=0.1).fit([[0, 0], [1, 1], [2, 2]], [0, 1, 2])
    >>> model.coef_.sum().round(2), round(model.intercept_, 2)
    (np.float64(0.85), 0.15)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _posed(self, d: int) -> dict[str, Any]:
        return {"penalty": L1(self._alpha(), bounds=self._bounds())}


class ElasticNet(LeastSquares):
    """The elastic net, with the parameters of scikit-learn's.

    Minimises ``(1/2n) |y - X w - b|^2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)``, with weights if given.

    Cost: as of ``Lasso``, whose attributes it has.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, positive.
    l1_ratio : float, default=0.5
        The part of l1, from 0 to 1.
    fit_intercept, max_iter, tol, warm_start, positive :
        As of ``Lasso``.
    precompute, copy_X, random_state, selection :
        Without effect.

    Examples
    --------
    >>> from paring import ElasticNet
    >>> ElasticNet(alpha=0.1).fit([[0, 0], [1, 1], [2, 2]], [0, 1, 2]).coef_.round(2)
    array([0.45, 0.45])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _posed(self, d: int) -> dict[str, Any]:
        return {"penalty": L1L2(self._alpha(), self._ratio(), bounds=self._bounds())}

    def _ratio(self) -> float:
        return self.l1_ratio


class GroupLasso(LeastSquares):
    """The group lasso: the features of a group are kept or dropped together.

    Minimises ``(1/2n) |y - X w - b|^2 + alpha sum_g factor_g |w_g|``, with sample weights if given.

    Cost: as of ``Lasso``, whose attributes it has.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, positive.
    groups : array-like of shape (n_features,), default=None
        One label a feature, in any order. None: each feature alone.
    penalty_factors : array-like of shape (n_groups,), default=None
        One number a group, in the labels' sorted order; None: the square roots of the groups' sizes.
    fit_intercept, max_iter, tol, warm_start, positive :
        As of ``Lasso``.

    Examples
    --------
    >>> import numpy as np
    >>> from paring import GroupLasso
    >>> X = np.random.default_rng(0).standard_normal((50, 6))
    >>> GroupLasso(0.5, groups=[0, 0, 1, 1, 2, 2]).fit(X, 3 * X[:, 2]).support_.tolist()
    [False, False, True, True, False, False]
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        groups: Any = None,
        penalty_factors: Any = None,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
    ) -> None:
        self.alpha = alpha
        self.groups = groups
        self.penalty_factors = penalty_factors
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive

    def _posed(self, d: int) -> dict[str, Any]:
        return {"penalty": self._penalty(self._alpha(), d)}

    def _penalty(self, alpha: float, d: int) -> Group:
        groups = np.arange(d) if self.groups is None else self.groups
        return Group(alpha, groups, factors=self.penalty_factors, bounds=self._bounds())
