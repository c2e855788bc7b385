"""The best dual bound there is: ascent through the k-support norm.

    max_a D(a) = min_{w, b} (1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|_ksp^2
    |w|_ksp^2 = min { sum_j w_j^2 / s_j : 0 <= s <= 1, sum s <= k }

(algorithm: accelerated proximal gradient with restarts, b minimised exactly at each point; a = slopes at the
iterate). Always-units keep the plain ridge, never-units are 0, and the others share k less the number of
always-units; groups and the rows of a multinomial model enter by their norms. Ridge > 0, no bounds. No dual
point gives a better bound than this minimum. Source of the norm: Argyriou, Foygel and Srebro, "Sparse
prediction with the k-support norm", 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core, losses
from paring.dual import dual_point, slopes_at
from paring.result import Model

Array = NDArray[np.float64]

MOST_ROUNDS = 3000
NEAR = 1e-4  # the share of the gap that is not worth gaining any more
RISE = 1e-3  # a rise by this share of what can be gained counts as one
PATIENCE = 300  # rounds without such a rise
CLOSED = 1e-9  # a gap relative to F at the null model that counts as closed
STEEPEST = 1e200  # a curvature at which the search for a step gives up
HINGE_WIDTHS = (1.0, 0.2, 0.04, 0.008, 0.0016)


def can_ascend(problem: Any) -> bool:
    """Whether the ascent is right here: with a ridge and without bounds. (A ball is left out: it only shrinks.)"""
    return bool(problem.ridge > 0 and problem.constraint.lower is None)


# -- the norm and its prox --------------------------------------------------------------------------------------------


def shares(sizes: Array, k: int, t: float) -> Array:
    """s with w_j = s_j u_j / (s_j + t) the prox of (t/2)|.|_ksp^2 at u, from sizes = |u_j|; s_j = 0 where u_j
    = 0.

    s_j = clip(alpha |u_j| - t, 0, 1) and sum s = k: the sum rises piecewise linearly in alpha, so that alpha
    is solved for exactly between two breakpoints, found by bisection over them. At most k nonzero sizes: s =
    1 there. Cost: O(d log d).
    """
    positive = sizes > 1e-150 * float(sizes.max(initial=0.0))
    m = sizes[positive]
    s = np.zeros_like(sizes)
    if k >= len(m):
        s[positive] = 1.0
        return s
    if k <= 0:
        return s
    m = m / m.max()
    breaks = np.sort(np.concatenate([t / m, (1 + t) / m]))
    low, high = 0, len(breaks) - 1  # the sum is 0 at the first and len(m) > k at the last
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(breaks[middle] * m - t, 0, 1).sum() < k:
            low = middle
        else:
            high = middle
    between = 0.5 * (breaks[low] + breaks[high])
    level = between * m - t
    full, part = level >= 1, (level > 0) & (level < 1)
    total = float(m[part].sum())
    alpha = (k - full.sum() + t * part.sum()) / total if total > 0 else float(breaks[high])
    s[positive] = np.clip(alpha * m - t, 0, 1)
    return s


def prox(feasible: Any, u: Array, t: float) -> tuple[Array, float]:
    """(w, |w|^2): the prox of (t/2)|.|^2 at u, and that norm there, as described above."""
    entries = u**2 if u.ndim == 1 else (u**2).sum(axis=1)
    sizes = np.sqrt(feasible.unit_sums(entries))
    free = ~(feasible.always | feasible.never)
    s = np.where(feasible.always, 1.0, 0.0)
    s[free] = shares(sizes[free], feasible.k - int(feasible.always.sum()), t)
    factor = s / (s + t)
    norm = float((factor * sizes) ** 2 @ np.divide(1.0, s, out=np.zeros_like(s), where=s > 0))
    by_feature = factor if feasible.unit_of is None else factor[feasible.unit_of]
    return u * by_feature.reshape((-1,) + (1,) * (u.ndim - 1)), norm


# -- the ascent -------------------------------------------------------------------------------------------------------


def ascend(problem: Any, model: Model, objective: float) -> float:
    """The best bound found, going out from the model's weights; the plain one there at least. -infinity: none.

    Stops when the gap is closed, the bound has come near the minimum or no longer rises, or
    ``problem.design.stop`` asks for it. Cost: two passes a round.
    """
    w = model.dense(problem.d)
    best = -np.inf
    try:
        for smooth in _smooth(problem):
            walk, reach, risen = Walk.start(smooth, w), np.inf, 0
            for round_ in range(MOST_ROUNDS):
                a, z = slopes_at(smooth, walk.z_out + walk.b)
                point = dual_point(problem, a)
                bound = point.bound()
                if bound > best + RISE * (reach - best):
                    risen = round_
                best = max(best, bound)
                gap = objective - best
                reach = min(reach, walk.step(smooth, a, z, -point.c))
                done = reach - best <= max(NEAR * gap, CLOSED * problem.scale)
                if done or gap <= CLOSED * problem.scale or round_ - risen >= PATIENCE:
                    break
            w = walk.w
    except _core.Stopped:
        pass
    return best


def _smooth(problem: Any) -> Iterator[Any]:
    """The problem itself, or for the hinge smoothed ones: their slopes lie in the hinge's domain."""
    if problem.loss.smooth:
        yield problem
        return
    for width in HINGE_WIDTHS:
        yield problem.with_loss(losses.smoothed_hinge(width))


