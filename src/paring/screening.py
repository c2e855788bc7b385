"""Screening: which features a penalised problem can do without.

Every rule looks at c_j = X_j'(v theta)/n of a feasible dual point theta and asks how far the optimal one can be:
|c*_j - c_j| <= reach_j. What then lies inside the penalty's dual set is zero at the optimum (``Separable.discarded``).

    GapSafe()      theta* lies within sqrt(2 n L gap) of theta in the norm |u|_V^2 = sum v_i u_i^2, for D is concave
                   with modulus 1/(n L), L the curvature bound of the loss. So reach_j = sqrt(2 L gap m_j), with m_j the
                   second moment of column j: about its mean where there is an intercept. Looked at once a round:
                   *dynamic*; at a warm start also *sequential*.
    StaticSafe()   once, at w = 0. Squared loss without intercept, ridge, bounds, offset or unpenalised features:
                   theta* is the feasible point nearest to y, so reach_j = sqrt(m_j) |y|_V/sqrt(n) (1 - lam/lam_max).
                   Otherwise the gap sphere at w = 0.
    Strong(lam)    from the slopes at the solution of a larger weight lam: zero if they lie inside the dual set for
                   2 lam_now - lam. Not safe: the solver checks all features at the end, and takes back what was wrong.
    Unscreened()   none.

Sources: Ndiaye et al. 2017 (gap safe), El Ghaoui et al. 2012 (SAFE), Tibshirani et al. 2012 (strong). The paper of
dynamic screening over shared memory (Bao et al.) prints the sphere without the factor n; with sample weights both the
norm and c have them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paring.dual import EPS
from paring.penalised_dual import DualPoint, rounding_of
from paring.separable import Separable

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

SLACK = 2.0**14 * EPS  # of the objective: what rounding may have taken from a gap
SAMPLE = 512  # features by which a look at many is tried first


@dataclass(frozen=True, eq=False)
class Look:
    """What there is to judge by, once a round: the active features, the penalty on them and their deviations (roots of
    the second moments), a dual point, the objective.

    first : whether this is the first look of a solve.
    """

    features: Indices
    regulariser: Separable
    deviations: Array
    point: DualPoint
    objective: float
    first: bool

    @property
    def gap(self) -> float:
        return max(self.objective - self.point.bound, 0.0)


@dataclass(frozen=True)
class GapSafe:
    """Gap safe spheres at every look."""

    is_safe: ClassVar[bool] = True

    def discarded(self, problem: Any, look: Look) -> Mask | None:
        """Of the active features, those that are zero at the optimum; None where there is no rule."""
        bound = problem.loss.curvature_bound
        if not (np.isfinite(bound) and np.isfinite(look.gap)):
            return None
        gap = look.gap + SLACK * abs(look.objective)
        span = np.sqrt(2 * bound * gap) + look.point.scale * rounding_of(problem, look.point.a)
        if span == 0 or not self._is_worth_it(look, span):
            return None
        return look.regulariser.discarded(look.point.feasible, span * look.deviations)

    def _is_worth_it(self, look: Look, span: float) -> bool:
        """Whether of some features, evenly spread over many, any is discarded: while the gap is wide, none is."""
        if len(look.features) < 64 * SAMPLE or look.regulariser.unit_of is not None:
            return True
        some = np.arange(0, len(look.features), len(look.features) // SAMPLE)
        c = look.point.scale * look.point.c[some]
        return bool(look.regulariser.on(some).discarded(c, span * look.deviations[some]).any())


@dataclass(frozen=True)
class StaticSafe:
    """One sphere, at w = 0, whatever the solve started from."""

    is_safe: ClassVar[bool] = True

    def discarded(self, problem: Any, look: Look) -> Mask | None:
        if not look.first:
            return None
        null = look_at_null(problem, look)
        regulariser = look.regulariser
        plain = problem.loss.is_quadratic and not problem.fit_intercept and problem.offset is None
        if not (plain and regulariser.lower is None and regulariser.all_hard and not regulariser.unpenalised.any()):
            return GapSafe().discarded(problem, null)
        ratio = 1 / max(regulariser.dual_norm(null.point.c), 1.0)
        size = np.sqrt((problem.v @ problem.targets**2).sum() / problem.n)
        span = size * (1 - ratio) + rounding_of(problem, null.point.a)
        return regulariser.discarded(null.point.c, span * look.deviations)


@dataclass(frozen=True)
class Strong:
    """The strong rule from the solution at ``lam``; None: from w = 0 at the least weight that gives it."""

    lam: float | None = None
    is_safe: ClassVar[bool] = False

    def discarded(self, problem: Any, look: Look) -> Mask | None:
        if not look.first:
            return None
        regulariser, now = look.regulariser, float(problem.stated.lam)
        c = look.point.c if self.lam is not None else look_at_null(problem, look).point.c
        before = self.lam if self.lam is not None else now * max(regulariser.dual_norm(c), 1.0)
        share = 2 - before / now
        if share <= 0:
            return None
        return regulariser.discarded(c / share, np.zeros(len(look.features)))


@dataclass(frozen=True)
class Unscreened:
    """No screening."""

    is_safe: ClassVar[bool] = True

    def discarded(self, problem: Any, look: Look) -> Mask | None:
        return None


def look_at_null(problem: Any, look: Look) -> Look:
    """The look at w = 0 with the best intercept. Cost: a pass, unless that is where the solve stands."""
    from paring.penalised_dual import dual_point

    z = problem.no_scores() + problem.null[0]
    a = problem.loss.core.slope(z, problem.y)
    point = dual_point(problem, a, None if len(look.features) == problem.d else look.features)
    return replace(look, point=point, objective=problem.null[1])
