"""Pursuit's engine for least squares where columns are nearly collinear: an orthogonal basis of the support's columns.

A Gram matrix squares the columns' condition number, and the tableau on it sees nothing below the root of rounding.
Here, with x~_i = V^1/2 (x_i - mean_i) over a row sqrt(ridge) e_i of its own, and y~ = V^1/2 (y - mean) over zeros,

    X~_S = U R,   U'U = I,   P = U'X~ (|S| x d),   r = y~ - U U'y~,   g_i = -x~_i'r,   s_i = |x~_i|^2 - |P_i|^2

What enters is orthogonalised twice against U; what leaves is rotated to the end and dropped: neither loses digits. From
these T = R^-1 P, Q = R^-1 R^-T, w = R^-1 U'y~, F = |r|^2 / 2, and the tableau's formulas hold as they stand. Where
little of a column is outside the span (s_i small), s_i and g_i come from what is left of the column itself.

Source: paring; the updates as in Golub & Van Loan, Matrix Computations, 6.5. Cost: a pass for each batch that enters
and each exchange, |S| (n + d) operations for what moves, |S|^2 d to rank. Memory: |S| (n + d) float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.data.blocks import row_blocks
from paring.problem import SPANNED
from paring.result import Model
from paring.solvers.tableau import HIDDEN, ROUNDING, SWAP_TOLERANCE, first_of_gain, idle, model_on, spread

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

NEAR = 1e-6  # of a column's curvature: s_i below has lost too many digits as a difference
REFUSED = 10  # exchanges promised and not kept, after which no more are tried on one support
AGREES = 1e-10  # of F at the null model: what F of the basis and F of the data may differ by


@dataclass(frozen=True, eq=False)
class Basis:
    """The numbers above on one support. ``u`` and ``v``: U's rows of the data and of the ridge; so too ``r``, ``q``."""

    features: Indices
    u: Array
    v: Array
    factor: Array
    p: Array
    r: Array
    q: Array
    s: Array
    g: Array
    sharp: bool = False  # whether s and g have been looked at where s is small

    @property
    def objective(self) -> float:
        return 0.5 * float(self.r @ self.r + self.q @ self.q)


