"""``SparseRegressor``: real or count targets from at most k features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from paring import losses
from paring.estimators._callbacks import with_callbacks
from paring.estimators.base import Array, LinearModel, SparseLinearModel, loss_name, row_weights

LOSSES = ("squared", "huber", "poisson")


class LinearRegressor(RegressorMixin, LinearModel):
    """Prediction of real and count targets."""

    loss: Any = "squared"

    def predict(self, X: Any) -> Array:
        """Predict targets: ``X @ coef_ + intercept_``; for ``loss="poisson"`` the mean count, ``exp`` of that.

        Cost: dense X, the columns of the support where they are less than an eighth of all, else a pass over X; CSC,
        the columns of the support; CSR, a pass over X. And one look at X for NaN and infinity, which
        ``sklearn.config_context(assume_finite=True)`` leaves out.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        z = self._scores(X)
        if loss_name(self.loss) != "poisson":
            return z
        with np.errstate(over="ignore"):
            return np.exp(z)

    def _shaped(self, coef: Array, intercept: Any) -> dict[str, Any]:
        return {"coef_": coef, "intercept_": float(intercept)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = loss_name(self.loss) == "poisson"
        return tags


class SparseRegressor(LinearRegressor, SparseLinearModel):
    """Linear regression with at most k features.

    Minimises ``(1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2`` over all w with at most ``n_nonzero_coefs``
    nonzeros; v are the sample weights scaled to mean 1, and the intercept b is neither counted nor shrunk.

    Cost: with the default solver about one pass over X for each feature kept, and a few more; X is not copied if it
    is float32 or float64, dense, CSR or CSC.

    Parameters
    ----------
    n_nonzero_coefs : int, default=None
        The most features kept (with ``groups``: groups). None means min(10, how many there are).
    loss : {"squared", "huber", "poisson"} or a ``paring.losses`` object, default="squared"
        "squared" is ``(z - y)^2 / 2``; "huber" is linear beyond 1.35 (``paring.losses.huber(delta)`` for another,
        in the units of y); "poisson" is for counts, with ``exp(z)`` as the mean.
    ridge : float, default=0.0
        Weight of the l2 term. With ridge > 0 the fit also gets a lower bound on the best objective (``dual_gap_``).
    groups : array-like of shape (n_features,), default=None
        One label a feature, in any order: features of one label are kept or dropped together.
    always_select : list of int or str, or mask, default=None
        Features kept in any case: 0-based indices, a mask, or names if X is a data frame. They count among the k.
    lower_bounds, upper_bounds : float or array-like of shape (n_features,), default=None
        Bounds on the coefficients, with lower <= 0 <= upper; ``lower_bounds=0`` asks for non-negative ones.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : str or solver object, default="auto"
        "auto" is ``pursuit``, or ``diht`` with a ridge and 2,000 features or more; see ``paring.solve`` for the others.
    tol : float, default=1e-6
        Tolerance, relative to the objective of the model without features.
    max_iter : int, default=1000
        Limit on passes over X (``max_passes`` of ``paring.solve``), looked at after each stage of the solver, so it
        may be exceeded.
    time_limit : float, default=None
        Seconds after which the fit ends with the model so far and a ConvergenceWarning.
    warm_start : bool, default=False
        Whether to start from the last fit's model.
    n_jobs : int, default=None
        Threads; -1 means all cores, None too, but no more than the environment variable OMP_NUM_THREADS says (which
        joblib sets in its workers).
    random_state : int, RandomState instance or None, default=None
        Seed of the solvers that draw random numbers; the default one does not.
    verbose : int, default=0
        Whether to show the progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients; zero outside the support.
    intercept_ : float
    support_ : ndarray of shape (n_features,) of bool
        Which features were kept, as a mask (``result_.support`` holds their indices); also by ``get_support``.
    n_nonzero_coefs_ : int
        How many coefficients are not zero: at most what was asked for.
    n_iter_, n_passes_ : int
        Rounds of the solver, and passes over X.
    objective_ : float
        The minimised objective at the model.
    dual_gap_ : float
        ``objective_`` minus a lower bound on the best one possible; infinity where no bound is known.
    proved_optimal_ : bool
        Whether that gap is within ``tol``.
    path_ : dict of int to PathPoint
        The models of other sizes seen on the way, by size; empty if the solver makes none.
    loss_ : paring.losses.Loss
        The loss that was fitted.
    result_ : paring.Result
        All the solver returned: certificate, stop reason, history.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has feature names that are all strings.

    See Also
    --------
    SparseClassifier : The same for classes.
    sklearn.linear_model.OrthogonalMatchingPursuit : Greedy selection.

    Notes
    -----
    Rows of weight zero are as good as absent. For one column of targets only; several: each alone, by
    ``sklearn.multioutput.MultiOutputRegressor``. Ctrl-C sets the attributes of the model so far, then raises
    KeyboardInterrupt.

    Examples
    --------
    >>> import numpy as np
    >>> from paring import SparseRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 50))
    >>> y = 3 * X[:, 4] - 2 * X[:, 30] + 1 + 0.1 * rng.standard_normal(100)
    >>> model = SparseRegressor(n_nonzero_coefs=2).fit(X, y)
    >>> model.get_support(indices=True)
    array([ 4, 30])
    >>> model.coef_[model.support_].round(1), round(model.intercept_, 1)
    (array([ 3., -2.]), 1.0)
    """

    def __init__(
        self,
        n_nonzero_coefs: int | None = None,
        *,
        loss: str | losses.Loss = "squared",
        ridge: float = 0.0,
        groups: Any = None,
        always_select: Any = None,
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
        self.n_nonzero_coefs = n_nonzero_coefs
        self.loss = loss
        self.ridge = ridge
        self.groups = groups
        self.always_select = always_select
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            float32 and float64, dense (any order, memory-mapped too), CSR and CSC are taken as they lie.
        y : array-like of shape (n_samples,)
            Targets; for ``loss="poisson"`` not negative.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; a weight of 2 counts as the row given twice.

        Returns
        -------
        self : SparseRegressor
        """
        if loss_name(self.loss) not in LOSSES:
            raise ValueError(
                f"SparseRegressor takes the losses {', '.join(LOSSES)}, got {self.loss!r}; "
                "for classes use SparseClassifier"
            )
        X, y = self._validated(X, y, "sklearn.multioutput.MultiOutputRegressor", y_numeric=True)
        self._fit(X, y, losses.get(self.loss), self.ridge, row_weights(sample_weight, len(y)))
        return self
