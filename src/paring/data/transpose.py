"""CSR files to CSC files, without the matrix in memory."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .folder import check_width, write_array
from .npy import map_npy

_BLOCK = 1 << 17  # entries moved at a time: some arrays of 1 MB
_NAMES = ("data", "indices", "indptr")


def transpose_arrays(folder: Path, d: int) -> None:
    """Replace the three arrays of a CSR matrix with d columns by those of the same matrix as CSC.

    A counting sort by column: count, then place every entry behind the earlier ones of its column, so that
    rows stay sorted. Cost: two passes, one writing in random order; memory 16 d bytes and a few blocks.
    """
    data, indices, indptr = (map_npy(folder / f"{name}.npy") for name in _NAMES)
    check_width(d, data.size)
    starts = np.zeros(d + 1, np.int64)
    for start in range(0, indices.size, _BLOCK):
        columns, counts = np.unique(indices[start : start + _BLOCK], return_counts=True)
        starts[columns + 1] += counts
    np.cumsum(starts, out=starts)
    write_array(folder / "indptr.csc", starts.astype(indptr.dtype))

    values, rows = _new(folder / "data.csc", data), _new(folder / "indices.csc", indices)
    free = starts  # the next free place of every column; the starts themselves are written
    for first, last in _row_blocks(indptr):
        entries = slice(int(indptr[first]), int(indptr[last]))
        row = np.repeat(np.arange(first, last), np.diff(indptr[first : last + 1]))
        by_column = np.argsort(indices[entries], kind="stable")
        column, begins, counts = np.unique(indices[entries][by_column], return_index=True, return_counts=True)
        place = np.arange(by_column.size) + np.repeat(free[column] - begins, counts)
        values[place], rows[place] = data[entries][by_column], row[by_column]
        free[column] += counts
    values.flush()
    rows.flush()
    del data, indices, indptr, values, rows  # Windows does not replace a mapped file
    for name in _NAMES:
        os.replace(folder / f"{name}.csc", folder / f"{name}.npy")


def _new(path: Path, like: NDArray[Any]) -> np.memmap[Any, Any]:
    return np.lib.format.open_memmap(path, mode="w+", dtype=like.dtype, shape=like.shape)


def _row_blocks(indptr: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Runs of rows with about _BLOCK entries, and at most as many rows."""
    first, n = 0, indptr.size - 1
    while first < n:
        full = int(np.searchsorted(indptr, int(indptr[first]) + _BLOCK, side="right")) - 1
        last = min(max(full, first + 1), first + _BLOCK, n)
        yield first, last
        first = last
