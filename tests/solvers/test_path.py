"""Paths of penalised problems: each step is what a solve alone gives; where they begin and end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paring
from paring import Problem, solve
from paring.constraints import TopK
from paring.penalties import L1, L1L2, Group, MultiTask, SparseGroup
from paring.screening import Strong
from paring.solvers.cd import CD

N, D = 50, 120


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) + 0.4 * rng.standard_normal((N, 1))
    return X, X[:, ::20] @ rng.standard_normal(6) + 0.3 * rng.standard_normal(N) + 1


def labels() -> tuple[np.ndarray, np.ndarray]:
    X, y = data()
    return X, np.where(y > np.median(y), 1.0, -1.0)


FORMS: list[tuple[str, Any, dict[str, Any]]] = [
    ("squared", L1(1), {}),
    ("squared", L1(1, bounds=(0, np.inf)), {"fit_intercept": True}),
    ("squared", L1L2(1, 0.5), {"fit_intercept": True}),
    ("squared", Group(1, np.arange(D) // 4), {"fit_intercept": True}),
    ("logistic", SparseGroup(1, np.arange(D) // 4), {"fit_intercept": True}),
    ("logistic", L1(1), {"ridge": 0.01}),
]


@pytest.mark.parametrize(("loss", "penalty", "settings"), FORMS)
def test_steps_are_what_solves_alone_give(loss: str, penalty: Any, settings: dict[str, Any]) -> None:
    X, y = data() if loss == "squared" else labels()
    path = paring.path(X, y, loss, penalty=penalty, lams=6, eps=0.05, tol=1e-10, **settings)
    assert path.stop_reason == "end" and len(path.steps) == 6
    assert path.steps[0].size == 0 < path.steps[1].size
    np.testing.assert_allclose(path.lams[-1], 0.05 * path.lam_max)
    for step, coef in zip(path.steps, path.coef, strict=True):
        problem = Problem(X, y, loss, penalty=penalty.at(step.lam), **settings)
        alone = solve(problem, tol=1e-10)
        np.testing.assert_allclose(coef, alone.coef, atol=1e-5)
        assert step.objective == pytest.approx(alone.objective, rel=1e-9)
        without = problem.objective(step.model) - problem.penalty_of(step.model)
        assert step.fit == pytest.approx(without - 0.5 * problem.ridge * coef @ coef, rel=1e-12)
        assert step.dual_gap <= 1e-10 * problem.scale
    just_below = Problem(X, y, loss, penalty=penalty.at(0.999 * path.lam_max), **settings)
    assert len(solve(just_below, tol=1e-10).support) > 0


def test_classes_and_targets_have_paths() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 20))
    several = X[:, :3] @ rng.standard_normal((3, 2)) + 0.1 * rng.standard_normal((80, 2))
    path = paring.path(X, several, penalty=MultiTask(1), lams=5, fit_intercept=True)
    assert path.coef.shape == (5, 20, 2) and path.intercept.shape == (5, 2)
    classes = np.argmax(X[:, :3] + rng.gumbel(size=(80, 3)), axis=1)
    path = paring.path(X, classes, "multinomial", lams=5)
    assert path.coef.shape == (5, 20, 3) and path.steps[0].size == 0 < path.steps[-1].size


def test_unpenalised_features_are_in_from_the_start() -> None:
    X, y = data()
    factors = np.ones(D)
    factors[[7, 9]] = 0
    path = paring.path(X, y, penalty=L1(1, factors=factors), lams=4, fit_intercept=True)
    assert path.steps[0].model.support.tolist() == [7, 9]
    assert path.steps[1].size > 2


def test_the_grid_is_what_was_asked_for() -> None:
    X, y = data()
    problem = Problem(X, y, penalty=L1(3.0), fit_intercept=True)
    given = paring.path(problem, lams=[0.1, 0.4, 0.2])
    np.testing.assert_array_equal(given.lams, [0.4, 0.2, 0.1])
    assert given.lam_max is None
    table = given.table()
    np.testing.assert_array_equal(table["features"], [step.size for step in given.steps])
    assert set(table) == {"lam", "features", "fit", "objective", "dual_gap", "passes", "seconds"}
    assert "3 weights" in repr(given)


def test_ends() -> None:
    X, y = data()
    problem = Problem(X, y, penalty=L1(1.0), fit_intercept=True)
    whole = paring.path(problem, lams=30, eps=1e-3)
    few = paring.path(problem, lams=30, eps=1e-3, most_features=5)
    assert few.stop_reason == "most_features" and few.steps[-1].size > 5 >= few.steps[-2].size
    flat = paring.path(problem, lams=30, eps=1e-3, least_gain=1e-3)
    assert flat.stop_reason == "least_gain" and 2 < len(flat.steps) < len(whole.steps)
    fits = whole.table()["fit"]
    assert len(flat.steps) - 1 == np.flatnonzero(-np.diff(fits)[1:] < 1e-3 * problem.scale)[0] + 2
    told = paring.path(problem, callbacks=lambda step: step.size >= 3)
    assert told.stop_reason == "callback" and told.steps[-1].size >= 3
    assert paring.path(problem, time_limit=0.0).stop_reason == "time_limit"


def test_the_strong_rule_looks_back_along_the_path() -> None:
    X, y = data()
    problem = Problem(X, y, penalty=L1(1.0), fit_intercept=True)
    wanted = paring.path(problem, lams=10, tol=1e-10)
    got = paring.path(problem, lams=10, tol=1e-10, solver=CD(screening=Strong()))
    np.testing.assert_allclose(got.coef, wanted.coef, atol=1e-6)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"lams": 0}, "lams must be a positive number of weights"),
    ({"lams": []}, "lams must be a number of weights, or positive weights"),
    ({"lams": [0.1, 0.0]}, "lams must be a number of weights, or positive weights"),
    ({"eps": 1.0}, "eps must lie between 0 and 1"),
    ({"penalty": L1L2(1, 0.0)}, "no weight is the largest; give lams"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paring.path(*data(), **options)


def test_a_problem_is_given_alone_and_penalised() -> None:
    X, y = data()
    with pytest.raises(ValueError, match="give it alone"):
        paring.path(Problem(X, y, penalty=L1(1)), y)
    with pytest.raises(ValueError, match="its path of sizes is"):
        paring.path(Problem(X, y, constraint=TopK(3)))
