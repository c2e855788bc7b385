"""The cells: what is posed in each, and what it comes to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from paring import losses, solve
from paring.constraints import L2Ball, TopK
from paring.problem import Problem
from paring.result import Result
from tests.reference.enumeration import objective, optimum, supports

N, D = 40, 6
RIDGE = 0.01  # so that there is a bound
TOL = 1e-8  # iht ends where a step gains less; the sum of the steps not made is larger
GROUPS = ("soil", "leaf", "root", "leaf", "soil", "bark")
UPPER = (0.3, 0.3, 0.0, 0.25, np.inf, 0.3)

CONSTRAINTS: dict[str, Callable[[], TopK]] = {
    "TopK": lambda: TopK(2),
    "always, never": lambda: TopK(2, always=[5], never=[0]),
    "groups": lambda: TopK(2, groups=GROUPS),
    "bounds": lambda: TopK(2, bounds=(-0.3, UPPER)),
    "L2Ball": lambda: TopK(2) & L2Ball(0.4),
}


def mapped(X: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:  # its pages live on as long as they are mapped
        memory: np.ndarray = np.memmap(file, X.dtype, "w+", shape=X.shape)
    memory[:] = X
    return memory


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "dense": np.ascontiguousarray,
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
    "memmap": mapped,
}


@dataclass(frozen=True)
class Cell:
    loss: losses.Loss
    constraint: str
    layout: str
    weights: bool
    intercept: bool

    def __str__(self) -> str:
        extras = [name for name in ("weights", "intercept") if getattr(self, name)]
        return "-".join([self.loss.name, self.constraint.replace(", ", "+"), self.layout, *extras])


def cells() -> Iterator[Cell]:
    for axes in product(losses.ALL, CONSTRAINTS, LAYOUTS, (False, True), (False, True)):
        yield Cell(*axes)


@cache
def data(loss: losses.Loss) -> tuple[np.ndarray, np.ndarray]:
    """(X, y): three places in ten are empty, columns are correlated; features 1 and 4 matter most, so that a method
    which only comes to a local optimum (iht, in a ball) has no excuse."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, D)) + 0.4 * rng.standard_normal((N, 1))
    X[rng.random(X.shape) < 0.3] = 0
    z = X[:, [1, 4, 2]] @ [1.3, -1.1, 0.2] + 0.3
    if loss.targets == "real":
        return X, z + 0.4 * rng.standard_normal(N)
    if loss.targets == "count":
        return X, rng.poisson(np.exp(0.6 * z)).astype(float)
    if loss.targets == "class":
        return X, np.argmax(np.stack([z, -z, -2 * X[:, 4]], axis=1) + rng.gumbel(size=(N, 3)), axis=1).astype(float)
    return X, np.where(z + 0.7 * rng.logistic(size=N) > 0, 1.0, -1.0)


def pose(cell: Cell) -> Problem:
    X, y = data(cell.loss)
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0 + np.arange(N) % 3) if cell.weights else None
    return Problem(
        LAYOUTS[cell.layout](X),
        y,
        cell.loss,
        constraint=CONSTRAINTS[cell.constraint](),
        ridge=RIDGE,
        sample_weight=weights,
        fit_intercept=cell.intercept,
    )


@cache
def outcome(cell: Cell) -> Result | str:
    """The answer of ``solve``, or the refusal's message."""
    try:
        return solve(pose(cell), tol=TOL, random_state=0)
    except ValueError as refusal:
        return str(refusal)


# -- the answer by enumeration ----------------------------------------------------------------------------------------


@cache
def best(loss: losses.Loss, constraint: str, weights: bool, intercept: bool) -> float:
    """The least F over every support; the same for every layout."""
    problem = pose(Cell(loss, constraint, "dense", weights, intercept))
    X = problem.design.columns(np.arange(D))  # the rows that count
    if np.isfinite(problem.constraint.radius) and loss.name != "squared":
        return min(_in_the_ball(problem, X[:, features]) for features in supports(problem.constraint))
    return optimum(problem, X)[0]


def _in_the_ball(problem: Problem, x: np.ndarray) -> float:
    """SLSQP on (w, b) with |w|^2 <= radius^2."""
    shape = (x.shape[1], *problem.zeros().shape[1:])
    size, outputs = int(np.prod(shape)), problem.outputs

    def parts(u: np.ndarray) -> tuple[np.ndarray, Any]:
        b = u[size:] * problem.fit_intercept
        return u[:size].reshape(shape), b if outputs > 1 else b[0]

    def value(u: np.ndarray) -> float:
        return objective(problem, x, *parts(u))

    def slope(u: np.ndarray) -> np.ndarray:
        w, b = parts(u)
        r = problem.residuals(x @ w + b)
        free = np.atleast_1d(r.sum(axis=0)) * problem.fit_intercept
        return np.append((x.T @ r + problem.ridge * w).ravel(), free)

    def room(u: np.ndarray) -> float:
        return float(problem.constraint.radius**2 - u[:size] @ u[:size])

    def room_slope(u: np.ndarray) -> np.ndarray:
        return np.append(-2 * u[:size], np.zeros(outputs))

    ball = {"type": "ineq", "fun": room, "jac": room_slope}
    start = np.full(size + outputs, 0.01)
    options = {"maxiter": 500, "ftol": 1e-13}
    return float(minimize(value, start, jac=slope, constraints=ball, method="SLSQP", options=options).fun)
