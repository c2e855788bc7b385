"""The inner problem of every pursuit: minimise F over chosen features and the intercept,

    min_{w_S, b} (1/n) sum_i v_i loss(x_i,S.w_S + b, y_i) + (ridge/2) |w_S|^2,   bounds on w_S where there are any.

One output and a size a Cholesky factor takes: Newton in the core (``core/src/newton.cpp``). Otherwise ``large.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.result import Model
from paring.solvers.blas import lend_blas

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

TOLERANCE = 1e-13  # half the Newton decrement, relative to F at the null model
SHARPNESS = 1e-19  # the same, where steps end that F no longer shows: weights then have nine digits, F has twelve
MOST_ROUNDS = 300  # few need 30; bounds and a loss of next to no curvature together, some hundred
LARGEST_FACTOR = 4000  # coordinates: beyond, conjugate gradients


@dataclass(frozen=True, eq=False)
class Restricted:
    """The minimiser on ``features``: weights, intercept, scores, objective; the block of columns used.

    inverse : the inverse Hessian of (w_S[, b]) there, if asked for; in the block's shifted columns.
    converged : False where the data are separable or rounding stopped it first; the point is finite all the same.
    """

    features: Indices
    w: Array
    b: Any
    z: Array
    objective: float
    block: _core.Block
    inverse: Array | None
    converged: bool
    remaining: float = np.inf  # half the Newton decrement at the point, where it is known
    a: Array | None = None  # of a loss with a corner: slopes there that explain the weights

    @property
    def model(self) -> Model:
        order = np.argsort(self.features, kind="stable")
        return Model(self.features[order], self.w[order], self.b)


def minimise_on(
    problem: Any,
    features: Indices,
    w: Array | None = None,
    b: Any = None,
    *,
    tolerance: float = TOLERANCE,
    inverse: bool = False,
    block: _core.Block | None = None,
) -> Restricted:
    """Minimise F on ``features`` from (w, b) (default: 0 and the null intercept).

    Cost: a copy of |S| columns; per Newton round |S| n operations, and n |S|^2 for a new factor.
    """
    if w is None:
        w = np.zeros((len(features), *problem.zeros().shape[1:]))
    if b is None:
        b = problem.null[0]
    if not problem.loss.smooth:
        from paring.solvers.corner import minimise_corners

        return minimise_corners(problem, features, w, b)
    if problem.outputs > 1 or len(features) > LARGEST_FACTOR:
        from paring.solvers.large import minimise_large

        return minimise_large(problem, features, w, b, tolerance * problem.scale)
    lend_blas()
    design, constraint = problem.design, problem.constraint
    if block is None:
        block = design.block(features, problem.v if problem.fit_intercept else None)
    lower, upper = (None if end is None else end[features] for end in (constraint.lower, constraint.upper))

    def newton(w: Array, b: float) -> Any:
        return _core.minimise_block(
            problem.target,
            block,
            np.ascontiguousarray(w),
            b,
            lower,
            upper,
            tolerance=tolerance * problem.scale,
            max_rounds=MOST_ROUNDS,
            sharpness=SHARPNESS * problem.scale if tolerance <= TOLERANCE else np.inf,
            want_inverse=inverse,
            threads=design.threads,
            stop=design.stop,
        )

    w, b, z, matrix, report = newton(w, float(b))
    if not report[0] <= problem.null[1] + problem.rounding * problem.scale:
        # Worse than without features: a start beyond the reach of exp, as where a column of large mean has left.
        w, b, z, matrix, report = newton(np.zeros_like(w), float(problem.null[0]))
    return Restricted(features, w, b, z, report[0], block, matrix, report[4], report[1])
