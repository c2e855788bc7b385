"""``MultiTaskLassoCV`` and ``GroupLassoCV``: alpha by cross-validation where features enter together."""

from __future__ import annotations

from typing import Any

from paring.estimators.lasso import GroupLasso
from paring.estimators.multi_task import MultiTaskLasso
from paring.estimators.penalised_cv import LassoCV
from paring.penalties import MultiTask


class MultiTaskLassoCV(LassoCV, MultiTaskLasso):
    """The lasso of several targets that share their features, with alpha chosen by cross-validation and the parameters
    of scikit-learn's.

    Cost: a path for each fold, and a fit. Attributes: those of ``MultiTaskLasso`` and of ``PenalizedRegressorCV``; the
    held-out loss of a row is the sum over its targets, and ``mse_path_`` is twice ``error_path_`` by their number.

    Parameters
    ----------
    eps : float, default=1e-3
        The least alpha, of the largest.
    alphas : int or array-like, default=100
        How many alphas, or the alphas.
    fit_intercept, max_iter, tol :
        As of ``MultiTaskLasso``.
    cv : int, splitter or iterable, default=None
        Folds; None means 5.
    n_jobs : int, default=None
        Threads.
    copy_X, verbose, random_state, selection :
        Without effect.

    Examples
    --------
    >>> import numpy as np
    >>> from paring import MultiTaskLassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> Y = X[:, [2]] * [3.0, -1.0] + 0.5 * rng.standard_normal((60, 2))
    >>> model = MultiTaskLassoCV(alphas=20).fit(X, Y)
    >>> model.coef_.shape, bool(model.support_[2])
    ((2, 8), True)
    """

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.selection = selection

    def _penalty_at(self, alpha: float, d: int) -> Any:
        return MultiTask(alpha)

    @property
    def mse_path_(self) -> Any:
        """The mean squared error of each alpha on each fold, over the targets too."""
        return 2 * self.error_path_ / len(self.coef_)


class GroupLassoCV(LassoCV, GroupLasso):
    """The group lasso with alpha chosen by cross-validation.

    Cost: a path for each fold, and a fit. Attributes: those of ``GroupLasso`` and of ``PenalizedRegressorCV``;
    ``mse_path_`` is twice ``error_path_``.

    Parameters
    ----------
    groups : array-like of shape (n_features,), default=None
        One label a feature, in any order. None: each feature alone.
    penalty_factors : array-like of shape (n_groups,), default=None
        One number a group, in the labels' sorted order; None: the square roots of the groups' sizes.
    eps : float, default=1e-3
        The least alpha, of the largest.
    alphas : int or array-like, default=100
        How many alphas, or the alphas.
    rule : {"min", "1se"}, default="min"
        "1se": the largest alpha whose error is within one standard error of the least.
    fit_intercept, max_iter, tol, positive :
        As of ``GroupLasso``.
    cv : int, splitter or iterable, default=None
        Folds; None means 5.
    n_jobs : int, default=None
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from paring import GroupLassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 6))
    >>> y = 3 * X[:, 2] + 2 * X[:, 3] + rng.standard_normal(60)
    >>> model = GroupLassoCV(groups=[0, 0, 1, 1, 2, 2], alphas=20, rule="1se").fit(X, y)
    >>> model.support_.tolist()
    [False, False, True, True, False, False]
    """

    def __init__(
        self,
        *,
        groups: Any = None,
        penalty_factors: Any = None,
        eps: float = 1e-3,
        alphas: Any = 100,
        rule: str = "min",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.groups = groups
        self.penalty_factors = penalty_factors
        self.eps = eps
        self.alphas = alphas
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.n_jobs = n_jobs
        self.positive = positive

    def _penalty_at(self, alpha: float, d: int) -> Any:
        return self._penalty(alpha, d)
