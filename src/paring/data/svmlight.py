"""The svmlight (libsvm) text format, parsed by the core, plain or compressed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from .compressed import compressed, index_dtype
from .dataset import Dataset, FormatError
from .streams import open_stream, reading

Progress = Callable[[int, int], object]
"""Called as `progress(done, total)` in bytes of the source."""

ZeroBased = bool | Literal["auto"]

_PIECE = 1 << 22  # bytes of text parsed at a time: about 10 ms
_BASES = {True: "zero", False: "one", "auto": "auto"}


class Rows(NamedTuple):
    """Some rows of the file; indices as written there, each row sorted and without repetitions."""

    y: NDArray[np.float64]
    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    values: NDArray[Any]


class SvmlightFile:
    """One run through a file.

    `rows()` yields its rows; afterwards `first_index` (0 or 1) is to be subtracted from the indices, and
    `shape` is the design's. Memory: one piece of text and its entries, whatever the length of the file.
    """

    def __init__(
        self,
        path: Path,
        *,
        dtype: DTypeLike | None = None,
        n_features: int | None = None,
        zero_based: ZeroBased = "auto",
    ) -> None:
        if n_features is not None and n_features < 1:
            raise ValueError(f"n_features must be at least 1, got {n_features}")
        if zero_based not in _BASES:
            raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}")
        self.path = path
        self._declared = n_features
        self._reader = _core.SvmlightReader(
            dtype=np.dtype(dtype or np.float64).name, base=_BASES[zero_based], n_features=n_features or 0
        )

    @property
    def first_index(self) -> int:
        return self._reader.first_index

    @property
    def shape(self) -> tuple[int, int]:
        return self._reader.n_rows, self._declared or max(self._reader.n_features, 1)

    def rows(self, progress: Progress | None = None) -> Iterator[Rows]:
        """The rows of one piece of text at a time."""
        total = self.path.stat().st_size
        buffer = np.empty(_PIECE, np.uint8)
        with open_stream(self.path) as (stream, raw):
            while True:
                with reading(self.path):
                    count = stream.readinto(buffer.data)  # type: ignore[attr-defined]
                if not count:
                    break
                yield self._parsed(lambda: self._reader.feed(buffer[:count]))  # noqa: B023 - called at once
                if progress is not None:
                    progress(raw.tell(), total)
        yield self._parsed(self._reader.finish)
        if self._reader.n_rows == 0:
            raise FormatError(f"{self.path}: holds no rows")

    def _parsed(self, step: Callable[[], None]) -> Rows:
        with self._naming_the_file():
            step()
        y, indptr, indices, values, _ = self._reader.take()
        if self._reader.unsorted:
            indptr, indices, values = _tidy(indptr, indices, values)
        return Rows(y, indptr, indices, values)

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except _core.SvmlightError as error:
            raise FormatError(f"{self.path}: {error}") from error


def read_svmlight(
    path: Path,
    *,
    dtype: DTypeLike | None = None,
    n_features: int | None = None,
    zero_based: ZeroBased = "auto",
) -> Dataset:
    """Read a file into memory; the result equals scikit-learn's `load_svmlight_file`.

    Parameters
    ----------
    dtype : float32 or float64 (default)
    n_features : the width of X, if the file may lack the last features (a test set); larger ones are refused
    zero_based : "auto" takes indices to count from one unless an index 0 occurs

    Unsorted indices are sorted, repeated ones summed. Cost: one pass; memory 5/4 of the result's.
    """
    file = SvmlightFile(path, dtype=dtype, n_features=n_features, zero_based=zero_based)
    y, indptr, indices, values = (_Column() for _ in Rows._fields)
    indptr.append(np.zeros(1, np.int64))
    for rows in file.rows():
        indptr.append(rows.indptr[1:] + values.size)
        y.append(rows.y)
        indices.append(rows.indices)
        values.append(rows.values)
    index = index_dtype(*file.shape, values.size)
    columns = indices.whole()
    columns -= file.first_index
    X = compressed(
        "csr",
        values.whole(),
        columns.astype(index, copy=False),
        indptr.whole().astype(index, copy=False),
        file.shape,
    )
    return Dataset(X, y.whole(), path=path, first_index=file.first_index)


class _Column:
    """An array that grows by pieces, in the widest type of any.

    Grown in place: where the system can move pages (Linux), nothing is copied and the peak is the array itself, while
    np.concatenate would hold everything twice.
    """

    def __init__(self) -> None:
        self.size = 0
        self._array: NDArray[Any] | None = None

    def append(self, piece: NDArray[Any]) -> None:
        if self._array is None:
            self._array = np.empty(0, piece.dtype)
        if piece.dtype.itemsize > self._array.dtype.itemsize:
            self._array = self._array.astype(piece.dtype)
        end = self.size + piece.size
        if end > self._array.size:
            # By a quarter: seldom enough where growing copies, little enough to be wasted at the end.
            self._array.resize(max(end, self._array.size * 5 // 4), refcheck=False)
        self._array[self.size : end] = piece
        self.size = end

    def whole(self) -> NDArray[Any]:
        assert self._array is not None
        self._array.resize(self.size, refcheck=False)
        return self._array


def _tidy(
    indptr: NDArray[np.int64], indices: NDArray[Any], values: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Sort every row by index and sum repeated entries."""
    width = int(indices.max()) + 1 if indices.size else 1
    X = compressed("csr", values, indices.astype(np.int64), indptr, (indptr.size - 1, width))
    X.sum_duplicates()
    return X.indptr.astype(np.int64), X.indices.astype(indices.dtype), X.data
