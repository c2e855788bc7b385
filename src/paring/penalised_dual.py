"""The dual of penalised problems, in float64 and apart from every solver.

    P(w, b) = (1/n) sum_i v_i loss(z_i, y_i) + Omega(w),       z = offset + X w + b,    Omega with the ridge in it
    D(a)    = -(1/n) sum_i v_i (loss*(a_i) - a_i offset_i) - Omega*(c),       c = -X'(v a)/n

For every a with loss*(a_i) finite, sum_i v_i a_i = 0 where the intercept is free, and c_j = 0 for features that nothing
penalises: D(a) <= min P. a = slopes at the model's scores comes near the best. Made feasible in this order:

    1. equalities: a less a combination of the columns of unpenalised features and the intercept, its rows weighted by
       the room they have in the domain of loss*; where it leaves the domain all the same, scaled down until inside
    2. with a ridge, or bounds on both sides, Omega* is finite everywhere and a stays as it is; features without are
       brought into the dual set by scaling a down, s = min(1, 1/dual_norm(c)). Squared loss: the best scaling within
       1/dual_norm, clip(-<a, y - offset>_v / |a|_v^2); it may also be above 1.

Rounding: the bound is taken low by what the sums may have lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.dual import EPS, ROUNDING, UNBALANCED, balanced, magnitude, slopes_at
from paring.result import Model
from paring.separable import Separable

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

DEVIATIONS = 16.0  # of the rounding of a sum over n rows, eps sqrt(n) each
OFF_BALANCE = 1e-6  # of the sum of the slopes' sizes: more than a solver leaves of their sum
WITHIN_ROUNDING = 1e-9  # of the objective: what a gap may lie below 0


@dataclass(frozen=True, eq=False)
class DualPoint:
    """a with c = -X'(v a)/n; ``scale`` makes it feasible; ``bound``: D(scale a) less its rounding."""

    a: Array
    c: Array
    scale: float
    bound: float

    @property
    def feasible(self) -> Array:
        return self.scale * self.c


def gap_of(problem: Any, model: Model, objective: float) -> float:
    """The objective less D at the slopes of the model. Cost: one pass.

    An intercept that leaves the slopes far from balanced is not the best one, which then takes its place. Below 0 by
    rounding the gap is 0; by more (the objective is not the model's own) it is no claim: infinity.
    """
    z = problem.scores(model)
    a = problem.loss.core.slope(z, problem.y)
    a[problem.v == 0] = 0.0
    if problem.fit_intercept and np.any(np.abs(problem.v @ a) > OFF_BALANCE * (problem.v @ np.abs(a))):
        a, _ = slopes_at(problem, z - model.intercept)
    gap = objective - dual_point(problem, a).bound
    if gap >= 0:
        return gap
    return 0.0 if -gap <= WITHIN_ROUNDING * max(problem.scale, abs(objective)) else float(np.inf)


def dual_point(problem: Any, a: Array, features: Indices | None = None, c: Array | None = None) -> DualPoint:
    """The feasible point that slopes ``a`` lead to, for the problem of those features (None: all of them).

    ``c``: -X'(v a)/n of those features where it is known; else it costs a pass over them.
    """
    regulariser: Separable = problem.regulariser
    free = np.flatnonzero(regulariser.unpenalised & regulariser.hard & (problem.squares > 0))
    if len(free):
        a, c = _orthogonal(problem, a, free), None
    elif problem.fit_intercept:
        a = balanced(problem, a)
    if c is None:
        c = slopes_of_features(problem, a, features)
    if features is not None:
        regulariser = regulariser.on(features)
    return _scaled(problem, a, c, regulariser, features)


def slopes_of_features(problem: Any, a: Array, features: Indices | None) -> Array:
    """-X'(v a)/n. Cost: a pass over those columns."""
    v = problem.v.reshape((-1,) + (1,) * (a.ndim - 1))
    r = v * a / (-problem.n)
    return problem.design.adjoint(r) if features is None else problem.design.adjoint_on(features, r)


def rounding_of(problem: Any, a: Array) -> float:
    """What rounding may have moved each c_j, over the root of the column's second moment."""
    sizes = problem.v @ a**2 / problem.n
    return DEVIATIONS * EPS * float(np.sqrt(problem.n * np.max(sizes)))


