"""Least squares on a support as a tableau: every outsider's gain and every exchange, exactly and without refitting.

For squared loss F is a quadratic with Hessian H = X'VX/n + ridge I (X centred where there is an intercept). On the
support S the tableau holds

    Q = H_SS^-1,   T = Q H_S,: (|S| x d),   s = diag(H) - diag(H_:S T),   w = the minimiser,   g = its gradient

and entering or leaving a few features is one update of low rank (a principal pivot). Then, exactly,

    i enters:        dF = -g_i^2 / (2 s_i)
    j out, i in:     dF = w_j^2 / (2 Q_jj) - (g_i - w_j T_ij / Q_jj)^2 / (2 (s_i + T_ij^2 / Q_jj))

Memory: |S| d float64. Cost: a Gram row of each feature that enters (one pass a batch), |S| d operations each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.result import Model

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

COLLINEAR = 1e-10  # a Schur complement this small beside the column's own curvature is rounding
SWAP_TOLERANCE = 1e-9  # of F: an exchange that gains less is no gain
BATCH = 0.1  # of the support: how many exchanges may be made at once
CACHE_BYTES = 1 << 27  # of Gram rows kept for features that come back


class GramRows:
    """Rows of H = X'VX/n + ridge I. Those computed are kept while they fit: many features leave and come back."""

    def __init__(self, problem: Any) -> None:
        self.design, self.ridge = problem.design, problem.ridge
        self.weights = problem.v / problem.n
        self.means = problem.means if problem.fit_intercept else None
        self.kept: dict[int, Array] = {}
        self.room = CACHE_BYTES // (8 * problem.d)

    def rows(self, features: Indices) -> Array:
        """H[features], a copy. Cost: one pass if any is new."""
        wanted = features.tolist()
        new = np.array([j for j in wanted if j not in self.kept], np.int64)
        fresh: dict[int, Array] = {}
        if len(new):
            computed = self.design.gram_rows(new, self.weights, self.means)
            computed[np.arange(len(new)), new] += self.ridge
            if len(new) == len(wanted) and len(self.kept) + len(new) > self.room:
                return np.ascontiguousarray(computed)
            fresh = dict(zip(new.tolist(), computed, strict=True))
            for j in fresh:
                if len(self.kept) < self.room:
                    self.kept[j] = fresh[j]
        return np.array([self.kept[j] if j in self.kept else fresh[j] for j in wanted])


