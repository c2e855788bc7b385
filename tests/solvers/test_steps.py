"""Thresholded steps: exact minimisers of their model; rules that descend; what they refuse."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from paring import Problem, solve
from paring.constraints import L2Ball, TopK
from paring.solvers.htp import HTP
from paring.solvers.iht import IHT
from paring.solvers.steps import Backtracking, Fixed, Lipschitz, Normalised, Trial, metric_of
from tests.reference.thresholding import diagonal_minimum, keep, subsets
from tests.solvers.problems import data, problem


def model_value(trial: Trial, c: float, w: np.ndarray) -> float:
    """The diagonal model of step c at w, less F: with b at its own minimum."""
    h = np.ones(len(w)) if trial.h is None else trial.h
    change = w - trial.at.w
    own = -c * trial.at.gb**2 / (2 * trial.metric.h_b)
    return float(trial.g @ change + (h * change**2).sum() / (2 * c) + own)


LIMITS = {
    "plain": {},
    "always and never": {"always": [5], "never": [0, 2]},
    "groups": {"groups": [2, 0, 1, 0, 1, 2, 3, 3]},
    "bounds": {"bounds": (-0.2, np.array([0.0, 0.1, 0.3, 0.3, np.inf, 0.2, 0.5, 0.1]))},
}


@pytest.mark.parametrize("scaling", ["none", "curvature"])
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
def test_a_move_is_the_exact_minimiser_of_its_model(scaling: str, limits: dict, intercept: bool) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 8)) * rng.choice([0.1, 1.0, 5.0], 8) + rng.standard_normal(8)
        p = Problem(X, rng.standard_normal(30), constraint=TopK(3, **limits), ridge=0.1, fit_intercept=intercept)
        w = p.constraint.project(rng.standard_normal(8))
        F, g, gb = p.gradient(w, 0.3)
        at = SimpleNamespace(w=w, b=0.3, z=X @ w + 0.3, g=g, gb=gb, objective=F, step=0.0)
        metric = metric_of(p, scaling)
        trial, c = Trial(p, at, metric), 0.7 * metric.first
        move = trial.move(c)
        h = np.ones(8) if metric.h is None else metric.h
        u = w - c * trial.g / h
        lower, upper = (-np.inf, np.inf) if p.constraint.lower is None else (p.constraint.lower, p.constraint.upper)
        unit_of = np.arange(8) if p.constraint.unit_of is None else p.constraint.unit_of
        allowed = [
            tuple(np.flatnonzero(np.isin(unit_of, units)))
            for units in subsets(p.constraint.units, 3)
            if p.constraint.always[list(units)].sum() == p.constraint.always.sum()
            and not p.constraint.never[list(units)].any()
        ]
        least = diagonal_minimum(u, h, allowed, lower, upper)
        assert np.sum(h * (move.w - u) ** 2) == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert p.constraint.contains(move.w)
        assert -move.gain == pytest.approx(model_value(trial, c, move.w), rel=1e-8, abs=1e-12)
        assert move.gain >= 0


def test_scaled_step_is_the_same_for_columns_in_other_units() -> None:
    # Weights of a column in other units scale inversely: the support and the scores stay. So too with shifted columns.
    X, y = data("squared")
    units = np.geomspace(0.01, 100, X.shape[1])
    for solver in (IHT(scaling="curvature"), HTP(scaling="curvature")):
        a = solve(Problem(X, y, constraint=TopK(4), fit_intercept=True), solver)
        b = solve(Problem(X * units + 3 * units, y, constraint=TopK(4), fit_intercept=True), solver)
        np.testing.assert_array_equal(a.support, b.support)
        np.testing.assert_allclose(b.coef * units, a.coef, rtol=1e-7, atol=1e-9)
        assert a.n_iter == b.n_iter
    plain = solve(Problem(X * units + 3 * units, y, constraint=TopK(4), fit_intercept=True), HTP())
    assert plain.objective > 1.2 * a.objective


@pytest.mark.parametrize("rule", [Lipschitz(), Normalised(), Backtracking(), Backtracking(0.7, 1.0)], ids=repr)
@pytest.mark.parametrize("loss", ["squared", "logistic", "smoothed_hinge", "multinomial"])
def test_rules_descend(rule, loss: str) -> None:
    objectives = [record.objective for record in solve(problem(loss), IHT(rule), tol=1e-9).history]
    assert np.all(np.diff(objectives) <= 1e-12)
    assert len(objectives) > 2


def test_backtracking_finds_longer_steps_than_the_bound() -> None:
    p = problem("smoothed_hinge", fit_intercept=True)
    assert solve(p, IHT(Backtracking())).n_iter < solve(p, IHT(Lipschitz())).n_iter / 2


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_a_divergent_step_is_an_error_that_names_the_remedy(loss: str) -> None:
    with pytest.raises(ValueError, match=r"iht: the step 50 is too long, .* use step=Backtracking\(\)"):
        solve(problem(loss, ridge=0.1 * (loss == "logistic")), IHT(Fixed(50.0)))


def test_refused_settings() -> None:
    with pytest.raises(ValueError, match="step must be a positive number, got -1"):
        solve(problem("squared"), IHT(Fixed(-1)))
    with pytest.raises(ValueError, match=r"poisson: its slope is not Lipschitz; use step=Backtracking\(\)"):
        solve(problem("poisson"), HTP(Lipschitz()))
    with pytest.raises(ValueError, match=r"unscaled curvature only: use step=Backtracking\(\)"):
        solve(problem("squared"), IHT(Lipschitz(), scaling="curvature"))
    with pytest.raises(ValueError, match="scaling must be 'none' or 'curvature', got 'columns'"):
        solve(problem("squared"), HTP(scaling="columns"))
    with pytest.raises(ValueError, match="shrink must be between 0 and 1"):
        solve(problem("squared"), IHT(Backtracking(shrink=1.0)))
    X, y = data("squared")
    ball = Problem(X, y, constraint=TopK(4) & L2Ball(1.0))
    with pytest.raises(ValueError, match="use scaling='none'"):
        solve(ball, IHT(scaling="curvature"))


def test_settings_are_values() -> None:
    assert IHT(Fixed(0.1)) == IHT(step=Fixed(0.1)) != IHT()
    assert repr(HTP(Normalised(), "curvature")) == "HTP(rule=Normalised(shrink=0.5), scaling='curvature')"
    with pytest.raises(AttributeError):
        IHT().rule = Fixed(1.0)


def test_twin_keeps_ties_as_the_constraint_does() -> None:
    u = np.array([1.0, -1.0, 2.0, 1.0, 0.5])
    np.testing.assert_array_equal(keep(u, 3), TopK(3).bind(5).project(u))


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_htp_survives_a_step_of_any_length(loss: str) -> None:
    for step in (1e-9, 1e3, 1e12):
        result = solve(problem(loss, ridge=0.01, fit_intercept=True), HTP(Fixed(step)))
        assert np.isfinite(result.coef).all()
        assert result.objective < result.null_objective
