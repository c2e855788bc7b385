"""Stochastic dual iterative hard thresholding (SDIHT).

    max_a D(a) = -(1/n) sum_i v_i loss*(a_i) - (ridge/2) |H_k(acc)|^2,     acc = -X'(v a)/(ridge n)
    (TopK with always, never; ridge > 0)

    for each block B of rows:    a_i <- prox_{s loss*}(a_i + s (x_i.w - t)),  i in B
                                 acc <- acc - (1/(ridge n)) sum_{i in B} v_i da_i x_i,      w <- H_k(acc)

t = 0; with an intercept the t that keeps sum_B v_i a_i (then a block has two rows at least, and blocks are drawn anew
every round: within blocks of always the same rows their sums would never change). The prox for the paper's gradient
step: see ``diht.py``. s = blocks/(mu (t + 2 - blocks)) at step t, which is the paper's blocks n/(mu (t+2)); blocks
c/(t+2) for the hinge; and no longer than ``reach`` times the closed form, ridge n / sum_B v_i |x_i on the support|^2:
the step of dual coordinate ascent. Closed forms alone stall, since |H_k|^2 is not smooth: as s falls super-gradient
steps take over.

A round is one run over the rows. Start: the slopes at w = 0. acc is computed anew each round. What is kept, minimised
on and reported, and when it ends: ``dual_ascent.py``.
Source: Yuan, Liu, Wang, Liu & Metaxas 2020, algorithm 2; closed-form steps: Shalev-Shwartz & Zhang 2013.
Cost a round: two passes (the sweep; acc and the scores), a thresholding a block in O(changed log k), O(d) once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.dual import balanced
from paring.solvers._loop import Run
from paring.solvers.diht import check_steps
from paring.solvers.dual_ascent import DualAscent, DualState, Refinement, step_lengths
from paring.solvers.refine import EXCHANGE

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

BATCH = 10  # the paper's
CLOSED_FORM_SHARE = 0.5  # measured, see sdiht.md
SHARED_BATCH, FEWEST_BLOCKS = 50, 20  # rows and blocks where a block shares one t: measured, see sdiht.md


@dataclass(frozen=True)
class SDIHT(DualAscent):
    """batch : rows of a block (None: 10; with an intercept 50 or a twentieth of the rows, for a block of few rows knows
    little of the t it shares).
    c : the constant of the hinge's steps (None: from the data). reach : how many times the closed form a step may be;
    infinity for the paper's steps as they are.
    refine, patience, settled : see ``refine.py`` and ``dual_ascent.py``; settled=0 goes on until the gap is within tol.

    tol bounds the dual gap relative to F at the null model; see ``dual_ascent.py`` for where it cannot close.
    Random: the same ``random_state`` gives the same result.
    """

    batch: int | None = None
    c: float | None = None
    reach: float = 1.0
    refine: Refinement = EXCHANGE
    patience: float = 20
    settled: float = 0.25
    name: ClassVar[str] = "sdiht"
    only_features: ClassVar[bool] = True

    def init(self, problem: Any, run: Run) -> DualState:
        check_steps(self)
        least = 2 if problem.fit_intercept else 1
        if self.batch is not None and not self.batch >= least:
            why = " with an intercept: their sum is kept" if least == 2 else ""
            raise ValueError(f"sdiht: batch must be at least {least}{why}, got {self.batch!r}")
        state = super().init(problem, run)
        return replace(state, c_of_steps=self.c or usual_constant(problem))

    def ascend(self, problem: Any, state: DualState, run: Run) -> tuple[Array, DualState]:
        order = run.rng.permutation(np.flatnonzero(problem.v > 0))
        starts = blocks_of(len(order), self.batch or usual_batch(problem))
        blocks = len(starts) - 1
        lengths = step_lengths(problem, state.c_of_steps, blocks, state.steps + np.arange(blocks))
        a, _, _ = swept(problem, state.a, state.c / problem.ridge, order, starts, lengths, self.reach)
        problem.design.passes += len(order) / problem.n
        state = replace(state, steps=state.steps + blocks, thresholdings=state.thresholdings + blocks)
        return (balanced(problem, a) if problem.fit_intercept else a), state


def usual_constant(problem: Any) -> float:
    """c of the hinge: half the closed form's step at a mean row on the k columns of largest square, after one round."""
    squares = np.sort(problem.constraint.unit_sums(problem.squares))[-problem.constraint.k :]
    return CLOSED_FORM_SHARE * problem.ridge * problem.n / max(float(squares.sum()), np.finfo(float).tiny)


def usual_batch(problem: Any) -> int:
    return int(np.clip(problem.n // FEWEST_BLOCKS, 2, SHARED_BATCH)) if problem.fit_intercept else BATCH


def blocks_of(rows: int, batch: int) -> Indices:
    """Where each block begins, and the end: blocks of ``batch`` rows or a few more."""
    count = max(1, rows // batch)
    return np.arange(count + 1) * rows // count


def swept(
    problem: Any, a: Array, acc: Array, order: Indices, starts: Indices, lengths: Array, reach: float
) -> tuple[Array, Array, Array]:
    """(a, acc, w = H_k(acc)) after those blocks."""
    constraint, design = problem.constraint, problem.design
    found: tuple[Array, Array, Array] = _core.sweep_sdiht(
        design.by_rows,
        problem.loss.core,
        problem.y,
        problem.v,
        problem.ridge,
        problem.fit_intercept,
        constraint.k,
        constraint.always.view(np.uint8),
        constraint.never.view(np.uint8),
        a,
        acc,
        order,
        starts,
        lengths,
        reach,
        design.stop,
    )
    return found