class Orthogonal:
    """One least-squares pursuit. ``swap_optimal`` is "exact" where rounding could hide no exchange."""

    modelled = True
    settled = True

    def __init__(self, problem: Any) -> None:
        self.problem, self.design, self.constraint = problem, problem.design, problem.constraint
        self.tolerance = SWAP_TOLERANCE * problem.scale
        self.root = np.sqrt(problem.v / problem.n)
        self.means = problem.means if problem.fit_intercept else np.zeros(problem.d)
        self.h = problem.variances + problem.ridge
        self.noise = spread(problem)
        self.barred = self.constraint.never | problem.flat
        self.required = np.flatnonzero(self.constraint.always)
        self.y = self.root * (problem.y - (problem.null[0] if problem.fit_intercept else 0.0))
        self.sure = True
        self.at = self._empty()

    def _empty(self) -> Basis:
        n, d, none = self.problem.n, self.problem.d, np.empty(0)
        return Basis(
            np.empty(0, np.int64), np.empty((n, 0)), np.empty((0, 0)), np.empty((0, 0)), np.empty((0, d)), self.y, none,
            self.h.copy(), -self.problem.products,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Features that count: also those of ``always`` that cannot enter."""
        return len(self.at.features) + len(idle(self.required, self.at.features))

    @property
    def units(self) -> Indices:
        return self.at.features

    @property
    def objective(self) -> float:
        return self.at.objective

    # -- the basis ------------------------------------------------------------------------------------------------

    def _left(self, at: Basis, features: Indices) -> tuple[Array, Array, Array]:
        """Of these columns what U does not span: rows of the data, of the ridge (their own apart); and U'x."""
        e = self.root[:, None] * (self.design.columns(features) - self.means[features])
        c, f = at.u.T @ e, np.zeros((len(at.v), len(features)))
        e -= at.u @ c
        f -= at.v @ c
        more = at.u.T @ e + at.v.T @ f
        return e - at.u @ more, f - at.v @ more, c + more

    def _entered(self, at: Basis, features: Indices) -> Basis:
        """With those that the support does not span. Cost: one pass."""
        k = len(at.features)
        for i in features:
            e, f, c = (part[:, 0] for part in self._left(at, np.array([i])))
            own = np.append(f, np.sqrt(self.problem.ridge))
            left = float(np.sqrt(e @ e + own @ own))
            if not left**2 > SPANNED * self.h[i]:
                continue
            e, own = e / left, own / left
            size = len(at.features)
            v, factor = np.zeros((size + 1, size + 1)), np.zeros((size + 1, size + 1))
            v[:size, :size], v[:, size] = at.v, own
            factor[:size, :size], factor[:size, size], factor[size, size] = at.factor, c, left
            r, q = at.r, np.append(at.q, 0.0)
            along = float(e @ r + own @ q)
            at = replace(
                at,
                features=np.append(at.features, i),
                u=np.column_stack([at.u, e]),
                v=v,
                factor=factor,
                r=r - along * e,
                q=q - along * own,
            )
        if len(at.features) == k:
            return at
        new = self.root[:, None] * np.column_stack([at.u[:, k:], at.r])
        products = (self.design.adjoint(new) - np.outer(self.means, new.sum(axis=0))).T
        p = np.vstack([at.p, products[:-1]])
        p[:, at.features] = at.factor
        s = np.maximum(at.s - (p[k:] ** 2).sum(axis=0), 0.0)
        return self._members_settled(replace(at, p=p, s=s, g=-products[-1], sharp=False))

    def _without(self, at: Basis, position: int) -> Basis:
        """Without one member: R without its column is triangular again after a rotation, whose last row goes."""
        turn, _ = np.linalg.qr(np.delete(at.factor, position, axis=1), mode="complete")
        u, v, p = at.u @ turn, at.v @ turn, turn.T @ at.p
        along = float(u[:, -1] @ self.y)
        features = np.delete(at.features, position)
        s, g = at.s + p[-1] ** 2, at.g - along * p[-1]
        gone = at.features[position]
        s[gone] = p[-1, gone] ** 2
        g[gone] = -along * p[-1, gone]
        factor = np.triu((turn.T @ np.delete(at.factor, position, axis=1))[:-1])
        r, q = at.r + along * u[:, -1], np.delete(at.q + along * v[:, -1], position)
        at = Basis(features, u[:, :-1], np.delete(v[:, :-1], position, axis=0), factor, p[:-1], r, q, s, g)
        return self._members_settled(at)

    @staticmethod
    def _members_settled(at: Basis) -> Basis:
        at.s[at.features] = at.g[at.features] = 0.0
        return at

    def _sharpened(self, at: Basis) -> Basis:
        """s and g of columns that are nearly spanned, from what is left of them. Cost: |S| n operations for each."""
        if at.sharp:
            return at
        near = ~self.barred & (at.s < NEAR * self.h)
        near[at.features] = False
        s, g, p = at.s.copy(), at.g.copy(), at.p.copy()
        doubtful = np.flatnonzero(near)
        for some in row_blocks(len(doubtful), 8 * self.problem.n):
            i = doubtful[some]
            e, f, c = self._left(at, i)
            s[i] = (e**2).sum(axis=0) + (f**2).sum(axis=0) + self.problem.ridge
            g[i] = -(at.r @ e + at.q @ f)
            p[:, i] = c
        return replace(at, s=s, g=g, p=p, sharp=True)

    # -- moves ----------------------------------------------------------------------------------------------------

    def enter(self, features: Indices) -> None:
        self.at = self._entered(self.at, np.setdiff1d(np.asarray(features)[~self.barred[features]], self.at.features))

    def grow(self, size: int) -> None:
        """Enter those of largest gain; again where some of them were spanned by others."""
        while self.size < size:
            self.design.stop.check()
            self.at = at = self._sharpened(self.at)
            may = ~self.barred & (at.s > SPANNED * self.h)
            may[at.features] = False
            outsiders = np.flatnonzero(may)
            if len(outsiders) == 0:
                return
            gains = at.g[outsiders] ** 2 / at.s[outsiders]
            self.enter(outsiders[first_of_gain(gains, size - self.size, self.tolerance)])
            if self.at is at:  # what little seemed left of them was rounding
                return

    def shrink(self, size: int) -> None:
        """Remove the cheapest members, one at a time."""
        while self.size > size:
            inverse, w = self._inverse(self.at)
            costs = w**2 / (inverse**2).sum(axis=1)
            costs[self.constraint.always[self.at.features]] = np.inf
            self.at = self._without(self.at, int(costs.argmin()))

    def polish(self) -> None:
        """The best exchange, while there is one that lowers F; ``sure`` is lost where one keeps less than it says."""
        refused: set[tuple[int, int]] = set()
        while len(self.units) and self.objective > self.tolerance and len(refused) < REFUSED:
            self.design.stop.check()
            self.at = self._sharpened(self.at)
            best = self._best(refused)
            if best is None:
                return
            position, outsider = best
            moved = self._entered(self._without(self.at, position), np.array([outsider]))
            if len(moved.features) == len(self.units) and moved.objective < self.objective - 0.5 * self.tolerance:
                self.at, refused = moved, set()
            else:
                refused.add((int(self.at.features[position]), outsider))
                self.sure = False

    def _inverse(self, at: Basis) -> tuple[Array, Array]:
        """R^-1 and w."""
        from scipy.linalg import solve_triangular

        inverse = solve_triangular(at.factor, np.eye(len(at.features)), check_finite=False)
        return inverse, inverse @ (at.u.T @ self.y)

    def _changes(self, rounding: float) -> Iterator[tuple[slice, Array]]:
        """dF of every exchange, by blocks of outsiders: the least it may be if P is off by so much of x~'s length."""
        at = self.at
        inverse, w = self._inverse(at)
        size = np.linalg.norm(inverse, axis=1)
        towards, a = inverse / size[:, None], (w / size)[:, None]
        shut = self.barred.copy()
        shut[at.features] = True
        for some in row_blocks(self.problem.d, 8 * len(at.features)):
            u = towards @ at.p[:, some]
            floor = SPANNED * self.h[some]
            curvature = at.s[some] + u**2
            spanned = (curvature <= floor) | shut[some]
            off = rounding * self.noise[some] * np.sqrt(self.h[some])
            slope = np.abs(at.g[some] - a * u) + np.abs(a) * off
            curvature = np.maximum(curvature - 2 * np.abs(u) * off, np.maximum(floor, np.finfo(float).tiny))
            change = np.where(spanned, np.inf, 0.5 * (a**2 - slope**2 / curvature))
            change[self.constraint.always[at.features]] = np.inf
            yield some, change

    def _best(self, refused: set[tuple[int, int]]) -> tuple[int, int] | None:
        """(position, outsider) of the exchange that lowers F most, by more than the tolerance."""
        least, best = -self.tolerance, None
        place = {int(feature): position for position, feature in enumerate(self.at.features)}
        for some, change in self._changes(0.0):
            for feature, outsider in refused:
                if some.start <= outsider < some.stop:
                    change[place[feature], outsider - some.start] = np.inf
            position, outsider = divmod(int(change.argmin()), change.shape[1])
            if change[position, outsider] < least:
                least, best = float(change[position, outsider]), (position, some.start + outsider)
        return best

    # -- what is claimed ------------------------------------------------------------------------------------------

    def settle(self, size: int) -> bool:
        """Compare with the data, look once more, and see what rounding could hide. Cost: |S| n, and a ranking."""
        if self._off() > AGREES * self.problem.scale:
            self.at = self._entered(self._empty(), self.at.features)
        self.sure = True
        self.polish()
        self.sure = self.sure and self._off() <= AGREES * self.problem.scale and not self._hidden()
        return True

    def _off(self) -> float:
        return abs(self.problem.objective(self.model()) - self.objective)

    def _hidden(self) -> bool:
        if not len(self.units) or self.objective <= self.tolerance:
            return False
        inflation = (self._inverse(self.at)[0] ** 2).sum(axis=1) @ self.h[self.at.features]
        self.at = self._sharpened(self.at)
        least = min(float(change.min()) for _, change in self._changes(ROUNDING * np.sqrt(1 + inflation)))
        return least < -HIDDEN * self.problem.scale

    @property
    def swap_optimal(self) -> str:
        return "exact" if self.sure else "model"

    def refresh(self) -> None:
        """Nothing: rotations lose no digits."""

    def saved(self) -> Basis:
        return self.at

    def restore(self, saved: Basis) -> None:
        self.at = saved

    def model(self) -> Model:
        return model_on(self.problem, self.at.features, self._inverse(self.at)[1])
