"""Asynchronous stochastic variance-reduced gradient hard thresholding (ASVRG-HT).

    min F(w, b)   subject to   |w|_0 <= k   (always, never)

A round: anchor <- w, mu <- grad F(anchor); then each of ``n_jobs`` workers, again and again, with a row i and a set e
of coordinates:

    delta = v_i slope_i(w) - v_i slope_i(anchor)
    w_j  <- (w_j - c (delta x_ij + D_j (mu_j - ridge anchor_j))) / (1 + c ridge D_j)        j in e
    b    <- b - c (delta + mu_b),        w <- H_k(w)

coordinates="row": e is where row i has stored numbers, D_j = n / (rows where column j is stored); the directions
average to grad F(w). The asynchronous experiments of the ASBCD-HTP paper do so.
coordinates="sampled": the printed algorithm, a set of min(k, d) coordinates, every such set equally likely, and D = 1;
the directions average to (|e|/d) grad F(w). The sets of one round are windows of one random order of the features.

What a worker may see of the others, and what H_k is while they work: ``semistochastic.py``.

Source: Algorithm 3 of Li, Arora, Liu, Haupt & Zhao 2016. Cost of a round: a pass for mu, and n steps of
O(nonzeros of a row + |e| + k).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.solvers.rules import Sampling
from paring.solvers.semistochastic import Semistochastic, Store
from paring.solvers.stochastic import Anchor

Array = NDArray[np.float64]


class Coordinates(Protocol):
    """Which coordinates a step moves: ``share``, how much of a gradient they are; ``rarity``, their D, given that of
    coordinates stored in the row."""

    def share(self, problem: Any) -> float: ...

    def rarity(self, of_rows: Array) -> Array: ...

    def moving(self, problem: Any, count: int, rng: np.random.Generator) -> _core.Moving: ...


@dataclass(frozen=True)
class OfRow:
    """Those stored in the row."""

    def share(self, problem: Any) -> float:
        return 1.0

    def rarity(self, of_rows: Array) -> Array:
        return of_rows

    def moving(self, problem: Any, count: int, rng: np.random.Generator) -> _core.Moving:
        return _core.Moving.everywhere()


@dataclass(frozen=True)
class Sampled:
    """``size`` of all (None: min(k, d)), every set equally likely: a window of a random order drawn for the round."""

    size: int | None = None

    def share(self, problem: Any) -> float:
        return self._size(problem) / float(problem.d)

    def rarity(self, of_rows: Array) -> Array:
        return np.ones_like(of_rows)

    def moving(self, problem: Any, count: int, rng: np.random.Generator) -> _core.Moving:
        circle, starts = rng.permutation(problem.d), rng.integers(problem.d, size=count)
        return _core.Moving.in_windows(circle, self._size(problem), starts)

    def _size(self, problem: Any) -> int:
        most = int(min(problem.constraint.k, problem.d))
        if self.size is not None and not 1 <= self.size <= most:
            raise ValueError(f"asvrg-ht: Sampled: size must be between 1 and k={most} (Algorithm 3), got {self.size!r}")
        return self.size or most


class ASVRGHT(Semistochastic):
    """coordinates : "row" (default), "sampled" or ``Sampled(size)``. batch : rows of a step.

    inner : steps of a round (None: n / batch). store : ``Wild()`` (default), ``Atomic()``, ``Plain()``.
    step, sampling : see ``rules.py``; the step is the same in a round. scaling : "none" or "curvature".
    Random; with n_jobs=1 the same ``random_state`` gives the same bits.
    """

    name: ClassVar[str] = "asvrg-ht"
    coordinates: Coordinates

    def __init__(
        self,
        step: Any = "estimate",
        *,
        coordinates: str | Coordinates = "row",
        batch: int = 1,
        inner: int | None = None,
        sampling: Sampling | None = None,
        scaling: str = "none",
        store: Store | None = None,
    ) -> None:
        super().__init__(step, batch=batch, inner=inner, sampling=sampling, scaling=scaling, store=store)
        named: dict[Any, Coordinates] = {"row": OfRow(), "sampled": Sampled()}
        if isinstance(coordinates, str) and coordinates not in named:
            raise ValueError(f"asvrg-ht: coordinates must be 'row', 'sampled' or Sampled(size), got {coordinates!r}")
        chosen = named[coordinates] if isinstance(coordinates, str) else coordinates
        self._set(coordinates=chosen)

    def share(self, problem: Any) -> float:
        return self.coordinates.share(problem)

    def rarity(self, problem: Any) -> Array:
        return self.coordinates.rarity(super().rarity(problem))

    def moving(self, problem: Any, state: Anchor, count: int, rng: np.random.Generator) -> _core.Moving:
        return self.coordinates.moving(problem, count, rng)
