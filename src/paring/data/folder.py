"""The library's own format: a folder of raw arrays that are mapped, not read.

    meta.json                                 what is there (see Meta), UTF-8
    X.npy                                     a dense design, in C or F order, or
    data.npy indices.npy indptr.npy           a sparse one, CSR or CSC; indices and indptr of one type
    y.npy                                     the target, if there is one

File names are fixed, so nothing in meta.json can point elsewhere. A folder appears only when it is whole.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from .compressed import check_compressed, compressed, index_dtype
from .dataset import Dataset, FormatError
from .npy import NpyWriter, append_all, map_npy, read_npy, write_lines
from .streams import check_regular

META = "meta.json"
_FORMAT, _VERSION = "paring-dataset", 1
_KINDS = ("dense", "csr", "csc")


@dataclass(frozen=True)
class Meta:
    """The contents of meta.json."""

    kind: str  # dense, csr or csc
    dtype: str  # of the values: float32 or float64
    order: str  # C: row after row (csr), F: column after column (csc)
    shape: tuple[int, int]
    nnz: int  # stored entries
    target: bool  # is there a y.npy?
    feature_names: tuple[str, ...] | None = None


def open_dataset(folder: str | os.PathLike[str], mmap: bool = True) -> Dataset:
    """Open a folder written by `write_folder` or `convert`.

    With `mmap`, X is a read-only np.memmap, or a SciPy matrix whose three arrays are, and y is one too:
    nothing is copied, and the data may be larger than memory. A damaged folder raises FormatError.
    Cost: one pass over the indices of a sparse X, to be sure that none is out of range; none for a dense one.
    """
    path = Path(folder)
    meta = _read_meta(path)
    if meta.kind == "dense":
        X = _member(path, "X", mmap)
        _check_dense(path / "X.npy", X, meta)
    else:
        data, indices, indptr = (_member(path, name, mmap) for name in ("data", "indices", "indptr"))
        _check_sparse(path, (data, indices, indptr), meta)
        X = compressed(meta.kind, data, indices, indptr, meta.shape)
    y = _member(path, "y", mmap) if meta.target else None
    if y is not None and (y.ndim not in (1, 2) or y.shape[0] != meta.shape[0]):
        raise FormatError(f"{path}: y.npy has shape {y.shape}, expected {meta.shape[0]} rows")
    return Dataset(X, y, meta.feature_names, path)


def write_folder(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write a design and its target as a folder for `open_dataset`.

    Parameters
    ----------
    X : array or sparse matrix, (n, d); other sparse formats become CSR; repeated entries are summed
    y : array of n numbers or texts
    dtype : float32 or float64; by default X's own if it is one of these, else float64
    order : "C" (rows together; CSR) or "F" (columns together; CSC); by default X's own
    overwrite : replace a folder of this format (never another one)

    Cost: one pass; memory for one block, and for a copy of a sparse X that must be reordered or tidied.
    """
    if order not in (None, "C", "F"):
        raise ValueError(f"order must be 'C' or 'F', got {order!r}")
    X = X if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions, expected 2")
    target = None if y is None else _checked_target(np.asarray(y), X.shape[0])
    value_type = value_dtype(dtype, X.dtype)
    with new_folder(path, overwrite=overwrite) as temporary:
        if target is not None:
            write_array(temporary / "y.npy", target)
        if sp.issparse(X):
            X = _canonical(X, order)
            write_sparse_arrays(temporary, X, value_type)
            kind, order, nnz = X.format, "C" if X.format == "csr" else "F", X.nnz
        else:
            kind, nnz = "dense", X.size
            order = order or ("F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C")
            with NpyWriter(temporary / "X.npy", value_type) as writer:
                write_lines(X, writer, order)
        names = None if feature_names is None else tuple(str(name) for name in feature_names)
        write_meta(temporary, Meta(kind, value_type.name, order, X.shape, nnz, target is not None, names))


# -- parts of writing, shared with convert.py ------------------------------------------------------


