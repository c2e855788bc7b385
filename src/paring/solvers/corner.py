"""The restricted minimiser of losses with a corner (the hinge):

    min_{w_S, b} (1/n) sum_i v_i loss(x_i,S.w_S + b, y_i) + (ridge/2) |w_S|^2,   bounds on w_S where there are any

(proximal method of multipliers). Around a dual point a_0 the loss is smoothed over a width,

    loss(z) ~ max_a  a z - loss*(a) - (width/2) (a - a_0)^2,      its slope the a that attains it,

Newton's method minimises what that gives, and a_0 <- a. The width falls to a floor and no further: it is a_0 that makes
the corner sharp, so that no system becomes ill-conditioned. At the end sum v a = 0 and ridge w = -X_S'(v a)/n, and
rows on the corner lie there to the last digits. Needs a ridge.

Source: Rockafellar 1976 (the method of multipliers); semismooth Newton within. Cost: a few tens of rounds of a sweep
over the columns each and a factor of min(|S|, rows on the corner)^3/3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.solvers.restricted import Restricted

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FIRST_WIDTH, NEAR_WIDTH, NARROWER, LEAST_WIDTH = 0.25, 2e-3, 0.2, 1e-4
MOST_WIDTHS, MOST_ROUNDS = 60, 60
EXACT = 1e-15  # half a Newton decrement, and the gap, relative to F at the null model
CLOSED = 1e-9  # a gap, relative to it, that rounding may leave
LINE_ACCURACY = 0.1  # of the slope: what a step may leave of it
LOOSE = 1e-12  # of a bound: how near is on it


def minimise_corners(problem: Any, features: Indices, w: Array, b: float, a: Array | None = None) -> Restricted:
    """Minimise F on ``features`` from (w, b), and from a if it is near the slopes there.

    ``a`` of the answer explains its weights: a dual point.
    """
    if not problem.ridge > 0:
        raise ValueError(f"{problem.loss}: without ridge its minimum on a support is not sought; use ridge > 0")
    search = _Search(problem, features)
    point, converged = search.run(search.start(w, b, a))
    w = point.w
    z = search.block.scores(w, float(search.shifts @ w), problem.design.threads)
    b = problem.best_intercept(z) if problem.fit_intercept else 0.0
    objective = problem.value_at(z + b, w)
    return Restricted(features, w, b, z + b, objective, search.block, None, converged, a=point.a)


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights and intercept for the block's shifted columns, scores, the slopes a of the smoothed loss around a_0."""

    w: Array
    b: float
    z: Array
    a: Array
    centre: Array
    width: float


