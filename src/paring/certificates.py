"""Certificates of exact-k problems: a lower bound on the best objective, computed in float64 apart from the solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from paring.result import Model


def bound_from(problem: Any, model: Model, objective: float, ascend: bool = False) -> float:
    """The dual gap of ``model``: its objective less a lower bound on the best; infinity where no bound exists."""
    return float(np.inf)
