"""What a fit returns: a model, what it was shown to be, and how it was reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Model:
    """A sparse linear model: ``weights`` (k,) or (k, outputs) on the features ``support`` (ascending)."""

    support: Indices
    weights: Array
    intercept: Any = 0.0

    @classmethod
    def from_dense(cls, w: Array, intercept: Any = 0.0) -> Model:
        support = np.flatnonzero(w if w.ndim == 1 else np.any(w != 0, axis=1))
        return cls(support, w[support], intercept)

    def frozen(self) -> Model:
        """A copy that cannot be written to."""
        support, weights = self.support.copy(), self.weights.copy()
        intercept = np.array(self.intercept) if np.ndim(self.intercept) else self.intercept
        for part in (support, weights, intercept):
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        return Model(support, weights, intercept)

    def dense(self, d: int) -> Array:
        w = np.zeros((d, *self.weights.shape[1:]))
        w[self.support] = self.weights
        return w


@dataclass(frozen=True)
class Record:
    """One round of the history. active: features that screening has not discarded; -1 where there is no screening."""

    objective: float
    certificate: float
    passes: float
    thresholdings: int
    seconds: float
    active: int = -1


@dataclass(frozen=True)
class Certificate:
    """What is known of the answer.

    kind : "dual_gap", "swap_optimal", "fixed_point", "dual_maximum" or "none"; ``value`` is its residual in units of F
    at the null model (the gap relative to it, or what the best move would still gain), and ``statement`` says it in a
    sentence.
    """

    kind: str
    value: float
    statement: str


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The model of one size on a path."""

    size: int
    model: Model
    objective: float


@dataclass(frozen=True, eq=False)
class Result:
    """The answer of ``paring.solve``.

    coef (d,) or (d, outputs) and intercept; support: indices of the features kept
    (``support_`` of the estimators is a mask); objective F(coef, intercept).
    dual_gap: F minus a lower bound on the best F (infinity where no bound exists); proved_optimal: it is within tol.
    swap_optimal: "exact", "model" or None (see the page of pursuit). stop_reason: "converged", "stalled",
    "max_passes", "time_limit", "callback" or "interrupted". why: which solver was chosen, and the reason.
    """

    coef: Array
    intercept: Any
    support: Indices
    objective: float
    null_objective: float
    dual_gap: float
    certificate: Certificate
    proved_optimal: bool
    swap_optimal: str | None
    stop_reason: str
    converged: bool
    n_iter: int
    n_passes: float
    n_thresholdings: int
    seconds: float
    copied_bytes: int
    solver: str
    why: str
    history: tuple[Record, ...] = ()
    path: dict[int, PathPoint] = field(default_factory=dict)
    state: Any = None

    @property
    def model(self) -> Model:
        return Model(self.support, self.coef[self.support], self.intercept)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "state": None}  # it holds parts of X, and objects of the core, which no file can hold

    def __repr__(self) -> str:
        bound = "no bound" if np.isinf(self.dual_gap) else f"gap {self.dual_gap:.2g}"
        return (
            f"<Result: {len(self.support)} features, objective {self.objective:.6g} ({bound}; "
            f"{self.certificate.statement}), {self.solver}, {self.stop_reason} after {self.n_iter} rounds, "
            f"{self.seconds:.3g} s>"
        )
