"""Certificates of exact-k problems, in float64 and apart from the solver: the dual gap, and exchanges tried exactly.

``bound_from``     the model's objective less a lower bound on the best one (``dual.py``; ``ksupport.py`` for certify=).
``swap_change``    squared loss: what the best exchange of one feature would change, by the exact formula.
``refit_change``   any smooth loss, groups, bounds: the same by refitting each exchange; small problems.

What the bound is right for: every loss; intercept, weights, always, never, groups, multinomial rows, bounds (also with
ridge 0), an l2 ball. It is infinite, and so no bound, with ridge 0 and no bounds or ball, and where a needed gain is
infinite (ridge 0 and a weight unbounded on the side of its slope). The ascent is refused for bounds, and without a
ridge: the plain bound remains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.data.blocks import row_blocks
from paring.dual import corner_slopes, dual_point, has_bound, slopes_at
from paring.ksupport import ascend, can_ascend
from paring.result import Model

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

WITHIN_ROUNDING = 1e-9  # of F: what a gap may lie below 0
FLAT = 1e-11  # a column whose curvature falls to this share when others are held lies in their span
SINGULAR = 1e-12  # reciprocal condition of the support's Gram matrix below which no factor is trusted


def bound_from(problem: Any, model: Model, objective: float, ascend: bool = False) -> float:
    """The dual gap: the model's objective less a lower bound on the best feasible one; infinity where no
    bound exists.

    ``ascend``: search for the best dual point (``ksupport.ascend``; not with bounds or without a ridge).
    Cost: one pass; the ascent two passes a round.
    """
    return gap_to(problem, objective, lower_bound(problem, model, objective, ascend))


def gap_to(problem: Any, objective: float, bound: float) -> float:
    """The objective less the bound. Below 0 by rounding it is 0; further below (the model is not feasible, or the
    objective not its own) it is no claim: infinity."""
    gap = objective - bound
    if gap >= 0:
        return gap
    return 0.0 if -gap <= WITHIN_ROUNDING * max(problem.scale, abs(objective)) else float(np.inf)


def lower_bound(problem: Any, model: Model, objective: float | None = None, ascend: bool = False) -> float:
    """A number no feasible model's objective is below; -infinity where there is none. See ``bound_from``."""
    if not has_bound(problem):
        return -np.inf
    if objective is None:
        objective = problem.objective(model)
    close = objective - WITHIN_ROUNDING * problem.scale
    best = -np.inf
    try:
        best = _plain(problem, model, close)
        if ascend and best < close and can_ascend(problem):
            best = max(best, _ascended(problem, model, objective))
    except _core.Stopped:
        pass
    return best


_ascended = ascend  # ``ascend=`` names the wish in the functions above


def _plain(problem: Any, model: Model, close: float) -> float:
    """The bound from the slopes at the model's scores; scaled down along the segment to 0 where that is better."""
    z = problem.design.scores_on(model.support, model.weights)
    a, z = slopes_at(problem, z)
    points = [dual_point(problem, a)]
    if not problem.loss.smooth:
        corner = corner_slopes(problem, z, model)
        points += [] if corner is None else [dual_point(problem, corner)]
    best = -np.inf
    for point in points:
        best = max(best, point.bound())
        if best >= close:
            return best
    return max(best, *(point.best() for point in points))


# -- exchanges --------------------------------------------------------------------------------------------------------


def swap_change(problem: Any, model: Model) -> float:
    """Squared loss: the change of F by the best exchange of one feature of the model for one outside, then refitted.

    Q: the inverse Hessian on the support S, intercept eliminated; g the gradient; T_i = Q H_Si; s_i = H_ii - H_iS T_i:

        j out, i in:  w_j^2 / (2 Q_jj) - (g_i - w_j T_ij / Q_jj)^2 / (2 (s_i + T_ij^2 / Q_jj))

    counted from the model's own F. Where the support has room (fewer than k features) entries alone are tried
    too; always features do not leave, never features do not enter. Infinity where nothing can be exchanged.
    Columns in a collinear support: each leaves in turn, the rest refitted by pseudo-inverse. No groups,
    bounds or ball (ValueError). Cost: |S| n d operations; n x (a block of columns) of memory.
    """
    feasible = problem.constraint
    if problem.loss.name != "squared" or feasible.unit_of is not None or _bounded(problem):
        raise ValueError(
            "swap_change: the formula is for squared loss without groups, bounds or ball; use refit_change"
        )
    support = model.support
    fit = _Support(problem, support)
    leave = np.flatnonzero(~feasible.always[support])
    outside = ~feasible.never
    outside[support] = False
    room = len(support) + int(feasible.always[outside].sum()) < feasible.k
    plans = _plans(fit, leave, room)
    best = np.inf
    enter = np.flatnonzero(outside)
    for at in row_blocks(len(enter), 8 * problem.n):
        x = fit.columns(enter[at])
        cross, g, h = fit.against(x)
        best = min([best, *(plan(cross, g, h) for plan in plans)])
    return float(fit.objective - problem.objective(model) + best)


