"""The restricted minimiser where the core's does not reach: several outputs, or more features than a factor takes.

    min_{W, b} (1/n) sum_i v_i loss(x_i.W + b, y_i) + (ridge/2) |W|^2,   bounds on W where the problem has them

Newton's method with line search. The Hessian has one block for each two outputs,

    H_ab = (1/n) X' diag(v p_a (1[a=b] - p_b)) X + 1[a=b] ridge,        X with a column of ones for the intercept,

factored as a whole while it is small, else applied in conjugate gradients. Coordinates at a bound they press against
are held. A constant added to all outputs changes no softmax: that direction is filled in where nothing decides it.

Cost a round: outputs^2/2 Grams of n |S|^2 and a factor of (outputs |S|)^3/3, or a few dozen sweeps over the block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.solvers.blas import lend_blas
from paring.solvers.restricted import MOST_ROUNDS, Restricted

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

LARGEST_WHOLE = 1500  # coordinates whose Hessian is factored: about 0.1 s
SUFFICIENT = 1e-4  # Armijo
SHORTEST = 1e-10  # step at which the line search gives up
FIRST_DAMPING, DAMPING_FACTOR, NO_DAMPING_BELOW, MOST_DAMPING = 1e-4, 10.0, 1e-7, 1e4  # as in the core
ROUNDING = 1e-11  # of F: a decrement below it may fail to show in F
MOST_CG = 500  # products in one solve
LOOSEST_CG = 0.1  # relative residual of the first solves; then the root of what the gradient has fallen to


def minimise_large(problem: Any, features: Indices, w: Array, b: Any, tolerance: float) -> Restricted:
    """Minimise F on ``features`` from (w, b) until half the Newton decrement is at most ``tolerance``."""
    lend_blas()
    search = _Newton(problem, features)
    point = search.canonical(search.start(w, b))
    point, converged = search.run(point, tolerance)
    point = search.canonical(point)
    w, b, z = point.w, point.b - search.shifts @ point.w, point.z
    if problem.outputs == 1:
        w, b, z = w[:, 0], float(b[0]), z[:, 0]
    return Restricted(features, w, b, z, point.objective, search.block, None, converged)


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights (|S|, outputs), intercepts (outputs,) for the block's shifted columns, scores (n, outputs), F."""

    w: Array
    b: Array
    z: Array
    objective: float


