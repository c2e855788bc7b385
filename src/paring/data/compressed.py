"""Sparse matrices over arrays that must not be copied, and the checks that make such arrays safe to use."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .dataset import FormatError

_BLOCK = 1 << 22  # entries looked at at a time
_INT32_MAX = np.iinfo(np.int32).max


def index_dtype(*largest: int) -> np.dtype[Any]:
    """The type of indices *and* indptr of a matrix with these sizes (n, d, entries).

    SciPy and the core want one type for both; SciPy chooses by the same rule, and copies what differs.
    """
    return np.dtype(np.int32 if max(largest) <= _INT32_MAX else np.int64)


def compressed(
    kind: str, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> Any:
    """A CSR or CSC matrix over these very arrays.

    SciPy's constructor would convert index types that it finds too wide, and copy arrays that are part of
    larger ones; setting the attributes of an empty matrix does neither. The arrays must have passed
    `check_compressed`.
    """
    X = (sp.csr_matrix if kind == "csr" else sp.csc_matrix)(shape, dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    return X


def check_compressed(
    where: object,
    kind: str,
    arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    shape: tuple[int, int],
) -> None:
    """Refuse (data, indices, indptr) that lead a reader out of bounds. Cost: one pass over the indices."""
    data, indices, indptr = arrays
    lines, length = shape if kind == "csr" else (shape[1], shape[0])
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        if array.ndim != 1:
            raise FormatError(f"{where}: {name} has {array.ndim} dimensions, expected 1")
    for name, array in (("indices", indices), ("indptr", indptr)):
        if array.dtype not in (np.int32, np.int64):
            raise FormatError(f"{where}: {name} has type {array.dtype}, expected int32 or int64")
    if data.dtype.kind not in "biuf":
        raise FormatError(f"{where}: data has type {data.dtype}, expected numbers")
    if indptr.size != lines + 1:
        raise FormatError(f"{where}: indptr has {indptr.size} entries, expected {lines + 1} for shape {shape}")
    if not indptr[0] == 0 or not indptr[-1] == indices.size == data.size:
        raise FormatError(
            f"{where}: indptr runs from {indptr[0]} to {indptr[-1]}, expected 0 to the number of entries; "
            f"there are {indices.size} indices and {data.size} values"
        )
    _check_increasing(where, indptr)
    _check_range(where, indices, length)


def _check_increasing(where: object, indptr: NDArray[Any]) -> None:
    for start in range(0, indptr.size - 1, _BLOCK):
        falls = np.diff(indptr[start : start + _BLOCK + 1]) < 0
        if falls.any():
            raise FormatError(f"{where}: indptr decreases after entry {start + int(falls.argmax())}")


def _check_range(where: object, indices: NDArray[Any], length: int) -> None:
    for start in range(0, indices.size, _BLOCK):
        block = indices[start : start + _BLOCK]
        if block.min() < 0 or block.max() >= length:
            at = int(((block < 0) | (block >= length)).argmax())
            raise FormatError(f"{where}: index {block[at]} at entry {start + at} is out of range for {length}")
