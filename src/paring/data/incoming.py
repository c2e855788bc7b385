"""What comes in through the door, checked before compiled code follows it: masks, and the parts of SciPy's matrices."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

USABLE: tuple[Literal["C", "A", "E"], ...] = ("C", "A", "E")  # contiguous, aligned, no subclass: for np.require


def refuse_masked(name: str, given: Any) -> None:
    """What lies under a mask is not data, and NumPy forgets masks."""
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: impute it, or take {name}.filled(...)")


def csr_from(X: Any) -> Any:
    """CSR from another SciPy format; by way of coordinates, checked before compiled code follows them."""
    try:
        coo = X.tocoo(copy=False)
    except ValueError as error:
        raise ValueError(f"X: malformed sparse matrix ({error}); rebuild it with scipy.sparse") from error
    for places, size in zip(coo.coords, coo.shape, strict=True):
        _check_places(places, size)
    return coo.tocsr()


def checked_parts(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values, indices and starts of CSR or CSC, without spare room; safe to follow."""
    data, indices, starts = X.data, X.indices, X.indptr
    for part in (indices, starts):
        if part.dtype.kind not in "iu":
            raise TypeError(f"X: malformed sparse matrix (indices of type {part.dtype}); rebuild it with scipy.sparse")
    lines, length = X.shape if X.format == "csr" else X.shape[::-1]
    sound = len(starts) == lines + 1 and starts[0] == 0 and starts[-1] <= len(indices) == len(data)
    if not (sound and np.all(starts[1:] >= starts[:-1])):
        raise ValueError("X: malformed sparse matrix (indptr); rebuild it with scipy.sparse")
    used = int(starts[-1])
    _check_places(indices[:used], length)
    return data[:used], indices[:used], starts


def index_parts(indices: NDArray[Any], starts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both in one integer type, as the core wants them: that of the indices, the larger part, if the starts fit."""
    narrow = np.can_cast(indices.dtype, np.int32) and starts[-1] <= np.iinfo(np.int32).max
    kind = np.int32 if narrow else np.int64
    return np.require(indices, kind, USABLE), np.require(starts, kind, USABLE)


def _check_places(places: NDArray[Any], size: int) -> None:
    if len(places) and (places.min() < 0 or places.max() >= size):
        raise ValueError("X: malformed sparse matrix (an index outside the shape); rebuild it with scipy.sparse")


def assembled(cls: Any, parts: list[NDArray[Any]], shape: tuple[int, int]) -> Any:
    """A SciPy matrix over the very arrays given: its constructor would copy mixed or wide indices."""
    built = cls(shape, dtype=parts[0].dtype)
    built.data, built.indices, built.indptr = parts
    return built
