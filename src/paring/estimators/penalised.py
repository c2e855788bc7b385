"""``PenalizedRegressor``: losses of real and count targets under every penalty; and what all such estimators share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from paring import losses
from paring.estimators._callbacks import with_callbacks
from paring.estimators.base import LinearModel, is_number, loss_name, require, row_weights
from paring.estimators.regressor import LOSSES, LinearRegressor
from paring.penalties import L1, L1L2, Group, MultiTask, Penalty, SparseGroup

PENALTIES = ("l1", "elastic_net", "group", "sparse_group", "multi_task")


class PenalizedModel(LinearModel):
    """Estimators with ``alpha``, ``penalty``, ``l1_ratio``, ``groups``, ``penalty_factors`` and bounds."""

    def _posed(self, d: int) -> dict[str, Any]:
        return {"penalty": self._penalty(self._alpha(), d)}

    def _alpha(self) -> float:
        return checked_alpha(self.alpha)

    def _penalty(self, alpha: float, d: int) -> Penalty:
        """The penalty of weight alpha."""
        if isinstance(self.penalty, Penalty):
            return replace(self.penalty, lam=alpha)
        bounds = None
        if self.lower_bounds is not None or self.upper_bounds is not None:
            low = -np.inf if self.lower_bounds is None else self.lower_bounds
            bounds = (low, np.inf if self.upper_bounds is None else self.upper_bounds)
        groups = np.arange(d) if self.groups is None else self.groups
        options: dict[str, Any] = {"bounds": bounds, "factors": self.penalty_factors}
        if self.penalty == "l1":
            return L1(alpha, **options)
        if self.penalty == "elastic_net":
            return L1L2(alpha, self.l1_ratio, **options)
        if self.penalty == "group":
            return Group(alpha, groups, **options)
        if self.penalty == "sparse_group":
            return SparseGroup(alpha, groups, self.l1_ratio, **options)
        if self.penalty == "multi_task":
            return MultiTask(alpha, **options)
        raise ValueError(
            f"penalty must be one of {', '.join(PENALTIES)} or a paring.penalties object, got {self.penalty!r}"
        )


def checked_alpha(alpha: Any) -> float:
    """A positive number, or ValueError with the remedy for 0."""
    what = "a positive number (for 0, sklearn.linear_model.LinearRegression has no penalty)"
    require(is_number(alpha) and 0 < alpha < np.inf, "alpha", what, alpha)
    return float(alpha)


class PenalizedRegressor(LinearRegressor, PenalizedModel):
    """Linear regression with a penalty that makes coefficients zero.

    Minimises ``(1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2 + alpha penalty(w)``; v are the sample weights
    scaled to mean 1, and the intercept b is not penalised.

    Cost: with the default solver five or six passes over X as a rule; X is not copied if it is float32 or float64,
    dense, CSR or CSC.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, positive.
    penalty : {"l1", "elastic_net", "group", "sparse_group", "multi_task"} or a ``paring.penalties`` object, \
            default="l1"
        The formulae are those of ``paring.penalties``; of an object the weight is replaced by ``alpha``.
    l1_ratio : float, default=0.5
        The part of l1 in "elastic_net" and "sparse_group".
    groups : array-like of shape (n_features,), default=None
        One label a feature, for "group" and "sparse_group". None: each feature alone.
    penalty_factors : array-like, default=None
        A factor of each feature's (or group's) penalty: 0 does not penalise it, infinity leaves it out.
    loss : {"squared", "huber", "poisson"} or a ``paring.losses`` object, default="squared"
        "squared" is ``(z - y)^2 / 2``; "huber" is linear beyond 1.35; "poisson" is for counts, with ``exp(z)`` as
        the mean.
    ridge : float, default=0.0
        Weight of a further l2 term.
    lower_bounds, upper_bounds : float or array-like of shape (n_features,), default=None
        Bounds on the coefficients, with lower <= 0 <= upper; ``lower_bounds=0`` asks for non-negative ones.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : str or solver object, default="auto"
        "auto" is ``cd``; see ``paring.solve`` for the others.
    tol : float, default=1e-6
        The dual gap to come down to, relative to the loss of the model without features.
    max_iter : int, default=1000
        Limit on passes over X.
    time_limit : float, default=None
        Seconds after which the fit ends with the model so far and a ConvergenceWarning.
    warm_start : bool, default=False
        Whether to start from the last fit's model.
    n_jobs : int, default=None
        Threads; -1 means all cores, None too, but no more than the environment variable OMP_NUM_THREADS says.
    random_state : int, RandomState instance or None, default=None
        Seed of the solvers that draw random numbers; the default one does not.
    verbose : int, default=0
        Whether to show the progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    support_ : ndarray of shape (n_features,) of bool
        Which coefficients are not zero.
    n_nonzero_coefs_ : int
        How many are not zero.
    n_iter_, n_passes_ : int
        Rounds of the solver, and passes over X.
    objective_ : float
        The minimised objective at the model.
    dual_gap_ : float
        ``objective_`` minus a lower bound on the least one possible.
    proved_optimal_ : bool
        Whether that gap is within ``tol``.
    result_ : paring.Result
        All the solver returned: certificate, stop reason, history.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has feature names that are all strings.

    See Also
    --------
    PenalizedRegressorCV : With alpha chosen by cross-validation.
    Lasso : With the parameters of scikit-learn's.

    Examples
    --------
    >>> import numpy as np
    >>> from paring import PenalizedRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 50))
    >>> y = 3 * X[:, 4] - 2 * X[:, 30] + 1 + 0.1 * rng.standard_normal(100)
    >>> model = PenalizedRegressor(alpha=0.5).fit(X, y)
    >>> model.get_support(indices=True), model.proved_optimal_
    (array([ 4, 30]), True)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
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
        self.alpha = alpha
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

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PenalizedRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; a weight of 2 counts as the row given twice.

        Returns
        -------
        self : PenalizedRegressor
        """
        if loss_name(self.loss) not in LOSSES:
            raise ValueError(
                f"{type(self).__name__} takes the losses {', '.join(LOSSES)}, got {self.loss!r}; "
                f"for classes use {type(self).__name__.replace('Regressor', 'Classifier')}"
            )
        remedy = "sklearn.multioutput.MultiOutputRegressor, or jointly by paring.MultiTaskLasso"
        X, y = self._validated(X, y, remedy, y_numeric=True)
        self._fit(X, y, losses.get(self.loss), self.ridge, row_weights(sample_weight, len(y)))
        return self
