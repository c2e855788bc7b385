"""Least squares measured on the data themselves, by blocks of rows: what Gram matrices say is checked against it.

Memory: a few blocks. Cost: the columns in question, once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paring.result import Model

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Outsiders(NamedTuple):
    """Of columns beside a support: t (a row each) their regression on it, s what is left of them, g F's gradient."""

    t: Array
    s: Array
    g: Array


def outsiders_of(problem: Any, features: Indices, w: Array, outsiders: Indices, t: Array, inverse: Array) -> Outsiders:
    """From t and Q = H_SS^-1 as they are known, refined. With columns centred where there is an intercept:

    e = x_i - X_S t,  a = X_S'V e - ridge t,  t + Q a,  s = e'V e + ridge (1 + |t|^2) - a'Q a,  g = e'V r - ridge t'w
    """
    k, ridge, v = len(features), problem.ridge, problem.v / problem.n
    chosen = np.concatenate([features, outsiders])
    means = problem.means[chosen] if problem.fit_intercept else 0.0
    middle = problem.null[0] if problem.fit_intercept else 0.0
    across, s, g = np.zeros((len(outsiders), k)), np.zeros(len(outsiders)), np.zeros(len(outsiders))
    for rows, part in problem.design.parts(chosen):
        x = part - means
        e = x[:, k:] - x[:, :k] @ t.T
        weighted = (v[rows, None] * e).T
        across += weighted @ x[:, :k]
        s += (weighted * e.T).sum(axis=1)
        g += weighted @ (x[:, :k] @ w - (problem.y[rows] - middle))
    across -= ridge * t
    more = across @ inverse
    s += ridge * (1 + (t**2).sum(axis=1)) - (more * across).sum(axis=1)
    return Outsiders(t + more, np.maximum(s, 0.0), g - ridge * t @ w)


def measured(problem: Any, models: list[Model]) -> tuple[Array, Array]:
    """F of each model, and the steepest its gradient is on its own support, beside the roots of curvatures."""
    union = np.unique(np.concatenate([model.support for model in models]))
    w, b = np.zeros((len(union), len(models))), np.array([float(model.intercept) for model in models])
    for column, model in enumerate(models):
        w[np.searchsorted(union, model.support), column] = model.weights
    v, losses, gradient = problem.v / problem.n, np.zeros(len(models)), problem.ridge * w
    means = problem.means[union] if problem.fit_intercept else 0.0
    for rows, part in problem.design.parts(union):
        r = part @ w + b - problem.y[rows, None]
        weighted = v[rows, None] * r
        losses += (weighted * r).sum(axis=0)
        gradient += (part - means).T @ weighted
    h = problem.variances[union] + problem.ridge
    inside = np.stack([np.isin(union, model.support) for model in models], axis=1) & (h > 0)[:, None]
    steep = np.abs(gradient) / np.sqrt(np.where(h > 0, h, 1.0))[:, None]
    objectives = 0.5 * (losses + problem.ridge * (w**2).sum(axis=0))
    return objectives, np.where(inside, steep, 0.0).max(axis=0, initial=0.0)
