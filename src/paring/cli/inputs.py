"""Data and small files that the commands read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.cli.say import Refused
from paring.data.dataset import Dataset, FormatError
from paring.data.formats import format_of, read, read_svmlight

MOST_CLASSES = 20  # more labels than this are numbers, unless told otherwise


def load(path: Path, target: str | None, format: str | None, zero_based: bool | None) -> Dataset:
    """The data to fit, with its target."""
    if not path.exists():
        raise Refused(f"{path}: no such file or folder")
    if format_of(path, format) == "svmlight" and target is None and zero_based is not None:
        data = read_svmlight(path, zero_based=zero_based)
    else:
        data = read(path, target=target, format=format)
    if data.y is None:
        raise Refused(f"{path}: holds no target; name it by --target")
    return data


def task_of(y: NDArray[Any], wanted: bool | None) -> tuple[bool, str]:
    """Whether the target is classes, and why. ``wanted``: what the user says, if anything."""
    if wanted is not None:
        return wanted, "as asked"
    labels = np.unique(y)
    few = 2 <= len(labels) <= MOST_CLASSES
    if y.dtype.kind in "USO":
        return True, "the target is text"
    if y.dtype.kind in "biu" and few:
        return True, f"the target has {len(labels)} distinct whole numbers; --regress takes them for quantities"
    if len(labels) == 2 and np.array_equal(labels, np.floor(labels)):
        return True, f"the target is {labels[0]:g} or {labels[1]:g}; --regress takes them for quantities"
    return False, "the target is numbers; --classify takes them for classes"


def as_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Labels as the user wrote them: a text format's 1.0 is 1."""
    if y.dtype.kind != "f":
        return y
    if np.isnan(y).any():
        raise Refused("the target holds NaN; drop those rows")
    whole = np.array_equal(y, np.floor(y)) and np.abs(y).max(initial=0) < 2**53
    return y.astype(np.int64) if whole else y


def columns(wanted: list[str], names: tuple[str, ...] | None, d: int) -> list[int] | None:
    """``--always``: names or 0-based indices, several in one word by commas."""
    chosen: list[int] = []
    index = {name: j for j, name in enumerate(names or ())}
    for word in (part.strip() for text in wanted for part in ([text] if text in index else text.split(","))):
        if word in index:
            chosen.append(index[word])
        elif word.isdecimal() and int(word) < d:
            chosen.append(int(word))
        else:
            raise Refused(f"--always: {word!r} is neither a feature's name nor an index below {d}")
    return sorted(set(chosen)) or None


def groups(path: Path | None, d: int) -> list[str] | None:
    """``--groups``: one label a feature, in the order of the features."""
    return None if path is None else _words(path, d, "--groups", "labels")


def bounds(text: str | None, d: int, option: str) -> Any:
    """``--lower`` and ``--upper``: a number for all features, or a file of one a feature."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        if not Path(text).exists():
            raise Refused(f"{option}: {text!r} is neither a number nor a file") from None
    words = _words(Path(text), d, option, "numbers")
    try:
        return np.array(words, dtype=np.float64)
    except ValueError as error:
        raise Refused(f"{option}: {text}: {error}") from error


def _words(path: Path, d: int, option: str, what: str) -> list[str]:
    try:
        words = path.read_text("utf-8").split()
    except UnicodeDecodeError as error:
        raise Refused(f"{option}: {path}: is not text") from error
    if len(words) != d:
        raise Refused(f"{option}: {path}: holds {len(words)} {what}, expected one for each of the {d} features")
    return words


# -- data to predict ---------------------------------------------------------------------------------------------------


def load_for(model: Any, path: Path, format: str | None, zero_based: bool | None) -> Any:
    """X with the features of the model, by their names where both have names. A target in the data is not needed."""
    if not path.exists():
        raise Refused(f"{path}: no such file or folder")
    d, kind = model.n_features_in_, format_of(path, format)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if kind in ("csv", "parquet"):
        return _table(path, names, d, model.get_support(indices=True), parquet=kind == "parquet")
    if kind == "svmlight":
        return read_svmlight(path, n_features=d, zero_based="auto" if zero_based is None else zero_based).X
    data = read(path, format=format)
    if data.X.shape[1] != d:
        raise Refused(f"{path}: has {data.X.shape[1]} features, the model was fitted on {d}")
    if names and data.feature_names is not None and list(data.feature_names) != names:
        raise Refused(f"{path}: its features are not those of the model, or not in their order")
    return data.X


def _chosen(path: Path, frame: Any, names: list[str], used: NDArray[Any]) -> Any:
    """The columns that the model uses, at their places in a sparse matrix; the others need not be in the table."""
    import scipy.sparse as sp

    missing = [names[j] for j in used if names[j] not in frame.columns]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise FormatError(f"{path}: has no column {missing[0]!r}{more}, which the model uses")
    values = frame[[names[j] for j in used]].to_numpy(dtype=np.float64, na_value=np.nan)
    rows, starts = len(values), len(values) * np.searchsorted(used, np.arange(len(names) + 1))
    return sp.csc_array((values.ravel("F"), np.tile(np.arange(rows), len(used)), starts), shape=(rows, len(names)))


def _table(path: Path, names: list[str], d: int, used: NDArray[Any], *, parquet: bool) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("csv and parquet files need pandas: pip install 'paring[tables]'") from error
    from paring.data.streams import reading

    with reading(path):
        frame = pd.read_parquet(path) if parquet else pd.read_csv(path)
        frame.columns = frame.columns.astype(str)
    if names:
        with reading(path):
            return _chosen(path, frame, names, used)
    if frame.shape[1] == d + 1:
        frame = frame.iloc[:, :-1]  # the last column is the target, as in `paring fit`
    if frame.shape[1] != d:
        raise FormatError(f"{path}: has {frame.shape[1]} columns, the model was fitted on {d} features")
    with reading(path):
        return frame.to_numpy(dtype=np.float64, na_value=np.nan)
