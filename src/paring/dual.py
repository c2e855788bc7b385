"""The dual bound of exact-k problems, in float64 and apart from every solver.

For any a with loss*(a_i) finite, and sum_i v_i a_i = 0 where the intercept is free, every feasible (w, b) has

    F(w, b) >= D(a) = -(1/n) sum_i v_i loss*(a_i) - (the k largest gains),    c = -X'(v a)/n,
    gain_j = max over the allowed w_j of  c_j w_j - (ridge/2) w_j^2

Fenchel's loss(z) >= a z - loss*(a), summed over the rows, leaves c.w - (ridge/2)|w|^2 to be maximised over
the feasible w: a sum of gains over at most k units. Features always kept count first, those never kept do not
count. The gain of a group is the sum over its members; of a multinomial feature, over its row. An l2 ball of
radius tau only shrinks the set, so the bound without it holds; with |c| the norm over the k units it is
sharpened to min(|c|^2/(2 ridge), tau |c| - ridge tau^2/2). With ridge = 0 a gain is finite only within bounds
or a ball.

Rounding: c is taken at the worst end of the interval its own rounding allows, and a slack is subtracted for
the rounding of the conjugates and of sum v a, so that the bound stays below the true optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
UNBALANCED = 64 * EPS  # how far sum v a may be from 0, relative to sum v |a|
ROUNDING = 2.0**14 * EPS  # slack on the conjugates: their rounding, and what balancing sum v a to the last bit costs
INTERCEPT_ROUNDS = 60
GOLDEN = (np.sqrt(5) - 1) / 2
SHRINK_STEPS = 12
CORNER = 1e-6  # a margin this near to 1 is on the corner of the hinge
MOST_CORNERS = 1000


def has_bound(problem: Any) -> bool:
    """Whether a bound can exist: with a ridge, bounds on the weights, or a ball around them."""
    feasible = problem.constraint
    return bool(problem.ridge > 0 or feasible.lower is not None or np.isfinite(feasible.radius))


def least_bound(problem: Any) -> float:
    """D(0), the least that the loss can be: a bound on any model, less its rounding. Cost: O(n)."""
    y = problem.y
    conjugate = problem.loss.core.conjugate(
        np.zeros(problem.n if problem.outputs == 1 else (problem.n, problem.outputs)), y
    )
    size = np.abs(conjugate) + (y if problem.loss.targets == "count" else 0.0)
    return -float(problem.v @ conjugate + ROUNDING * (problem.v @ size)) / problem.n


# -- a feasible dual point from scores --------------------------------------------------------------------------------


def slopes_at(problem: Any, z: Array) -> tuple[Array, Array]:
    """(a, z + b) for scores z without intercept: slopes at the best intercept b, with sum v a = 0 where it is
    free.

    a lies in the domain of the conjugate. Cost: O(n) a Newton or bracketing step for the intercept.
    """
    if problem.fit_intercept:
        z = z + best_intercepts(problem, z)
    a = problem.loss.core.slope(z, problem.y)
    a[problem.v == 0] = 0.0
    return (balanced(problem, a) if problem.fit_intercept else a), z


def corner_slopes(problem: Any, z: Array, model: Any) -> Array | None:
    """For the hinge: the slopes between -y and 0 at scores on the corner that best explain the model's weights.

    The other rows keep their slope. Wanted: c = ridge w, or beyond it outwards for a weight on a bound, and
    sum v a = 0. None where no row, or more than MOST_CORNERS of them, lie on the corner. Cost: least squares
    of |support| x corners.
    """
    y, v, n = problem.y, problem.v, problem.n
    corner = (np.abs(1 - y * z) <= CORNER) & (v > 0)
    count = int(corner.sum())
    if not 0 < count <= MOST_CORNERS:
        return None
    from scipy.optimize import lsq_linear

    a = np.where(corner | (v == 0), 0.0, problem.loss.core.slope(z, y))
    x = problem.design.columns(model.support)
    matrix = x[corner].T * (v[corner] / n)
    wanted = -(x.T @ (v * a)) / n - problem.ridge * model.weights
    if problem.fit_intercept:
        weight = max(1.0, float(np.abs(matrix).max(initial=0.0)) * n)
        matrix = np.vstack([matrix, weight * v[corner] / n])
        wanted = np.append(wanted, -weight * (v @ a) / n)
    low, high = np.where(y[corner] > 0, -1.0, 0.0), np.where(y[corner] > 0, 0.0, 1.0)
    rows, down, up = _beyond(problem.constraint, model)  # c exceeds ridge w by these, a being minus c
    matrix = np.hstack([matrix, np.eye(len(matrix))[:, rows]])
    if matrix.size:
        solved = lsq_linear(matrix, wanted, (np.append(low, down), np.append(high, up))).x
        a[corner] = np.clip(solved[:count], low, high)
    return balanced(problem, a) if problem.fit_intercept else a


def _beyond(feasible: Any, model: Any) -> tuple[Any, Array, Array]:
    """The weights of the model on a bound, and how far c may lie from ridge w there: upwards on the upper one."""
    if feasible.lower is None:
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    near = CORNER * (1 + np.abs(model.weights))
    at_lower = model.weights <= feasible.lower[model.support] + near
    at_upper = model.weights >= feasible.upper[model.support] - near
    rows = np.flatnonzero(at_lower | at_upper)
    return rows, np.where(at_lower[rows], -np.inf, 0.0), np.where(at_upper[rows], np.inf, 0.0)


def best_intercepts(problem: Any, z: Array) -> Any:
    """argmin_b of the mean loss at the scores z + b: a number, or one for each class (damped Newton)."""
    if problem.outputs == 1:
        return problem.best_intercept(z)
    y, v, n, core = problem.y, problem.v, problem.n, problem.loss.core
    if problem.loss.is_quadratic:
        return np.average(problem.targets - z, axis=0, weights=v)
    rows, labels = np.arange(n), y.astype(np.int64)
    b = np.zeros(problem.outputs)
    value = core.total(z, y, v) / n
    for _ in range(INTERCEPT_ROUNDS):
        p = core.slope(z + b, y)
        slope = v @ p / n
        if np.abs(slope).max() <= UNBALANCED:
            break
        p[rows, labels] += 1.0
        curvature = np.diag(v @ p) / n - (p * v[:, None]).T @ p / n
        step = -np.linalg.lstsq(curvature + 1e-14 * np.eye(len(b)), slope, rcond=None)[0]
        step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        while np.abs(step).max() > 1e-15:
            moved = core.total(z + (b + step), y, v) / n
            if moved <= value:
                break
            step /= 2
        else:
            break
        b, value = b + step, moved
    return b


def minimise_intercept(problem: Any, z: Array) -> float:
    """argmin_b sum_i v_i loss(z_i + b, y_i) / n of a smooth loss: a safeguarded root of the slope."""

    def slope(b: float) -> float:
        return float(problem.residuals(z + b).sum())

    low, high = -1.0, 1.0
    for _ in range(60):
        if slope(low) <= 0:
            break
        low *= 2
    for _ in range(60):
        if slope(high) >= 0:
            break
        high *= 2
    from scipy.optimize import brentq

    if slope(low) >= 0 or slope(high) <= 0:  # flat, or monotone to the end of the search
        return low if slope(low) >= 0 else high
    return float(brentq(slope, low, high, xtol=1e-15, rtol=8.9e-16, maxiter=500))


def balanced(problem: Any, a: Array) -> Array:
    """a with sum_i v_i a_i = 0 (for every class), still in the domain of the conjugate.

    Squared: less its v-mean. Other scalar losses: 0 is in every domain, so the sign with the larger sum is
    scaled towards 0 (for classes, that is one class). Multinomial: a class with too large a sum of q = a +
    e_y gives from each row, in proportion to its q, to the classes with too small a sum: rows stay in the
    simplex.
    """
    v = problem.v
    if problem.loss.is_quadratic:
        for _ in range(2):
            a = a - np.average(a, axis=0, weights=v)
        return a
    if problem.outputs > 1:
        return _transported(problem, a)
    mass = v * a
    up, down = float(mass[a > 0].sum()), -float(mass[a < 0].sum())
    if up == down:
        return a
    ratio = min(up, down) / max(up, down)
    return np.where(a > 0 if up > down else a < 0, a * ratio, a)


def _transported(problem: Any, a: Array) -> Array:
    v, n = problem.v, problem.n
    q = a.copy()
    q[np.arange(n), problem.y.astype(np.int64)] += 1.0
    np.maximum(q, 0.0, out=q)
    excess, mass = v @ a, v @ q
    give = np.divide(np.maximum(excess, 0), mass, out=np.zeros_like(mass), where=mass > 0)
    short = np.maximum(-excess, 0)
    if short.sum() == 0:
        return a
    given = q * np.minimum(give, 1.0)
    return a - given + np.outer(given.sum(axis=1), short / short.sum())


# -- its bound --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DualPoint:
    """a with c = -X'(v a)/n, and how far rounding may have moved c. ``bound(t)`` is D(t a); no pass."""

    problem: Any
    a: Array
    c: Array
    error: Array

    def bound(self, t: float = 1.0) -> float:
        """A number below D(t a), 0 <= t <= 1; -infinity where t a is not feasible or a gain is infinite."""
        problem = self.problem
        a = self.a if t == 1.0 else t * self.a
        if not (np.isfinite(a).all() and is_balanced(problem, a)):
            return -np.inf
        conjugate = problem.loss.core.conjugate(a, problem.y)
        if not np.isfinite(conjugate).all():  # outside the domain
            return -np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            fit = -float((problem.v * conjugate).sum()) / problem.n
            total = largest_gains(problem, t * self.c, t * self.error)
            bound = fit - total - ROUNDING * (magnitude(problem, a, conjugate) + total)
        return bound if np.isfinite(bound) else -np.inf

    def best(self) -> float:
        """The largest bound on the segment from 0 to a: D is concave there."""
        best = self.bound()
        if not np.isfinite(best):
            return best
        low, high = 0.0, 1.0
        left, right = high - GOLDEN, GOLDEN
        values = self.bound(left), self.bound(right)
        for _ in range(SHRINK_STEPS):
            best = max(best, *values)
            if values[0] >= values[1]:
                high, right = right, left
                left = high - GOLDEN * (high - low)
                values = self.bound(left), values[0]
            else:
                low, left = left, right
                right = low + GOLDEN * (high - low)
                values = values[1], self.bound(right)
        return max(best, *values)


