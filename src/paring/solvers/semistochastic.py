"""What the sparse semi-stochastic solvers share: the moves of a round, and by which store workers share an iterate.

A step takes a row i (a batch: each of its rows in turn, their slopes at one point) and moves the coordinates S,

    delta = v_i slope_i(w) - v_i slope_i(anchor)
    w_j  <- (w_j - c_j (delta x_ij + D_j (mu_j - ridge anchor_j))) / (1 + c_j ridge D_j)        j in S
    b    <- b - c_b (delta + mu_b)

with mu the gradient of F at the anchor, c_j = c / h_j (h = 1 without a scaling) and, where S is made of coordinates
stored in row i, D_j = n / (rows where column j is stored): then D_j appears in a step with chance 1 / D_j, and over all
rows the direction

    delta x_ij + D_j (mu_j + ridge (w_j - anchor_j))

averages exactly to grad F(w). The ridge is taken implicitly (at the new w_j), since D_j is large in rare columns; the
explicit form is stable only for c_j ridge D_j < 2. Columns stored in no row are never moved: they start at 0.

Workers take contiguous parts of the rows drawn, so that the same seed and one worker give the same bits, through any
store. What they see of each other:

* Sparse rows: one shared iterate. A worker reads coordinates while others change them: each number it reads is whole,
  but they need not be of one moment. ``Wild``: of two changes to a coordinate at once one may be lost. ``Atomic``: none
  is. The anchor, its slopes and mu are a frozen copy, and nobody writes them.
* Dense rows, where each step moves everything: an iterate for each worker, from the anchor through its part of the
  rows; the round's end is their mean.
* Where every step thresholds, a worker applies H_k to its own list of features, what it kept joined with what it moved,
  and puts zeros where it drops, also over a change that another worker just made. The shared iterate has at most
  n_jobs k nonzeros (and those being moved). H_k is applied exactly when all have stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.solvers._loop import Run
from paring.solvers.iterate import arrived
from paring.solvers.rules import Sampling
from paring.solvers.sbcd_htp import partition
from paring.solvers.smoothness import plain_metric, row_squares
from paring.solvers.steps import Metric, model_of
from paring.solvers.stochastic import Anchor, Stochastic, Swept, as_intercept, as_vector

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[np.int16]

IN_EVERY_BLOCK = -1  # as the core reads labels
MOST_BLOCKS = int(np.iinfo(np.int16).max)


# -- stores --------------------------------------------------------------------------------------------------------


class Store(Protocol):
    """How workers read and write the iterate they share; ``core`` is its name there."""

    core: ClassVar[str]

    def check(self, solver: str, workers: int) -> None: ...


@dataclass(frozen=True)
class Plain:
    """Ordinary loads and stores: for one worker."""

    core: ClassVar[str] = "plain"

    def check(self, solver: str, workers: int) -> None:
        if workers > 1:
            raise ValueError(
                f"{solver}: store=Plain() is for one worker, but there are {workers}; use n_jobs=1, or store=Wild()"
            )


@dataclass(frozen=True)
class Wild:
    """Relaxed loads and stores: as fast as plain ones; of two changes at once one may be lost, none is ever torn."""

    core: ClassVar[str] = "wild"

    def check(self, solver: str, workers: int) -> None:
        pass


@dataclass(frozen=True)
class Atomic:
    """Compare and swap: no change is lost. A step takes about twice as long."""

    core: ClassVar[str] = "atomic"

    def check(self, solver: str, workers: int) -> None:
        pass


# -- the round -----------------------------------------------------------------------------------------------------


class Semistochastic(Stochastic):
    """What the sparse semi-stochastic solvers have in common. Each says which coordinates S its steps move.

    ``carried`` of their states is the block of each feature.
    """

    blocks: int
    scaling: str
    store: Store

    def __init__(
        self,
        step: Any = "estimate",
        *,
        blocks: int = 1,
        batch: int = 1,
        inner: int | None = None,
        sampling: Sampling | None = None,
        scaling: str = "none",
        store: Store | None = None,
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling)
        self._set(blocks=blocks, scaling=scaling, store=Wild() if store is None else store)

    # -- what a solver writes where it differs: ----------------------------------------------------------------------

    def moving(self, problem: Any, state: Anchor, count: int, rng: np.random.Generator) -> _core.Moving:
        """The coordinates S that each of ``count`` steps moves."""
        return _core.Moving.everywhere()

    def kept(self, problem: Any, state: Anchor) -> _core.Largest | None:
        """What is kept after every step; None: everything, until the round's end."""
        return largest_of(problem, state)

    def thresholdings(self, count: int, workers: int) -> int:
        """H_k after every step, and once more where several workers had lists of their own."""
        return count + (workers > 1)

    def length(self, count: int, rng: np.random.Generator) -> int:
        """Steps of this round, of ``count`` at most."""
        return count

    def share(self, problem: Any) -> float:
        """How much of a row's gradient a step takes."""
        return 1 / self.parts(problem)

    def rarity(self, problem: Any) -> Array:
        """D."""
        return problem.n / np.maximum(problem.design.column_counts(), 1)

    def reference(self, problem: Any, state: Anchor) -> tuple[Array, Array, Any]:
        """What the rows' slopes are compared with, v_i slope_i at the anchor; what all their steps have in common,
        mu - ridge anchor; and mu_b."""
        return state.slopes(problem), state.g - problem.ridge * state.w, state.gb

    def workers(self, problem: Any) -> int:
        return int(problem.design.threads)

    # -- what they share: --------------------------------------------------------------------------------------------

    def parts(self, problem: Any) -> int:
        """Blocks that are not empty."""
        return min(self.blocks, int(problem.d))

    def metric(self, problem: Any) -> Metric:
        return plain_metric(problem, self.scaling)

    def measured(self, problem: Any, metric: Metric, rng: np.random.Generator) -> tuple[Array, Any]:
        return row_squares(problem, metric), partition(problem.d, self.parts(problem), rng).astype(np.int16)

    def init(self, problem: Any, run: Run) -> Anchor:
        self._check(problem)
        anchor = super().init(problem, run)
        stored = problem.design.column_counts() > 0
        if np.any(anchor.w[~stored]):
            w = np.where(stored.reshape((-1,) + (1,) * (anchor.w.ndim - 1)), anchor.w, 0.0)
            return replace(anchor, **arrived(problem, model_of(problem.constraint, w, anchor.b)))
        return anchor

    def _check(self, problem: Any) -> None:
        self.store.check(self.name, self.workers(problem))
        if not 1 <= self.blocks <= MOST_BLOCKS:
            raise ValueError(f"{self.name}: blocks must be between 1 and {MOST_BLOCKS}, got {self.blocks!r}")
        if self.sampling.importance(np.ones(problem.n)) is not None:
            raise ValueError(
                f"{self.name}: each row must be drawn as often as any other, for D to be right; "
                "use sampling=Uniform() or Shuffled()"
            )
        if self.only_features and np.isfinite(problem.constraint.radius):
            raise ValueError(
                f"{self.name}: an L2Ball is not kept to by workers that threshold; "
                "use solver='svrg-ht', or ridge instead of the ball"
            )

    def sweep(self, problem: Any, state: Anchor, steps: Array, rng: np.random.Generator) -> Swept:
        count, workers = self.length(len(steps), rng), self.workers(problem)
        order = self.sampling.order(state.curvatures, count * self.batch, rng)
        w, b = self.along(problem, state, float(steps[0]), order, self.moving(problem, state, count, rng))
        passes = len(order) / problem.n * self.share(problem)
        return Swept(w, b, passes, self.thresholdings(count, workers), state.carried)

    def along(
        self,
        problem: Any,
        state: Anchor,
        step: float,
        order: Indices,
        moving: _core.Moving,
        start: tuple[Array, Any] | None = None,
    ) -> tuple[Array, Any]:
        """(w, b) after steps with those rows, ``batch`` of them each, from ``start`` (None: the anchor)."""
        c = step / self.batch
        slopes, pull, pull_b = self.reference(problem, state)
        w, b = (state.w, state.b) if start is None else start
        w, b = _core.sweep_s2bcd(
            problem.design.by_rows,
            problem.target,
            order,
            self.batch,
            slopes,
            moves(problem, state.metric, c, self.rarity(problem), pull, pull_b),
            w,
            as_vector(problem, b),
            moving,
            self.kept(problem, state),
            self.store.core,
            self.workers(problem),
            problem.design.stop,
        )
        return w, as_intercept(b)


