"""The dual bound against the enumerated optimum, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from paring import _core, losses, solve
from paring.certificates import bound_from, lower_bound
from paring.constraints import L2Ball, TopK
from paring.dual import DualPoint, dual_point, least_bound, slopes_at
from paring.ksupport import Walk, ascend
from paring.problem import Problem
from paring.result import Model
from tests.reference.enumeration import best_on, optimum
from tests.reference.random_problems import BOUNDED, CONSTRAINTS, DESIGNS, GROUPS, random_problem

ROUNDING = 1e-9
SEARCHED = (*BOUNDED, "nonnegative")  # the reference is slow within bounds
SMOOTH = [loss for loss in losses.ALL if loss.smooth]


def below(problem: Problem, bound: float, best: float) -> bool:
    return bound <= best + ROUNDING * max(abs(best), problem.scale)


def random_model(rng: np.random.Generator, problem: Problem, model: Model) -> Model:
    """The model, disturbed within the bounds: a bound must hold from anywhere."""
    w = problem.constraint.clip(model.weights + 0.5 * rng.standard_normal(model.weights.shape), model.support)
    return Model(model.support, w, 0.0)


def ridges(rng: np.random.Generator, name: str, count: int) -> list[float]:
    """From weak to strong; 0 as well within finite bounds."""
    drawn = 10.0 ** rng.uniform(-3, 0.5, count)
    return [0.0, *drawn[1:]] if name in BOUNDED else list(drawn)


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("loss", losses.ALL, ids=lambda loss: loss.name)
def test_bound_never_exceeds_the_enumerated_optimum(loss: losses.Loss, name: str) -> None:
    rng = np.random.default_rng([list(CONSTRAINTS).index(name), losses.ALL.index(loss)])
    slow = loss.name in ("multinomial", "hinge") or (loss.name != "squared" and name in SEARCHED)
    count = 2 if slow else 6
    for ridge in ridges(rng, name, count):
        X, problem = random_problem(rng, loss, CONSTRAINTS[name](), ridge)
        best, model = optimum(problem, X)
        bound = lower_bound(problem, model)
        assert np.isfinite(bound)
        assert below(problem, bound, best)
        assert below(problem, lower_bound(problem, random_model(rng, problem, model)), best)
        gap = bound_from(problem, model, problem.objective(model))
        assert gap == pytest.approx(best - bound, abs=1e-7 * problem.scale)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_bound_on_every_design(design: str, intercept: bool, weights: bool) -> None:
    rng = np.random.default_rng([list(DESIGNS).index(design), intercept, weights])
    for loss in (losses.squared, losses.logistic, losses.huber, losses.poisson, losses.squared_hinge):
        for ridge in (1e-6, 1e-2, 1.0):
            X, problem = random_problem(rng, loss, TopK(3), ridge, design=design, intercept=intercept, weights=weights)
            best, model = optimum(problem, X)
            assert below(problem, lower_bound(problem, model), best)


@pytest.mark.parametrize("name", [name for name in CONSTRAINTS if name not in SEARCHED])
@pytest.mark.parametrize("loss", losses.ALL, ids=lambda loss: loss.name)
def test_the_ascent_is_valid_and_never_below_the_plain_bound(loss: losses.Loss, name: str) -> None:
    rng = np.random.default_rng([1, list(CONSTRAINTS).index(name), losses.ALL.index(loss)])
    X, problem = random_problem(rng, loss, CONSTRAINTS[name](), 10.0 ** rng.uniform(-2, 0))
    best, model = optimum(problem, X)
    plain, ascended = lower_bound(problem, model), lower_bound(problem, model, ascend=True)
    assert plain <= ascended
    assert below(problem, ascended, best)


def primal_and_dual(problem: Problem, rounds: int) -> tuple[float, float]:
    """The least primal value of the relaxation and the best bound that the ascent's rounds come upon."""
    walk, reach, best = Walk.start(problem, problem.zeros()), np.inf, -np.inf
    for _ in range(rounds):
        a, z = slopes_at(problem, walk.z_out)
        point = dual_point(problem, a)
        best = max(best, point.bound())
        reach = min(reach, walk.step(problem, a, z, -point.c))
    return reach, best


