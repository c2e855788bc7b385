"""A problem in every layout with what the core's sweeps are given, for the tests of sweeps and of directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paring import Problem, _core
from paring.constraints import L2Ball, TopK
from tests.reference.rows import Rows
from tests.solvers.problems import data

LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "dense": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "wide": lambda X: _wide(sp.csr_array(X)),
}
BLOCKS = 3


def _wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@dataclass
class Case:
    """The problem, its NumPy twin, a point w away from the anchor, and the arguments of the sweeps at that anchor."""

    problem: Problem
    F: Rows
    w: np.ndarray
    b: np.ndarray
    anchor: tuple[np.ndarray, np.ndarray]
    stored: np.ndarray
    block_of: np.ndarray
    h: np.ndarray | None

    def shaped(self, w: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(w if self.problem.outputs > 1 else w[:, 0])

    def given(self, batches, lengths) -> dict[str, Any]:
        constraint = self.problem.constraint
        flags = (np.asarray(mask, dtype=np.uint8) for mask in (constraint.always, constraint.never))
        return {
            "rows": self.problem.design.by_rows,
            "target": self.problem.target,
            "limits": _core.Limits(self.F.d, constraint.k, *flags, constraint.radius, self.h, self.F.h_b),
            "order": np.concatenate([*batches, np.empty(0, np.int64)]).astype(np.int64),
            "starts": np.cumsum([0, *map(len, batches)]),
            "lengths": np.asarray(lengths, dtype=np.float64),
            "w": self.shaped(self.w),
            "b": self.b,
            "importance": None if np.all(self.F.importance == 1) else self.F.importance,
        }

    def at_anchor(self) -> dict[str, Any]:
        nu, nu_b = self.F.gradient(*self.anchor)
        return {"nu": self.shaped(nu), "nu_b": nu_b, "slopes": self.F.slopes(np.arange(self.F.n), *self.anchor)}

    @property
    def often(self) -> np.ndarray:
        return self.F.n / np.maximum(self.stored.sum(axis=0), 1)

    def groups(self) -> np.ndarray:
        """Those of SBCD-HTP: 0 the anchor's support, -1 never."""
        groups = self.block_of + np.int32(1)
        groups[np.any(self.anchor[0] != 0, axis=1)] = 0
        groups[self.F.never] = -1
        return groups

    def as_twin(self, w: np.ndarray) -> np.ndarray:
        return np.reshape(w, self.w.shape)


def case(
    loss: str = "squared",
    layout: str = "dense",
    *,
    k: int = 5,
    n: int = 60,
    d: int = 40,
    ridge: float = 0.3,
    plain: bool = False,
    dtype: type = np.float64,
    radius: float = np.inf,
) -> Case:
    """``plain``: no weights, intercept, metric, importance, always or never."""
    X, y = data(loss, n=n, d=d)
    rng = np.random.default_rng(3)
    X = (X * (rng.random(X.shape) < 0.3)).astype(dtype)
    v = None if plain else rng.integers(1, 4, n).astype(float)
    limits = {} if plain else {"always": [2], "never": [3]}
    constraint = TopK(k, **limits) & L2Ball(radius)
    options = {"ridge": ridge, "sample_weight": v, "fit_intercept": not plain}
    problem = Problem(LAYOUTS[layout](X), y, loss, constraint=constraint, **options)
    h = None if plain else rng.uniform(0.5, 3, d)
    importance = None if plain else rng.uniform(0.5, 2, n)
    metric = {"h": h, "h_b": 1.0 if plain else 1.7, "importance": importance, "radius": radius}
    F = Rows(X.astype(float), y, problem.loss.core, k, v=v, ridge=ridge, intercept=not plain, **metric, **limits)
    outputs = problem.outputs

    def sparse_point():
        w = np.zeros((d, outputs))
        w[rng.choice(np.setdiff1d(np.arange(d), [3]), min(k, d) - 1, replace=False)] = 0.3 * rng.standard_normal(
            (min(k, d) - 1, outputs)
        )
        return w, 0.1 * rng.standard_normal(outputs) * (not plain)

    w, b = sparse_point()
    stored = (X != 0) | (not sp.issparse(LAYOUTS[layout](X[:1])))
    return Case(problem, F, w, b, sparse_point(), stored, rng.integers(BLOCKS, size=d).astype(np.int32), h)
