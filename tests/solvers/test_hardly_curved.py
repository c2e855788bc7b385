"""Losses in pieces where next to no row is in the curved one: huber on targets of ordinary size, narrow hinges."""

from __future__ import annotations

import numpy as np
import pytest

from paring import Problem, losses, solve
from paring.constraints import TopK
from paring.solvers import restricted
from tests.reference.deviations import least_absolute

PLANTED = [2, 5, 7]


def planted(scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    return X, scale * (X[:, PLANTED] @ [3, -2, 1.0] + 0.1 * rng.normal(size=80))


@pytest.mark.parametrize("solver", ["pursuit", "htp", "omp", "grasp", "fnhtp"])
@pytest.mark.parametrize("scale", [1e2, 1e5, 1e8])
def test_huber_far_above_delta_is_least_absolute_deviations(solver: str, scale: float) -> None:
    X, y = planted(scale)
    result = solve(Problem(X, y, "huber", constraint=TopK(3), fit_intercept=True), solver, random_state=0)
    assert result.converged
    assert result.support.tolist() == PLANTED
    delta = losses.DEFAULT_DELTA
    least = least_absolute(X[:, PLANTED], y)  # delta |r| - delta^2 / 2 <= huber <= delta |r|
    slack = 1e-6 * result.null_objective if solver == "fnhtp" else 1e-9 * result.null_objective
    assert delta * least - delta**2 / 2 - slack <= result.objective <= delta * least + slack


@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("loss", [losses.huber, losses.smoothed_hinge], ids=["huber", "smoothed_hinge"])
def test_the_minimum_does_not_depend_on_the_start(loss: losses.Loss, width: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(20, 200)), 6))
        y = X @ rng.normal(size=6) + rng.standard_t(2, size=len(X))
        y = y if loss.targets == "real" else np.where(y > 0, 1.0, -1.0)
        bounds = (-0.3, 0.4) if seed % 2 else None
        posed = Problem(X, y, loss(width), constraint=TopK(6, bounds=bounds), fit_intercept=True)
        starts = np.zeros(6), rng.normal(size=6)
        ends = [posed.minimise_on(np.arange(6), start, 0.0) for start in starts]
        assert all(end.converged for end in ends)
        assert ends[0].objective == pytest.approx(ends[1].objective, abs=1e-9 * posed.scale)


@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-6])
def test_exchanges_are_seen_without_curvature_at_the_minimum(width: float) -> None:
    """At the minimum of least absolute deviations as many rows are curved as there are weights: they say nothing."""
    reached = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 8)) + 0.5 * rng.normal(size=(60, 1))
        y = X[:, :3] @ [1.0, -1, 1] + rng.standard_t(2, size=60)
        posed = Problem(X, y, losses.huber(width), constraint=TopK(3), fit_intercept=True)
        result = solve(posed)
        best = posed.minimise_on(np.arange(3)).objective
        reached += result.objective <= best + 1e-6 * posed.scale
    assert reached == 20


@pytest.mark.parametrize("solver", ["pursuit", "htp", "omp"])
def test_a_minimum_that_is_not_reached_is_not_called_converged(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restricted, "MOST_ROUNDS", 1)
    X, y = planted(1e5)
    result = solve(Problem(X, y, "huber", constraint=TopK(3), fit_intercept=True), solver)
    assert result.stop_reason == "stalled"
    assert not result.converged
    assert result.swap_optimal is None
    if solver == "pursuit":
        assert "the minimum on the support was not reached" in result.certificate.statement


def test_the_models_curvature_is_the_mean_over_moves() -> None:
    rng = np.random.default_rng(1)
    z, y, v = 10 * rng.normal(size=500), np.sign(rng.normal(size=500)), np.ones(500)
    for loss in (losses.squared, losses.logistic):
        np.testing.assert_array_equal(loss.core.model_curvature(z, y, v), loss.core.curvature(z, y))
    for loss in (losses.huber(1e-3), losses.smoothed_hinge(1e-3)):
        c, slope = loss.core.model_curvature(z, y, v), loss.core.slope(z, y)
        assert np.all((c >= 0) & (c <= loss.curvature_bound))
        width = np.ptp(loss.core.slope(np.array([-1e9, 1e9]), np.ones(2)))
        t = width / (2 * c.max())  # a move that crosses the curved piece whole: the longest there is
        change = (loss.core.slope(z + t, y) - loss.core.slope(z - t, y)) / (2 * t)
        np.testing.assert_allclose(c, change, rtol=1e-6, atol=1e-9)
        # A feature whose correlation with the slopes is .3 moves the scores by .3 |slopes| / c, which is at most t.
        assert 0.3 * np.sqrt(np.mean(slope**2)) <= t * c.mean() * (1 + 1e-9)
        assert np.count_nonzero(loss.core.curvature(z, y)) < 3 < 50 < np.count_nonzero(c)
