"""The one judge of all fits: objective, size, held-out error and support, in float64, from the coefficients alone."""

import warnings
from typing import Any

import numpy as np
from exchange import Fit


def loss_values(scores: np.ndarray, y: np.ndarray, loss: str) -> np.ndarray:
    if loss == "squared":
        return (scores - y) ** 2 / 2
    if loss == "logistic":
        return np.logaddexp(0, -y * scores)
    raise ValueError(f"no loss {loss!r} here")


def objective(X: Any, y: np.ndarray, coef: np.ndarray, intercept: float, loss: str, ridge: float) -> float:
    """(1/n) sum_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2."""
    return float(np.mean(loss_values(X @ coef + intercept, y, loss)) + ridge / 2 * (coef @ coef))


def held_out_error(X: Any, y: np.ndarray, coef: np.ndarray, intercept: float, loss: str) -> float:
    """Mean squared error, or the share of wrong classes (a score of 0 is the lower class, as in scikit-learn)."""
    scores = X @ coef + intercept
    return float(np.mean((scores - y) ** 2 if loss == "squared" else np.where(scores > 0, 1, -1) != y))


def refit(X: Any, y: np.ndarray, support: np.ndarray, loss: str, ridge: float, fit_intercept: bool) -> Fit:
    """The minimiser with that support; scikit-learn's solvers, whose C is 1 / (n ridge)."""
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

    n, d = X.shape
    coef = np.zeros(d)
    if len(support) == 0:
        return 0, coef, 0.0
    columns = X[:, support]
    columns = columns.toarray() if hasattr(columns, "toarray") else columns
    if loss == "squared":
        model = (
            Ridge(n * ridge, fit_intercept=fit_intercept) if ridge else LinearRegression(fit_intercept=fit_intercept)
        )
    else:
        model = LogisticRegression(
            C=1 / (n * ridge) if ridge else np.inf, solver="newton-cholesky", tol=1e-9, fit_intercept=fit_intercept
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separable columns without ridge: whatever was reached is judged
        model.fit(columns, y)
    coef[support] = np.ravel(model.coef_)
    return len(support), coef, float(np.ravel(model.intercept_)[0]) if fit_intercept else 0.0


def pick(fits: list[Fit], k: int, value) -> Fit | None:
    """Of a path: the largest support within k and, among equals, the lowest `value(coef, intercept)`."""
    sizes = [np.count_nonzero(coef) for _, coef, _ in fits]
    within = [size for size in sizes if size <= k]
    if not within:
        return None
    largest = [fit for fit, size in zip(fits, sizes, strict=True) if size == max(within)]
    return min(largest, key=lambda fit: value(fit[1], fit[2]))


class Judge:
    """Everything a table says of the fits of one problem; `ridge` and `fit_intercept` are the run's."""

    def __init__(self, X: Any, y: np.ndarray, meta: Any, ridge: float, fit_intercept: bool) -> None:
        self.X, self.y, self.meta = X, y, meta
        self.ridge, self.fit_intercept = ridge, fit_intercept
        self._refits: dict[bytes, float] = {}

    def objective(self, coef: np.ndarray, intercept: float) -> float:
        return objective(self.X, self.y, coef, intercept, self.meta.loss, self.ridge)

    def refitted(self, support: np.ndarray) -> float:
        """The lowest objective on that support: what a rival's choice is worth, its own last digits aside."""
        key = support.tobytes()
        if key not in self._refits:
            _, coef, b = refit(self.X, self.y, support, self.meta.loss, self.ridge, self.fit_intercept)
            self._refits[key] = self.objective(coef, b)
        return self._refits[key]

    def judge(self, fits: list[Fit], k: int) -> dict[str, Any] | None:
        """The entries of one row; None where no fit is within k."""
        fit = pick(fits, k, self.objective)
        if fit is None:
            return None
        _, coef, b = fit
        support = np.flatnonzero(coef)
        meta, row = self.meta, {"got": len(support), "objective": self.objective(coef, b), "support": support.tolist()}
        row["refitted"] = self.refitted(support)
        if meta.X_test is not None:
            row["held_out"] = held_out_error(meta.X_test, meta.y_test, coef, b, meta.loss)
        if meta.truth is not None:
            true = np.flatnonzero(meta.truth)
            row["overlap"] = len(np.intersect1d(support, true)) / len(true)
        return row