def moves(problem: Any, metric: Metric, c: float, rarity: Array, pull: Array, pull_b: Any) -> Array:
    """Of each feature: c_j, 1 / (1 + c_j ridge D_j), c_j D_j pull_j; of the intercept: c_b, 1, c_b pull_b.

    Features never kept stand still.
    """
    d, outputs = problem.d, problem.outputs
    out = np.zeros((d + 1, 2 + outputs))
    length = np.full(d, c) if metric.h is None else c / metric.h
    out[:d, 0] = length
    out[:d, 1] = 1 / (1 + problem.ridge * length * rarity)
    out[:d, 2:] = (length * rarity)[:, None] * pull.reshape(d, outputs)
    never = problem.constraint.features(np.flatnonzero(problem.constraint.never))
    out[never] = 0.0, 1.0, *[0.0] * outputs
    out[d] = np.append([c / metric.h_b, 1.0], np.broadcast_to(c / metric.h_b * np.asarray(pull_b), (outputs,)))
    return out


def largest_of(problem: Any, state: Anchor) -> _core.Largest:
    """H_k after every step, from the features of the anchor."""
    constraint = problem.constraint
    used = state.w != 0 if state.w.ndim == 1 else np.any(state.w != 0, axis=1)
    free = np.flatnonzero(used & ~constraint.always)
    k = constraint.k - int(constraint.always.sum())
    return _core.Largest(problem.d, k, free, constraint.always.astype(np.uint8), state.metric.h)
