"""The design matrix X behind a few verbs: scores, adjoint, moments, blocks of columns, Gram rows.

Takes float32 and float64, C and F order, CSR and CSC, int32 and int64 indices, read-only, strided and memory-mapped
arrays as they lie; whatever must be converted is converted here and its bytes are counted in ``copied_bytes``.
float32 stays float32 in memory and is accumulated in float64.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from paring import _core
from paring.data.blocks import float64_blocks, row_blocks
from paring.data.gram import dense_gram, dense_gram_rows, sparse_gram, sparse_parts, sum_to_zero
from paring.data.incoming import USABLE, assembled, checked_parts, csr_from, index_parts, refuse_masked

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_EMPTY = 1 << 26  # columns: beyond, most must hold something
MOST_THREADS = 4096  # beyond the largest machines: a slip
FEW_COLUMNS = 8  # a selection this many times smaller than X is gathered rather than multiplied with zeros


def as_design(X: Any, n_jobs: int | None = None) -> Design:
    """The Design of a matrix; a Design passes through. Cost: none for what is usable as it lies."""
    return X if isinstance(X, Design) else Design(X, n_jobs)


def cores(n_jobs: int | None) -> int:
    """Threads to use: a positive number as it is, -1 all cores this process may run on, -2 all but one.

    None is all cores too, but no more than the environment variable OMP_NUM_THREADS says, where that is a positive
    integer: joblib's workers have it set to their share (``inner_max_num_threads``), and so do not crowd each other.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be None or a whole number, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None for all cores")
    if n_jobs is not None and n_jobs > MOST_THREADS:
        raise ValueError(f"n_jobs must be at most {MOST_THREADS}, got {n_jobs}; use -1 for all cores")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        share = os.environ.get("OMP_NUM_THREADS", "").strip()
        return min(available, int(share)) if share.isdecimal() and int(share) > 0 else available
    return int(n_jobs) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))