class _Newton:
    """One minimisation. Vectors over all coordinates are (|S| + 1, outputs), the intercepts in the last row."""

    def __init__(self, problem: Any, features: Indices) -> None:
        self.problem, self.design, self.features = problem, problem.design, features
        self.block: _core.Block = self.design.block(features, problem.v if problem.fit_intercept else None)
        self.shifts = self.block.shifts if problem.fit_intercept else np.zeros(len(features))
        self.shape = (len(features) + 1, problem.outputs)
        self.damping = 0.0
        constraint = problem.constraint
        unbounded = np.full((len(features), 1), np.inf)
        self.lower = -unbounded if constraint.lower is None else constraint.lower[features][:, None]
        self.upper = unbounded if constraint.upper is None else constraint.upper[features][:, None]
        self.bounded = constraint.lower is not None
        second = problem.squares[features] - (problem.means[features] ** 2 if problem.fit_intercept else 0.0)
        self.second = np.append(np.maximum(second, 0.0), 1.0)  # of the coordinates: what conjugate gradients divide by
        self.ridges = np.append(np.full(len(features), problem.ridge), 0.0)[:, None]

    # -- the function -------------------------------------------------------------------------------------------

    def start(self, w: Array, b: Any) -> _Point:
        w = np.clip(np.asarray(w, dtype=np.float64).reshape(-1, self.shape[1]), self.lower, self.upper)
        return self.at(w, np.broadcast_to(np.asarray(b, dtype=np.float64), self.shape[1:]) + self.shifts @ w)

    def at(self, w: Array, b: Array) -> _Point:
        z = self.scores(np.vstack([w, b]))
        return _Point(w, b, z, self.problem.value_at(z, w))

    def scores(self, u: Array) -> Array:
        threads = self.design.threads
        return np.stack([self.block.scores(np.ascontiguousarray(a[:-1]), a[-1], threads) for a in u.T], axis=1)

    def adjoint(self, r: Array) -> Array:
        """The gradient in all coordinates of sum(r * scores)."""
        threads = self.design.threads
        parts = [np.append(self.block.adjoint(np.ascontiguousarray(a), threads), a.sum()) for a in r.T]
        out = np.stack(parts, axis=1)
        if not self.problem.fit_intercept:
            out[-1] = 0.0
        return out

    def canonical(self, point: _Point) -> _Point:
        """Of all points with the same probabilities, the one whose outputs sum to zero (where none is held back)."""
        if self.shape[1] == 1:
            return point
        b = point.b - point.b.mean() if self.problem.fit_intercept else point.b
        free = self.problem.ridge == 0 and not self.bounded
        w = point.w - point.w.mean(axis=1, keepdims=True) if free else point.w
        return self.at(w, b)

    # -- the method ---------------------------------------------------------------------------------------------

    def run(self, point: _Point, tolerance: float) -> tuple[_Point, bool]:
        first = None
        for _ in range(MOST_ROUNDS):
            self.design.stop.check()
            u = np.vstack([point.w, point.b])
            g = self.adjoint(self.problem.residuals(point.z)) + self.ridges * u
            free = self.free(point, g)
            g = np.where(free, g, 0.0)
            size = float(np.linalg.norm(g))
            first = first or size
            step = self.direction(point, g, free, size / first if first else 0.0)
            decrement = -0.5 * float(np.vdot(step, g))
            if not decrement > tolerance:
                return self.last_step(point, step, tolerance), bool(np.isfinite(decrement))
            found, length = self.line_search(point, g, step)
            if found is None and decrement <= ROUNDING * abs(point.objective):
                return point, True
            if found is None and self.damping >= MOST_DAMPING:
                return point, False
            if found is None or length < 0.2:
                self.damping = max(FIRST_DAMPING, self.damping * DAMPING_FACTOR)
            else:
                self.damping = (
                    self.damping / DAMPING_FACTOR if self.damping / DAMPING_FACTOR > NO_DAMPING_BELOW else 0.0
                )
            point = found or point
        return point, False

    def free(self, point: _Point, g: Array) -> NDArray[np.bool_]:
        """Coordinates not held at a bound that their descent leads out of."""
        held = ((point.w <= self.lower) & (g[:-1] > 0)) | ((point.w >= self.upper) & (g[:-1] < 0))
        return np.vstack([~held, np.full((1, self.shape[1]), bool(self.problem.fit_intercept))])

    def direction(self, point: _Point, g: Array, free: NDArray[np.bool_], fallen: float) -> Array:
        curvature = Curvature(self.problem, point.z, self.damping)
        if self.shape[0] * self.shape[1] <= LARGEST_WHOLE:
            return self.by_factor(curvature, g, free)
        return self.by_cg(curvature, g, free, min(LOOSEST_CG, np.sqrt(fallen)))

    def moved(self, point: _Point, step: Array, length: float) -> _Point:
        return self.at(np.clip(point.w + length * step[:-1], self.lower, self.upper), point.b + length * step[-1])

    def line_search(self, point: _Point, g: Array, step: Array) -> tuple[_Point | None, float]:
        length = 1.0
        while length > SHORTEST:
            new = self.moved(point, step, length)
            slope = float(np.vdot(g[:-1], new.w - point.w) + np.vdot(g[-1], new.b - point.b))
            if new.objective < point.objective and new.objective <= point.objective + SUFFICIENT * slope:
                return new, length
            length *= 0.5
        return None, length

    def last_step(self, point: _Point, step: Array, tolerance: float) -> _Point:
        """A step too small to show in F still sharpens the weights: Newton's error is squared by it."""
        if not np.isfinite(step).all():
            return point
        new = self.moved(point, step, 1.0)
        return new if new.objective <= point.objective + tolerance else point

    # -- its linear systems -------------------------------------------------------------------------------------

    def by_factor(self, curvature: Curvature, g: Array, free: NDArray[np.bool_]) -> Array:
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        (size, outputs), h = self.shape, np.zeros((self.shape[1], self.shape[0]) * 2)
        for a in range(outputs):
            for c in range(a + 1):
                h[a, :, c, :] = self.gram(curvature, a, c)
                h[c, :, a, :] = h[a, :, c, :].T
        if outputs > 1:  # the direction that no softmax sees
            unseen = np.flatnonzero(free.all(axis=1) & (self.ridges[:, 0] == 0))
            h[:, unseen, :, unseen] += np.einsum("ajaj->j", h)[unseen, None, None] / outputs**2
        matrix, mask = h.reshape(size * outputs, -1), free.T.ravel()
        matrix[~mask] = 0.0
        matrix[:, ~mask] = 0.0
        diagonal = matrix.diagonal().copy()
        largest, jitter = max(float(diagonal.max()), np.finfo(float).tiny), 1e-13
        while jitter <= 1:
            np.fill_diagonal(matrix, np.where(mask, diagonal * (1 + jitter) + 1e-3 * jitter * largest, 1.0))
            try:
                factor = cho_factor(matrix, lower=True, check_finite=False)
            except LinAlgError:
                jitter *= 100
                continue
            return -cho_solve(factor, g.T.ravel(), check_finite=False).reshape(outputs, size).T
        return -g / largest

    def gram(self, curvature: Curvature, a: int, c: int) -> Array:
        """The block of outputs a and c, the intercept's row and column last."""
        weights, sign = curvature.pair(a, c)
        gram, first = self.block.hessian(weights, self.design.threads)
        out = np.empty((self.shape[0],) * 2)
        out[:-1, :-1], out[-1, :-1], out[:-1, -1], out[-1, -1] = gram, first, first, weights.sum()
        out *= sign
        if a == c:
            out[np.diag_indices_from(out)] += self.ridges[:, 0]
        return out

    def by_cg(self, curvature: Curvature, g: Array, free: NDArray[np.bool_], relative: float) -> Array:
        """Conjugate gradients, preconditioned alike for all outputs, so that their sum stays where it was."""
        scale = self.second[:, None] * curvature.mean + self.ridges
        scale = np.maximum(scale, 1e-12 * max(float(scale.max()), np.finfo(float).tiny))
        step, r = np.zeros_like(g), -g
        p = s = r / scale
        rs, goal = float(np.vdot(r, s)), relative * float(np.linalg.norm(g))
        for _ in range(MOST_CG):
            if np.linalg.norm(r) <= goal:
                break
            self.design.stop.check()
            hp = np.where(free, self.adjoint(curvature.times(self.scores(p))) + self.ridges * p, 0.0)
            bend = float(np.vdot(p, hp))
            if not bend > 1e-14 * float(np.vdot(p, scale * p)):  # a direction without curvature
                return step if step.any() else p
            step, r = step + (rs / bend) * p, r - (rs / bend) * hp
            s = r / scale
            rs, previous = float(np.vdot(r, s)), rs
            p = s + (rs / previous) * p
        return step


