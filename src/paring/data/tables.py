"""CSV and Parquet, through pandas and pyarrow."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .dataset import Dataset, FormatError
from .streams import check_regular, open_stream, reading
from .svmlight import Progress

_BLOCK = 1 << 24  # bytes of numbers per block of rows
_NAMED = 5  # columns named in a message


@dataclass(frozen=True)
class Table:
    """A file of named columns, one of them the target.

    Reading: `blocks()` yields (rows of X, their y). Memory: one block of rows.
    """

    path: Path
    names: tuple[str, ...]
    target: str
    parquet: bool

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name != self.target)

    def blocks(self, dtype: DTypeLike, progress: Progress | None = None) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        rows = max(1, _BLOCK // (8 * len(self.names)))
        frames = _parquet_frames(self.path, rows) if self.parquet else _csv_frames(self.path, rows)
        total = self.path.stat().st_size
        for frame, done in _named(self.path, frames):
            X = frame.drop(columns=self.target)
            _refuse_text(self.path, X)
            yield X.to_numpy(dtype=dtype, na_value=np.nan), self._target(frame[self.target])
            if progress is not None:
                progress(min(done, total), total)

    def _target(self, column: Any) -> NDArray[Any]:
        """Numbers as they are (missing ones NaN), anything else as text."""
        import pandas as pd

        if pd.api.types.is_numeric_dtype(column.dtype):
            plain = isinstance(column.dtype, np.dtype)  # pandas' own types may have gaps that are not NaN
            return column.to_numpy() if plain else column.to_numpy(dtype=np.float64, na_value=np.nan)
        if column.hasnans:
            raise FormatError(f"{self.path}: target {self.target!r} is text with missing values; drop those rows")
        return column.to_numpy().astype(np.str_)


def open_table(path: Path, target: str | None, *, parquet: bool) -> Table:
    """Look at the names of a table's columns; the target is by default the last."""
    with _tables_extra():
        import pandas  # noqa: F401

        if parquet:
            import pyarrow.parquet  # noqa: F401
    check_regular(path)
    with reading(path):
        names = _parquet_names(path) if parquet else _csv_names(path)
    if len(names) < 2:
        commas = "" if parquet else "; are its fields separated by commas?"
        raise FormatError(f"{path}: has {len(names)} column, expected features and a target{commas}")
    if not parquet and all(map(_is_number, names)) and not all(name.lstrip("-").isdecimal() for name in names):
        raise FormatError(f"{path}: the first line holds numbers, expected the names of the columns: add such a line")
    unnamed = [i for i, name in enumerate(names) if not name or name.startswith("Unnamed: ")]
    if unnamed:
        raise FormatError(
            f"{path}: column {unnamed[0] + 1} has no name; if it is a frame's index, write with index=False"
        )
    if len(set(names)) < len(names):
        raise FormatError(f"{path}: two columns have the same name")
    target = names[-1] if target is None else target
    if target not in names:
        raise FormatError(f"{path}: has no column {target!r}; it has {_some(names)}")
    return Table(path, tuple(names), target, parquet)


def read_table(path: Path, target: str | None, dtype: DTypeLike | None, *, parquet: bool) -> Dataset:
    """Read a table into memory, as float64 unless `dtype` says float32."""
    table = open_table(path, target, parquet=parquet)
    Xs, ys = (list(column) for column in zip(*table.blocks(dtype or np.float64), strict=True))
    return Dataset(np.concatenate(Xs), join_targets(path, ys), table.feature_names, path)


def join_targets(path: Path, parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate, unless some are text and some are not (NumPy would write the numbers out)."""
    if len({part.dtype.kind == "U" for part in parts}) > 1:
        raise FormatError(f"{path}: the target is part numbers, part text")
    return np.concatenate(parts)


class _tables_extra:
    """Names the remedy when a package is missing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, ImportError):
            raise ImportError(
                f"csv and parquet files need {error.name}: pip install 'paring[tables]'", name=error.name
            ) from error


def _csv_names(path: Path) -> list[str]:
    import pandas as pd

    with open_stream(path) as (stream, _):
        # Header and first row as two rows of text: were the second longer, pandas would take its first field for an
        # index without a word; so it is an error.
        rows = pd.read_csv(stream, header=None, nrows=2, dtype=str, keep_default_na=False)
        return [str(name) for name in rows.iloc[0]]


def _csv_frames(path: Path, rows: int) -> Iterator[tuple[Any, int]]:
    import pandas as pd

    # The text a float was written as gives that float back, to the last bit: always so from pandas 3.1 on.
    exact = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
    precision: dict[str, Any] = {} if exact else {"float_precision": "round_trip"}
    with (
        open_stream(path) as (stream, raw),
        pd.read_csv(stream, chunksize=rows, **precision) as chunks,
    ):
        for frame in chunks:
            yield frame, raw.tell()


def _parquet_names(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return list(file.schema_arrow.names)


def _parquet_frames(path: Path, rows: int) -> Iterator[tuple[Any, int]]:
    import pyarrow.parquet as pq

    size = path.stat().st_size
    with pq.ParquetFile(path) as file:
        total, done = max(1, file.metadata.num_rows), 0
        for batch in file.iter_batches(batch_size=rows):
            done += batch.num_rows
            yield batch.to_pandas(ignore_metadata=True), size * done // total


def _named(path: Path, frames: Iterator[Any]) -> Iterator[Any]:
    """Pass the frames on; what the reader raises names the file. At least one frame is due."""
    empty = True
    while True:
        with reading(path):
            frame = next(frames, None)
        if frame is None:
            break
        if len(frame[0]):
            empty = False
            yield frame
    if empty:
        raise FormatError(f"{path}: holds no rows")


def _refuse_text(path: Path, X: Any) -> None:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    bad = [name for name, kind in X.dtypes.items() if not is_numeric_dtype(kind) or is_complex_dtype(kind)]
    if bad:
        kind = X[bad[0]].dtype
        what = "text" if str(kind) in ("object", "str") else str(kind)
        noun, verb = ("column", "holds") if len(bad) == 1 else ("columns", "hold")
        raise FormatError(
            f"{path}: {noun} {_some(bad)} {verb} {what}, not numbers; leave out or encode "
            "(pandas.get_dummies, sklearn.preprocessing.OneHotEncoder)"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _some(names: list[str]) -> str:
    text = ", ".join(repr(str(name)) for name in names[:_NAMED])
    return text + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