def dual_point(problem: Any, a: Array) -> DualPoint:
    """The point with its c. Cost: one pass."""
    a = np.ascontiguousarray(a, dtype=np.float64)
    v = problem.v.reshape((-1,) + (1,) * (a.ndim - 1))
    c = -problem.design.adjoint(v * a / problem.n)
    with np.errstate(over="ignore"):
        sizes = np.sqrt((v * a**2).sum(axis=0) / problem.n) + (1.0 if problem.outputs > 1 else 0.0)
    columns = (problem.n + 256) * EPS * np.sqrt(problem.squares)  # n eps: the worst of a sum over n rows
    return DualPoint(problem, a, c, np.multiply.outer(columns, sizes))


def is_balanced(problem: Any, a: Array) -> bool:
    """Whether sum_i v_i a_i = 0 up to rounding, for each output; always without an intercept."""
    if not problem.fit_intercept:
        return True
    v, extra = problem.v, problem.n if problem.outputs > 1 else 0
    return bool(np.all(np.abs(v @ a) <= UNBALANCED * (v @ np.abs(a) + extra) + np.finfo(float).tiny))


def largest_gains(problem: Any, c: Array, error: Any = 0.0) -> float:
    """Sum of the k largest gains at the worst c within ``error``: always-units first, never-units left out."""
    feasible = problem.constraint
    if feasible.lower is None and (not problem.ridge or np.isfinite(feasible.radius)):
        worst = (np.abs(c) + error) ** 2
        return _within_ball(problem, _sum_of_largest(feasible, worst))
    gains = np.maximum(_gains(problem, c - error), _gains(problem, c + error))
    return _sum_of_largest(feasible, gains)