@pytest.mark.parametrize("name", ["k=3", "always and never", "groups, always, never"])
@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_the_ascent_closes_the_gap_to_its_relaxation(loss: losses.Loss, name: str) -> None:
    rng = np.random.default_rng([2, list(CONSTRAINTS).index(name), losses.ALL.index(loss)])
    for intercept in (False, True):
        _, problem = random_problem(rng, loss, CONSTRAINTS[name](), 0.1, design="gaussian", intercept=intercept)
        primal, dual = primal_and_dual(problem, 400)
        assert abs(primal - dual) <= 1e-8 * problem.scale


def test_the_papers_counterexample() -> None:
    """Yuan et al. (DIHT): the optimum is 4/3; the dual's maximum 55/42, not the 7/6 printed, at (-12/7, -12/7, -1)."""
    problem = Problem(np.eye(3), [2.0, 2.0, 1.0], constraint=TopK(1), ridge=1.0)
    best, model = optimum(problem, np.eye(3))
    assert best == pytest.approx(4 / 3)
    at_maximum = dual_point(problem, np.array([-12 / 7, -12 / 7, -1.0])).bound()
    assert at_maximum == pytest.approx(55 / 42, abs=1e-10)
    assert lower_bound(problem, model) < 55 / 42 - 0.01
    assert lower_bound(problem, model, ascend=True) == pytest.approx(55 / 42, abs=1e-5)
    assert lower_bound(problem, model, ascend=True) <= 55 / 42


