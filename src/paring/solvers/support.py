"""Pursuit's working support for every smooth loss: minimise, score outsiders, judge exchanges by a quadratic model.

At the minimiser on S, with c_i = v_i loss''_i / n, columns centred by c where there is an intercept:

    unit u enters:  gain = sum_{j in u} g_j^2 / (2 h_j),  h_j = sum_i c_i x_ij^2 + ridge   (clipped to the bounds)
    unit u leaves:  cost = w_u' (Q_uu)^-1 w_u / 2,        Q the inverse Hessian on S, with the row of b
    j out, i in:    the tableau's formula on the candidates of largest gain (single features without bounds)

Each is what F would change by if F were its quadratic model; a move is made only where F, minimised again, has fallen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.constraints import largest
from paring.result import Model
from paring.solvers.quadratic import TRIALS, Quadratic
from paring.solvers.restricted import Restricted, minimise_on

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

WORKING = 1e-8  # Newton's tolerance between exchanges, relative to F at the null model
ROUNDING = 16 * float(np.finfo(float).eps)  # of a curvature, relative to the second moment, with the root of n
FINAL = 1e-13  # and at the end of a stage
REFITS = 10  # the same where each is a minimisation of its own: groups, bounds, several outputs
EVERY = 5 * TRIALS  # exchanges that are all minimised before a stage ends, where there are no more (outputs: TRIALS)
EVERY_COST = 2e7  # and their Hessians, one for each, take no more operations: some hundredths of a second
ALIKE = 2  # exchanges of one member, or of one outsider, among those tried first
FOLLOWED = 16  # sizes beyond: the model's moves are made at once, and not each tried on F
KEPT = 0.5  # of what the model promises of its moves: where F falls by less, it is not followed
BATCH = 0.25  # of the support: how many exchanges may be made at once


def disjoint(leave: Indices, enter: Indices, most: int) -> Indices:
    """Positions of the first exchanges, best first, that share no feature."""
    seen: set[tuple[str, int]] = set()
    chosen: list[int] = []
    for at, (j, i) in enumerate(zip(leave.tolist(), enter.tolist(), strict=True)):
        if len(chosen) == most or ("out", j) in seen or ("in", i) in seen:
            continue
        seen |= {("out", j), ("in", i)}
        chosen.append(at)
    return np.array(chosen, np.int64)


class Support:
    """The state of one pursuit: units in the support and the minimiser on their features."""

    swap_optimal = "model"

    def __init__(self, problem: Any, tol: float) -> None:
        self.problem, self.design, self.constraint = problem, problem.design, problem.constraint
        self.tolerance = tol * problem.scale  # an exchange that gains less is no gain
        self.dense = problem.zeros()
        self.deceived = False  # by the model, at the last trials: it promised what F did not keep
        self.known: Array | None = None  # gains at the present minimiser
        self.few_enough = EVERY_COST / problem.n
        self.units = np.empty(0, np.int64)
        self.singles = self.constraint.unit_of is None and problem.outputs == 1
        self.modelled = self.singles and self.constraint.lower is None
        self._refit(self.units)

    @property
    def size(self) -> int:
        return len(self.units)

    @property
    def objective(self) -> float:
        return self.at.objective

    @property
    def settled(self) -> bool:
        """Whether F is at its minimum on the support.

        Several outputs: ``large.py`` calls itself done only at a size of decrement that columns of very uneven scale do
        not let it see; it ends all the same where no step lowers F.
        """
        return self.at.converged or self.problem.outputs > 1

    @property
    def _has_model(self) -> bool:
        """Whether the tableau's formula can be had here: not beyond the size that is factored."""
        return self.modelled and (self.size == 0 or self.at.inverse is not None)

    # -- minimising ---------------------------------------------------------------------------------------------

    def _minimised(
        self, units: Indices, dense: Array, b: Any, tolerance: float = WORKING, block: _core.Block | None = None
    ) -> Restricted:
        features, inverse = self.constraint.features(units), self.problem.outputs == 1
        return minimise_on(
            self.problem, features, dense[features], b, tolerance=tolerance, inverse=inverse, block=block
        )

    def _refit(self, units: Indices) -> None:
        b = self.at.b if hasattr(self, "at") else self.problem.null[0]
        self._accept(units, self._minimised(units, self.dense, b))

    def _accept(self, units: Indices, at: Restricted) -> None:
        self.units, self.at, self.known = np.sort(units), at, None
        self.dense[...] = 0.0
        self.dense[at.features] = at.w

    def _try(self, units: Indices) -> bool:
        """Minimise on other units; keep them if F has fallen."""
        at = self._minimised(units, self.dense, self.at.b)
        if not at.objective < self.objective - self.tolerance:
            return False
        self._accept(units, at)
        return True

    # -- scores -------------------------------------------------------------------------------------------------

    def _derivatives(self) -> tuple[Array, Array]:
        """g and h of every feature (and output) at the minimiser. Cost: one pass an output."""
        problem, z = self.problem, self.at.z
        if problem.outputs == 1:
            self.curvature = problem.loss.core.model_curvature(z, problem.y, problem.v) * (problem.v / problem.n)
            return self._of_columns(problem.residuals(z), self.curvature)
        r, core = problem.residuals(z), problem.loss.core
        shares = core.slope(z, problem.y)
        shares[np.arange(problem.n), problem.y.astype(np.int64)] += 1.0
        weights = shares * (problem.v / problem.n)[:, None]  # diag(p) majorises diag(p) - p p'
        pairs = [self._of_columns(r[:, c].copy(), weights[:, c].copy()) for c in range(problem.outputs)]
        return np.column_stack([g for g, _ in pairs]), np.column_stack([h for _, h in pairs])

    def _of_columns(self, r: Array, c: Array) -> tuple[Array, Array]:
        g, first, second = self.design.moments(r, c)
        total = float(c.sum())
        centred = second - first**2 / total if self.problem.fit_intercept and total > 0 else second
        rounding = ROUNDING * np.sqrt(self.problem.n) * second
        return g, np.where(centred > rounding, centred, 0.0) + self.problem.ridge

    def _gains(self) -> Array:
        """What each unit would lower the model of F by if it entered; -1 where it may not."""
        if self.known is None:
            self.known = self._new_gains()
        return self.known

    def _new_gains(self) -> Array:
        g, h = self._derivatives()
        moves = h > 0
        step = self.constraint.clip(np.where(moves, -g / np.where(moves, h, 1.0), 0.0))
        per_feature = -(g * step + 0.5 * h * step**2)
        self.g, self.h = g, h
        gains = self.constraint.unit_sums(per_feature if g.ndim == 1 else per_feature.sum(axis=1))
        gains[self.constraint.never] = -1.0
        gains[self.units] = -1.0
        return gains

    def _costs(self) -> Array:
        """What each member would raise the model of F by if it left; infinity for the always-units."""
        at, k = self.at, len(self.at.features)
        if at.inverse is None:
            h = self.h[at.features]
            own = 0.5 * (h * at.w**2).sum(axis=tuple(range(1, at.w.ndim)))
        elif self.constraint.unit_of is None:
            own = at.w**2 / (2 * at.inverse.diagonal()[:k])
        else:
            own = np.zeros(k)
            for unit in self.units:
                where = np.searchsorted(at.features, self.constraint.members[unit])
                w = at.w[where]
                own[where[0]] = 0.5 * float(w @ np.linalg.solve(at.inverse[np.ix_(where, where)], w))
        labels = at.features if self.constraint.unit_of is None else self.constraint.unit_of[at.features]
        costs: Array = np.bincount(np.searchsorted(self.units, labels), weights=own, minlength=self.size).astype(float)
        costs[self.constraint.always[self.units]] = np.inf
        return costs

    # -- moves --------------------------------------------------------------------------------------------------

    def enter(self, units: Indices) -> None:
        self._refit(np.union1d(self.units, units))

    def grow(self, size: int) -> None:
        """Enter the units of largest gain until the support has ``size``."""
        wanted = size - self.size
        if wanted <= 0:
            return
        gains = self._gains()
        follow = self._has_model and size > FOLLOWED and not self.deceived
        if follow and self._follow(self._model(gains, size), size):
            return
        best = largest(gains, min(wanted, int((gains >= 0).sum())))
        self.enter(best)

    def shrink(self, size: int) -> None:
        """Remove the cheapest members, a tenth at a time."""
        while self.size > size:
            some = min(self.size - size, max(1, self.size // 10))
            self._refit(np.delete(self.units, np.argsort(self._costs(), kind="stable")[:some]))

    def polish(self) -> None:
        """Exchange until the best modelled exchanges, refitted, lower F no more; then minimise to the last digit."""
        while 0 < self.size < self.constraint.units:
            self.design.stop.check()
            gains = self._gains()
            moved = self._modelled(gains) if self._has_model else self._additive(gains)
            if not moved:
                break
        if self.at.remaining > FINAL * self.problem.scale:
            kept = self.known
            block, b = self.at.block, self.at.b
            self._accept(self.units, self._minimised(self.units, self.dense, b, FINAL, block))
            self.known = kept  # the point has moved by no more than Newton's tolerance

    def settle(self, size: int) -> bool:
        """Where there are few exchanges, minimise after each: the model may have misjudged one."""
        while 0 < self.size < self.constraint.units:
            leave = self.units[~self.constraint.always[self.units]]
            enter = np.flatnonzero(~self.constraint.never)
            enter = enter[~np.isin(enter, self.units)]
            exchanges, order = len(leave) * len(enter), (len(self.at.features) + 1) * self.problem.outputs
            if exchanges > (EVERY if self.problem.outputs == 1 else TRIALS) or exchanges * order**2 > self.few_enough:
                break
            pairs = ((j, i) for j in leave for i in enter)
            if not any(self._try(np.append(self.units[self.units != j], i)) for j, i in pairs):
                break
            self.polish()
        return True

    def _additive(self, gains: Array) -> bool:
        """Cheapest out, best in, as if the two did not touch: at once where the model gains, then one by one."""
        costs, few = self._costs(), max(TRIALS, self.size)
        out = largest(-costs, min(few, int(np.isfinite(costs).sum())))
        into = largest(gains, min(few, int((gains >= 0).sum())))
        change = costs[out][:, None] - gains[into]
        order = np.argsort(change, axis=None, kind="stable")[: 4 * few]
        leave, enter = np.unravel_index(order, change.shape)
        sure = int((change.ravel()[order] < -self.tolerance).sum())
        if self._exchange(out[leave[:sure]], into[enter[:sure]]):
            return True
        pairs = zip(out[leave[:REFITS]], into[enter[:REFITS]], strict=True)
        return any(self._try(np.append(np.delete(self.units, j), i)) for j, i in pairs)

    def _exchange(self, leave: Indices, enter: Indices, fewest: int = 1) -> bool:
        """Make the disjoint ones among these at once, or the better half of them, and so on down to ``fewest``."""
        chosen = disjoint(leave, enter, max(1, int(BATCH * self.size)))
        while len(chosen) >= fewest:
            if self._try(np.concatenate([np.delete(self.units, leave[chosen]), enter[chosen]])):
                return True
            chosen = chosen[: len(chosen) // 2]
        return False

    def _model(self, gains: Array, size: int) -> Quadratic:
        """The quadratic model here, for the outsiders of largest gain: as many as may enter, as many again and 100."""
        few = min(2 * size - self.size + 100, int((gains >= 0).sum()))
        derivatives = self.g, self.h, self.curvature
        return Quadratic.build(self.problem, self.at, largest(gains, few), derivatives, self.objective - self.tolerance)

    def _follow(self, model: Quadratic, size: int) -> bool:
        """Go where the model is lowest after its own moves, if F is lower there too."""
        moved = model.moved(size)
        units = np.sort(moved.features)
        if len(units) < size or np.array_equal(units, self.units):
            return False
        start = np.zeros_like(self.dense)
        start[moved.features] = moved.w
        at = self._minimised(units, start, moved.b)
        promised = self.objective - moved.objective
        self.deceived = not self.objective - at.objective > max(self.tolerance, KEPT * promised)
        if not self.deceived:
            self._accept(units, at)
        return not self.deceived

    def _modelled(self, gains: Array) -> bool:
        """The model's own exchanges, all at once; where it has none, or F does not follow, its best ones tried on F."""
        model = self._model(gains, self.size)
        if len(model.outsiders) == 0:
            return False
        if not self.deceived:
            if self.size > FOLLOWED and self._follow(model, self.size):
                return True
            if not self.deceived:
                return self._trials(model, model.ranked(None, ALIKE)) or self._trials(model, model.ranked(None))
        correction = model.corrections(float(gains[model.outsiders].max()))
        return self._trials(model, model.ranked(correction, ALIKE)) or self._trials(model, model.ranked(correction))

    def _trials(self, model: Quadratic, ranked: Array) -> bool:
        """Try these exchanges on F, each alone; make those that lower it together, or else the best one."""
        if len(ranked) == 0:
            return False
        tried = model.tried(ranked)
        self.deceived = bool(np.any(tried.reached[ranked[:, 0] < -self.tolerance] >= self.objective))
        leave, outsider = ranked[:, 1].astype(np.int64), ranked[:, 2].astype(np.int64)
        enter = model.outsiders[outsider]
        order = np.argsort(tried.reached, kind="stable")[: int((tried.reached < model.goal).sum())]
        if len(order) == 0:
            return False
        if self._exchange(leave[order], enter[order], 2):
            return True
        start = self.dense.copy()
        start[self.at.features], start[enter[tried.best]] = tried.w, tried.w_enter
        units = np.sort(np.append(np.delete(self.units, leave[tried.best]), enter[tried.best]))
        alone = self._minimised(units, start, model.intercept_of(tried, int(outsider[tried.best])))
        if not alone.objective < self.objective - 0.5 * self.tolerance:
            return False
        self._accept(units, alone)
        return True

    def refresh(self) -> None:
        """Nothing."""

    def saved(self) -> tuple[Indices, Restricted]:
        """The state, to come back to."""
        return self.units, self.at

    def restore(self, saved: tuple[Indices, Restricted]) -> None:
        self._accept(*saved)

    def model(self) -> Model:
        return self.at.model