class Design:
    """X (n rows, d columns) as the solvers see it. ``stop`` is heeded by every pass; the loop sets it."""

    def __init__(self, X: Any, n_jobs: int | None = None) -> None:
        self.threads = cores(n_jobs)
        self.stop = _core.Stop()
        self.copied_bytes = 0
        self.passes: float = 0  # sweeps over some rows count fractions
        self._X: Any = self._sparse(X) if sp.issparse(X) else self._dense(X)
        self.n, self.d = (int(size) for size in self._X.shape)
        if self.n == 0 or self.d == 0:
            raise ValueError(f"X has {self.n} rows and {self.d} columns: at least one of each is needed")
        if self.d > MOST_EMPTY and self.d > self._X.size:
            raise ValueError(
                f"X has {self.d:,} columns and {self._X.size:,} stored numbers, and a fit holds several for each: "
                "leave out those that are empty (X[:, X.getnnz(axis=0) > 0])"
            )
        self.dtype = self._X.dtype
        self.is_dense = not sp.issparse(self._X)
        self._rows = self._view(self._X)
        self._by_columns: _core.Rows | None = self._rows if self._rows.lines_are_columns else None

    def __reduce__(self) -> tuple[Any, ...]:
        return Design, (self._X, self.threads)  # pickles and copies make the core's views anew

    # -- what comes in ------------------------------------------------------------------------------------------

    def _usable_dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The type to hold ``dtype`` in: itself, float32 where that is exact (small integers), else float64."""
        if dtype.kind not in "fbiu":
            raise TypeError(f"X holds {dtype}; real numbers are needed. Encode or drop such columns first")
        held = np.result_type(dtype.newbyteorder("="), np.float32)
        return held if held in (np.dtype(np.float32), np.dtype(np.float64)) else np.dtype(np.float64)

    def _dense(self, X: Any) -> NDArray[Any]:
        refuse_masked("X", X)
        array = np.asarray(X)
        _check_ndim(array.ndim)
        dtype = self._usable_dtype(array.dtype)
        whole_steps = all(stride >= 0 and stride % array.itemsize == 0 for stride in array.strides)
        if not (array.dtype == dtype and array.flags.aligned and whole_steps):
            array = np.array(array, dtype=dtype, order="K")
        if array.flags.owndata and array is not X:
            self.copied_bytes += array.nbytes
        return array

    def _sparse(self, X: Any) -> Any:
        _check_ndim(X.ndim)
        dtype = self._usable_dtype(X.dtype)
        matrix = X if X.format in ("csr", "csc") else csr_from(X)
        given = checked_parts(matrix)
        parts = [np.require(given[0], dtype, USABLE), *index_parts(*given[1:])]
        cls = sp.csr_array if matrix.format == "csr" else sp.csc_array
        built = assembled(cls, parts, matrix.shape)
        if not built.has_canonical_format:  # sorting and summing is done in place: never in the caller's arrays
            shared = [np.may_share_memory(part, old) for part, old in zip(parts, given, strict=True)]
            own = [part.copy() if theirs else part for part, theirs in zip(parts, shared, strict=True)]
            built = assembled(cls, own, matrix.shape)
            built.sum_duplicates()
        for part, old in zip((built.data, built.indices, built.indptr), given, strict=True):
            self.copied_bytes += part.nbytes * (matrix is not X or not np.may_share_memory(part, old))
        return built

    @staticmethod
    def _view(X: Any, by_rows: bool = False) -> _core.Rows:
        if isinstance(X, np.ndarray):
            return _core.Rows.dense(X, by_rows)
        by_columns = X.format == "csc"
        return _core.Rows.sparse(X.data, X.indices, X.indptr, X.shape[0 if by_columns else 1], by_columns)

    @property
    def _columns(self) -> _core.Rows:
        """The matrix by columns. Sparse by rows: built once, on first use, and counted."""
        if self._by_columns is None:
            if self.is_dense:
                return self._rows
            self._by_columns = self._view(self._csc)
        return self._by_columns

    @cached_property
    def by_rows(self) -> _core.Rows:
        """The matrix by rows, each row's numbers side by side: for sweeps. Built once where it lies otherwise."""
        X = self._X
        if self.is_dense and X.strides[1] != X.itemsize:
            X = np.empty(X.shape, X.dtype)
            for rows in row_blocks(self.n, 8 * self.d):
                self.stop.check()
                X[rows] = self._X[rows]
            self.copied_bytes += X.nbytes
        elif not self.is_dense and X.format == "csc":
            X = X.tocsr()
            self.copied_bytes += X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        return self._rows if X is self._X and not self._rows.lines_are_columns else self._view(X, by_rows=True)

    @property
    def _rows_or_columns(self) -> _core.Rows:
        """For full passes: by columns where that form is there, since sums then need no room of their own."""
        return self._by_columns or self._rows

    @cached_property
    def _csc(self) -> Any:
        if self._X.format == "csc":
            return self._X
        turned = self._X.tocsc()
        self.copied_bytes += turned.data.nbytes + turned.indices.nbytes + turned.indptr.nbytes
        return turned

    @property
    def root(self) -> Design:
        """The Design whose stop, threads and counters these are: views share them."""
        return self

    @property
    def entries(self) -> int:
        """Stored numbers: what one pass reads."""
        return self.n * self.d if self.is_dense else int(self._X.nnz)

    # -- verbs --------------------------------------------------------------------------------------------------

    def scores(self, w: Array) -> Array:
        """X w for w of shape (d,) or (d, K). Cost: one pass, less where w is sparse and X lies by columns."""
        return self._product(w, transposed=False)

    def adjoint(self, r: Array) -> Array:
        """X'r for r of shape (n,) or (n, K). Cost: one pass."""
        return self._product(r, transposed=True)

    def adjoint_on(self, features: Indices, r: Array) -> Array:
        """X[:, features]'r. Cost: a pass over those columns; over all where X lies by rows."""
        rows = self._columns
        if not rows.lines_are_columns:
            return self.adjoint(r)[features]
        chosen = np.ascontiguousarray(features, np.int64)
        two = np.ascontiguousarray(r if r.ndim == 2 else r[:, None], dtype=np.float64)
        out = rows.product_of_lines(chosen, two, self.threads, self.stop)
        self.passes += len(chosen) / self.d
        return out if r.ndim == 2 else out[:, 0]

    def lend_columns(self, descent: _core.Descent, features: Indices) -> None:
        """Sees to it that ``descent`` has copies of those columns. Cost: those it does not have yet."""
        missing = np.array(descent.missing(features), dtype=np.int64)
        if len(missing):
            descent.append(self._columns, missing, missing, self.threads, self.stop)

    def _product(self, v: Array, transposed: bool) -> Array:
        self.passes += transposed
        two = np.ascontiguousarray(v if v.ndim == 2 else v[:, None], dtype=np.float64)
        out = self._rows_or_columns.product(two, transposed, self.threads, self.stop)
        return out if v.ndim == 2 else out[:, 0]

    def scores_on(self, features: Indices, w: Array) -> Array:
        """X[:, features] w. Cost: those columns only, where X allows it."""
        shape = (self.n, *w.shape[1:])
        if len(features) == 0:
            return np.zeros(shape)
        if self.is_dense and len(features) * FEW_COLUMNS < self.d:
            out = np.empty(shape)
            for rows, block in float64_blocks(self._X, features, self.stop):
                np.matmul(block, w, out=out[rows])
            return out
        dense = np.zeros((self.d, *w.shape[1:]))
        dense[features] = w
        return self.scores(dense)

    def moments(self, r: Array, c: Array) -> tuple[Array, Array, Array]:
        """sum_i r_i x_ij, sum_i c_i x_ij and sum_i c_i x_ij^2 of every column. Cost: one pass."""
        self.passes += 1
        return self._rows_or_columns.column_moments(_vector(r), _vector(c), self.threads, self.stop)

    def block(self, features: Indices, centre: Array | None = None, by_rows: bool = True) -> _core.Block:
        """Those columns, copied out in float64; dense ones less their mean weighted by ``centre``."""
        rows = self._rows if self.is_dense else self._columns
        chosen, weights = np.ascontiguousarray(features, np.int64), None if centre is None else _vector(centre)
        return _core.make_block(rows, chosen, weights, by_rows, self.threads, self.stop)

    def gram(self, v: Array, means: Array | None) -> Array:
        """(X - means)' diag(v) (X - means), d x d; ``means`` weighted by v, or None for zeros.

        Cost: one pass, n d^2 operations.
        """
        self.passes += 1
        if self.is_dense:
            return dense_gram(self._X, _vector(v), means, self.threads, self.stop)
        return sparse_gram(self._X, _vector(v), means, self.column_counts(), self.threads, self.stop)

    def gram_rows(self, features: Indices, v: Array, means: Array | None) -> Array:
        """(X[:, features] - means)' diag(v) (X - means), len(features) x d; ``means`` weighted by v, or None for zeros.

        Cost: one pass, |features| n d operations.
        """
        self.passes += 1
        weights = _vector(v)
        if self.is_dense:
            return dense_gram_rows(self._X, self._rows, features, weights, means, self.threads, self.stop)
        if means is None:
            return self.block(features).cross_all(self._columns, weights, self.threads, self.stop).T
        full, out = self._is_full[features], np.empty((len(features), self.d))
        if not full.all():
            some = features[~full]
            gram = self.block(some).cross_all(self._columns, weights, self.threads, self.stop).T
            out[~full] = gram - np.outer(means[some] * weights.sum(), means)
        if full.any():  # hardly sparse: the mean may be most of the column, and is taken off before it is squared
            weighted = sum_to_zero(
                ((self.columns(features[full]) - means[features[full]]) * weights[:, None]).T, weights
            )
            out[full] = self._rows_or_columns.product(np.ascontiguousarray(weighted.T), True, self.threads, self.stop).T
        return out

    @cached_property
    def _is_full(self) -> NDArray[np.bool_]:
        """Columns of a sparse matrix that are mostly stored."""
        return 2 * self.column_counts() > self.n

    def column_counts(self) -> Indices:
        """Rows in which each column is stored: n of every dense one. Cost: the indices, once."""
        return self._column_counts

    @cached_property
    def _column_counts(self) -> Indices:
        if self.is_dense:
            return np.full(self.d, self.n)
        if self._X.format == "csc":
            return np.diff(self._X.indptr).astype(np.int64)
        counts = np.zeros(self.d, np.int64)
        for some in row_blocks(self.entries, 8):  # bincount makes 8 bytes of every index
            counts += np.bincount(self._X.indices[some], minlength=self.d)
        return counts

    def columns(self, features: Indices) -> Array:
        """X[:, features] as a dense float64 array (small selections only)."""
        picked: Any = self._X[:, features]
        return np.asarray(picked if self.is_dense else picked.toarray(), dtype=np.float64)

    def centred_squares(self, features: Indices, v: Array, means: Array) -> Array:
        """sum_i v_i (x_ij - mean_j)^2 of these columns, ``means`` (d of them) weighted by v. Cost: those columns."""
        out = np.zeros(len(features))
        for rows, part in self.parts(features):
            out += v[rows] @ (part - means[features]) ** 2
        return out

    def parts(self, features: Indices) -> Iterator[tuple[slice, Array]]:
        """(rows, X[rows, features] in float64) over all rows, a block at a time. Cost: those columns."""
        if self.is_dense:
            return float64_blocks(self._X, features, self.stop)
        return sparse_parts(self._X, features, self.stop)

    def packed(self, features: Indices) -> Design:
        """Those columns alone, copied: for sweeps over their rows. Cost: their entries (CSR: all entries)."""
        return Design(self._X[:, features])

    def counts_of(self, unit_of: Indices) -> Indices:
        """Rows in which each unit of columns is stored. Cost: the indices."""
        units = int(unit_of.max()) + 1
        if self.is_dense:
            return np.full(units, self.n)
        ones = np.ones(self._X.nnz, np.int32)
        stored = type(self._X)((ones, self._X.indices, self._X.indptr), shape=self._X.shape)
        member = type(self._X)((np.ones(self.d, np.int32), (np.arange(self.d), unit_of)), shape=(self.d, units))
        return np.bincount((stored @ member).tocsr().indices, minlength=units)

    def rows(self, chosen: Indices) -> Design:
        """Those rows alone, copied, to be swept on one core. Cost: their entries (sparse by columns: all entries)."""
        return Design(self._X[chosen], n_jobs=1)

    def row_squares(self, weights: Array | None = None) -> Array:
        """sum_j weights_j x_ij^2 of every row (weights None: 1; (d, m): m sums a row). Cost: one pass."""
        return self._square_scores(np.ones(self.d) if weights is None else weights)

    def _square_scores(self, u: Array) -> Array:
        """sum_j u_j x_ij^2 of every row, for u of shape (d,) or (d, m)."""
        self.passes += 1
        if self.is_dense:
            blocks = float64_blocks(self._X, None, self.stop)
            if u.ndim == 2:
                return np.concatenate([part**2 @ u for _, part in blocks])
            return np.concatenate([np.einsum("ij,ij,j->i", part, part, u) for _, part in blocks])
        parts = [self._X.data.astype(np.float64) ** 2, self._X.indices, self._X.indptr]
        return cast(Array, assembled(type(self._X), parts, self._X.shape) @ u)


def _vector(x: Array) -> Array:
    return np.ascontiguousarray(x, dtype=np.float64)


def _check_ndim(ndim: int) -> None:
    if ndim != 2:
        raise ValueError(f"X must have two dimensions, got {ndim}: reshape to (rows, columns)")