class _Search:
    def __init__(self, problem: Any, features: Indices) -> None:
        self.problem, self.features, self.exact = problem, features, EXACT * problem.scale
        self.core, self.y, self.share = problem.loss.core, problem.y, problem.v / problem.n
        self.block: _core.Block = problem.design.block(features, problem.v if problem.fit_intercept else None)
        self.shifts = self.block.shifts if problem.fit_intercept else np.zeros(len(features))
        self.ends = problem.loss.domain(problem.y)
        bounds, all_of = problem.constraint, np.full(len(features), np.inf)
        self.lower = -all_of if bounds.lower is None else bounds.lower[features]
        self.upper = all_of if bounds.upper is None else bounds.upper[features]

    def start(self, w: Array, b: float, a: Array | None) -> _Point:
        w = np.clip(np.ascontiguousarray(w, dtype=np.float64), self.lower, self.upper)
        centre, width = (np.zeros(self.problem.n), FIRST_WIDTH) if a is None else (a, NEAR_WIDTH)
        return self.at(w, float(b) + float(self.shifts @ w), centre, width)

    def at(self, w: Array, b: float, centre: Array, width: float) -> _Point:
        z = self.block.scores(w, b, self.problem.design.threads)
        return _Point(w, b, z, self.slopes(z, centre, width), centre, width)

    def slopes(self, z: Array, centre: Array, width: float) -> Array:
        """argmax_a  a z - loss*(a) - (width/2) (a - a_0)^2."""
        return self.core.prox_conjugate(centre + z / width, self.y, 1 / width)

    def run(self, point: _Point) -> tuple[_Point, bool]:
        before = np.inf
        for _ in range(MOST_WIDTHS):
            point = self.newton(point)
            gap = self.gap(point)
            if gap <= self.exact or (point.width <= LEAST_WIDTH and not gap < 0.5 * before):
                break
            before = gap
            width = max(LEAST_WIDTH, NARROWER * point.width)
            point = self.at(point.w, point.b, point.a, width)
        return point, gap <= CLOSED * self.problem.scale

    def gap(self, point: _Point) -> float:
        """(1/n) sum v (loss(z) + loss*(a) - a z): F less the dual value at a, where the gradient is 0."""
        conjugate = self.core.conjugate(point.a, self.y)
        return float(self.share @ (self.core.value(point.z, self.y) + conjugate - point.a * point.z))

    # -- Newton's method at one width -----------------------------------------------------------------------------

    def newton(self, point: _Point) -> _Point:
        for _ in range(MOST_ROUNDS):
            self.problem.design.stop.check()
            g, g_b = self.gradient(point)
            held = (point.w <= self.lower + LOOSE) & (g > 0) | (point.w >= self.upper - LOOSE) & (g < 0)
            step, step_b = self.direction(point, np.where(held, 0.0, g), g_b, ~held)
            decrement = -0.5 * (float(g @ step) + g_b * step_b)
            if not decrement > 0.1 * self.exact:
                break
            moved = self.moved(point, step, step_b, -2 * decrement)
            if moved is None:
                break
            point = moved
        return point

    def gradient(self, point: _Point) -> tuple[Array, float]:
        r = self.share * point.a
        g = self.block.adjoint(r, self.problem.design.threads) + self.problem.ridge * point.w
        return g, float(r.sum()) * self.problem.fit_intercept

    def direction(self, point: _Point, g: Array, g_b: float, free: NDArray[np.bool_]) -> tuple[Array, float]:
        """-H^-1 g: by the rows on the smoothed corner, or by the columns if they are fewer."""
        low, high = self.ends
        bent = np.flatnonzero((point.a > low) & (point.a < high) & (self.share > 0))
        if len(bent) == 0:
            return -g / self.problem.ridge, -g_b
        curvature = self.share[bent] / point.width
        return (self._by_rows if len(bent) < len(g) else self._by_columns)(bent, curvature, g, g_b, free)

    def _by_rows(
        self, bent: Indices, curvature: Array, g: Array, g_b: float, free: NDArray[np.bool_]
    ) -> tuple[Array, float]:
        """With q the change of v a / n there: (M M'/ridge + diag 1/curvature) q - step_b = -M g/ridge, sum q = -g_b."""
        from scipy.linalg import cho_factor, cho_solve

        ridge = self.problem.ridge
        m = (self.problem.design.rows(bent).columns(self.features) - self.shifts) * free
        factor = cho_factor(m @ m.T / ridge + np.diag(1 / curvature), lower=True, check_finite=False)
        along = m @ g / ridge
        q, step_b = -cho_solve(factor, along, check_finite=False), 0.0
        if self.problem.fit_intercept:
            ones = cho_solve(factor, np.ones(len(bent)), check_finite=False)
            step_b = -(g_b + float(q.sum())) / float(ones.sum())
            q = q + step_b * ones
        return -(g + m.T @ q) / ridge, step_b

    def _by_columns(
        self, bent: Indices, curvature: Array, g: Array, g_b: float, free: NDArray[np.bool_]
    ) -> tuple[Array, float]:
        from scipy.linalg import cho_factor, cho_solve

        weights = np.zeros(self.problem.n)
        weights[bent] = curvature
        h, first = self.block.hessian(weights, self.problem.design.threads)
        h = h * np.outer(free, free) + np.diag(np.where(free, self.problem.ridge, 1.0))
        factor = cho_factor(h, lower=True, check_finite=False)
        step, step_b = -cho_solve(factor, g, check_finite=False), 0.0
        if self.problem.fit_intercept:
            first = first * free
            across = cho_solve(factor, first, check_finite=False)
            total = float(curvature.sum())
            bend = max(total - float(first @ across), 1e-12 * total)
            step_b = -(g_b + float(first @ step)) / bend
            step = step - step_b * across
        return step, step_b

    def moved(self, point: _Point, step: Array, step_b: float, slope: float) -> _Point | None:
        """Along the step to where the slope has gone, or a bound is met. None where rounding is all that is left."""
        z = self.block.scores(step, step_b, self.problem.design.threads)
        ridge_here, ridge_along = self.problem.ridge * float(point.w @ step), self.problem.ridge * float(step @ step)

        def slope_at(t: float) -> float:
            a = self.slopes(point.z + t * z, point.centre, point.width)
            return float((self.share * a) @ z) + ridge_here + t * ridge_along

        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, self.upper - point.w, np.where(step < 0, self.lower - point.w, np.inf)) / step
        longest = float(np.nanmin(np.where(step == 0, np.inf, room), initial=np.inf))
        t = _turning(slope_at, slope, longest)
        if not t > 0:
            return None
        w = np.clip(point.w + t * step, self.lower, self.upper)
        return self.at(w, point.b + t * step_b, point.centre, point.width)


def _turning(slope_at: Any, slope: float, longest: float) -> float:
    """A t <= longest where an increasing slope, negative at 0, is a tenth of that at most; longest where none is."""
    enough, low, high = -LINE_ACCURACY * slope, 0.0, min(1.0, longest)
    for _ in range(60):
        value = slope_at(high)
        if abs(value) <= enough or (value < 0 and high == longest):
            return high
        if value > 0:
            break
        low, high = high, min(4 * high, longest)
    else:
        return high
    from scipy.optimize import brentq

    return float(brentq(slope_at, low, high, rtol=1e-3, xtol=1e-14 * high))