def _scaled(problem: Any, a: Array, c: Array, regulariser: Separable, features: Indices | None) -> DualPoint:
    error = rounding_of(problem, a)
    all_hard = regulariser.all_hard
    norm = 0.0
    if all_hard:
        norm = regulariser.dual_norm(c) + error * problem.root_norm  # the dual norm is one: at most the sum
    elif regulariser.hard.any():
        hard = regulariser.hard
        norm = regulariser.on(np.flatnonzero(hard)).dual_norm(c[hard]) + error * problem.root_norm
    most = 1 / norm if norm > 0 else np.inf
    scale = min(1.0, most)
    if problem.loss.is_quadratic and all_hard:
        weighted = problem.v * a if a.ndim == 1 else problem.v[:, None] * a
        square = float(np.vdot(weighted, a))
        best = -float(np.vdot(weighted, problem.targets - problem.base)) / square if square > 0 else 0.0
        scale = float(np.clip(best, 0.0, most))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scale * a
        conjugate = problem.loss.core.conjugate(scaled, problem.y)
        fit = -float(problem.v @ conjugate) / problem.n
        if problem.offset is not None:
            own = scaled if a.ndim == 1 else scaled.sum(axis=1)
            fit += float((problem.v * own) @ problem.offset) / problem.n
        rest = 0.0
        if not all_hard:
            roots = problem.roots if features is None else problem.roots[features]
            rest = regulariser.conjugate(
                scale * (c + np.sign(c) * (error * (roots if c.ndim == 1 else roots[:, None])))
            )
        bound = fit - rest - ROUNDING * (magnitude(problem, scaled, conjugate) + rest)
    return DualPoint(a, c, scale, bound if np.isfinite(bound) else -np.inf)


# -- unpenalised features ---------------------------------------------------------------------------------------------


def _orthogonal(problem: Any, a: Array, free: Indices) -> Array:
    """a with X_free'(v a) = 0, and sum v a = 0 with an intercept; in the domain of the conjugate.

    a - room o (X_free u): rows at an end of their domain stay there. NaN where no such point is found.
    Cost: their columns, dense, and a factor of them.
    """
    x = problem.design.columns(free)
    if problem.fit_intercept:
        x = np.hstack([x, np.ones((problem.n, 1))])
    room = _room(problem, a)
    _, values, right = np.linalg.svd(np.sqrt(problem.v * room)[:, None] * x, full_matrices=False)
    sound = values > values.max(initial=0.0) * EPS * max(x.shape)
    inverse = (right[sound].T / values[sound] ** 2) @ right[sound]
    rows = a.reshape(problem.n, -1).copy()
    for _ in range(3):
        rows -= room[:, None] * (x @ (inverse @ (x.T @ (problem.v[:, None] * rows))))
    left = np.abs(x.T @ (problem.v[:, None] * rows))
    size = np.abs(x).T @ (problem.v[:, None] * np.abs(a.reshape(problem.n, -1)))
    if np.any(left > UNBALANCED * size + np.finfo(float).tiny):
        return np.full_like(a, np.nan)
    out = rows.reshape(a.shape)
    return out if problem.loss.is_quadratic else _within_domain(problem, out)


def _room(problem: Any, a: Array) -> Array:
    """How far each row's slope may move before it leaves its domain; at most 1."""
    if problem.loss.is_quadratic or a.ndim > 1:
        return np.ones(problem.n)
    low, high = problem.loss.core.domain(problem.y)
    return np.clip(np.minimum(a - low, high - a), 0.0, 1.0)


def _within_domain(problem: Any, a: Array) -> Array:
    """s a with the largest s <= 1 that has every loss*(s a_i) finite; a hair less, where s < 1."""

    def inside(s: float) -> bool:
        conjugate = problem.loss.core.conjugate(np.ascontiguousarray(s * a), problem.y)
        return bool(np.isfinite(conjugate[problem.v > 0]).all())

    if inside(1.0):
        return a
    low, high = 0.0, 1.0
    while high - low > EPS:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low * a