class Tableau:
    """The state of one least-squares pursuit. ``features[:k]`` is the support, in the order of the rows of T and Q."""

    swap_optimal = "exact"

    def __init__(self, problem: Any) -> None:
        self.problem, self.design = problem, problem.design
        d = problem.d
        self.mean = float(np.average(problem.y, weights=problem.v)) if problem.fit_intercept else 0.0
        self.means = problem.means if problem.fit_intercept else None
        self.gram = GramRows(problem)
        self.features = np.empty(0, np.int64)
        self._room = self.t = np.empty((0, d))
        self.q, self.w = np.empty((0, 0)), np.empty(0)
        self.g = -problem.products.copy()
        self.diagonal = problem.variances + problem.ridge
        self.floor = COLLINEAR * self.diagonal + np.finfo(float).tiny
        self.s = self.diagonal.copy()
        self.objective = problem.null[1]
        self.open = ~problem.constraint.never  # outsiders that may enter
        self.always = problem.constraint.always

    @property
    def size(self) -> int:
        return len(self.features)

    @property
    def tolerance(self) -> float:
        return SWAP_TOLERANCE * min(self.problem.scale, max(1.0, abs(self.objective)))

    # -- moves --------------------------------------------------------------------------------------------------

    def _schur_rows(self, entering: Indices) -> Array:
        """H_B,: - H_BS T: the rows of the Schur complement of S. Cost: |B| |S| d operations, and those of the Gram rows."""
        rows = self.gram.rows(entering)
        if self.size:
            _subtract_product(rows, rows[:, self.features], self.t, self.design.threads)
        return rows

    def enter(self, entering: Indices) -> None:
        """Add features; those collinear with the support are left out and closed until something leaves."""
        rows = self._schur_rows(entering)
        entering, rows = self._clear(entering, rows)
        if len(entering) == 0:
            return
        inverse, reduced, added = self._pivot_in(entering, rows)
        k, column = self.size, self.t[:, entering]
        cross = column @ inverse
        self.w = np.concatenate([self.w - column @ added, added])
        self._grow(len(entering))
        _subtract_product(self.t[:k], column, reduced, self.design.threads)
        self.t[k:] = reduced
        self.q[:k, :k] += cross @ column.T
        self.q[:k, k:], self.q[k:, :k], self.q[k:, k:] = -cross, -cross.T, inverse
        self.features = np.concatenate([self.features, entering])
        self._settle()

    def leave(self, positions: Indices) -> None:
        """Remove the features at those rows of the tableau. Cost: |S| d operations each."""
        column, gone = self._pivot_out(positions)
        _subtract_product(self.t, column, gone, self.design.threads)
        self._drop(positions)
        self._reopen()
        self._settle()

    def _swap(self, positions: Indices, entering: Indices, rows: Array) -> None:
        """Leave and enter in one update: the newcomers take the rows of those who go."""
        pivot = np.linalg.inv(self.q[np.ix_(positions, positions)])
        rows = rows + (self.t[np.ix_(positions, entering)].T @ pivot) @ self.t[positions]
        kept, rows = self._clear(entering, rows)
        if len(kept) < len(entering):  # collinear once the others are in: exchange one at a time instead
            rows = np.ascontiguousarray(rows[:1])
            positions, entering = positions[:1], entering[:1]
            return self._swap(positions, entering, self._schur_rows(entering)) if len(kept) else None
        column, gone = self._pivot_out(positions)
        between = self.t[:, entering] - column @ gone[:, entering]
        between[positions] = 0.0
        inverse, reduced, added = self._pivot_in(entering, rows)
        self.w -= between @ added
        _subtract_product(self.t, np.hstack([column, between]), np.vstack([gone, reduced]), self.design.threads)
        cross = between @ inverse
        self.q += cross @ between.T
        self.q[:, positions], self.q[positions] = -cross, -cross.T
        self.q[np.ix_(positions, positions)] = inverse
        self.t[positions], self.w[positions], self.features[positions] = reduced, added, entering
        self._reopen()
        self._settle()
        return None

    def _pivot_in(self, entering: Indices, rows: Array) -> tuple[Array, Array, Array]:
        """g, s and F once those enter; the inverse of their Schur block, their rows of T, their weights."""
        inverse = np.linalg.inv(rows[:, entering])
        inverse = (inverse + inverse.T) / 2
        reduced, added = inverse @ rows, -inverse @ self.g[entering]
        self.objective += 0.5 * float(self.g[entering] @ added)
        self.g += added @ rows
        self.s -= np.einsum("ij,ij->j", rows, reduced)
        return inverse, reduced, added

    def _pivot_out(self, positions: Indices) -> tuple[Array, Array]:
        """g, s, w, Q and F once those rows leave; T then falls by the product of the two arrays returned."""
        pivot = np.linalg.inv(self.q[np.ix_(positions, positions)])
        gone, column = self.t[positions], self.q[:, positions]
        lost = pivot @ self.w[positions]
        self.objective += 0.5 * float(self.w[positions] @ lost)
        self.g -= lost @ gone
        self.s += np.einsum("ij,ij->j", gone, pivot @ gone)
        self.w = self.w - column @ lost
        scaled = column @ pivot
        self.q -= scaled @ column.T
        return scaled, gone

    def _clear(self, entering: Indices, rows: Array) -> tuple[Indices, Array]:
        """Without those collinear with the support or with one another."""
        keep = _independent(rows[:, entering], self.floor[entering])
        if keep.all():
            return entering, rows
        self.open[entering[~keep]] = False
        return entering[keep], rows[keep]

    def _reopen(self) -> None:
        """Whoever was collinear with the support may not be so now."""
        self.open[:] = ~self.problem.constraint.never

    def _grow(self, count: int) -> None:
        """Room for more rows; memory doubles, so that growing costs no more than the updates."""
        k = self.size
        if k + count > len(self._room):
            room = np.empty((max(2 * k, k + count, 8), self.problem.d))
            room[:k] = self.t
            self._room = room
        self.t = self._room[: k + count]
        q = np.empty((k + count, k + count))
        q[:k, :k] = self.q
        self.q = q

    def _drop(self, positions: Indices) -> None:
        """Take rows out: the last rows move into the holes."""
        keep = np.ones(self.size, dtype=bool)
        keep[positions] = False
        left = int(keep.sum())
        holes, movers = np.flatnonzero(~keep[:left]), left + np.flatnonzero(keep[left:])
        order = np.arange(left)
        order[holes] = movers
        self.t[holes] = self.t[movers]
        self.t = self.t[:left]
        self.q = self.q[np.ix_(order, order)]
        self.w, self.features = self.w[order], self.features[order]

    def _settle(self) -> None:
        """What is known exactly of the members: no gradient, no Schur complement."""
        self.g[self.features] = 0.0
        self.s[self.features] = 0.0
        np.maximum(self.s, 0.0, out=self.s)

    # -- judgements ---------------------------------------------------------------------------------------------

    def gains(self) -> Array:
        """What each outsider would lower F by; -1 for those that may not or cannot enter."""
        may = self.open & (self.s > self.floor)
        return np.where(may, self.g**2 / (2 * np.where(may, self.s, 1.0)), -1.0)

    def exchanges(self, count: int) -> tuple[Array, Indices, Indices]:
        """The best exchanges that lower F: (dF, rows of T that leave, features that enter), best first."""
        closed = self.problem.constraint.never
        s = self.s if not (closed.any() or self.size) else np.where(closed, np.inf, self.s)
        s[self.features] = np.inf
        found = _core.best_exchanges(
            self.t,
            np.ascontiguousarray(self.q.diagonal()),
            self.w,
            self.g,
            s,
            self.floor,
            self.always[self.features].view(np.uint8) if self.always.any() else None,
            count=count,
            below=-self.tolerance,
            threads=self.design.threads,
        )
        return found[:, 0], found[:, 1].astype(np.int64), found[:, 2].astype(np.int64)

    def grow(self, size: int) -> None:
        """Enter the features of largest gain until the support has ``size``, or none is left."""
        while self.size < size:
            gains = self.gains()
            wanted = min(size - self.size, int((gains >= 0).sum()))
            if wanted == 0:
                return
            best = np.argpartition(-gains, wanted - 1)[:wanted] if wanted > 1 else np.array([int(gains.argmax())])
            self.enter(np.sort(best))

    def shrink(self, size: int) -> None:
        """Remove the cheapest members, one at a time."""
        while self.size > size:
            cost = np.where(self.always[self.features], np.inf, self.w**2 / self.q.diagonal())
            self.leave(np.array([int(cost.argmin())]))

    def polish(self) -> None:
        """Exchange until no pair lowers F."""
        while self.size and self.size < self.problem.d:
            self.design.stop.check()
            batch = max(1, int(BATCH * self.size))
            change, leave, enter = self.exchanges(4 * batch)
            if len(change) == 0:
                return
            chosen = disjoint(leave, enter, batch)
            self._exchange(leave[chosen], enter[chosen], float(change[0]))

    def _exchange(self, leave: Indices, enter: Indices, best: float) -> None:
        """Make as many of these exchanges at once as together gain what the first alone would."""
        rows = self._schur_rows(enter)
        count = len(leave)
        while count > 1 and not self._change(leave[:count], enter[:count], rows) <= best:
            count //= 2
        self._swap(leave[:count], enter[:count], rows[:count])

    def _change(self, leave: Indices, enter: Indices, rows: Array) -> float:
        """dF of all these exchanges together, exactly."""
        pivot = np.linalg.inv(self.q[np.ix_(leave, leave)])
        between, w = self.t[np.ix_(leave, enter)], self.w[leave]
        slope = self.g[enter] - between.T @ (pivot @ w)
        curvature = rows[: len(enter)][:, enter] + between.T @ pivot @ between
        try:
            step = np.linalg.solve(curvature, slope)
        except np.linalg.LinAlgError:
            return np.inf
        return 0.5 * float(w @ pivot @ w - slope @ step)

    def saved(self) -> tuple[Any, ...]:
        """The state, to come back to."""
        parts = (self.features, self.t, self.q, self.w, self.g, self.s, self.open)
        return tuple(part.copy() for part in parts), self.objective

    def restore(self, saved: tuple[Any, ...]) -> None:
        (self.features, self.t, self.q, self.w, self.g, self.s, self.open), self.objective = saved
        self._room = self.t

    # -- the answer ---------------------------------------------------------------------------------------------

    def model(self) -> Model:
        """The model on the support, with members of ``always`` that could not enter at weight 0."""
        missing = np.setdiff1d(np.flatnonzero(self.always), self.features)
        features = np.concatenate([self.features, missing])
        w = np.concatenate([self.w, np.zeros(len(missing))])
        order = np.argsort(features)
        intercept = 0.0 if self.means is None else self.mean - float(self.means[features] @ w)
        return Model(features[order], w[order], intercept)


