"""Blocks of rows of a dense matrix in float64: small enough for the cache, so that a memory-mapped file streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core

BLOCK_BYTES = 8 << 20


def row_blocks(n: int, row_bytes: int) -> Iterator[slice]:
    """Slices of rows of about BLOCK_BYTES each."""
    size = max(1, BLOCK_BYTES // max(row_bytes, 1))
    return (slice(at, min(at + size, n)) for at in range(0, n, size))


def float64_blocks(
    X: NDArray[Any], features: NDArray[np.int64] | None, stop: _core.Stop
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """(rows, X[rows, features] in float64) over all rows; ``features=None`` takes every column."""
    width = X.shape[1] if features is None else len(features)
    for rows in row_blocks(len(X), 8 * width):
        stop.check()
        yield rows, np.asarray(X[rows] if features is None else X[rows, features], dtype=np.float64)