@pytest.mark.parametrize("loss", [losses.squared, losses.logistic, losses.huber, losses.squared_hinge])
def test_without_the_equality_the_number_would_exceed_the_optimum(loss: losses.Loss) -> None:
    """Slopes that do not sum to 0 give no bound once the intercept is free; ours is -infinity there."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 4))
    y = X[:, 0] + 6 if loss.targets == "real" else np.where(np.arange(30) < 27, 1.0, -1.0)
    fixed, free = (
        Problem(X, y, loss, constraint=TopK(2), ridge=0.5, fit_intercept=intercept) for intercept in (False, True)
    )
    best, model = optimum(free, X)
    naive = loss.slope(X[:, model.support] @ model.weights, y)
    assert dual_point(fixed, naive).bound() > best * 1.01
    assert dual_point(free, naive).bound() == -np.inf
    assert below(free, lower_bound(free, model), best)


def test_classes_need_one_equality_each() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 4))
    y = np.repeat([0.0, 1.0, 2.0], [34, 3, 3])
    fixed, free = (
        Problem(X, y, "multinomial", constraint=TopK(2), ridge=0.5, fit_intercept=intercept)
        for intercept in (False, True)
    )
    best, model = optimum(free, X)
    naive = free.loss.slope(X[:, model.support] @ model.weights, y)
    assert dual_point(fixed, naive).bound() > best * 1.01
    assert dual_point(free, naive).bound() == -np.inf
    assert below(free, lower_bound(free, model), best)


@pytest.mark.parametrize(
    ("loss", "a"),
    [
        ("logistic", [0.5, -0.5]),
        ("logistic", [-1.1, 0.1]),
        ("hinge", [-1.01, 0.5]),
        ("smoothed_hinge", [-0.5, 1.01]),
        ("squared_hinge", [0.1, 0.1]),
        ("huber", [1.36, 0.0]),
        ("poisson", [-1.1, 0.0]),
    ],
)
def test_outside_the_domain_there_is_no_bound(loss: str, a: list[float]) -> None:
    y = [1.0, 1.0] if loss in ("huber", "poisson") else [1.0, -1.0]
    problem = Problem(np.eye(2), y, loss, constraint=TopK(1), ridge=1.0)
    assert dual_point(problem, np.array(a)).bound() == -np.inf
    assert np.isfinite(dual_point(problem, np.zeros(2)).bound())


def test_no_bound_without_ridge_and_bounds() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((20, 5))
    y = X[:, 2] + 0.1 * rng.standard_normal(20)  # so that the gain of feature 2 is infinite
    for constraint in (TopK(2), TopK(2, bounds=(0, np.inf)), TopK(2, bounds=([-1] * 5, [1, 1, np.inf, 1, 1]))):
        problem = Problem(X, y, constraint=constraint)
        model = Model(np.array([0, 1]), np.zeros(2))
        assert bound_from(problem, model, problem.objective(model)) == np.inf
        assert bound_from(problem, model, problem.objective(model), ascend=True) == np.inf


def test_an_unbounded_weight_that_is_never_used_does_no_harm() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((20, 5)), rng.standard_normal(20)
    constraint = TopK(2, never=[2], bounds=([-1, -1, -np.inf, -1, -1], [1, 1, np.inf, 1, 1]))
    problem = Problem(X, y, constraint=constraint)
    best, model = optimum(problem, X)
    assert np.isfinite(lower_bound(problem, model))
    assert below(problem, lower_bound(problem, model), best)


@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize("tau", [0.2, 1.0, 100.0])
def test_a_ball_shrinks_the_set_and_sharpens_the_bound(ridge: float, tau: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(10):
        X = rng.standard_normal((12, 6))
        y = 2 * X[:, 0] + rng.standard_normal(12)
        with_ball, without = (
            Problem(X, y, constraint=constraint, ridge=ridge, fit_intercept=True)
            for constraint in (TopK(2) & L2Ball(tau), TopK(2))
        )
        best, model = optimum(with_ball, X)
        bound = lower_bound(with_ball, model)
        assert np.isfinite(bound)
        assert below(with_ball, bound, best)
        if ridge > 0:
            assert bound >= lower_bound(without, model) - 1e-12
            assert below(with_ball, lower_bound(with_ball, model, ascend=True), best)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_bound_at_extreme_scales(shift: float, size: float) -> None:
    rng = np.random.default_rng(8)
    for _ in range(5):
        X = rng.standard_normal((20, 5)) + shift
        y = size * (X[:, 0] - shift + 0.1 * rng.standard_normal(20) + shift)
        problem = Problem(X, y, constraint=TopK(2), ridge=0.1, fit_intercept=True)
        best, model = optimum(problem, X)
        assert below(problem, lower_bound(problem, model), best)
        assert below(problem, lower_bound(problem, model, ascend=True), best)


def test_an_orthogonal_design_is_proved_optimal() -> None:
    rng = np.random.default_rng(9)
    X = np.linalg.qr(rng.standard_normal((40, 8)))[0] * np.sqrt(40)
    y = X[:, :3] @ [3.0, -2.0, 1.0] + 0.1 * rng.standard_normal(40)
    for loss in (losses.squared, losses.huber(50.0)):
        problem = Problem(X, y, loss, constraint=TopK(3), ridge=0.1)
        best, model = optimum(problem, X)
        gap = bound_from(problem, model, best)
        assert 0 <= gap <= 1e-10 * problem.scale


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "constraint",
    [
        TopK(6),
        TopK(3, groups=GROUPS),
        TopK(3, always=[0, 3, 5]),
        TopK(2, always=[1], never=[0, 2, 3, 4]),
        TopK(6, bounds=([-0.1, -np.inf, 0, -0.2, -1, -0.1], [0.1, np.inf, np.inf, 0, 0.05, 0])),
    ],
    ids=["k=d", "all groups", "always", "never", "bounds"],
)
@pytest.mark.parametrize("loss", losses.ALL, ids=lambda loss: loss.name)
def test_the_gap_closes_where_nothing_is_to_be_chosen(loss: losses.Loss, constraint: TopK, intercept: bool) -> None:
    """The problem is then convex: the bound from its minimiser must meet it, weights, intercept, bounds and all."""
    rng = np.random.default_rng([losses.ALL.index(loss), intercept])
    for weights in (False, True):
        X, problem = random_problem(rng, loss, constraint, 0.1, design="gaussian", intercept=intercept, weights=weights)
        best, model = optimum(problem, X)
        loose = 1e-5 if loss.name == "hinge" else 1e-6  # the reference's own accuracy
        assert bound_from(problem, model, best) <= loose * problem.scale


@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_the_gap_closes_in_a_ball(ridge: float) -> None:
    rng = np.random.default_rng(17)
    X = rng.standard_normal((30, 4))
    problem = Problem(X, X.sum(axis=1), constraint=TopK(4) & L2Ball(0.7), ridge=ridge, fit_intercept=True)
    best, model = optimum(problem, X)
    assert bound_from(problem, model, best) <= 1e-8 * problem.scale


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_gap_closes_on_an_orthogonal_design(name: str) -> None:
    """Units apart from one another, the chosen ones far stronger: with weights and an intercept."""
    rng = np.random.default_rng(18)
    v = rng.random(40) + 0.5
    v *= 40 / v.sum()
    feasible = CONSTRAINTS[name]().bind(6)
    X = rng.standard_normal((40, 6))
    X = np.linalg.qr(np.sqrt(v)[:, None] * (X - np.average(X, axis=0, weights=v)))[0] * np.sqrt(40 / v)[:, None]
    w = np.zeros(6)
    w[feasible.features(feasible.best_units(rng.random(feasible.units)))] = 2.0
    y = X @ w + 7
    for ridge in (0.0, 0.1) if name in BOUNDED else (0.1,):
        problem = Problem(X + 3, y, constraint=CONSTRAINTS[name](), ridge=ridge, sample_weight=v, fit_intercept=True)
        best, model = optimum(problem, X + 3)
        assert bound_from(problem, model, best) <= 1e-8 * problem.scale


def test_the_hinge_on_its_corners_is_proved_optimal() -> None:
    """At the optimum of two points with equal weight both margins are 1: only slopes between -y and 0 explain w."""
    X = np.array([[1.0, 0.0, 0.3], [-1.0, 0.1, -0.2]])
    problem = Problem(X, [1.0, -1.0], "hinge", constraint=TopK(1), ridge=0.1, fit_intercept=True)
    best, model = optimum(problem, X)
    assert bound_from(problem, model, problem.objective(model)) <= 1e-6
    assert best == pytest.approx(0.05, abs=1e-8)


def test_a_perfect_fit_of_one_class_alone() -> None:
    X = np.random.default_rng(10).standard_normal((10, 4))
    for loss in ("logistic", "hinge", "squared_hinge", "smoothed_hinge"):
        problem = Problem(X, np.ones(10), loss, constraint=TopK(2), ridge=0.1, fit_intercept=True)
        model = Model(np.array([0, 1]), np.zeros(2), 40.0)
        assert bound_from(problem, model, problem.objective(model)) == pytest.approx(0, abs=1e-10)


def test_no_counts_at_all() -> None:
    X = np.random.default_rng(11).standard_normal((10, 4))
    for intercept in (False, True):
        problem = Problem(X, np.zeros(10), "poisson", constraint=TopK(2), ridge=0.1, fit_intercept=intercept)
        best, model = optimum(problem, X)
        assert below(problem, lower_bound(problem, model), best)


def test_storage_does_not_change_the_bound() -> None:
    rng = np.random.default_rng(12)
    X = np.where(rng.random((30, 8)) < 0.5, 0, rng.standard_normal((30, 8))).astype(np.float32)
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    bounds = []
    for form in (X, np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X), X.astype(np.float64)):
        problem = Problem(form, y, "logistic", constraint=TopK(3), ridge=0.1, fit_intercept=True)
        model = Model(np.array([0, 3, 5]), np.array([0.1, -0.2, 0.3]), 0.1)
        bounds.append([lower_bound(problem, model), lower_bound(problem, model, ascend=True)])
    np.testing.assert_allclose(bounds, np.broadcast_to(bounds[0], (5, 2)), rtol=1e-7)


def test_an_infeasible_model_proves_nothing() -> None:
    rng = np.random.default_rng(13)
    X = np.linalg.qr(rng.standard_normal((40, 8)))[0] * np.sqrt(40)
    problem = Problem(X, X.sum(axis=1), constraint=TopK(1), ridge=0.1)
    _, model = best_on(problem, X, np.arange(8))
    assert bound_from(problem, model, problem.objective(model)) == np.inf


def test_rows_of_no_weight_do_not_count() -> None:
    rng = np.random.default_rng(14)
    X = rng.standard_normal((20, 5))
    y = rng.poisson(2.0, 20).astype(float)
    weights = np.append(np.ones(15), np.zeros(5))
    X[15:] *= 1e3  # would overflow the exponential
    whole = Problem(X, y, "poisson", constraint=TopK(2), ridge=0.1, sample_weight=weights)
    part = Problem(X[:15], y[:15], "poisson", constraint=TopK(2), ridge=0.1)
    model = Model(np.array([0, 1]), np.array([0.3, -0.2]))
    assert lower_bound(whole, model) == pytest.approx(lower_bound(part, model), rel=1e-9)


def test_a_stop_ends_the_ascent_with_what_it_has() -> None:
    rng = np.random.default_rng(15)
    X = rng.standard_normal((40, 10)) + 2 * rng.standard_normal((40, 1))
    problem = Problem(X, rng.standard_normal(40), constraint=TopK(3), ridge=1e-3)
    model = Model(np.array([0, 1, 2]), np.zeros(3))
    objective = problem.objective(model)
    plain, whole = lower_bound(problem, model), lower_bound(problem, model, ascend=True)

    class StopAfter:
        """A design whose stop is requested once some passes are done."""

        def __init__(self, passes: int) -> None:
            self.left = passes

        def __getattr__(self, name: str) -> object:
            return getattr(design, name)

        def adjoint(self, r: np.ndarray) -> np.ndarray:
            self.left -= 1
            if self.left < 0:
                design.stop.request()
            return design.adjoint(r)

    design = problem.design
    problem.design = StopAfter(5)
    cut = lower_bound(problem, model, ascend=True)
    assert plain <= cut < whole
    assert ascend(problem, model, objective) == -np.inf  # stopped before its first pass
    assert lower_bound(problem, model, objective) == least_bound(problem)
    with pytest.raises(_core.Stopped):
        design.stop.check()


def test_a_point_on_the_segment_to_zero_is_a_point() -> None:
    rng = np.random.default_rng(16)
    for loss in losses.ALL:
        _, problem = random_problem(rng, loss, TopK(2), 0.01, intercept=True)
        a, _ = slopes_at(problem, np.zeros(problem.zeros()[:0].shape and (problem.n, *problem.zeros().shape[1:])))
        point = dual_point(problem, a)
        for t in (0.0, 0.3, 1.0):
            scaled = dual_point(problem, t * a)
            assert isinstance(scaled, DualPoint)
            assert point.bound(t) == pytest.approx(scaled.bound(), abs=1e-9 * problem.scale)
        assert point.best() >= max(point.bound(), point.bound(0.3))


@pytest.mark.parametrize("constraint", [TopK(1), TopK(1, bounds=(0, np.inf))], ids=["free", "one-sided"])
def test_a_perfect_fit_is_proved_optimal_without_ridge(constraint: TopK) -> None:
    X = np.random.default_rng(17).standard_normal((30, 6))
    perfect = solve(Problem(X, 3 * X[:, 0], constraint=constraint))
    assert perfect.proved_optimal and perfect.certificate.kind == "dual_gap" and perfect.dual_gap <= 1e-12
    other = solve(Problem(X, 3 * X[:, 0] + 0.1 * X[:, 1], constraint=constraint))
    assert not other.proved_optimal and other.dual_gap == np.inf
    loose = solve(Problem(X, 3 * X[:, 0] + 0.1 * X[:, 1], constraint=constraint), tol=0.01)
    assert loose.proved_optimal and 0 < loose.dual_gap <= 0.01 * loose.null_objective