@contextmanager
def new_folder(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[Path]:
    """A temporary folder that takes the name `path` when the block ends well, and vanishes otherwise."""
    final = Path(path)
    _check_free(final, overwrite)
    final.parent.mkdir(parents=True, exist_ok=True)
    # Beside the final place, so that the renaming is within one file system.
    temporary = final.with_name(f".{final.name}.{secrets.token_hex(4)}")
    temporary.mkdir()
    try:
        yield temporary
        _check_free(final, overwrite)
        _put(temporary, final)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _put(temporary: Path, final: Path) -> None:
    if not final.exists():
        os.rename(temporary, final)
        return
    old = temporary.with_name(f"{temporary.name}.old")
    os.rename(final, old)
    try:
        os.rename(temporary, final)
    except BaseException:
        os.rename(old, final)
        raise
    shutil.rmtree(old)


def write_meta(folder: Path, meta: Meta) -> None:
    if meta.feature_names is not None and len(meta.feature_names) != meta.shape[1]:
        raise ValueError(f"{len(meta.feature_names)} feature names for {meta.shape[1]} columns")
    entries = {"format": _FORMAT, "version": _VERSION, **asdict(meta)}
    (folder / META).write_text(json.dumps(entries, indent=1, ensure_ascii=False), "utf-8")


def write_array(path: Path, array: NDArray[Any]) -> None:
    with NpyWriter(path, array.dtype) as writer:
        writer.append(array)
        writer.close(array.shape)


def write_sparse_arrays(folder: Path, X: Any, dtype: DTypeLike) -> None:
    """The three arrays of a canonical CSR or CSC matrix."""
    index = index_dtype(*X.shape, X.nnz)
    for name, array, kind in (
        ("data", X.data, dtype),
        ("indices", X.indices, index),
        ("indptr", X.indptr, index),
    ):
        with NpyWriter(folder / f"{name}.npy", kind) as writer:
            append_all(array, writer)
            writer.close()


def value_dtype(dtype: DTypeLike | None, stored: DTypeLike | None = None) -> np.dtype[Any]:
    """The type of values asked for: float32 or float64; None keeps `stored` if it is one of these."""
    if stored is not None and np.dtype(stored).kind not in "biuf":
        raise ValueError(f"X must hold real numbers, got {np.dtype(stored)}")
    if dtype is None:
        name = np.dtype(stored).newbyteorder("=").name
        return np.dtype(name if name in ("float32", "float64") else "float64")
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {np.dtype(dtype)}")
    return np.dtype(dtype)


def check_width(d: int, nnz: int) -> None:
    """CSC spends 8 bytes on every column: refuse a width that one stray index, or a header, has made up."""
    if d > max(1 << 27, 16 * nnz):
        raise FormatError(f"{d} columns for {nnz} entries: too many to store by columns; use order='C'")


def _canonical(X: Any, order: str | None) -> Any:
    wanted = {"C": "csr", "F": "csc", None: X.format if X.format in ("csr", "csc") else "csr"}[order]
    if wanted == "csc":
        check_width(X.shape[1], X.nnz)
    X = X.asformat(wanted)
    if not X.has_canonical_format:
        X = X.copy()  # never change the caller's matrix
        X.sum_duplicates()
    return X


def _checked_target(y: NDArray[Any], n: int) -> NDArray[Any]:
    if y.dtype.hasobject:
        y = y.astype(np.str_)
    if y.dtype.kind not in "biufUS":
        raise ValueError(f"y must hold numbers or text, got {y.dtype}")
    if y.ndim not in (1, 2) or y.shape[0] != n:
        raise ValueError(f"y has shape {y.shape}, expected {n} rows")
    return y


def _check_free(path: Path, overwrite: bool) -> None:
    if not path.exists() and not path.is_symlink():
        return
    if not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")
    if path.is_symlink() or not (path / META).is_file():
        raise FileExistsError(f"{path} is not a dataset of this library; it is never replaced")


# -- parts of reading ------------------------------------------------------------------------------


def _read_meta(folder: Path) -> Meta:
    path = folder / META
    if not folder.is_dir():
        raise FormatError(f"{folder}: is not a folder") if folder.exists() else FileNotFoundError(folder)
    if not path.exists() and not path.is_symlink():
        raise FormatError(f"{folder}: has no {META}: not a dataset of this library")
    check_regular(path, follow=False)
    try:
        entries = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(entries, dict) or entries.pop("format", None) != _FORMAT:
        raise FormatError(f"{path}: format is not {_FORMAT!r}")
    version = entries.pop("version", None)
    if version != _VERSION:
        raise FormatError(f"{path}: version {version!r} is not {_VERSION}; a newer paring may read it")
    return _checked_meta(path, entries)


def _checked_meta(path: Path, entries: dict[str, Any]) -> Meta:
    def need(holds: bool, name: str) -> None:
        if not holds:
            raise FormatError(f"{path}: {name} is {str(entries.get(name))[:60]!r}, which cannot be")

    known = set(Meta.__dataclass_fields__)
    if set(entries) != known:
        raise FormatError(f"{path}: unknown or missing entries {sorted(set(entries) ^ known)[:5]}")
    need(entries["kind"] in _KINDS, "kind")
    need(entries["dtype"] in ("float32", "float64"), "dtype")
    need(entries["order"] in ("C", "F"), "order")
    need(entries["kind"] == "dense" or entries["order"] == {"csr": "C", "csc": "F"}[entries["kind"]], "order")
    shape, names = entries["shape"], entries["feature_names"]
    need(isinstance(shape, list) and len(shape) == 2 and all(_is_size(length) for length in shape), "shape")
    need(_is_size(entries["nnz"]), "nnz")
    need(isinstance(entries["target"], bool), "target")
    need(names is None or (isinstance(names, list) and len(names) == shape[1]), "feature_names")
    need(names is None or all(isinstance(name, str) for name in names), "feature_names")
    entries["shape"] = (shape[0], shape[1])
    entries["feature_names"] = None if names is None else tuple(names)
    return Meta(**entries)


def _member(folder: Path, name: str, mmap: bool) -> NDArray[Any]:
    path = folder / f"{name}.npy"
    try:
        return map_npy(path, follow=False) if mmap else read_npy(path, follow=False)
    except FileNotFoundError as error:
        raise FormatError(f"{folder}: has no {name}.npy, which {META} announces") from error


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _check_dense(path: Path, X: NDArray[Any], meta: Meta) -> None:
    if X.dtype != meta.dtype or X.shape != meta.shape or X.size != meta.nnz:
        raise FormatError(f"{path}: holds {X.dtype} {X.shape}, but {META} says {meta.dtype} {meta.shape}")
    if not (X.flags.c_contiguous if meta.order == "C" else X.flags.f_contiguous):
        raise FormatError(f"{path}: is not in the order {meta.order} that {META} says")


def _check_sparse(path: Path, arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], meta: Meta) -> None:
    data, indices, indptr = arrays
    if data.dtype != meta.dtype or data.size != meta.nnz:
        raise FormatError(f"{path}: data.npy holds {data.size} {data.dtype}, but {META} says {meta.nnz} {meta.dtype}")
    if indices.dtype != indptr.dtype:
        raise FormatError(f"{path}: indices are {indices.dtype} but indptr is {indptr.dtype}")
    check_compressed(path, meta.kind, arrays, meta.shape)
