"""How fast gradients of single rows, of batches and of F change: what a safe step of a stochastic solver is 1 over.

    curvature_i = v_i L (sum_j x_ij^2 / h_j + 1/h_b) + ridge / min h                of row i (1/h_b with an intercept)
    L_F = the largest eigenvalue of (1/n) sum_i v_i L x_i x_i' + ridge, in h        of F
    L_B = max_i curvature_i / B + (1 - 1/B) L_F                                     of a batch of B rows, in the mean

(h = 1 without a scaling). A loss without a bound L: its curvature at the present scores. L_B is the expected smoothness
of B rows drawn with replacement: steps may grow with the batch until L_F is what counts.

Source: Gower, Loizou, Qian, Sailanbayev, Shulgin & Richtarik 2019.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring.solvers.steps import LIPSCHITZ_MARGIN, Metric, metric_of

Array = NDArray[np.float64]

FLATTEST = 1e-8  # of the largest curvature: what that of an empty column counts as
MOST_POWERS = 20
POWERS_AGREE = 1e-2


def plain_metric(problem: Any, scaling: str) -> Metric:
    """That of ``scaling``, with columns as they are: single rows cannot be centred without touching every column."""
    metric = metric_of(problem, scaling)
    if metric.h is None:
        return metric
    bound = problem.loss.curvature_bound
    h = problem.squares * (bound if np.isfinite(bound) else 1.0) + problem.ridge
    return replace(metric, h=np.maximum(h, FLATTEST * max(float(h.max()), np.finfo(float).tiny)), centre=None)


def row_squares(problem: Any, metric: Metric, block_of: Any = None, blocks: int = 1) -> Array:
    """sum_j x_ij^2 / h_j of every row, with 1 / h_b for an intercept; of blocks the largest. Cost: one pass."""
    weights = None if metric.h is None else 1 / metric.h
    if block_of is not None:
        weights = (block_of[:, None] == np.arange(blocks)) * (1.0 if weights is None else weights[:, None])
    squares: Array = problem.design.row_squares(weights)
    return (squares if block_of is None else squares.max(axis=1)) + float(problem.fit_intercept) / metric.h_b


def row_curvatures(problem: Any, squares: Array, z: Array, metric: Metric) -> Array:
    """curvature_i of every row."""
    smallest = 1.0 if metric.h is None else float(metric.h.min())
    out: Array = problem.v * _loss_curvature(problem, z) * squares + problem.ridge / smallest
    return out


def mean_curvature(problem: Any, z: Array, metric: Metric, among: Any = 1.0) -> float:
    """L_F by power iteration, 5 % above where it settles; ``among``: a mask of columns. Cost: about ten passes."""
    c = problem.v * _loss_curvature(problem, z) / problem.n
    h: Any = 1.0 if metric.h is None else metric.h
    u, u_b = among * np.random.default_rng(0).standard_normal(problem.d), float(problem.fit_intercept)
    value = 0.0
    for _ in range(MOST_POWERS):
        norm = float(np.sqrt(np.sum(h * u * u) + metric.h_b * u_b**2))
        if norm == 0:
            break
        u, u_b = u / norm, u_b / norm
        r = c * (problem.design.scores(u) + u_b)
        u, u_b = among * problem.design.adjoint(r) / h, float(r.sum()) * problem.fit_intercept / metric.h_b
        before, value = value, float(np.sqrt(np.sum(h * u * u) + metric.h_b * u_b**2))
        if abs(value - before) <= POWERS_AGREE * value:
            break
    return LIPSCHITZ_MARGIN * value + problem.ridge / float(np.min(h))


def safe_length(largest: float, mean: float, batch: int) -> float:
    """1 / L_B; 1 where nothing is curved."""
    bound = largest / batch + (1 - 1 / batch) * mean
    return 1 / bound if bound > np.finfo(float).tiny else 1.0


def _loss_curvature(problem: Any, z: Array) -> Any:
    """The bound on the loss's curvature, or the curvature at the scores z where there is no bound."""
    bound = problem.loss.curvature_bound
    return bound if np.isfinite(bound) else problem.loss.core.curvature(z, problem.y)
