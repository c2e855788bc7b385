"""The weighted Gram matrix of X, whole or some of its rows: never a copy of X.

    G = (X - means)' diag(v) (X - means)        means weighted by v, or None for zeros

Whole, it is summed over blocks of rows of X, from columns that are shifted first: A = X - shift,
G = A' diag(v) A - (A'v)(A'v)' / sum(v). Dense columns are shifted by their means, of sparse ones only the fuller: the
others' means are small beside the roots of their mean squares, and the difference loses little.
Cost: one pass, n d^2 operations; sparse: for each row the square of what it stores. Memory: a few blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from paring import _core
from paring.data.blocks import BLOCK_BYTES, float64_blocks

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FULL = 16  # a column that stores more than this part of its numbers is multiplied as a dense one: sooner done
FEW = 8  # columns are few where there are so many times more
ENTRY_BYTES = 32  # of a stored number with its place, once in the block and once weighted


def dense_gram(X: NDArray[Any], v: Array, means: Array | None, threads: int, stop: _core.Stop) -> Array:
    """G of a dense X, on all ``threads``."""
    d = X.shape[1]
    out, sums = np.zeros((d, d)), np.zeros(d)
    for rows, raw in float64_blocks(X, None, stop):
        part = raw if means is None else raw - means
        weighted = np.ascontiguousarray((part * v[rows, None]).T)
        out += _products(weighted, part, threads, stop)
        sums += weighted.sum(axis=1)
    return out if means is None else _centred(out, sums, v)


def _products(weighted: Array, part: Array, threads: int, stop: _core.Stop) -> Array:
    """weighted part: by the core, which shares it out."""
    found = _core.Rows.dense(part, part.flags.c_contiguous).few_products(weighted, threads, stop)
    return weighted @ part if found is None else cast(Array, found)


def dense_gram_rows(
    X: NDArray[Any], view: _core.Rows, features: Indices, v: Array, means: Array | None, threads: int, stop: _core.Stop
) -> Array:
    """Rows ``features`` of G for a dense X, ``view`` its lines. Memory: n numbers a feature."""
    weighted = np.empty((len(features), len(X)))
    for rows, part in float64_blocks(X, features, stop):
        np.multiply((part if means is None else part - means[features]).T, v[rows], out=weighted[:, rows])
    if means is not None:
        sum_to_zero(weighted, v)
    found = view.few_products(weighted, threads, stop)
    if found is not None:
        return cast(Array, found)
    out = np.zeros((len(features), X.shape[1]))
    for rows, part in float64_blocks(X, None, stop):
        out += weighted[:, rows] @ part
    return out


def sum_to_zero(weighted: Array, v: Array) -> Array:
    """Centred columns times v, as rows: what rounding left of their sums is taken off, in place."""
    total = v.sum()
    for row in weighted:
        if total > 0:
            row -= v * (row.sum() / total)
    return weighted


def sparse_gram(X: Any, v: Array, means: Array | None, counts: Indices, threads: int, stop: _core.Stop) -> Array:
    """G of a CSR or CSC matrix with sorted indices; ``counts``: the stored numbers of each column."""
    n, d = X.shape
    full, rest = np.flatnonzero(counts * FULL > n), np.flatnonzero(counts * FULL <= n)
    shift = np.zeros(len(full)) if means is None else means[full]
    out, sums = np.zeros((d, d)), np.zeros(d)
    for rows, part in _sparse_blocks(X, len(full), stop):
        few, dense = (part, None) if len(full) == 0 else (part[:, rest], part[:, full].toarray() - shift)
        out[np.ix_(rest, rest)] += (few.multiply(v[rows, None]).tocsr().T @ few).toarray()
        sums[rest] += few.T @ v[rows]
        if dense is None:
            continue
        weighted = np.ascontiguousarray((dense * v[rows, None]).T)
        out[np.ix_(full, full)] += _products(weighted, dense, threads, stop)
        across = few.T @ weighted.T
        out[np.ix_(rest, full)] += across
        out[np.ix_(full, rest)] += across.T
        sums[full] += weighted.sum(axis=1)
    return out if means is None else _centred(out, sums, v)


def sparse_parts(X: Any, features: Indices, stop: _core.Stop) -> Iterator[tuple[slice, Array]]:
    """(rows, X[rows, features] as a dense array), for CSR or CSC with sorted indices; few columns are copied out."""
    if len(features) == 0:
        yield slice(0, X.shape[0]), np.zeros((X.shape[0], 0))
        return
    few = len(features) * FEW < X.shape[1]
    if few:
        X, features = X[:, features], np.arange(len(features))
    for rows, part in _sparse_blocks(X, len(features), stop):
        yield rows, (part if few else part[:, features]).toarray()


def _centred(out: Array, sums: Array, v: Array) -> Array:
    total = v.sum()
    if total > 0:
        out -= np.outer(sums, sums / total)
    return out


def _sparse_blocks(X: Any, full: int, stop: _core.Stop) -> Iterator[tuple[slice, Any]]:
    """(rows, X[rows] in float64 and by rows), so many rows that a block and its ``full`` dense columns are small."""
    n = X.shape[0]
    row_bytes = ENTRY_BYTES * (1 + X.nnz / n) + 8 * full
    size = int(max(1, min(n, BLOCK_BYTES / row_bytes)))
    cuts = np.append(np.arange(0, n, size), n)
    parts = _of_rows(X, cuts) if X.format == "csr" else _of_columns(X, cuts)
    for (first, last), part in zip(pairwise(cuts), parts, strict=True):
        stop.check()
        yield slice(int(first), int(last)), part.astype(np.float64)


def _of_rows(X: Any, cuts: Indices) -> Iterator[Any]:
    for first, last in pairwise(cuts):
        begin, end = X.indptr[first], X.indptr[last]
        parts = X.data[begin:end], X.indices[begin:end], X.indptr[first : last + 1] - begin
        yield type(X)(parts, shape=(last - first, X.shape[1]))


def _of_columns(X: Any, cuts: Indices) -> Iterator[Any]:
    """Blocks of rows of a matrix by columns: each column is cut where its row numbers say."""
    ends = np.stack([np.searchsorted(X.indices[a:b], cuts) + a for a, b in pairwise(X.indptr)])
    for at, (first, last) in enumerate(pairwise(cuts)):
        pieces = [slice(a, b) for a, b in ends[:, at : at + 2]]
        data = np.concatenate([X.data[piece] for piece in pieces])
        indices = np.concatenate([X.indices[piece] for piece in pieces]) - first
        counts = np.append(0, np.cumsum([piece.stop - piece.start for piece in pieces]))
        yield type(X)((data, indices, counts), shape=(last - first, X.shape[1])).tocsr()
