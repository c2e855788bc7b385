"""Reading data files: one function that goes by the file's name."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .compressed import check_compressed, compressed, index_dtype
from .dataset import Dataset, FormatError
from .folder import open_dataset, value_dtype, write_folder
from .npy import Npz, read_npy
from .streams import COMPRESSED
from .svmlight import read_svmlight
from .tables import read_table

__all__ = ["Dataset", "FormatError", "format_of", "open_dataset", "read", "read_svmlight", "write_folder"]

_ENDINGS = {
    ".npz": "npz",
    ".npy": "npy",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".txt": "svmlight",
    ".csv": "csv",
    ".parquet": "parquet",
}
_FORMATS = ("folder", *dict.fromkeys(_ENDINGS.values()))
_MAY_BE_COMPRESSED = ("svmlight", "csv")


def read(
    path: str | os.PathLike[str],
    *,
    target: str | os.PathLike[str] | None = None,
    dtype: DTypeLike | None = None,
    format: str | None = None,
) -> Dataset:
    """Read X, y and the names of the features from a file or folder.

    ===================================  =============================================  =====================
    name                                 X                                              y, by `target`
    ===================================  =============================================  =====================
    a folder of this library             memory-mapped                                  as written
    .npz                                 as `scipy.sparse.save_npz` writes, or `X`      array, by default `y`
    .npy                                 dense                                          an .npy file
    .svm .svmlight .libsvm .txt          CSR, indices from 0 or 1 as scikit-learn does  the labels
    .csv .parquet (`paring[tables]`)     dense; all but the target must be numeric      column, or the last
    ===================================  =============================================  =====================

    svmlight and csv may also end in .gz, .bz2 or .xz.

    Parameters
    ----------
    dtype : float32 or float64; by default as stored, for text float64
    format : "folder", "npz", "npy", "svmlight", "csv" or "parquet", where the name does not tell

    A file that is not what it should be raises FormatError. Python objects (pickles) are never loaded.
    Cost: one pass; memory up to twice the result's (none for a folder).
    """
    path, kind = Path(path), format_of(Path(path), format)
    if dtype is not None:
        value_dtype(dtype)  # refuse before reading
    name = None if target is None else os.fspath(target)
    if name is not None and kind in ("folder", "svmlight"):
        raise ValueError(f"{path}: target does not apply to {kind} files, which hold their own y")
    match kind:
        case "folder":
            return _with_dtype(open_dataset(path), dtype)
        case "svmlight":
            return read_svmlight(path, dtype=dtype)
        case "npz":
            return _with_dtype(_read_npz(path, name), dtype)
        case "npy":
            y = None if name is None else read_npy(Path(name))
            return _with_dtype(checked(Dataset(read_npy(path), y, path=path)), dtype)
        case _:
            return read_table(path, name, dtype, parquet=kind == "parquet")


def format_of(path: Path, format: str | None = None) -> str:
    """The name of the format: the one given, or by the path's ending."""
    if format is not None:
        if format not in _FORMATS:
            raise ValueError(f"format must be one of {', '.join(_FORMATS)}, got {format!r}")
        return format
    if path.is_dir():
        return "folder"
    packed = path.suffix.lower() in COMPRESSED
    ending = Path(path.stem).suffix if packed else path.suffix
    kind = _ENDINGS.get(ending.lower())
    if kind is None or (packed and kind not in _MAY_BE_COMPRESSED):
        raise FormatError(
            f"{path}: the name does not tell the format; known endings are {' '.join(_ENDINGS)} "
            f"(svmlight and csv also with {' '.join(COMPRESSED)}), or name the format (format=, --format)"
        )
    return kind


def _read_npz(path: Path, target: str | None) -> Dataset:
    with Npz(path) as arrays:
        X = _sparse_from(arrays, path) if "format" in arrays.names else arrays["X"]
        name = target or "y"
        y = arrays[name] if target or name in arrays.names else None
        names = arrays["feature_names"] if "feature_names" in arrays.names else None
    return checked(Dataset(X, y, None if names is None else tuple(np.ravel(names).astype(str).tolist()), path))


def _sparse_from(arrays: Npz, path: Path) -> Any:
    """The matrix that scipy.sparse.save_npz wrote."""
    kind = arrays["format"]
    name = kind.item() if kind.size == 1 else None
    name = name.decode("ascii", "replace") if isinstance(name, bytes) else name
    if name not in ("csr", "csc"):
        raise FormatError(f"{path}: holds the sparse format {str(name)[:20]!r}; save it as csr or csc (X.tocsr())")
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or not all(0 <= n < 2**62 for n in shape.tolist()):
        raise FormatError(f"{path}: shape is {str(shape)[:40]}, expected two lengths")
    n, d = shape.tolist()
    data, indices, indptr = arrays["data"], arrays["indices"], arrays["indptr"]
    check_compressed(path, name, (data, indices, indptr), (n, d))
    index = index_dtype(n, d, indices.size)
    return compressed(name, data, indices.astype(index, copy=False), indptr.astype(index, copy=False), (n, d))


def checked(data: Dataset) -> Dataset:
    """Do the parts fit each other?"""
    X, y, names = data.X, data.y, data.feature_names
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise FormatError(f"{data.path}: X has type {X.dtype} and shape {X.shape}, expected a matrix of numbers")
    if y is not None and (y.ndim not in (1, 2) or y.shape[0] != X.shape[0]):
        raise FormatError(f"{data.path}: y has shape {y.shape} but X has {X.shape[0]} rows")
    if names is not None and len(names) != X.shape[1]:
        raise FormatError(f"{data.path}: {len(names)} feature names for {X.shape[1]} columns")
    return data


def _with_dtype(data: Dataset, dtype: DTypeLike | None) -> Dataset:
    if dtype is None or data.X.dtype == dtype:
        return data
    X: Any = data.X.astype(dtype)
    return replace(data, X=X)
