"""The exact exchange formula, and exchanges by refitting, against every pair refitted by the reference."""

import numpy as np
import pytest
import scipy.sparse as sp

from paring import losses
from paring.certificates import refit_change, swap_change
from paring.constraints import L2Ball, TopK
from paring.problem import Problem
from paring.result import Model
from tests.reference.enumeration import best_on, optimum
from tests.reference.random_problems import CONSTRAINTS, DESIGNS, random_problem


def every_pair(problem: Problem, X: np.ndarray, model: Model) -> float:
    """The best change of F by taking one unit out, another in, and refitting."""
    feasible = problem.constraint
    inside = feasible.units_of(model.support)
    leave = [unit for unit in inside if not feasible.always[unit]]
    enter = [unit for unit in range(feasible.units) if unit not in inside and not feasible.never[unit]]
    sets = [[*(set(inside) - {j}), i] for j in leave for i in enter]
    if len(set(inside) | set(np.flatnonzero(feasible.always))) < feasible.k:
        sets += [[*inside, i] for i in enter]
    objectives = [best_on(problem, X, feasible.features(np.array(units)))[0] for units in sets]
    return min(objectives, default=np.inf) - problem.objective(model)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", ["k=2", "k=3", "always", "never", "always and never", "all always"])
def test_formula_is_the_refit_of_every_pair(design: str, name: str) -> None:
    rng = np.random.default_rng([list(DESIGNS).index(design), list(CONSTRAINTS).index(name)])
    for ridge in (0.0, 0.1):
        X, problem = random_problem(rng, losses.squared, CONSTRAINTS[name](), ridge, design=design)
        feasible = problem.constraint
        free = np.flatnonzero(~feasible.always & ~feasible.never)
        chosen = rng.choice(free, feasible.k - int(feasible.always.sum()), replace=False)
        _, model = best_on(problem, X, np.sort(np.append(np.flatnonzero(feasible.always), chosen)))
        for form in (X, sp.csr_array(X), sp.csc_array(X)):
            same = Problem(
                form,
                problem.y,
                constraint=CONSTRAINTS[name](),
                ridge=ridge,
                sample_weight=problem.v,
                fit_intercept=problem.fit_intercept,
            )
            change = swap_change(same, model)
            assert change == pytest.approx(every_pair(problem, X, model), abs=1e-9 * problem.scale)


def test_collinear_supports() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 6))
    X[:, 1] = X[:, 0]
    X[:, 2] = 0
    y = X[:, 3] + X[:, 0] + 0.1 * rng.standard_normal(20)
    problem = Problem(X, y, constraint=TopK(3), fit_intercept=True)
    _, model = best_on(problem, X, np.array([0, 1, 2]))
    assert swap_change(problem, model) == pytest.approx(every_pair(problem, X, model), abs=1e-10)


def test_room_is_used() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    for always in ((), (5,)):
        problem = Problem(X, y, constraint=TopK(3, always=always), ridge=0.1, fit_intercept=True)
        for support in ([0, 1], [0]):
            _, model = best_on(problem, X, np.array(support))
            assert swap_change(problem, model) == pytest.approx(every_pair(problem, X, model), abs=1e-10)


def test_counted_from_the_models_own_objective() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    problem = Problem(X, y, constraint=TopK(2))
    model = Model(np.array([0, 1]), np.array([5.0, 5.0]))
    assert swap_change(problem, model) == pytest.approx(every_pair(problem, X, model), rel=1e-9)


def test_an_optimum_has_no_better_exchange_and_others_often_have() -> None:
    rng = np.random.default_rng(4)
    better = 0
    for _ in range(30):
        X, problem = random_problem(rng, losses.squared, TopK(2), 0.01, design="correlated")
        best, model = optimum(problem, X)
        assert swap_change(problem, model) >= -1e-9 * max(1, abs(best))
        better += swap_change(problem, best_on(problem, X, np.array([4, 5]))[1]) < -1e-9
    assert better >= 25


def test_more_columns_than_one_block() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30_000, 60)).astype(np.float32)
    y = X[:, 40] + rng.standard_normal(30_000)
    problem = Problem(X, y, constraint=TopK(2), fit_intercept=True)
    _, model = best_on(problem, X, np.array([0, 1]))
    assert swap_change(problem, model) == pytest.approx(every_pair(problem, X, model), abs=1e-9)


@pytest.mark.parametrize("name", ["k=2", "always", "never", "groups", "bounds", "groups and bounds"])
@pytest.mark.parametrize("loss", [losses.squared, losses.logistic, losses.poisson, losses.multinomial])
def test_refits_agree_with_the_reference(loss: losses.Loss, name: str) -> None:
    rng = np.random.default_rng([6, list(CONSTRAINTS).index(name)])
    X, problem = random_problem(rng, loss, CONSTRAINTS[name](), 0.1, design="gaussian")
    feasible = problem.constraint
    units = feasible.best_units(rng.random(feasible.units))
    _, model = best_on(problem, X, feasible.features(units))
    assert refit_change(problem, model) == pytest.approx(every_pair(problem, X, model), abs=1e-7 * problem.scale)


@pytest.mark.parametrize(
    ("loss", "constraint"),
    [
        ("logistic", TopK(1)),
        ("squared", TopK(1, groups=[0, 0, 1])),
        ("squared", TopK(1, bounds=(-1, 1))),
        ("squared", TopK(1) & L2Ball(1.0)),
    ],
)
def test_the_formula_refuses_what_it_is_not_for(loss: str, constraint: TopK) -> None:
    problem = Problem(np.eye(3), [1.0, -1.0, 1.0], loss, constraint=constraint)
    with pytest.raises(ValueError, match="squared loss without groups, bounds or ball; use refit_change"):
        swap_change(problem, Model(np.array([0]), np.array([0.5])))


def test_refits_refuse_the_hinge_and_balls() -> None:
    model = Model(np.array([0]), np.array([0.5]))
    for loss, constraint in (("hinge", TopK(1)), ("squared", TopK(1) & L2Ball(1.0))):
        with pytest.raises(ValueError, match="smooth losses without a ball"):
            refit_change(Problem(np.eye(3), [1.0, -1.0, 1.0], loss, constraint=constraint), model)
