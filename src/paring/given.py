"""What a problem is given, checked: targets, weights, offsets, a ridge."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring import losses
from paring.data.incoming import refuse_masked

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
        return targets(y, n), loss
    if loss.name != "squared":
        raise ValueError(f"y has {np.shape(y)[1]} columns, which only loss='squared' takes, got loss={loss.name!r}")
    table = np.array(y)
    flat = targets(table.ravel(), table.size)
    if len(table) != n:
        raise ValueError(f"X has {n} rows but y has {len(table)}")
    return np.arange(n, dtype=np.float64), losses.squared_rows(flat.reshape(table.shape))


def ridge_of(ridge: Any) -> float:
    if not isinstance(ridge, Real) or not 0 <= float(ridge) < np.inf:
        raise ValueError(f"ridge must be a number of at least 0, got {ridge!r}")
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
