"""``SparseClassifier``: two or more classes from at most k features."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from paring import losses
from paring.estimators._callbacks import with_callbacks
from paring.estimators.base import Array, LinearModel, SparseLinearModel, loss_name, row_weights

PROBABILISTIC = ("auto", "logistic", "multinomial")
LOSSES = (*PROBABILISTIC, "squared_hinge", "smoothed_hinge", "hinge")


def _gives_probabilities(self: Any) -> bool:
    if loss_name(self.loss) in PROBABILISTIC:
        return True
    raise AttributeError(f"loss={self.loss!r} gives no probabilities; use loss='auto'")


class LinearClassifier(ClassifierMixin, LinearModel):
    """Labels to targets and back; decisions and probabilities."""

    loss: Any
    LOSSES: tuple[str, ...]

    def _targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, losses.Loss, Array | None]:
        """(X, targets, loss, weights), checked; sets ``classes_``."""
        if loss_name(self.loss) not in self.LOSSES:
            raise ValueError(
                f"{type(self).__name__} takes the losses {', '.join(self.LOSSES)}, got {self.loss!r}; "
                f"for real or count targets use {type(self).__name__.replace('Classifier', 'Regressor')}"
            )
        X, y = self._validated(X, y, "sklearn.multioutput.MultiOutputClassifier")
        check_classification_targets(y)
        weights = row_weights(sample_weight, len(y))
        self.classes_, codes = _encoded(y, weights, type(self).__name__)
        loss = self._loss_of(len(self.classes_))
        return X, codes if loss.targets == "class" else 2.0 * codes - 1.0, loss, weights

    def _loss_of(self, classes: int) -> losses.Loss:
        name = loss_name(self.loss)
        if name in ("auto", "multinomial"):
            return losses.logistic if classes == 2 else losses.multinomial(classes)
        if classes > 2:
            raise ValueError(
                f"Only binary classification is supported by loss={name!r}. The type of the target is multiclass "
                f"({classes} classes): use loss='auto', or sklearn.multiclass.OneVsRestClassifier"
            )
        return losses.get(self.loss)

    def decision_function(self, X: Any) -> Array:
        """Scores ``X @ coef_.T + intercept_``. For two classes, positive means ``classes_[1]``.

        Cost: dense X, the columns of the support where they are less than an eighth of all, else a pass over X; CSC,
        the columns of the support; CSR, a pass over X. And one look at X for NaN and infinity, which
        ``sklearn.config_context(assume_finite=True)`` leaves out.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels: those of the highest score. Cost: as ``decision_function``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        z = self._scores(X)
        return cast(NDArray[Any], self.classes_[(z > 0).astype(np.intp) if z.ndim == 1 else z.argmax(axis=1)])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities; only for logistic and multinomial losses. Cost: as ``decision_function``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes), in the order of ``classes_``
        """
        z = self._scores(X)
        return np.column_stack((expit(-z), expit(z))) if z.ndim == 1 else softmax(z, axis=1)

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of ``predict_proba``, exact also where a probability rounds to 0. Cost: as ``decision_function``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes), in the order of ``classes_``
        """
        z = self._scores(X)
        return np.column_stack((log_expit(-z), log_expit(z))) if z.ndim == 1 else log_softmax(z, axis=1)

    def _shaped(self, coef: Array, intercept: Any) -> dict[str, Any]:
        rows = coef[None] if coef.ndim == 1 else np.ascontiguousarray(coef.T)
        return {"coef_": rows, "intercept_": np.full(len(rows), intercept, dtype=np.float64)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = loss_name(self.loss) in ("auto", "multinomial")
        return tags


class SparseClassifier(LinearClassifier, SparseLinearModel):
    """Linear classification with at most k features.

    Minimises ``(1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2`` over all w with at most ``n_nonzero_coefs``
    nonzeros; v are the sample weights scaled to mean 1, and the intercept b is neither counted nor shrunk. With more
    than two classes w has a column for each, and a feature is kept for all classes or for none.

    Cost: with the default solver about one pass over X for each feature kept, and a few more; X is not copied if it
    is float32 or float64, dense, CSR or CSC.

    Parameters
    ----------
    n_nonzero_coefs : int, default=None
        The most features kept (with ``groups``: groups). None means min(10, how many there are).
    loss : {"auto", "logistic", "multinomial", "squared_hinge", "smoothed_hinge", "hinge"} or a ``paring.losses`` \
            object, default="auto"
        "auto" is logistic for two classes and multinomial for more; "multinomial" for two classes is the logistic model
        too. The hinges are for two classes and give no probabilities; ``paring.losses.smoothed_hinge(gamma)`` sets its
        width. "hinge" itself needs a positive ``ridge``.
    ridge : float or "auto", default="auto"
        Weight of the l2 term. "auto" is 1 / sum(sample_weight), which is scikit-learn's C=1. With 0, separable data
        have no best model: coefficients grow until rounding stops them.
    groups : array-like of shape (n_features,), default=None
        One label a feature, in any order: features of one label are kept or dropped together.
    always_select : list of int or str, or mask, default=None
        Features kept in any case: 0-based indices, a mask, or names if X is a data frame. They count among the k.
    lower_bounds, upper_bounds : float or array-like of shape (n_features,), default=None
        Bounds on the coefficients, with lower <= 0 <= upper; ``lower_bounds=0`` asks for non-negative ones.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : str or solver object, default="auto"
        "auto" is ``pursuit``, or ``diht`` with 2,000 features or more and logistic loss; for loss="hinge" ``diht`` on
        small data, else ``sdiht``; see ``paring.solve`` for the others.
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
        Seed of the solvers that draw random numbers; of the default ones only ``sdiht`` does.
    verbose : int, default=0
        Whether to show the progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted: those that occur in rows of positive weight.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients, one row for two classes; zero outside the support.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of shape (n_features,) of bool
        Which features were kept, as a mask (``result_.support`` holds their indices); also by ``get_support``.
    n_nonzero_coefs_ : int
        How many features have a coefficient that is not zero: at most what was asked for.
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
    SparseRegressor : The same for real and count targets.
    sklearn.linear_model.LogisticRegression : All features, or an l1 penalty.

    Notes
    -----
    Rows of weight zero are as good as absent. Ctrl-C sets the attributes of the model so far, then raises
    KeyboardInterrupt.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from paring import SparseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler().set_output(transform="pandas"), SparseClassifier(3)).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.97
    >>> list(X.columns[model[-1].get_support(indices=True)])
    ['worst radius', 'worst texture', 'worst concave points']
    """

    LOSSES = LOSSES

    def __init__(
        self,
        n_nonzero_coefs: int | None = None,
        *,
        loss: str | losses.Loss = "auto",
        ridge: float | str = "auto",
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseClassifier:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            float32 and float64, dense (any order, memory-mapped too), CSR and CSC are taken as they lie.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, not negative; a weight of 2 counts as the row given twice.

        Returns
        -------
        self : SparseClassifier
        """
        X, targets, loss, weights = self._targets(X, y, sample_weight)
        ridge = self.ridge
        if isinstance(ridge, str) and ridge == "auto":
            ridge = 1.0 / total(weights, len(targets), "ridge")
        self._fit(X, targets, loss, ridge, weights)
        return self


def total(weights: Array | None, n: int, setting: str) -> float:
    """Sum of the weights, over which ``setting`` is 1."""
    if weights is None:
        return float(n)
    with np.errstate(over="ignore"):
        summed = float(weights.sum())
    if not np.isfinite(summed):
        raise ValueError(
            f"sample_weight sums to infinity, and {setting}='auto' is 1 over that sum: scale the weights down"
        )
    return summed


def _encoded(y: NDArray[Any], weights: Array | None, who: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Labels and the number of each row's. Rows of weight zero are as good as absent: what they hold is no class."""
    labels, codes = np.unique(y, return_inverse=True)
    if weights is not None and weights.shape == codes.shape:
        present = np.unique(codes[weights != 0])
        labels, codes = labels[present], np.searchsorted(present, codes).clip(max=len(present) - 1)
    if len(labels) < 2:
        raise ValueError(
            f"{who} needs samples of at least 2 classes in the data, "
            f"but the data contains only one class: {labels.tolist()[0]!r}"
        )
    return labels, codes
