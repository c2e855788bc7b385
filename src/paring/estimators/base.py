"""What the estimators share: data in, the Problem, ``solve``, attributes out; and what those of k features do."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from paring.constraints import TopK, indices_of, unit_labels
from paring.data.design import as_design
from paring.data.incoming import refuse_masked
from paring.estimators._callbacks import TakesCallbacks
from paring.losses import Loss
from paring.problem import Problem
from paring.result import Model, Result
from paring.solvers import solve
from paring.told import warn

Array = NDArray[np.float64]

MOST_BY_DEFAULT = 10  # features kept where n_nonzero_coefs=None
AS_IT_LIES: dict[str, Any] = {
    "accept_sparse": ["csr", "csc"],
    "accept_large_sparse": True,
    "dtype": [np.float64, np.float32],
    "order": None,
    "copy": False,
}
REMEDIES = {
    "max_passes": "max_iter={max_iter} is used up. Raise max_iter, standardise the features or raise tol",
    "time_limit": "time_limit={time_limit} s is over. Raise time_limit, ask for a sparser model or raise tol",
    "stalled": "no progress to within tol={tol}. Raise tol, standardise the features or raise ridge",
}


class LinearModel(TakesCallbacks, BaseEstimator):
    """The shared fit. A subclass states the loss, the targets, the constraint or the penalty, and the shapes of
    ``coef_`` and ``intercept_``. The settings below are those of estimators without such parameters."""

    solver: Any = "auto"
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    _has_path = False

    def _validated(self, X: Any, y: Any, remedy: str, **options: Any) -> tuple[Any, Any]:
        """X as it lies and y as one column. NaN and infinity in X are found by the Problem's own pass."""
        refuse_masked("X", X)
        refuse_masked("y", y)
        _refuse_kinds(X)
        try:
            return validate_data(self, X, y, ensure_all_finite=False, **AS_IT_LIES, **options)
        except ValueError:
            shape = np.asarray(y, dtype=object).shape
            if len(shape) != 2 or shape[1] == 1:
                raise
        raise ValueError(f"y has {shape[1]} columns, one is needed: fit each target alone ({remedy})")

    def _fit(self, X: Any, y: Array, loss: Loss, ridge: Any, weights: Array | None) -> None:
        """Pose the problem, solve it, set the attributes."""
        require(is_number(ridge), "ridge", "a number of at least 0", ridge)
        tol = self._tolerance()
        require(is_number(self.max_iter) and self.max_iter > 0, "max_iter", "a positive number", self.max_iter)
        limit = self.time_limit
        require(
            limit is None or (is_number(limit) and limit > 0),
            "time_limit",
            "None or a positive number of seconds",
            limit,
        )
        options: dict[str, Any] = {"ridge": float(ridge), "fit_intercept": self.fit_intercept, "n_jobs": self.n_jobs}
        self._choose(X, y, loss, weights, options)
        problem = Problem(X, y, loss, **self._posed(X.shape[1]), sample_weight=weights, **options)
        watchers, rounds = self._watchers(
            lambda model: self._shaped(model.dense(problem.d), model.intercept),
            X=X,
            y=y,
            metadata=None if weights is None else {"sample_weight": weights},
        )
        result = solve(
            problem,
            self.solver,
            start=self._start(problem),
            tol=tol,
            max_passes=self.max_iter,
            time_limit=self.time_limit,
            callbacks=watchers,
            random_state=_seed(self.random_state),
            verbose=bool(self.verbose),
        )
        self._set(result)
        if rounds is not None:
            rounds.close()
        self._announce(result)

    def _start(self, problem: Problem) -> Model | None:
        """The last model, where it fits this problem. Not the solver's state: the data may be others."""
        last: Result | None = getattr(self, "result_", None) if self.warm_start else None
        return last.model if last is not None and last.coef.shape == problem.zeros().shape else None

    def _set(self, result: Result) -> None:
        for name, value in self._shaped(result.coef, result.intercept).items():
            setattr(self, name, value)
        self.support_ = np.zeros(len(result.coef), dtype=bool)
        self.support_[result.support] = True
        self.n_nonzero_coefs_ = int(np.count_nonzero(result.coef.any(axis=1) if result.coef.ndim == 2 else result.coef))
        self.n_iter_ = result.n_iter
        self.n_passes_ = result.n_passes
        self.objective_ = result.objective
        self.dual_gap_ = result.dual_gap
        self.proved_optimal_ = result.proved_optimal
        if self._has_path:
            self.path_ = result.path
        self.result_ = replace(result, state=None)  # the state holds parts of X, and what cannot be pickled

    def _announce(self, result: Result) -> None:
        if result.stop_reason == "interrupted":
            raise KeyboardInterrupt("fit was interrupted; the model so far is set")
        if result.stop_reason in REMEDIES:
            settings = {name: getattr(self, name) for name in ("max_iter", "time_limit", "tol")}
            remedy = REMEDIES[result.stop_reason].format(**settings)
            warn(f"not converged: {remedy}. The best model so far is kept.", ConvergenceWarning)

    # -- what a subclass says -----------------------------------------------------------------------------------

    def _posed(self, d: int) -> dict[str, Any]:
        """``constraint=`` or ``penalty=`` of the Problem."""
        raise NotImplementedError

    def _choose(self, X: Any, y: Array, loss: Loss, weights: Array | None, options: dict[str, Any]) -> None:
        """What is to be found from the data before the fit."""

    def _tolerance(self) -> float:
        """``tol`` of ``solve``."""
        require(is_number(self.tol) and self.tol > 0, "tol", "a positive number", self.tol)
        return float(self.tol)

    # -- after the fit ------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Array:
        """X w + b, from the columns in use: (n,) or (n, outputs)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False, **AS_IT_LIES)
        model = Model.from_dense(self.coef_.T if len(self.coef_) > 1 and self.coef_.ndim == 2 else self.coef_.ravel())
        return as_design(X, self.n_jobs).scores_on(model.support, model.weights) + self.intercept_

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """The features kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their indices, ascending, rather than a mask.

        Returns
        -------
        support : ndarray of shape (n_features,) of bool, or (number kept,) of int
        """
        check_is_fitted(self, "support_")
        return np.flatnonzero(self.support_) if indices else self.support_

    def _shaped(self, coef: Array, intercept: Any) -> dict[str, Any]:
        """``coef_`` and ``intercept_`` in scikit-learn's shapes."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SparseLinearModel(LinearModel):
    """With at most k features."""

    _has_path = True

    def _posed(self, d: int) -> dict[str, Any]:
        return {"constraint": self._constraint(d)}

    def _constraint(self, d: int) -> TopK:
        labels = unit_labels(self.groups, d)
        units, what = (d, "features") if labels is None else (int(labels.max()) + 1, "groups")
        k = min(MOST_BY_DEFAULT, units) if self.n_nonzero_coefs is None else self.n_nonzero_coefs
        whole = is_number(k) and isinstance(k, Integral)
        require(whole and k >= 1, "n_nonzero_coefs", "None or a whole number of at least 1", k)
        if k > units:
            raise ValueError(
                f"n_nonzero_coefs={k} is more than the {units} {what} of X: choose n_nonzero_coefs <= {units}"
            )
        bounds = None
        if self.lower_bounds is not None or self.upper_bounds is not None:
            bounds = (
                -np.inf if self.lower_bounds is None else self.lower_bounds,
                np.inf if self.upper_bounds is None else self.upper_bounds,
            )
        return TopK(int(k), always=self._always(d).tolist(), groups=self.groups, bounds=bounds)

    def _always(self, d: int) -> NDArray[np.int64]:
        """``always_select`` as indices."""
        chosen = () if self.always_select is None else self.always_select
        if np.ndim(chosen) != 1:
            raise ValueError(f"always_select must be a list of feature indices or names, got {chosen!r}")
        if not any(isinstance(name, str) for name in chosen):
            return indices_of(chosen, "always_select", d)
        if not hasattr(self, "feature_names_in_"):
            raise ValueError("always_select holds names, but X has no feature names: pass a data frame, or indices")
        index = {name: j for j, name in enumerate(self.feature_names_in_)}
        unknown = [name for name in chosen if isinstance(name, str) and name not in index]
        if unknown:
            raise ValueError(f"always_select holds names that are no features of X: {', '.join(unknown)}")
        return indices_of([index.get(name, name) for name in chosen], "always_select", d)


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def require(holds: bool, name: str, what: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{name} must be {what}, got {value!r}")


def _refuse_kinds(X: Any) -> None:
    """Dates, durations and text, which would be read as numbers without a word."""
    dtypes = X.dtypes if hasattr(X, "columns") and hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    for dtype in dtypes:
        if getattr(dtype, "kind", "f") in "mMUS":
            raise TypeError(f"X holds {dtype}; real numbers are needed. Encode or drop such columns first")


def row_weights(sample_weight: Any, n: int) -> Array | None:
    """One weight a row; a number is meant for every row. The Problem checks the rest."""
    if sample_weight is None:
        return None
    refuse_masked("sample_weight", sample_weight)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number: all are zero")
    return weights


def loss_name(loss: Any) -> Any:
    """The name of a loss given by name or as an object."""
    return loss.name if isinstance(loss, Loss) else loss


def _seed(random_state: Any) -> Any:
    """scikit-learn's ``random_state`` as NumPy's generators take it."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    return random_state
