"""Certificates of exact-k problems, in float64 and apart from the solver: the dual gap, and exchanges tried exactly.

``bound_from``     the model's objective less a lower bound on the best one (``dual.py``; ``ksupport.py`` for certify=).
``swap_change``    squared loss: what the best exchange of one feature would change, by the exact formula.
``refit_change``   any smooth loss, groups, bounds: the same by refitting each exchange; small problems.

What the bound is right for: every loss; intercept, weights, always, never, groups, multinomial rows, bounds (also with
ridge 0), an l2 ball. With ridge 0 and no bounds or ball, and where a needed gain is infinite (ridge 0 and a weight
unbounded on the side of its slope), there is none but D(0), the least the loss can be, which proves perfect fits
optimal; the gap of other models is infinite. The ascent is refused for bounds, and without a
ridge: the plain bound remains.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.data.blocks import row_blocks
from paring.dual import corner_slopes, dual_point, has_bound, least_bound, slopes_at
from paring.ksupport import ascend, can_ascend
from paring.problem import SPANNED
from paring.result import Model

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

WITHIN_ROUNDING = 1e-9  # of F: what a gap may lie below 0


def bound_from(problem: Any, model: Model, objective: float, ascend: bool = False, tol: float = 0.0) -> float:
    """The dual gap: the model's objective less a lower bound on the best feasible one; infinity where no
    bound exists.

    ``ascend``: search for the best dual point (``ksupport.ascend``; not with bounds or without a ridge).
    ``tol``: relative to F at the null model; see ``lower_bound``.
    Cost: one pass; the ascent two passes a round.
    """
    return gap_to(problem, objective, lower_bound(problem, model, objective, ascend, tol))


def gap_to(problem: Any, objective: float, bound: float) -> float:
    """The objective less the bound. Below 0 by rounding it is 0; further below (the model is not feasible, or the
    objective not its own) it is no claim: infinity."""
    gap = objective - bound
    if gap >= 0:
        return gap
    return 0.0 if -gap <= WITHIN_ROUNDING * max(problem.scale, abs(objective)) else float(np.inf)


def lower_bound(
    problem: Any, model: Model, objective: float | None = None, ascend: bool = False, tol: float = 0.0
) -> float:
    """A number no feasible model's objective is below; -infinity where none is told. See ``bound_from``.

    D(0) bounds every problem: at a = 0 all gains are 0, ridge or none. Where it is the only bound it is told where the
    objective comes within tol of it (a perfect fit); a gap of all the loss there is would say nothing.
    """
    if objective is None:
        objective = problem.objective(model)
    close = objective - WITHIN_ROUNDING * problem.scale
    least = least_bound(problem)
    reached = objective - least <= max(tol, WITHIN_ROUNDING) * problem.scale
    best = least if problem.ridge > 0 or reached else -np.inf
    if not has_bound(problem):
        return best
    try:
        best = max(best, _plain(problem, model, close))
        if ascend and best < close and can_ascend(problem):
            best = max(best, _ascended(problem, model, objective))
    except _core.Stopped:
        pass
    return max(best, least) if np.isfinite(best) else best


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

    counted from the model's own F, by an orthogonal basis of the support's columns. Where the support has room (fewer
    than k features) entries alone are tried too. Always features do not leave; never features do not enter, nor does a
    column in the span of the others (``problem.SPANNED``). From a support with such a column each leaves in turn.
    Infinity where nothing can be exchanged. No groups, bounds or ball (ValueError). Cost: |S| n d operations (|S| times
    as many where columns are spanned); n x (a block of columns) of memory.
    """
    feasible = problem.constraint
    if problem.loss.name != "squared" or feasible.unit_of is not None or _bounded(problem):
        raise ValueError(
            "swap_change: the formula is for squared loss without groups, bounds or ball; use refit_change"
        )
    support = model.support
    leave = np.flatnonzero(~feasible.always[support])
    outside = ~feasible.never
    outside[support] = False
    room = len(support) + int(feasible.always[outside].sum()) < feasible.k
    columns = _Columns(problem, support)
    whole = _Basis(columns.inside, columns.y, problem.ridge)
    plans = [whole.entered] if room else []
    if whole.spanned:
        plans += [_Basis(np.delete(columns.inside, j, axis=1), columns.y, problem.ridge).entered for j in leave]
    elif len(leave):
        plans.append(partial(whole.exchanged, leave))
    best = np.inf
    enter = np.flatnonzero(outside)
    for at in row_blocks(len(enter), 8 * problem.n):
        x = columns.of(enter[at])
        best = min([best, *(plan(x) for plan in plans)])
    return float(best - problem.objective(model))


