"""``PenalizedClassifier``: two or more classes under every penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from paring import losses
from paring.estimators._callbacks import with_callbacks
from paring.estimators.classifier import PROBABILISTIC, LinearClassifier, total
from paring.estimators.penalised import PenalizedModel, checked_alpha


class PenalizedClassifier(LinearClassifier, PenalizedModel):
    """Linear classification with a penalty that makes coefficients zero.

    Minimises ``(1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2 + alpha penalty(w)``; v are the sample weights
    scaled to mean 1, and the intercept b is not penalised. With more than two classes w has a column for each.

    Cost: with the default solver a few passes over X for each Newton step; X is not copied if it is float32 or
    float64, dense, CSR or CSC.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Weight of the penalty, positive. "auto" is 1 / sum(sample_weight), which is scikit-learn's C=1.
    penalty : {"l1", "elastic_net", "group", "sparse_group", "multi_task"} or a ``paring.penalties`` object, \
            default="l1"
        The formulae are those of ``paring.penalties``; of an object the weight is replaced by ``alpha``. With more than
        two classes "l1" makes single coefficients zero, "multi_task" features for all classes at once.
    l1_ratio : float, default=0.5
        The part of l1 in "elastic_net" and "sparse_group".
    groups : array-like of shape (n_features,), default=None
        One label a feature, for "group" and "sparse_group". None: each feature alone.
    penalty_factors : array-like, default=None
        A factor of each feature's (or group's) penalty: 0 does not penalise it, infinity leaves it out.
    loss : {"auto", "logistic", "multinomial", "squared_hinge", "smoothed_hinge"} or a ``paring.losses`` object, \
            default="auto"
        "auto" is logistic for two classes and multinomial for more. The hinges are for two classes and give no
        probabilities.
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
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted: those that occur in rows of positive weight.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of shape (n_features,) of bool
        Which features have a coefficient that is not zero.
    n_nonzero_coefs_ : int
        How many features have one.
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
    PenalizedClassifierCV : With alpha chosen by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from paring import PenalizedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PenalizedClassifier(alpha=0.05).fit(scale(X), y)
    >>> model.n_nonzero_coefs_, round(model.score(scale(X), y), 2)
    (4, 0.96)
    """

    LOSSES = (*PROBABILISTIC, "squared_hinge", "smoothed_hinge")

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PenalizedClassifier:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; a weight of 2 counts as the row given twice.

        Returns
        -------
        self : PenalizedClassifier
        """
        X, targets, loss, weights = self._targets(X, y, sample_weight)
        automatic = isinstance(getattr(self, "alpha", None), str)
        self._mass = total(weights, len(targets), "alpha") if automatic else np.nan
        self._fit(X, targets, loss, self.ridge, weights)
        return self

    def _alpha(self) -> float:
        return 1.0 / self._mass if isinstance(self.alpha, str) and self.alpha == "auto" else checked_alpha(self.alpha)
