"""``PenalizedRegressorCV`` and ``PenalizedClassifierCV``; ``LassoCV`` and ``ElasticNetCV`` with scikit-learn's
parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from paring import losses
from paring.estimators.lasso import LeastSquares
from paring.estimators.penalised import PenalizedRegressor
from paring.estimators.penalised_classifier import PenalizedClassifier
from paring.estimators.selection import ChoosesAlpha
from paring.penalties import L1, L1L2

FINAL = 1e-9  # tolerance of the fit at the alpha chosen


class PenalizedRegressorCV(ChoosesAlpha, PenalizedRegressor):
    """``PenalizedRegressor`` with alpha chosen by cross-validation.

    Cost: a path for each fold, a few passes over its rows for each alpha, and a fit.

    Parameters
    ----------
    alphas : int or array-like, default=100
        How many alphas, from the least that leaves every feature out down to ``eps`` times that; or the alphas.
    eps : float, default=0.01
        The least alpha, of the largest.
    cv : int, splitter or iterable, default=None
        Folds, as scikit-learn takes them; None means 5.
    rule : {"min", "1se"}, default="min"
        "1se": the largest alpha whose error is within one standard error of the least.
    penalty, l1_ratio, groups, penalty_factors, loss, ridge, lower_bounds, upper_bounds, fit_intercept :
        As of ``PenalizedRegressor``, whose attributes it has too.
    solver, tol, max_iter, time_limit, warm_start, n_jobs, random_state, verbose :
        The same.

    Attributes
    ----------
    alpha_ : float
        The alpha chosen.
    alphas_ : ndarray of shape (n_alphas,)
        Those tried, falling.
    path_ : dict of str to ndarray
        A table with the columns alpha, error (mean held-out loss), standard_error and features.
    error_path_ : ndarray of shape (n_alphas, n_folds)
        The held-out loss of each fold.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from paring import PenalizedRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> PenalizedRegressorCV(rule="1se", alphas=30).fit(X, y).n_nonzero_coefs_
    6
    """

    def __init__(
        self,
        *,
        alphas: Any = 100,
        eps: float = 0.01,
        cv: Any = None,
        rule: str = "min",
        penalty: Any = "l1",
        l1_ratio: float = 0.5,
        groups: Any = None,
        penalty_factors: Any = None,
        loss: str | losses.Loss = "squared",
        ridge: float = 0.0,
        lower_bounds: Any = None,
        upper_bounds: Any = None,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.rule = rule
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.penalty_factors = penalty_factors
        self.loss = loss
        self.ridge = ridge
        self.lower_bounds = lower_bounds
        self.upper_bounds = upper_bounds
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _penalty_at(self, alpha: float, d: int) -> Any:
        return self._penalty(alpha, d)


class PenalizedClassifierCV(ChoosesAlpha, PenalizedClassifier):
    """``PenalizedClassifier`` with alpha chosen by cross-validation of its loss.

    Cost: a path for each fold, and a fit.

    Parameters
    ----------
    alphas : int or array-like, default=100
        How many alphas, from the least that leaves every feature out down to ``eps`` times that; or the alphas.
    eps : float, default=0.01
        The least alpha, of the largest.
    cv : int, splitter or iterable, default=None
        Folds, as scikit-learn takes them (stratified); None means 5.
    rule : {"min", "1se"}, default="min"
        "1se": the largest alpha whose error is within one standard error of the least.
    penalty, l1_ratio, groups, penalty_factors, loss, ridge, lower_bounds, upper_bounds, fit_intercept :
        As of ``PenalizedClassifier``, whose attributes it has too.
    solver, tol, max_iter, time_limit, warm_start, n_jobs, random_state, verbose :
        The same.

    Attributes
    ----------
    alpha_ : float
        The alpha chosen.
    alphas_ : ndarray of shape (n_alphas,)
        Those tried, falling.
    path_ : dict of str to ndarray
        A table with the columns alpha, error (mean held-out loss), standard_error and features.
    error_path_ : ndarray of shape (n_alphas, n_folds)
        The held-out loss of each fold.
    """

    def __init__(
        self,
        *,
        alphas: Any = 100,
        eps: float = 0.01,
        cv: Any = None,
        rule: str = "min",
        penalty: Any = "l1",
        l1_ratio: float = 0.5,
        groups: Any = None,
        penalty_factors: Any = None,
        loss: str | losses.Loss = "auto",
        ridge: float = 0.0,
        lower_bounds: Any = None,
        upper_bounds: Any = None,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.rule = rule
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.penalty_factors = penalty_factors
        self.loss = loss
        self.ridge = ridge
        self.lower_bounds = lower_bounds
        self.upper_bounds = upper_bounds
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _penalty_at(self, alpha: float, d: int) -> Any:
        return self._penalty(alpha, d)


class LassoCV(ChoosesAlpha, LeastSquares):
    """The lasso with alpha chosen by cross-validation, with the parameters of scikit-learn's.

    Cost: a path for each fold, and a fit. Attributes: those of ``Lasso`` and of ``PenalizedRegressorCV``;
    ``mse_path_`` is twice ``error_path_``.

    Parameters
    ----------
    eps : float, default=1e-3
        The least alpha, of the largest.
    alphas : int or array-like, default=100
        How many alphas, or the alphas.
    fit_intercept, max_iter, tol, positive :
        As of ``Lasso``.
    cv : int, splitter or iterable, default=None
        Folds; None means 5.
    n_jobs : int, default=None
        Threads.
    precompute, copy_X, verbose, random_state, selection :
        Without effect.
    """

    warm_start = False

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _penalty_at(self, alpha: float, d: int) -> Any:
        return L1(alpha, bounds=self._bounds())

    def _tolerance(self) -> float:
        """Of the one fit at the end, which costs little beside the paths."""
        return min(super()._tolerance(), FINAL)

    def _tolerance_of_paths(self) -> float:
        return super()._tolerance()

    @property
    def mse_path_(self) -> Any:
        """The mean squared error of each alpha on each fold."""
        return 2 * self.error_path_


class ElasticNetCV(LassoCV):
    """The elastic net with alpha chosen by cross-validation, with the parameters of scikit-learn's (one l1_ratio).

    Cost, attributes and parameters: as of ``LassoCV``.

    Parameters
    ----------
    l1_ratio : float, default=0.5
        The part of l1, more than 0 unless ``alphas`` are given.
    """

    def __init__(
        self,
        *,
        l1_ratio: float = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: Any = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _penalty_at(self, alpha: float, d: int) -> Any:
        ratio: Any = self.l1_ratio
        if np.ndim(ratio) > 0:
            raise ValueError("l1_ratio must be one number: several are not searched; use GridSearchCV over l1_ratio")
        return L1L2(alpha, ratio, bounds=self._bounds())