class _Columns:
    """Columns times the roots of the weights, centred where there is an intercept; below, a row of ridge a member."""

    def __init__(self, problem: Any, support: Indices) -> None:
        self.problem, self.members = problem, len(support)
        self.root = np.sqrt(problem.v / problem.n)
        middle = np.average(problem.y, weights=problem.v) if problem.fit_intercept else 0.0
        self.y = np.append(self.root * (problem.y - middle), np.zeros(self.members))
        self.inside = self.of(support)
        self.inside[problem.n :] = np.sqrt(problem.ridge) * np.eye(self.members)

    def of(self, features: Indices) -> Array:
        x = self.problem.design.columns(features)
        if self.problem.fit_intercept:
            x = x - np.average(x, axis=0, weights=self.problem.v)
        return np.vstack([self.root[:, None] * x, np.zeros((self.members, len(features)))])


class _Basis:
    """Orthonormal columns u of the span of x, and y's residual r on it. ``spanned``: a column was left out."""

    def __init__(self, x: Array, y: Array, ridge: float) -> None:
        self.ridge, h = ridge, (x**2).sum(axis=0)
        self.u, factor = np.linalg.qr(x)
        self.spanned = x.shape[1] > len(x) or bool(np.any(factor.diagonal() ** 2 <= SPANNED * h))
        if self.spanned:
            self.u = np.empty((len(x), 0))
            for j in range(x.shape[1]):
                e, _ = self._left(x[:, j])
                if (length := float(np.linalg.norm(e))) ** 2 > SPANNED * h[j]:
                    self.u = np.column_stack([self.u, e / length])
        else:
            self.inverse = np.linalg.inv(factor)
            self.w = self.inverse @ (self.u.T @ y)
        self.r, _ = self._left(y)
        self.objective = 0.5 * float(self.r @ self.r)

    def _left(self, x: Array) -> tuple[Array, Array]:
        """What of x is not spanned, and u'x. Twice: once leaves rounding of what is taken off."""
        c = self.u.T @ x
        e = x - self.u @ c
        more = self.u.T @ e
        return e - self.u @ more, c + more

    def _outside(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """u'x, s and g of outsiders, and the least curvature with which they are not spanned."""
        e, c = self._left(x)
        floor = SPANNED * ((x**2).sum(axis=0) + self.ridge)
        return c, (e**2).sum(axis=0) + self.ridge, -(self.r @ e), floor

    def entered(self, x: Array) -> float:
        """The least F with one of these in."""
        _, s, g, floor = self._outside(x)
        return self.objective - float(_gains(g, s, floor).max(initial=0.0))

    def exchanged(self, leave: Indices, x: Array) -> float:
        """The least F with one of these in for a member of ``leave``."""
        c, s, g, floor = self._outside(x)
        best = np.inf
        for j in leave:
            size = np.linalg.norm(self.inverse[j])
            t, a = self.inverse[j] / size @ c, self.w[j] / size
            change = 0.5 * a**2 - _gains(g - a * t, s + t**2, floor)
            best = min(best, float(change.min(initial=np.inf)))
        return self.objective + best


def _gains(g: Array, s: Array, floor: Array) -> Array:
    return np.divide(g**2, 2 * s, out=np.zeros_like(g), where=s > floor)


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
