"""What every reader returns, and what every reader raises."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray


class FormatError(ValueError):
    """A file is not what its name or header says: damaged, truncated, hostile, or of another format.

    The message begins with the file's name and says what is wrong with it.
    """


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A design, its target, and where they came from.

    Attributes
    ----------
    X : ndarray, memmap, scipy.sparse.csr_matrix or csc_matrix, of shape (n, d)
    y : ndarray of shape (n,) or (n, outputs), or None
        Numbers, or class labels as fixed-width text.
    feature_names : tuple of str, or None
    path : Path or None
        The file or folder that was read.
    first_index : int
        What the file calls the first feature, where it numbers them: svmlight may count from 1.
    """

    X: Any
    y: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None
    path: Path | None = None
    first_index: int = 0

    def __repr__(self) -> str:
        n, d = self.X.shape
        y = "no y" if self.y is None else f"y {self.y.dtype}"
        return f"Dataset({type(self.X).__name__} {n} x {d} {self.X.dtype}, {y}, path={str(self.path)!r})"