def _subtract_product(out: Array, a: Array, b: Array, threads: int) -> None:
    """out -= a b in place (out of C order)."""
    if len(out) == 0 or a.shape[1] == 0:
        return
    _core.subtract_product(out, np.ascontiguousarray(a), b, threads)


def _independent(gram: Array, floor: Array) -> NDArray[np.bool_]:
    """Which rows of a positive semi-definite matrix stand clear of those kept before them."""
    keep = np.ones(len(gram), dtype=bool)
    rest = np.array(gram)
    if len(gram) > 1:
        try:
            if np.all(np.linalg.cholesky(gram).diagonal() ** 2 > floor):
                return keep
        except np.linalg.LinAlgError:
            pass
    for j in range(len(gram)):
        keep[j] = rest[j, j] > floor[j]
        if keep[j]:
            rest = rest - np.outer(rest[:, j], rest[j] / rest[j, j])
    return keep


def disjoint(leave: Indices, enter: Indices, most: int) -> Indices:
    """Positions of the first exchanges, best first, that share no feature."""
    seen: set[tuple[str, int]] = set()
    chosen = []
    for at, (j, i) in enumerate(zip(leave.tolist(), enter.tolist(), strict=True)):
        if ("out", j) in seen or ("in", i) in seen:
            continue
        seen |= {("out", j), ("in", i)}
        chosen.append(at)
        if len(chosen) == most:
            break
    return np.array(chosen, np.int64)
