"""The global optimum of a small exact-k problem: every support tried, each fitted by SciPy."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear, minimize

from paring.result import Model


def supports(feasible: Any) -> list[np.ndarray]:
    """The features of every largest allowed set of units."""
    always = np.flatnonzero(feasible.always)
    free = np.flatnonzero(~feasible.always & ~feasible.never)
    size = min(feasible.k - len(always), len(free))
    unit_of = np.arange(feasible.d) if feasible.unit_of is None else feasible.unit_of
    return [np.flatnonzero(np.isin(unit_of, [*always, *chosen])) for chosen in combinations(free, size)]


def optimum(problem: Any, X: np.ndarray) -> tuple[float, Model]:
    """(the least F, a model that has it)."""
    fits = [best_on(problem, X, features) for features in supports(problem.constraint)]
    return min(fits, key=lambda fit: fit[0])


def best_on(problem: Any, X: np.ndarray, features: np.ndarray) -> tuple[float, Model]:
    """(F, model) minimised over the weights of those features and the intercept."""
    x = np.asarray(X, dtype=np.float64)[:, features]
    if np.isfinite(problem.constraint.radius):
        w, b = _within_ball(problem, x)
    else:
        w, b = _minimiser(problem, x, features)(problem, x, features, problem.ridge)
    b = b if problem.fit_intercept else np.zeros(np.shape(b))
    return objective(problem, x, w, b), Model(features, w, b if np.ndim(b) else float(b))


def objective(problem: Any, x: np.ndarray, w: np.ndarray, b: Any) -> float:
    losses = problem.loss.value(x @ w + b, problem.y)
    return float(problem.v @ losses / problem.n + problem.ridge / 2 * np.sum(w**2))


def _minimiser(problem: Any, x: np.ndarray, features: np.ndarray) -> Any:
    if problem.loss.name == "squared":
        return _squared
    if problem.loss.name == "hinge":
        return _hinge
    if problem.outputs == 1 and problem.constraint.lower is None:
        return _newton
    return _quasi_newton


def _squared(problem: Any, x: np.ndarray, features: np.ndarray, ridge: float) -> tuple[np.ndarray, float]:
    root = np.sqrt(problem.v / problem.n)
    shift, middle = (np.average(a, axis=0, weights=problem.v) * problem.fit_intercept for a in (x, problem.y))
    rows = np.vstack([root[:, None] * (x - shift), np.sqrt(ridge) * np.eye(x.shape[1])])
    target = np.append(root * (problem.y - middle), np.zeros(x.shape[1]))
    if problem.constraint.lower is None:
        w = np.linalg.lstsq(rows, target, rcond=None)[0]
    else:
        ends = problem.constraint.lower[features], problem.constraint.upper[features]
        w = _box_squared(rows, target, ends)
    return w, float(middle - shift @ w)


def _box_squared(rows: np.ndarray, target: np.ndarray, ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    free = ends[0] < ends[1]
    w = np.where(free, 0.0, ends[0])
    if free.any():
        w[free] = lsq_linear(rows[:, free], target, (ends[0][free], ends[1][free]), method="bvls", tol=1e-14).x
    return w


def _newton(problem: Any, x: np.ndarray, features: np.ndarray, ridge: float) -> tuple[np.ndarray, float]:
    """Damped Newton on (w, b); where the curvature is gone (huber, hinges), with the bound of it instead."""
    loss, y, v, n = problem.loss, problem.y, problem.v, problem.n
    A = np.column_stack([x, np.ones(n)]) if problem.fit_intercept else x
    weight = np.full(A.shape[1], ridge)
    weight[x.shape[1] :] = 0
    point = np.zeros(A.shape[1])
    most = loss.curvature_bound if np.isfinite(loss.curvature_bound) else 1.0

    def value(u: np.ndarray) -> float:
        with np.errstate(over="ignore"):
            return float(v @ loss.value(A @ u, y) / n + weight @ u**2 / 2)

    for round_ in range(5000):
        z = A @ point
        slope = A.T @ (v * loss.slope(z, y)) / n + weight * point
        for curvature in (loss.curvature(z, y), np.full(n, most)) if round_ % 4 else (np.full(n, most),):
            hessian = A.T @ ((v * curvature)[:, None] * A) / n + np.diag(weight)
            step = -np.linalg.lstsq(hessian + 1e-12 * np.eye(len(point)), slope, rcond=None)[0]
            t = 1.0
            while t > 1e-4 and not value(point + t * step) <= value(point) + 1e-4 * t * (slope @ step):
                t /= 2
            if t > 1e-4:
                break
        if t <= 1e-4 or -(slope @ step) < 1e-15 * (1 + abs(value(point))):
            break
        point = point + t * step
    left = np.abs(slope) / (np.sqrt((A**2).mean(axis=0)) + np.sqrt(ridge) + 1e-9)
    assert left.max() <= 1e-5 * (1 + np.abs(y).max()), f"reference not converged: {left.max()}"
    return point[: x.shape[1]], float(point[x.shape[1] :].sum())


def _quasi_newton(problem: Any, x: np.ndarray, features: np.ndarray, ridge: float) -> tuple[np.ndarray, Any]:
    """L-BFGS-B: multinomial, and bounds."""
    outputs, shape = problem.outputs, (len(features), *problem.zeros().shape[1:])
    size = int(np.prod(shape))
    v = problem.v.reshape((-1,) + (1,) * (len(shape) - 1)) / problem.n

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        w, b = point[:size].reshape(shape), point[size:] * problem.fit_intercept
        b = b if outputs > 1 else b[0]
        r = v * problem.loss.slope(x @ w + b, problem.y)
        slope = np.append((x.T @ r + ridge * w).ravel(), np.atleast_1d(r.sum(axis=0)) * problem.fit_intercept)
        return objective(problem, x, w, b), slope

    bounds = [(None, None)] * (size + outputs)
    if problem.constraint.lower is not None:
        ends = [(problem.constraint.lower[j], problem.constraint.upper[j]) for j in features]
        bounds[:size] = [end for end in ends for _ in range(outputs)]
    options = {"ftol": 1e-13, "gtol": 1e-8}
    point = minimize(value, np.zeros(size + outputs), jac=True, bounds=bounds, options=options).x
    return point[:size].reshape(shape), point[size:] if outputs > 1 else float(point[size])


def _hinge(problem: Any, x: np.ndarray, features: np.ndarray, ridge: float) -> tuple[np.ndarray, float]:
    """Its quadratic program, by SLSQP on (w, b, slack)."""
    y, v, n, size = problem.y, problem.v, problem.n, x.shape[1]
    share = v / n
    rows = np.hstack([y[:, None] * x, y[:, None] * float(problem.fit_intercept), np.eye(n)])

    def slope(u: np.ndarray) -> np.ndarray:
        return np.concatenate([ridge * u[:size], [0.0], share])

    ends = [(None, None)] * (size + 1) + [(0, None)] * n
    if problem.constraint.lower is not None:
        ends[:size] = [(problem.constraint.lower[j], problem.constraint.upper[j]) for j in features]
    solved = minimize(
        lambda u: ridge / 2 * u[:size] @ u[:size] + share @ u[size + 1 :],
        np.append(np.zeros(size + 1), np.ones(n)),
        jac=slope,
        bounds=ends,
        constraints={"type": "ineq", "fun": lambda u: rows @ u - 1, "jac": lambda u: rows},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return solved.x[:size], float(solved.x[size])


def _within_ball(problem: Any, x: np.ndarray) -> tuple[np.ndarray, float]:
    """Squared loss in a ball: the ridge that brings |w| to its radius, by bisection."""
    assert problem.loss.name == "squared"
    features, radius = np.arange(x.shape[1]), problem.constraint.radius
    low, high = problem.ridge, problem.ridge + 1e-12
    if np.linalg.norm(_squared(problem, x, features, low)[0]) <= radius:
        return _squared(problem, x, features, low)
    while np.linalg.norm(_squared(problem, x, features, high)[0]) > radius:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        inside = np.linalg.norm(_squared(problem, x, features, middle)[0]) <= radius
        low, high = (low, middle) if inside else (middle, high)
    return _squared(problem, x, features, high)