def _gains(problem: Any, c: Array) -> Array:
    """max over the allowed w_j of c_j w_j - (ridge/2) w_j^2, one for each weight."""
    feasible, ridge = problem.constraint, problem.ridge
    if feasible.lower is None:
        return c**2 / (2 * ridge)
    shape = (-1,) + (1,) * (c.ndim - 1)
    if ridge > 0:
        w = feasible.clip(c / ridge)
        return c * w - 0.5 * ridge * w**2
    ends = np.where(c > 0, feasible.upper.reshape(shape), feasible.lower.reshape(shape))
    return np.multiply(c, ends, out=np.zeros_like(c), where=c != 0)


def _sum_of_largest(feasible: Any, values: Array) -> float:
    sums = feasible.unit_sums(values if values.ndim == 1 else values.sum(axis=1))
    return float(sums[feasible.best_units(sums)].sum())


def _within_ball(problem: Any, square: float) -> float:
    """max of |c| s - (ridge/2) s^2 over 0 <= s <= radius, given |c|^2."""
    ridge, radius, norm = problem.ridge, problem.constraint.radius, float(np.sqrt(square))
    if norm <= ridge * radius:
        return square / (2 * ridge) if ridge > 0 else 0.0
    return norm * radius - 0.5 * ridge * radius**2 if np.isfinite(radius) else np.inf


def magnitude(problem: Any, a: Array, conjugate: Array) -> float:
    """The size of what is added up in (1/n) sum v loss*(a), before anything cancels."""
    v, y, n = problem.v, problem.targets, problem.n
    size = float((v * np.abs(conjugate)).sum()) / n
    kind = problem.loss.targets
    if kind == "class":
        return size + problem.outputs
    if kind == "count":
        return size + float((v * (np.abs(a) + y)).sum()) / n
    norm, own = (float(np.sqrt((v @ x**2).sum() / n)) for x in (a, y))
    return size + norm * (norm + own)
