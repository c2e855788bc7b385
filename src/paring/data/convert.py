"""From any readable file to the library's folder, streamed where the source allows it."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .compressed import index_dtype
from .dataset import Dataset
from .folder import Meta, new_folder, open_dataset, value_dtype, write_array, write_folder, write_meta
from .formats import checked, format_of, read
from .npy import NpyWriter, append_all, map_npy, read_npy, rewrite, write_lines
from .svmlight import Progress, Rows, SvmlightFile
from .tables import Table, join_targets, open_table
from .transpose import transpose_arrays


def convert(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    target: str | None = None,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    format: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """Write `source` as a folder that `open_dataset` maps, and open it.

    Parameters
    ----------
    source, target, format : as in `read`
    dtype : float32 or float64; by default that of a binary source, float64 for text
    order : "C" (rows together; CSR) or "F" (columns together; CSC); by default the source's, for text "C"
    overwrite : replace an existing folder of this format
    progress : called as `progress(done, total)`, in bytes of the source

    svmlight, npy, csv and parquet sources are streamed: memory is a few blocks of 16 MB (for order "F" from
    svmlight also 16 bytes per column, for tables also y). npz sources are read whole. The folder appears when
    it is complete.
    Cost: one pass over the source, one or two over what was written.
    """
    if order not in (None, "C", "F"):
        raise ValueError(f"order must be 'C' or 'F', got {order!r}")
    value_dtype(dtype)
    path, kind = Path(source), format_of(Path(source), format)
    if kind in ("npz", "folder"):
        data = read(path, target=target, format=kind)
        write_folder(
            folder,
            data.X,
            data.y,
            feature_names=data.feature_names,
            dtype=dtype,
            order=order,
            overwrite=overwrite,
        )
        return open_dataset(folder)
    with new_folder(folder, overwrite=overwrite) as temporary:
        if kind == "svmlight":
            meta = _convert_svmlight(path, temporary, value_dtype(dtype), order or "C", progress)
        elif kind == "npy":
            meta = _convert_npy(path, temporary, dtype, order, target, progress)
        else:
            table = open_table(path, target, parquet=kind == "parquet")
            meta = _convert_table(table, temporary, value_dtype(dtype), order or "C", progress)
        write_meta(temporary, meta)
    return open_dataset(folder)


# -- svmlight --------------------------------------------------------------------------------------


class _CsrFiles:
    """A CSR matrix and its target, growing on disk; indices are int32 until one does not fit."""

    def __init__(self, folder: Path, dtype: DTypeLike, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._y = self._open("y.npy", np.float64)
        self._data = self._open("data.npy", dtype)
        self._indices = self._open("indices.raw", np.int32)
        self._indptr = self._open("indptr.raw", np.int64)
        self._indptr.append(np.zeros(1, np.int64))

    def _open(self, name: str, dtype: DTypeLike) -> NpyWriter:
        return self._stack.enter_context(NpyWriter(self._folder / name, dtype))

    def append(self, rows: Rows) -> None:
        if rows.indices.dtype.itemsize > self._indices.dtype.itemsize:
            self._widen()
        self._indptr.append(rows.indptr[1:] + self._data.size)
        self._y.append(rows.y)
        self._data.append(rows.values)
        self._indices.append(rows.indices)

    def _widen(self) -> None:
        narrow = self._indices
        narrow.close()
        self._indices = self._open("indices.wide", np.int64)
        append_all(map_npy(narrow.path), self._indices)
        narrow.path.unlink()

    def close(self, shape: tuple[int, int], first_index: int) -> int:
        """Settle the index type and base; returns the number of entries."""
        for writer in (self._y, self._data, self._indices, self._indptr):
            writer.close()
        index = index_dtype(*shape, self._data.size)
        rewrite(self._indices.path, self._folder / "indices.npy", index, first_index)
        rewrite(self._indptr.path, self._folder / "indptr.npy", index)
        return self._data.size


def _convert_svmlight(path: Path, folder: Path, dtype: np.dtype[Any], order: str, progress: Progress | None) -> Meta:
    file = SvmlightFile(path, dtype=dtype)
    with ExitStack() as stack:
        files = _CsrFiles(folder, dtype, stack)
        for rows in file.rows(progress):
            files.append(rows)
        nnz = files.close(file.shape, file.first_index)
    if order == "F":
        transpose_arrays(folder, file.shape[1])
    return Meta("csr" if order == "C" else "csc", dtype.name, order, file.shape, nnz, target=True)


# -- dense -----------------------------------------------------------------------------------------


def _convert_npy(
    path: Path,
    folder: Path,
    dtype: DTypeLike | None,
    order: str | None,
    target: str | None,
    progress: Progress | None,
) -> Meta:
    y = None if target is None else read_npy(Path(target))
    X = checked(Dataset(map_npy(path), y, path=path)).X
    order = order or ("F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C")
    kept = value_dtype(dtype, X.dtype)
    with NpyWriter(folder / "X.npy", kept) as writer:
        write_lines(X, writer, order, progress)
    if y is not None:
        write_array(folder / "y.npy", y)
    return Meta("dense", kept.name, order, X.shape, X.size, target=y is not None)


def _convert_table(table: Table, folder: Path, dtype: np.dtype[Any], order: str, progress: Progress | None) -> Meta:
    targets, final, width = [], folder / "X.npy", len(table.feature_names)
    with NpyWriter(final if order == "C" else folder / "X.raw", dtype) as rows:
        for X, y in table.blocks(dtype, progress):
            rows.append(X)
            targets.append(y)
        shape = (rows.size // width, width)
        rows.close(shape)
    if order == "F":  # the number of rows was not known before
        with NpyWriter(final, dtype) as writer:
            write_lines(map_npy(rows.path), writer, order)
        rows.path.unlink()
    write_array(folder / "y.npy", join_targets(table.path, targets))
    return Meta("dense", dtype.name, order, shape, rows.size, target=True, feature_names=table.feature_names)
