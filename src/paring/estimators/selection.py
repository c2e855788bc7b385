"""alpha by cross-validation: the path of falling weights on each fold, and the weight whose held-out loss is least.

    alphas   one grid for all folds, that of all rows
    error    mean held-out loss of each alpha on each fold, rows weighted
    rule     "min": the least mean error; "1se": the largest alpha within a standard error of it

Then the model is fitted to all rows at that alpha.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import safe_mask

from paring import given
from paring._path import grid, largest_weight, path
from paring.data.design import as_design
from paring.estimators.base import Array, LinearModel, require
from paring.losses import Loss
from paring.problem import Problem

RULES = ("min", "1se")
COLUMNS = ("alpha", "error", "standard_error", "features")  # of ``path_``


class ChoosesAlpha(LinearModel):
    """What the CV estimators share. A subclass states ``_penalty_at(alpha, d)`` and its parameters."""

    eps: float
    alphas: Any
    cv: Any
    rule: str = "min"

    def _penalty_at(self, alpha: float, d: int) -> Any:
        raise NotImplementedError

    def _posed(self, d: int) -> dict[str, Any]:
        return {"penalty": self._penalty_at(self.alpha_, d)}

    def _choose(self, X: Any, y: Array, loss: Loss, weights: Array | None, options: dict[str, Any]) -> None:
        from sklearn.model_selection import check_cv  # loads much, which the other estimators do without

        require(self.rule in RULES, "rule", "'min' or '1se'", self.rule)
        whole = Problem(X, y, loss, penalty=self._penalty_at(1.0, X.shape[1]), sample_weight=weights, **options)
        if isinstance(self.alphas, Integral):
            alphas = grid(largest_weight(whole), int(self.alphas), self.eps)
        else:
            alphas = np.sort(np.asarray(self.alphas, dtype=np.float64).ravel())[::-1]
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))
        errors, sizes = np.empty((len(alphas), len(folds))), np.empty((len(alphas), len(folds)))
        mass = np.empty(len(folds))
        for f, (train, test) in enumerate(folds):
            v = None if weights is None else weights[train]
            part = Problem(X[safe_mask(X, train)], y[train], loss, penalty=whole.stated, sample_weight=v, **options)
            found = path(
                part, lams=alphas, solver=self.solver, tol=self._tolerance_of_paths(), max_passes=self.max_iter
            )
            held, v = (
                as_design(X[safe_mask(X, test)], self.n_jobs),
                np.ones(len(test)) if weights is None else weights[test],
            )
            targets, known = given.posed(y[test], len(test), loss, several=True)
            mass[f] = v.sum()
            for a, step in enumerate(found.steps):
                z = held.scores_on(step.model.support, step.model.weights) + step.model.intercept
                values = known.core.value(np.ascontiguousarray(z), targets)
                errors[a, f], sizes[a, f] = v @ values / max(mass[f], np.finfo(float).tiny), step.size
        self._chosen(alphas, errors, sizes, mass)

    def _tolerance_of_paths(self) -> float:
        return self._tolerance()

    def _chosen(self, alphas: Array, errors: Array, sizes: Array, mass: Array) -> None:
        mean = np.average(errors, axis=1, weights=mass)
        spread = np.sqrt(np.average((errors - mean[:, None]) ** 2, axis=1, weights=mass) / max(len(mass) - 1, 1))
        best = int(np.argmin(mean))
        if self.rule == "1se":
            best = int(np.flatnonzero(mean <= mean[best] + spread[best])[0])
        self.alpha_, self.alphas_ = float(alphas[best]), alphas
        self.path_: Any = dict(zip(COLUMNS, (alphas, mean, spread, sizes.mean(axis=1)), strict=True))
        self.error_path_ = errors
