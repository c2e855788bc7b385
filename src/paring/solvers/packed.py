"""Rows of the active columns alone, for the sweeps of the stochastic solvers of penalised problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import _core

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packed:
    """Rows of some columns: which, the counts of their units, and the units where there are groups."""

    features: Indices
    rows: _core.Rows
    reach: Array  # D of each feature
    units: _core.Units | None
    unit_of: Indices


def packed_of(problem: Any, features: Indices) -> Packed:
    """Rows of those columns. Cost: their entries, unless these are all columns."""
    _ = problem.design.by_rows  # raises, naming the remedy, where rows cannot be walked along
    design = problem.design if len(features) == problem.d else problem.design.packed(features)
    part = problem.regulariser.on(features)
    if part.unit_of is None:
        counts, units, unit_of = design.column_counts(), None, np.arange(len(features))
    else:
        unit_of = np.ascontiguousarray(part.unit_of, np.int64)
        counts = design.counts_of(unit_of)[unit_of]
        starts = np.append(0, np.cumsum(np.bincount(unit_of)))
        units = _core.Units(unit_of, starts, np.argsort(unit_of, kind="stable"))
    return Packed(features, design.by_rows, problem.n / np.maximum(counts, 1.0), units, unit_of)