class Curvature:
    """Second derivatives of the mean loss in the scores; with ``damping``, blended with the loss's majorant."""

    def __init__(self, problem: Any, z: Array, damping: float = 0.0) -> None:
        self.share = problem.v / problem.n
        core = problem.loss.core
        self.diagonal = core.curvature(z, problem.y)
        self.added = damping * core.majorant(z, problem.y) if damping else np.zeros_like(self.diagonal)
        self.p: Array | None = None
        if problem.outputs > 1:
            self.p = core.slope(z, problem.y)
            self.p[np.arange(problem.n), problem.y.astype(np.int64)] += 1.0
            np.maximum(self.p, 0.0, out=self.p)
        self.mean = float((self.share @ (self.diagonal + self.added)).mean())

    def pair(self, a: int, c: int) -> tuple[Array, float]:
        """(weights of at least 0, sign) of the Gram of outputs a and c."""
        if a == c:
            return self.share * (self.diagonal[:, a] + self.added[:, a]), 1.0
        assert self.p is not None
        return self.share * self.p[:, a] * self.p[:, c], -1.0

    def largest(self) -> Array:
        """A bound on each row's own curvature: for softmax, of diag(p) - p p'."""
        return self.diagonal if self.p is None else 2 * self.diagonal.max(axis=1)

    def times(self, z: Array, rows: Indices | slice = slice(None)) -> Array:
        """The second derivative applied to scores of those rows."""
        p, diagonal = self.p, self.diagonal
        if p is None:
            bent = (diagonal[rows] + self.added[rows]) * z
        else:
            bent = p[rows] * (z - (p[rows] * z).sum(axis=1, keepdims=True)) + self.added[rows] * z
        return self.share[rows].reshape((-1,) + (1,) * (z.ndim - 1)) * bent
