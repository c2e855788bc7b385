"""What a Result shows of what a solver found: features that count, and a word where weights have no end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from paring.result import Model, PathPoint
from paring.told import warn


def without_dust(problem: Any, model: Model) -> Model:
    """The model without units that F does not feel (``Problem.counts``). Members of ``always`` stay."""
    constraint = problem.constraint
    kept = problem.counts(model)
    if kept.all():
        return model
    stays = constraint.always.copy()
    stays[constraint.units_of(model.support[kept])] = True
    kept = stays[model.support] if constraint.unit_of is None else stays[constraint.unit_of[model.support]]
    return Model(model.support[kept], model.weights[kept], model.intercept)


def path_without_dust(problem: Any, path: dict[int, PathPoint]) -> dict[int, PathPoint]:
    return {size: replace(point, model=without_dust(problem, point.model)) for size, point in path.items()}


def separates(problem: Any, model: Model) -> bool:
    """Whether F falls for ever as weights of this logistic or multinomial model grow: it has no minimum then.

    So where the model tells the classes apart without an error, and where it has a feature that points to one class, or
    away from it, in every row where it is not 0. Seen for sure; not every such problem is. Cost: |S| columns, once.
    """
    if problem.loss.name not in ("logistic", "multinomial") or problem.ridge > 0 or not len(model.support):
        return False
    if problem.penalty is not None and not problem.penalty.unpenalised[model.support].any():
        return False  # the penalty's price on their growth
    feasible = problem.constraint
    ends = [] if feasible.lower is None else [feasible.lower[model.support], feasible.upper[model.support]]
    if np.isfinite(feasible.radius) or any(np.any((end != 0) & np.isfinite(end)) for end in ends):
        return False
    classes = (-1.0, 1.0) if problem.outputs == 1 else range(problem.outputs)
    signs = np.where(problem.y[:, None] == np.array(classes), 1.0, -1.0) * (problem.v > 0)[:, None]
    z = problem.scores(model).reshape(problem.n, -1)
    z = np.hstack([-z, z]) if problem.outputs == 1 else z
    own = np.where(signs > 0, z, np.inf).min(axis=1)
    others = np.where(signs < 0, z, -np.inf).max(axis=1)
    if np.all((own > others)[problem.v > 0]):
        return True
    if feasible.lower is not None:
        return False
    least = np.zeros((len(model.support), len(classes)))
    most = least.copy()
    for rows, part in problem.design.parts(model.support):
        for c, sign in enumerate(signs[rows].T):
            towards = sign[:, None] * part
            least[:, c] = np.minimum(least[:, c], towards.min(axis=0))
            most[:, c] = np.maximum(most[:, c], towards.max(axis=0))
    return bool(np.any(((least == 0) & (most > 0)) | ((most == 0) & (least < 0))))


def warn_of_separation(problem: Any, model: Model) -> None:
    """A word on weights that have no end; scikit-learn's kind of warning, which its users filter by."""
    if not separates(problem, model):
        return
    from sklearn.exceptions import ConvergenceWarning

    warn(
        f"{problem.loss.name}: the features chosen separate classes, so that without ridge the objective has no "
        "minimum and coefficients grow until rounding ends them; use ridge > 0",
        ConvergenceWarning,
    )
