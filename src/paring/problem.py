"""A problem: data, loss, constraint or penalty, ridge, weights and intercept, composed.

    F(w, b) = (1/n) sum_i v_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2

    exact k       min F      subject to    w feasible
    penalised     min F + Omega(w)

v has mean 1. The intercept b is never thresholded, penalised, ridged or counted.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring import _core, given, losses
from paring.constraints import Feasible, TopK
from paring.data.design import Design, as_design
from paring.penalties import Penalty
from paring.result import Model
from paring.separable import Separable

if TYPE_CHECKING:
    from paring.solvers.restricted import Restricted

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

NULL_TOLERANCE = 1e-14
FLAT_SLOPE = 1e-12  # of the mean loss in the intercept: what is left of 0 by adding weights up
SPANNED = 1e-12  # of a column's curvature: with less left outside the span of others it lies in it (a length of 1e-6)
DUST = 1e-12  # of what F can fall by: what a feature adds is rounding
DOUBTFUL = 1e-6  # variance over second moment, below which their difference has lost too many digits


class Problem:
    """One problem, with exactly one of ``constraint`` and ``penalty``.

    X : (n, d) array, SciPy sparse matrix, memory map or ``paring.data.design.Design``; not copied if usable as it lies.
    y : (n,) targets: real numbers, -1/+1 for two classes, 0..K-1 for multinomial; with squared loss and a penalty
        also (n, K), several targets a row. Real targets lie between 1e-70 and 1e70 in size, and columns of X by
        their root mean square, or are 0.
    loss : a name or a ``paring.losses`` object. constraint : ``TopK(k, ...)``, with ``& L2Ball(tau)`` if wanted.
    penalty : of ``paring.penalties``, e.g. ``L1(lam)``. ridge : l2 weight.
    sample_weight : (n,) non-negative; only their ratios matter. offset : (n,) added to every score (penalised only).
    Cost: one pass over X (it also finds NaN and infinity).
    """

    rounding = 1e-12  # of F, relative: what a comparison of two objectives must allow for

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        loss: str | losses.Loss = "squared",
        *,
        constraint: TopK | None = None,
        penalty: Penalty | None = None,
        ridge: float = 0.0,
        sample_weight: ArrayLike | None = None,
        fit_intercept: bool = False,
        offset: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.design: Design = as_design(X, n_jobs)
        self.n, self.d = self.design.n, self.design.d
        self.y, known = given.posed(y, self.n, losses.get(loss), several=penalty is not None)
        self.v = given.weights(sample_weight, self.n)
        self.loss = self._known(known)
        self.loss.check_targets(self.y)
        self.ridge = given.ridge_of(ridge)
        self.fit_intercept = bool(fit_intercept)
        self.offset = given.offsets(offset, self.n)
        self._bind(constraint, penalty)
        y = self.y if self.outputs == 1 else np.zeros(self.n)
        middle = float(np.average(y, weights=self.v)) if self.fit_intercept else 0.0
        products, sums, squares = self.design.moments(self.v * (y - middle), self.v)
        given.check_columns(products, sums, squares / self.n)
        self.products: Array = products / self.n  # X'V (y - its mean, with an intercept) / n
        self.means: Array = sums / self.n
        self.squares: Array = squares / self.n  # second moments of the columns

    def _bind(self, constraint: TopK | None, penalty: Penalty | None) -> None:
        """Exactly one of them; under a penalty the constraint is what its bounds and left-out features leave."""
        self.stated = penalty
        self.penalty: Separable | None = None
        if penalty is not None:
            if constraint is not None:
                raise ValueError("constraint= asks for k features, penalty= for a penalised problem: give one of them")
            if not isinstance(penalty, Penalty):
                raise TypeError(f"penalty must be one of paring.penalties, e.g. L1(lam), got {type(penalty).__name__}")
            self.penalty = penalty.bind(self.d, self.outputs)
            never: Any = np.flatnonzero(self.penalty.excluded)
            lower, upper = self.penalty.lower, self.penalty.upper
            bounds = None if lower is None or upper is None else (lower, upper)
            constraint = TopK(self.d, never=never, bounds=bounds)
        elif self.offset is not None:
            raise ValueError("offset: only with penalty=; for squared loss subtract it from y")
        if not isinstance(constraint, TopK):
            what = "nothing" if constraint is None else type(constraint).__name__
            raise TypeError(
                f"constraint must be paring.constraints.TopK(k, ...), or penalty one of paring.penalties; got {what}"
            )
        self.constraint: Feasible = constraint.bind(self.d, self.outputs)

    def at(self, penalty: Penalty) -> Problem:
        """The same problem with another penalty. Data and what was computed of them are shared. Cost: O(d)."""
        other = copy.copy(self)
        for name in ("regulariser", "root_norm"):
            vars(other).pop(name, None)
        other._bind(None, penalty)
        return other

    def _known(self, loss: losses.Loss) -> losses.Loss:
        if loss.name != "multinomial" or loss.parameter:
            return loss
        classes = np.unique(self.y)
        gaps = np.flatnonzero(classes != np.arange(len(classes)))
        if len(gaps) and (classes >= 0).all() and (classes == np.floor(classes)).all():  # else the loss refuses them
            raise ValueError(
                f"y holds class {classes[-1]:g} but none {gaps[0]}: number the classes 0 to {len(classes) - 1} "
                "(numpy.unique(y, return_inverse=True)), or say how many there are: losses.multinomial(classes)"
            )
        return loss(max(len(classes), 2))

    def with_loss(self, loss: losses.Loss) -> Problem:
        """The same problem under another loss of one output, for the same kind of targets. Cost: none."""
        return self._with("loss", loss)

    def with_ridge(self, ridge: float) -> Problem:
        """The same problem with another ridge. Cost: none."""
        return self._with("ridge", ridge)

    def _with(self, part: str, value: Any) -> Problem:
        other = copy.copy(self)
        for derived in ("null", "scale", "steepest", "target", "lipschitz", "regulariser", "root_norm"):
            vars(other).pop(derived, None)
        setattr(other, part, value)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "target"}  # the core's: made anew

    @property
    def outputs(self) -> int:
        return self.loss.outputs

    @property
    def targets(self) -> Array:
        """y; where there are several targets a row, these."""
        return self.loss.table if isinstance(self.loss, losses.SquaredRows) else self.y

    # -- the objective ------------------------------------------------------------------------------------------

    def zeros(self) -> Array:
        """w = 0, of this problem's shape."""
        return np.zeros(self.d if self.outputs == 1 else (self.d, self.outputs))

    def scores(self, model: Model) -> Array:
        return self.design.scores_on(model.support, model.weights) + (model.intercept + self.base)

    @property
    def base(self) -> Any:
        """What every score begins with: 0, or the offset."""
        return 0.0 if self.offset is None else self.offset if self.outputs == 1 else self.offset[:, None]

    def value_at(self, z: Array, w: Array) -> float:
        """F, given the scores; without the penalty."""
        return self.loss.core.total(z, self.y, self.v) / self.n + 0.5 * self.ridge * float(np.vdot(w, w))

    def objective(self, model: Model) -> float:
        """F, or F + Omega where there is a penalty."""
        return self.value_at(self.scores(model), model.weights) + self.penalty_of(model)

    def penalty_of(self, model: Model) -> float:
        return 0.0 if self.penalty is None else self.penalty.on(model.support).value(model.weights)

    @cached_property
    def regulariser(self) -> Separable:
        """The penalty and the ridge together."""
        assert self.penalty is not None
        return self.penalty.with_ridge(self.ridge)

    def residuals(self, z: Array) -> Array:
        """v_i slope_i / n: the gradient of the mean loss with respect to the scores."""
        slope = self.loss.core.slope(z, self.y)
        return slope * (self.v / self.n).reshape((-1,) + (1,) * (slope.ndim - 1))

    def gradient(self, w: Array, b: Any = 0.0) -> tuple[float, Array, Any]:
        """F, its gradient in w and in b (0 without an intercept). Cost: one pass."""
        z = self.design.scores(w) + (b + self.base)
        r = self.residuals(z)
        return (
            self.value_at(z, w),
            self.design.adjoint(r) + self.ridge * w,
            r.sum(axis=0) if self.fit_intercept else 0.0,
        )

    @cached_property
    def null(self) -> tuple[Any, float]:
        """(b, F) of the best model without features."""
        zeros = self.no_scores()
        if self.loss.is_quadratic and self.outputs > 1:
            middle = np.average(self.targets - zeros, axis=0, weights=self.v) if self.fit_intercept else zeros[0] * 0
            return middle, self.value_at(zeros + middle, np.zeros(0))
        if self.outputs > 1:
            shares = np.bincount(self.y.astype(np.int64), weights=self.v, minlength=self.outputs) / self.n
            b = np.log(np.maximum(shares, 1e-12)) if self.fit_intercept else np.zeros(self.outputs)
            return b - b.mean(), self.value_at(zeros + b, np.zeros(0))
        best = self.best_intercept(zeros) if self.fit_intercept else 0.0
        return best, self.value_at(zeros + best, np.zeros(0))

    def no_scores(self) -> Array:
        """The scores of w = 0, b = 0."""
        return np.zeros(self.n if self.outputs == 1 else (self.n, self.outputs)) + self.base

    def best_intercept(self, z: Array) -> float:
        """argmin_b sum_i v_i loss(z_i + b, y_i) for one output."""
        if self.loss.name == "squared":
            return float(np.average(self.y - z, weights=self.v))
        if not self.loss.smooth:  # hinge: the minimum is at a corner y_i - z_i; sorted slopes change sign there
            corners = self.y - z
            order = np.argsort(corners)
            slope = -float(self.v[self.y > 0].sum()) + np.cumsum(self.v[order])
            flat = FLAT_SLOPE * self.n  # b is the middle of where the slope is 0, if it is for a while
            ends = np.searchsorted(slope, [-flat, flat])
            return float(corners[order][np.minimum(ends, self.n - 1)].mean())
        from paring.dual import minimise_intercept

        return minimise_intercept(self, z)

    @cached_property
    def scale(self) -> float:
        """What tolerances are relative to: F at the null model above the least the losses can be (not 0 for poisson).

        Never 0, nor so small that rounding would count, as with a constant target and an intercept.
        """
        zeros = self.no_scores()
        least = -float(self.v @ self.loss.core.conjugate(np.zeros_like(zeros), self.y)) / self.n
        unfitted = self.value_at(zeros, np.zeros(0)) - least
        if self.loss.targets == "count":  # scores of 0 say nothing of rounding where all counts are tiny
            unfitted = min(unfitted, abs(self.null[1]) + abs(least))
        return max(self.null[1] - least, NULL_TOLERANCE * unfitted, np.finfo(float).tiny * 1e50)

    def counts(self, model: Model) -> NDArray[np.bool_]:
        """Of each feature of the model, whether F feels it: whether its scores, by the slopes that F has without
        features, come to more than DUST of what F can fall by. The rest is rounding. Cost: O(n), once."""
        sizes = np.abs(model.weights) if model.weights.ndim == 1 else np.linalg.norm(model.weights, axis=1)
        sizes = sizes * np.sqrt(self.squares[model.support])
        return (sizes > 0) & (sizes * self.steepest > DUST * self.scale)

    @cached_property
    def steepest(self) -> float:
        """The root of the mean square of the slopes at the null model."""
        b, _ = self.null
        z = np.full(self.n, b) if self.outputs == 1 else np.tile(b, (self.n, 1))
        return float(np.sqrt(self.v @ (self.loss.core.slope(z, self.y).reshape(self.n, -1) ** 2).sum(axis=1) / self.n))

    def minimise_on(self, features: Indices, w: Array | None = None, b: Any = None) -> Restricted:
        """The minimiser of F over those features and the intercept, from (w, b)."""
        from paring.solvers.restricted import minimise_on

        return minimise_on(self, features, w, b)

    def gap(self, model: Model, objective: float, ascend: bool = False, tol: float = 0.0) -> float:
        """The objective less a lower bound on the best one; infinity where there is none. tol: of perfect fits."""
        if self.penalty is not None:
            from paring.penalised_dual import gap_of

            return gap_of(self, model, objective)
        from paring.certificates import bound_from

        return bound_from(self, model, objective, ascend, tol)

    # -- curvature ----------------------------------------------------------------------------------------------

    @cached_property
    def target(self) -> _core.Target:
        """The loss with its data, for the core's minimisers."""
        core = self.loss.core
        return _core.Target(core, self.y, self.v, self.ridge, self.fit_intercept, core)

    @cached_property
    def lipschitz(self) -> float:
        """A number at which the power iteration for the largest curvature of F in (w, b) settled (from below)."""
        bound = self.loss.curvature_bound
        if not np.isfinite(bound):
            raise ValueError(f"{self.loss}: its slope is not Lipschitz; use step=Backtracking()")
        rng = np.random.default_rng(0)
        u: Array = rng.standard_normal(self.d)
        b = float(self.fit_intercept)
        value = 0.0
        for _ in range(30):
            norm = float(np.hypot(np.linalg.norm(u), b))
            if norm == 0:
                return self.ridge
            u, b = u / norm, b / norm
            z = self.v * (self.design.scores(u) + b) / self.n
            u, b = self.design.adjoint(z), float(z.sum()) * self.fit_intercept
            previous, value = value, float(np.hypot(np.linalg.norm(u), b))
            if abs(value - previous) <= 1e-3 * value:
                break
        return bound * value + self.ridge

    @cached_property
    def variances(self) -> Array:
        """sum_i v_i x_ij^2 / n of each column, centred where there is an intercept.

        Columns whose mean is most of their square are centred first and squared then: the difference would be rounding.
        """
        if not self.fit_intercept:
            return self.squares
        out = np.maximum(self.squares - self.means**2, 0)
        doubtful = np.flatnonzero(out < DOUBTFUL * self.squares)
        out[doubtful] = self.design.centred_squares(doubtful, self.v / self.n, self.means)
        return out

    @cached_property
    def roots(self) -> Array:
        """Roots of the columns' second moments."""
        return np.sqrt(self.squares)

    @cached_property
    def deviations(self) -> Array:
        """Roots of ``variances``: |x_j|_V / sqrt(n), about the mean where there is an intercept."""
        return np.sqrt(self.variances) if self.fit_intercept else self.roots

    @cached_property
    def root_norm(self) -> float:
        """The dual norm of ``roots``, over the features that have to lie in the dual set."""
        hard = np.flatnonzero(self.regulariser.hard)
        return self.regulariser.on(hard).dual_norm(self.roots[hard])

    @cached_property
    def flat(self) -> NDArray[np.bool_]:
        """Columns without variation: what is left of them after centring is rounding. With ridge they are harmless."""
        rounding = 16 * float(np.finfo(float).eps) * np.sqrt(self.n)
        return self.variances <= rounding**2 * self.squares

    def curvatures(self) -> Array:
        """h_j of the diagonal model: bound sum_i v_i x_ij^2 / n + ridge, centred with an intercept, floored."""
        bound = self.loss.curvature_bound
        h = self.variances * (bound if np.isfinite(bound) else 1.0) + self.ridge
        return np.maximum(h, 1e-8 * max(float(h.max()), np.finfo(float).tiny))
