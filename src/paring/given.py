"""What a problem is given, checked: targets, weights, offsets, a ridge."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring import losses
from paring.data.incoming import refuse_masked
from paring.limits import LARGEST, SMALLEST

Array = NDArray[np.float64]


def targets(y: ArrayLike, n: int) -> Array:
    refuse_masked("y", y)
    array = np.asarray(y)
    if array.dtype.kind not in "fbiu":
        raise TypeError(f"y holds {array.dtype}; numbers are needed (SparseClassifier takes any labels)")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"y must have one column, got shape {array.shape}: fit each target alone "
            "(sklearn.multioutput.MultiOutputRegressor)"
        )
    if len(array) != n:
        raise ValueError(f"X has {n} rows but y has {len(array)}")
    floats = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(floats).all():
        raise ValueError("y holds NaN or infinity")
    return floats


def posed(y: ArrayLike, n: int, loss: losses.Loss, several: bool) -> tuple[Array, losses.Loss]:
    """(y, loss). Where ``several`` targets a row are taken and given, y holds the rows' numbers, and the loss them."""
    if not (several and np.ndim(y) == 2 and np.shape(y)[1] > 1):
        floats = targets(y, n)
        if loss.targets in ("real", "count"):
            check_size_of_targets(floats)
        return floats, loss
    if loss.name != "squared":
        raise ValueError(f"y has {np.shape(y)[1]} columns, which only loss='squared' takes, got loss={loss.name!r}")
    table = np.array(y)
    flat = targets(table.ravel(), table.size)
    check_size_of_targets(flat)
    if len(table) != n:
        raise ValueError(f"X has {n} rows but y has {len(table)}")
    return np.arange(n, dtype=np.float64), losses.squared_rows(flat.reshape(table.shape))


def check_size_of_targets(y: Array) -> None:
    largest = float(np.abs(y).max(initial=0.0))
    if largest > LARGEST or 0 < largest < SMALLEST:
        what = f"values beyond {LARGEST:g}" if largest > LARGEST else f"no value above {SMALLEST:g}"
        raise ValueError(f"y holds {what} in size: rescale it")


def check_columns(products: Array, sums: Array, squares: Array) -> None:
    """Refuse columns whose squares, or their products with others, would overflow or vanish."""
    size = np.sqrt(squares)
    large = np.flatnonzero(~(size <= LARGEST))
    if len(large):
        raise ValueError(
            f"X holds NaN or infinity (or a root mean square beyond {LARGEST:g}) in column {large[0]}; "
            "impute or drop them first"
        )
    small = np.flatnonzero((size < SMALLEST) & ((squares != 0) | (sums != 0) | (products != 0)))
    if len(small):
        raise ValueError(f"column {small[0]} of X has a root mean square below {SMALLEST:g}: rescale or drop it")


def ridge_of(ridge: Any) -> float:
    if not isinstance(ridge, Real) or not float(ridge) >= 0:
        raise ValueError(f"ridge must be a number of at least 0, got {ridge!r}")
    if float(ridge) > LARGEST:
        raise ValueError(f"ridge must be a number of at most {LARGEST:g}, got {ridge!r}: all weights would be 0")
    return float(ridge)


def weights(sample_weight: ArrayLike | None, n: int) -> Array:
    if sample_weight is None:
        return np.ones(n)
    refuse_masked("sample_weight", sample_weight)
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must hold one weight for each of the {n} rows, got shape {weights.shape}")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError("sample_weight must be finite and not negative")
    largest = weights.max()
    if largest == 0:
        raise ValueError("sample_weight: at least one weight must be positive")
    weights /= largest  # so that neither huge nor tiny ones overflow their sum
    return weights * (n / weights.sum())


def offsets(offset: ArrayLike | None, n: int) -> Array | None:
    """What every score begins with: one number a row."""
    if offset is None:
        return None
    refuse_masked("offset", offset)
    array = np.array(offset, dtype=np.float64)
    if array.shape != (n,):
        raise ValueError(f"offset must hold one number for each of the {n} rows, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("offset holds NaN or infinity")
    return array