class _Support:
    """Squared loss on chosen columns, refitted from the data: Gram matrix, weights, residual."""

    def __init__(self, problem: Any, support: Indices) -> None:
        self.problem, self.v = problem, problem.v / problem.n
        self.centred = problem.fit_intercept
        self.x = self.columns(support)
        self.y = problem.y - (np.average(problem.y, weights=problem.v) if self.centred else 0.0)
        self.gram = self.x.T @ (self.v[:, None] * self.x) + problem.ridge * np.eye(len(support))
        self.target = self.x.T @ (self.v * self.y)
        self.inverse, self.singular = _inverse(self.gram)
        self.w = self.inverse @ self.target
        self.w += self.inverse @ (self.target - self.gram @ self.w)
        self.residual = self.x @ self.w - self.y
        self.objective = 0.5 * float(self.v @ self.residual**2 + problem.ridge * self.w @ self.w)

    def columns(self, features: Indices) -> Array:
        x = self.problem.design.columns(features)
        return x - np.average(x, axis=0, weights=self.problem.v) if self.centred else x

    def against(self, x: Array) -> tuple[Array, Array, Array]:
        """H between the support and other columns, the gradient there, their own curvature."""
        weighted = self.v[:, None] * x
        curvature = (x * weighted).sum(axis=0) + self.problem.ridge
        return self.x.T @ weighted, weighted.T @ self.residual, curvature


def _inverse(gram: Array) -> tuple[Array, bool]:
    """The pseudo-inverse of a Gram matrix, columns brought to one scale first; whether it is singular."""
    diagonal = np.sqrt(np.diag(gram))
    scale = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    values, vectors = np.linalg.eigh(scale[:, None] * gram * scale)
    sound = values > SINGULAR * max(float(values.max(initial=0.0)), float(np.finfo(np.float64).tiny))
    vectors = scale[:, None] * vectors[:, sound]
    return (vectors / values[sound]) @ vectors.T, not bool(sound.all())


def _plans(fit: _Support, leave: Indices, room: bool) -> list[Any]:
    """Functions of (H_S,i, g_i, H_ii) for a block of columns i that give the least change of F."""

    def gains(g: Array, s: Array, h: Array) -> Array:
        return np.divide(g**2, 2 * s, out=np.zeros_like(g), where=s > FLAT * h)

    def entry(cross: Array, g: Array, h: Array) -> float:
        return -float(gains(g, h - (cross * (fit.inverse @ cross)).sum(axis=0), h).max(initial=0.0))

    def exchange(cross: Array, g: Array, h: Array) -> float:
        t = fit.inverse @ cross
        s = np.maximum(h - (cross * t).sum(axis=0), 0.0)
        best = np.inf
        for j in leave:
            q = fit.inverse[j, j]
            change = fit.w[j] ** 2 / (2 * q) - gains(g - fit.w[j] * t[j] / q, s + t[j] ** 2 / q, h)
            best = min(best, float(change.min(initial=np.inf)))
        return best

    def without(j: int) -> Any:
        keep = np.delete(np.arange(len(fit.w)), j)
        inverse, _ = _inverse(fit.gram[np.ix_(keep, keep)])
        w = inverse @ fit.target[keep]
        shift = np.zeros(len(fit.w))
        shift[keep] = w
        shift -= fit.w
        base = 0.5 * float(shift @ fit.gram @ shift)  # F is quadratic, fit.w its minimum

        def plan(cross: Array, g: Array, h: Array) -> float:
            c = cross[keep]
            s = h - (c * (inverse @ c)).sum(axis=0)
            return base - float(gains(g + cross.T @ shift, s, h).max(initial=0.0))

        return plan

    changes = [without(j) for j in leave] if fit.singular else [exchange]
    return changes + ([entry] if room else [])


def refit_change(problem: Any, model: Model) -> float:
    """The change of F by the best exchange of one unit, each refitted with SciPy's L-BFGS-B.

    A check for small problems: smooth losses, groups, bounds. Ball: ValueError.
    Cost: a fit for every pair of a unit inside and one outside.
    """
    feasible = problem.constraint
    if not problem.loss.smooth or np.isfinite(feasible.radius):
        raise ValueError("refit_change: for smooth losses without a ball")
    inside = feasible.units_of(model.support)
    outside = np.setdiff1d(np.flatnonzero(~feasible.never), inside)
    leave = [u for u in inside if not feasible.always[u]]
    best = np.inf
    for out in leave:
        for enter in outside:
            units = np.append(np.setdiff1d(inside, [out]), enter)
            best = min(best, refit(problem, feasible.features(units), model))
    return float(best - problem.objective(model))


def refit(problem: Any, features: Indices, start: Model) -> float:
    """The least F on those features, within their bounds, by L-BFGS-B from the model's weights there."""
    from scipy.optimize import minimize

    feasible, outputs = problem.constraint, problem.outputs
    x = problem.design.columns(features)
    shape = (len(features), *problem.zeros().shape[1:])
    size = int(np.prod(shape))
    free = outputs if problem.fit_intercept else 0

    def value(point: Array) -> tuple[float, Array]:
        w = point[:size].reshape(shape)
        b = point[size:] if outputs > 1 else point[size:].sum()
        z = x @ w + (b if free else 0.0)
        r = problem.residuals(z)
        slope_b = np.atleast_1d(r.sum(axis=0)) if free else np.empty(0)
        return problem.value_at(z, w), np.append((x.T @ r + problem.ridge * w).ravel(), slope_b)

    bounds = [(None, None)] * (size + free)
    if feasible.lower is not None:
        ends = zip(feasible.lower[features], feasible.upper[features], strict=True)
        bounds[:size] = [end for end in ends for _ in range(outputs)]
    first = start.dense(problem.d)[features].ravel()
    point = np.append(first, np.broadcast_to(start.intercept, (outputs,)) if free else np.empty(0))
    options = {"maxiter": 5000, "maxfun": 50000, "ftol": 1e-15, "gtol": 1e-11, "maxcor": 30}
    return float(minimize(value, point, jac=True, bounds=bounds, method="L-BFGS-B", options=options).fun)


def _bounded(problem: Any) -> bool:
    return problem.constraint.lower is not None or bool(np.isfinite(problem.constraint.radius))
