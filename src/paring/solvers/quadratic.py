"""F's quadratic model at the minimiser on a support, for a few outsiders: which exchange would lower it most?

With c_i = v_i loss''_i / n and columns centred by c where there is an intercept: Q the inverse Hessian on S,
T = Q H_S,:, s = h - H_:S T. The formula of the exchange is the tableau's (``exchanges.hpp``), and so are the moves on
the model: it is a least-squares problem. What F itself does in the best exchanges is tried in the core
(``exchange_trial.hpp``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.constraints import largest
from paring.solvers.restricted import Restricted

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

COLLINEAR = 1e-10  # a Schur complement this small beside the column's own curvature is rounding
TRIALS = 50  # best modelled exchanges that are tried before a support is called swap-optimal
RANKED = 20 * TRIALS  # ranked to find so many that differ
MOST = 1e300  # stands for infinity where it must be subtracted from
ALL = float(1 << 50)  # bytes
BATCH = 0.1  # of the support: how many exchanges the model makes at once


class Tried(NamedTuple):
    """F after each exchange (infinity: refused untried); the best, its weights and intercept in shifted columns."""

    reached: Array
    best: int
    w: Array
    w_enter: float
    b: float


class Moved(NamedTuple):
    """Where the model is lowest after its own moves."""

    features: Indices
    w: Array
    b: float
    objective: float


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The model: at the minimiser ``at`` (``inverse`` its inverse Hessian), for the features ``outsiders``.

    goal : what F must fall below. fixed : flags of the members that must stay, or None.
    """

    problem: Any
    at: Restricted
    inverse: Array
    outsiders: Indices
    block: _core.Block
    c: Array
    cross: Array
    t: Array
    g: Array
    h: Array
    schur: Array
    own: Array
    means: Array
    others: Array
    goal: float
    fixed: NDArray[np.uint8] | None

    @classmethod
    def build(
        cls, problem: Any, at: Restricted, outsiders: Indices, derivatives: tuple[Array, Array, Array], goal: float
    ) -> Quadratic:
        """From g, h (of every feature) and c at the minimiser. Cost: |S| operations an entry of those."""
        (g, h, c), k, centred = derivatives, len(at.features), problem.fit_intercept
        inverse = at.inverse if at.inverse is not None else np.empty((0, 0))
        block = problem.design.block(outsiders, problem.v if centred else None, by_rows=False)
        cross = at.block.cross(block, c, problem.design.threads)
        total = max(float(c.sum()), np.finfo(float).tiny)
        means, others = (part.adjoint(c) / total if centred else np.zeros(part.shape[1]) for part in (at.block, block))
        if centred:
            cross -= np.outer(others, means * total)
        t = _core.product(cross, inverse[:k, :k], problem.design.threads)
        schur = np.maximum(h[outsiders] - np.einsum("ij,ij->i", cross, t), 0.0)
        always = problem.constraint.always
        fixed = always[at.features].view(np.uint8) if always.any() else None
        return cls(
            problem, at, inverse, outsiders, block, c, cross, t, g[outsiders], h[outsiders], schur, h[at.features],
            means, others, goal, fixed,
        )  # fmt: skip

    @property
    def q(self) -> Array:
        return np.ascontiguousarray(self.inverse.diagonal()[: len(self.at.features)])

    def moved(self, size: int) -> Moved:
        """The model's own pursuit: grown to ``size``, then exchanged until no pair lowers it.

        Members that leave do not come back: of their rows of the Hessian only those against outsiders are made.
        """
        at, design, k = self.at, self.problem.design, len(self.at.features)
        flags = np.zeros((2, k + len(self.outsiders)), np.uint8)
        flags[0, :k], flags[1, :k] = self.fixed if self.fixed is not None else 0, 1
        zeros = np.zeros(k)
        core = _core.Tableau(
            np.zeros(flags.shape[1]),
            np.concatenate([self.own, self.h]),
            at.objective,
            flags[0],
            flags[1],
            self._hessian_rows,
            at.objective - self.goal,
            BATCH,
            cache_bytes=ALL,
            at_once=1,
            least=-np.inf,
        )
        q, g, s = self.inverse[:k, :k], np.concatenate([zeros, self.g]), np.concatenate([zeros, self.schur])
        here = np.arange(k), np.ascontiguousarray(q), at.w, g, s, flags[1], at.objective
        core.restore(_core.SavedTableau(*here))
        core.grow(size, design.threads, design.stop)
        core.polish(design.threads, design.stop)
        chosen, w, b = core.features, core.weights, float(at.b)
        if self.problem.fit_intercept:
            centres = np.concatenate([self.means + at.block.shifts, self.others + self.block.shifts])
            b += float(centres[:k] @ at.w) - float(centres[chosen] @ w)
        return Moved(np.concatenate([at.features, self.outsiders])[chosen], w, b, core.objective)

    def _hessian_rows(self, chosen: Indices) -> Array:
        """Rows of the Hessian for members (the first) and outsiders, against outsiders."""
        k, inside = len(self.at.features), chosen < len(self.at.features)
        rows, entering = np.zeros((len(chosen), k + len(self.outsiders))), chosen[~inside] - k
        rows[inside, k:] = self.cross.T[chosen[inside]]
        gram = self.block.gram_rows(entering, self.c, self.problem.design.threads)
        if self.problem.fit_intercept:
            gram -= np.outer(self.others[entering] * float(self.c.sum()), self.others)
        gram[np.arange(len(entering)), entering] += self.problem.ridge
        rows[~inside, k:] = gram
        return rows

    def ranked(self, correction: Array | None, alike: int = 0) -> Array:
        """Rows (dF, member, outsider) of the best exchanges; at most ``alike`` of one member or outsider, if not 0."""
        return _core.best_exchanges(
            np.ascontiguousarray(self.t.T),
            self.q,
            self.at.w,
            self.g,
            self.schur,
            np.maximum(COLLINEAR * self.h, np.finfo(float).tiny),
            self.fixed,
            correction,
            count=RANKED if alike else TRIALS,
            below=np.inf,
            alike=alike,
            most=TRIALS,
            threads=self.problem.design.threads,
        )

    def corrections(self, most: float) -> Array:
        """What the departure of each cheap member (below ``most``) really costs, less what the model says it does.

        Weights that separate some rows have next to no curvature left, and the model parts with them too gladly.
        """
        costs = self.at.w**2 / (2 * self.q)
        may_go = -costs if self.fixed is None else np.where(self.fixed, -np.inf, -costs)
        cheap = largest(may_go, min(TRIALS, len(costs)))
        cheap = cheap[costs[cheap] < most]
        out = np.zeros(len(costs))
        if len(cheap):
            alone = np.column_stack([costs[cheap], cheap, np.full(len(cheap), -1.0)])
            out[cheap] = np.minimum(self.tried(alone).reached, MOST) - self.at.objective - costs[cheap]
        return out

    def tried(self, exchanges: Array) -> Tried:
        """What F does in each of those exchanges. Cost: a few columns and one evaluation of the loss for each."""
        at, design = self.at, self.problem.design
        moved = float(at.block.shifts @ at.w) if self.problem.fit_intercept else 0.0
        return Tried(
            *_core.try_exchanges(
                self.problem.target,
                at.block,
                self.block,
                at.w,
                float(at.b) + moved,
                at.z,
                at.objective,
                self.inverse,
                self.t,
                self.schur,
                self.g,
                self.means,
                self.others,
                self.c,
                exchanges,
                self.goal,
                threads=design.threads,
                stop=design.stop,
            )
        )

    def intercept_of(self, tried: Tried, outsider: int) -> float:
        """The intercept of a tried point, in the columns as they are."""
        if not self.problem.fit_intercept:
            return tried.b
        return tried.b - float(self.at.block.shifts @ tried.w) - float(self.block.shifts[outsider]) * tried.w_enter