@dataclass
class Walk:
    """Accelerated proximal gradient: the iterate w, the point ``out`` extrapolated from it, scores without b.

    b is where the search for the intercept starts.
    """

    w: Array
    z: Array
    out: Array
    z_out: Array
    curvature: float
    b: Any = 0.0
    momentum: float = 1.0

    @classmethod
    def start(cls, problem: Any, w: Array) -> Walk:
        z = _scores(problem, w)
        bound = problem.loss.curvature_bound
        curvature = float(problem.squares.max()) * (bound if np.isfinite(bound) else 1.0)
        return cls(w, z, w, z, max(curvature, problem.ridge))

    def step(self, problem: Any, a: Array, z_out: Array, gradient: Array) -> float:
        """One round from ``out``, slopes a, scores z_out with b. Returns a bound on what can be reached."""
        ridge, self.b = problem.ridge, z_out[0] - self.z_out[0]
        while True:
            w, norm = prox(problem.constraint, self.out - gradient / self.curvature, ridge / self.curvature)
            z, moved = _scores(problem, w), w - self.out
            allowed = 0.5 * self.curvature * float(np.vdot(moved, moved))
            if _descends(problem, z_out, z - self.z_out, a, allowed) or self.curvature > STEEPEST:
                break
            self.curvature *= 2
        if np.vdot(self.out - w, w - self.w) > 0:
            self.momentum = 1.0
        momentum = 0.5 * (1 + np.sqrt(1 + 4 * self.momentum**2))
        beta = (self.momentum - 1) / momentum
        self.out, self.z_out = w + beta * (w - self.w), z + beta * (z - self.z)
        self.w, self.z, self.momentum = w, z, momentum
        self.curvature *= 0.97
        return float(problem.value_at(z + self.b, np.zeros(0)) + 0.5 * ridge * norm)


def _scores(problem: Any, w: Array) -> Array:
    used = np.flatnonzero(w if w.ndim == 1 else w.any(axis=1))
    return problem.design.scores_on(used, w[used])


def _descends(problem: Any, z: Array, change: Array, a: Array, allowed: float) -> bool:
    """Whether the mean loss at z + change lies at most ``allowed`` above its linear model at z, where its
    slopes are a.

    First by the curvature bound, which does not cancel; then by the values, where they can tell.
    """
    n = problem.n
    v = problem.v.reshape((-1,) + (1,) * (z.ndim - 1))
    if problem.loss.name == "poisson":
        with np.errstate(over="ignore", invalid="ignore"):
            rise = float((v * (a + problem.y) * (np.expm1(change) - change)).sum()) / n
        return rise <= allowed
    centred = change - (v * change).sum(axis=0) / n if problem.fit_intercept else change
    if problem.loss.curvature_bound * float((v * centred**2).sum()) / (2 * n) <= allowed:
        return True
    value = problem.value_at(z, np.zeros(0))
    rise = problem.value_at(z + change, np.zeros(0)) - value - float((v * a * change).sum()) / n
    return rise <= allowed and allowed > 1e-10 * abs(value)
