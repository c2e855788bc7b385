"""Small random penalised problems of every loss, penalty and kind of design."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paring import losses
from paring.penalties import L1, L1L2, Group, MultiTask, Penalty, SparseGroup
from paring.problem import Problem
from tests.reference.random_problems import DESIGNS, GROUPS, D, targets

PENALTIES: dict[str, Callable[[float], Penalty]] = {
    "l1": lambda lam: L1(lam),
    "elastic net": lambda lam: L1L2(lam, 0.6),
    "weighted": lambda lam: L1(lam, factors=[1, 2, 0.5, 0, np.inf, 1]),
    "positive": lambda lam: L1(lam, bounds=(0, np.inf)),
    "box": lambda lam: L1(lam, bounds=(-0.2, 0.3)),
    "group": lambda lam: Group(lam, GROUPS),
    "sparse group": lambda lam: SparseGroup(lam, GROUPS, 0.4),
    "positive group": lambda lam: Group(lam, GROUPS, bounds=(0, np.inf)),
    "rows": lambda lam: MultiTask(lam),
}
SMOOTH = tuple(loss for loss in losses.ALL if loss.smooth)


def random_problem(
    rng: np.random.Generator, loss: losses.Loss, penalty: str, **settings: object
) -> tuple[np.ndarray, Problem]:
    """(X, problem). settings: design, intercept, weights, ridge, offset, share (of lam_max, about); drawn where not
    given."""
    n = int(rng.integers(12, 24))
    design = settings.get("design") or str(rng.choice([name for name in DESIGNS if name != "scales"]))
    intercept = bool(settings.get("intercept", rng.integers(2)))
    X = DESIGNS[str(design)](rng, rng.standard_normal((n, D)))
    if rng.integers(4) == 0:
        X = X.astype(np.float32)
    y = targets(rng, loss, X[:, :2].sum(axis=1) / max(X.std(), 1e-9), 5.0 * intercept)
    weights = None
    if settings.get("weights", rng.integers(2)):
        weights = rng.integers(1, 4, n) + 0.1 * rng.random(n)
        weights[int(rng.integers(3, n))] = 0
    offset = 0.3 * rng.standard_normal(n) if settings.get("offset", rng.integers(3) == 0) else None
    ridge = float(settings.get("ridge", rng.choice([0.0, 0.0, 0.05])))  # type: ignore[arg-type]
    options = {"ridge": ridge, "sample_weight": weights, "fit_intercept": intercept, "offset": offset}
    problem = Problem(X, y, loss, penalty=PENALTIES[penalty](1.0), **options)  # type: ignore[arg-type]
    z = problem.no_scores() + problem.null[0]
    largest = problem.penalty.dual_norm(X.astype(float).T @ problem.residuals(z))
    share = float(settings.get("share", rng.choice([0.02, 0.1, 0.3, 0.7])))  # type: ignore[arg-type]
    return X.astype(float), problem.at(PENALTIES[penalty](max(share * largest, 1e-3)))
