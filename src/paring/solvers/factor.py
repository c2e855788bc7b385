"""Least squares on a growing support: one factor that gains a row for each feature.

    H_SS = C'VC/n + ridge I = L L',   q = L^-1 C'V(y - ybar)/n,   w = L^-T q,   b = ybar - means.w

C: the support's columns, less their means where there is an intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.problem import SPANNED

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Collinear(Exception):
    """The new columns lie in the span of the old."""


class GrowingFactor:
    """Memory: n k and k^2 numbers, k the most features ever in."""

    def __init__(self, problem: Any) -> None:
        self.problem, self.size = problem, 0
        self.share = problem.v / problem.n
        self.middle = float(self.share @ problem.y) if problem.fit_intercept else 0.0
        self.y = problem.y - self.middle
        self.C, self.L = np.empty((problem.n, 0), order="F"), np.empty((0, 0), order="F")
        self.q, self.means = np.empty(0), np.empty(0)

    def entered(self, new: Indices) -> tuple[Array, float, Array]:
        """(w, b, scores) of the minimiser with the new features too. Raises Collinear, and is then as before."""
        from scipy.linalg import LinAlgError, cholesky, solve_triangular

        m, size = self.size, self.size + len(new)
        self._reserve(size)
        C, L = self.C[:, :size], self.L
        self._read(new)
        weighted = C[:, m:].T * self.share
        gram = weighted @ C
        own = gram[:, m:] + self.problem.ridge * np.eye(size - m)
        if m:
            L[m:size, :m] = solve_triangular(L[:m, :m], gram[:, :m].T, lower=True, check_finite=False).T
        left = own - L[m:size, :m] @ L[m:size, :m].T
        if np.any(left.diagonal() <= SPANNED * own.diagonal()):
            raise Collinear
        try:
            L[m:size, m:size] = cholesky(left, lower=True, check_finite=False)
        except LinAlgError:
            raise Collinear from None
        pivots = np.diag(L[m:size, m:size]) ** 2
        if np.any(pivots <= SPANNED * own.diagonal()):
            raise Collinear
        rest = weighted @ self.y - L[m:size, :m] @ self.q[:m]
        self.q[m:size] = solve_triangular(L[m:size, m:size], rest, lower=True, check_finite=False)
        self.size = size
        w = solve_triangular(L[:size, :size], self.q[:size], lower=True, trans=1, check_finite=False)
        return w, self.middle - float(self.means[:size] @ w), C @ w + self.middle

    def _reserve(self, size: int) -> None:
        if size <= self.L.shape[0]:
            return
        m, room = self.size, max(size, 2 * self.L.shape[0], 16)
        C, L = np.empty((len(self.y), room), order="F"), np.zeros((room, room), order="F")
        q, means = np.empty(room), np.zeros(room)
        C[:, :m], L[:m, :m], q[:m], means[:m] = self.C[:, :m], self.L[:m, :m], self.q[:m], self.means[:m]
        self.C, self.L, self.q, self.means = C, L, q, means

    def _read(self, new: Indices) -> None:
        """The columns of the new features, centred where there is an intercept."""
        problem = self.problem
        block = problem.design.block(new)
        for at, one in zip(range(self.size, self.size + len(new)), np.eye(len(new)), strict=True):
            column = block.scores(one, 0.0)
            if problem.fit_intercept:
                self.means[at] = self.share @ column
                column -= self.means[at]
            self.C[:, at] = column
