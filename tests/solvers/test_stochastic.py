"""sg-ht, hsg-ht, svrg-ht, saga-ht, asbcdht and sbcd-htp as solvers: what they end with, count, refuse and repeat."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, solve
from paring.constraints import L2Ball, TopK
from paring.solvers.asbcdht import ASBCDHT
from paring.solvers.hsg_ht import HSGHT
from paring.solvers.saga_ht import SAGAHT
from paring.solvers.sbcd_htp import SBCDHTP
from paring.solvers.sg_ht import SGHT
from paring.solvers.stochastic import ByNorm, Decreasing, Estimate, Fixed, Shuffled, Tuned
from paring.solvers.svrg_ht import SVRGHT
from tests.solvers.problems import PLANTED, SMOOTH, data, problem

SOLVERS = {
    "sg-ht": SGHT(),
    "sg-ht falling": SGHT(Decreasing()),
    "hsg-ht": HSGHT(),
    "svrg-ht": SVRGHT(),
    "svrg-ht batch": SVRGHT(batch=5, sampling=Shuffled()),
    "svrg-ht by norm": SVRGHT(sampling=ByNorm()),
    "svrg-ht row": SVRGHT(coordinates="row"),
    "svrg-ht scaled": SVRGHT(scaling="curvature"),
    "saga-ht": SAGAHT(),
    "saga-ht scaled": SAGAHT(scaling="curvature", batch=3),
    "asbcdht": ASBCDHT(blocks=3),
    "asbcdht last": ASBCDHT(blocks=3, ends="last", scaling="curvature"),
    "sbcd-htp": SBCDHTP(blocks=3),
    "sbcd-htp scaled": SBCDHTP(blocks=3, scaling="curvature"),
}
# Those whose noise dies out, so that they come to a fixed point.
REDUCED = {name: solver for name, solver in SOLVERS.items() if not name.startswith(("sg-ht", "sbcd"))}
EVERY = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
EACH_REDUCED = pytest.mark.parametrize("solver", REDUCED.values(), ids=REDUCED)
LAYOUT = pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])


def run(p: Problem, solver, **options):
    return solve(p, solver, **{"random_state": 0, **options})


# -- what they end with --------------------------------------------------------------------------------------------


@EVERY
@LAYOUT
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
def test_every_loss_without_tuning(solver, loss: str, layout, intercept: bool) -> None:
    p = problem(loss, layout=layout, ridge=0.01, fit_intercept=intercept)
    result = run(p, solver, max_passes=300)
    assert result.objective < result.null_objective
    assert np.isfinite(result.coef).all()
    assert np.all(np.isfinite(result.intercept))
    assert len(result.support) <= 4
    assert p.constraint.contains(result.coef)
    assert result.objective == pytest.approx(p.objective(result.model))
    assert result.certificate.kind == "fixed_point"
    best = run(p, "pursuit").objective
    assert result.objective - best < 0.5 * (result.null_objective - best)


@EACH_REDUCED
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_fixed_points(solver, loss: str) -> None:
    p = problem(loss, ridge=0.05, fit_intercept=True)
    result = run(p, solver, tol=1e-9, max_passes=4000)
    assert result.stop_reason == "converged"
    assert result.certificate.value <= 1e-9
    assert result.certificate.statement.startswith("a fixed point of thresholding")
    _, g, g_b = p.gradient(result.coef, result.intercept)
    here = np.abs(g[result.support]).max()
    assert here < 1e-3 * np.abs(p.gradient(p.zeros(), p.null[0])[1]).max()
    assert np.abs(g_b).max() < 1e-3
    metric = solver.metric(p)
    again = p.constraint.project(
        result.coef
        - result.state.step * g / (1 if metric.h is None else metric.h.reshape((-1,) + (1,) * (g.ndim - 1))),
        metric.h,
    )
    np.testing.assert_array_equal(again != 0, result.coef != 0)


@EVERY
@LAYOUT
def test_planted_support(solver, layout) -> None:
    p = problem("squared", layout=layout, fit_intercept=True)
    assert run(p, solver, max_passes=500).support.tolist() == PLANTED.tolist()


@EACH_REDUCED
def test_the_known_optimum_of_an_orthogonal_design(solver) -> None:
    # X'X = n I: F separates over features, and the k largest |X'y| are the best support.
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.standard_normal((60, 12)))[0] * np.sqrt(60)
    y = X @ np.array([0.1, -2.0, 0.2, 0.0, 1.5, -0.1, 3.0, 0.0, -2.5, 1.8, 0.1, 0.0]) + 0.1 * rng.standard_normal(60)
    u = X.T @ y / 60 / 1.05
    best = np.where(np.abs(u) >= np.sort(np.abs(u))[-5], u, 0)
    result = run(Problem(X, y, constraint=TopK(5), ridge=0.05), solver, tol=1e-12, max_passes=5000)
    np.testing.assert_allclose(result.coef, best, rtol=1e-4, atol=1e-4)


def test_steps_that_fall_come_closer_than_steps_that_do_not() -> None:
    p = problem("logistic", ridge=0.05)
    best = run(p, "iht").objective
    far, near = (
        run(p, SGHT(rule, batch=1), tol=1e-12, max_passes=300).objective - best for rule in ("estimate", Decreasing())
    )
    assert 0 <= near < 0.5 * far


def test_batches_that_grow_to_all_rows_end_as_iht_does() -> None:
    p = problem("squared", ridge=0.05, fit_intercept=True)
    result = run(p, HSGHT(growth=1.3), tol=1e-12, max_passes=3000)
    assert result.converged
    assert result.objective == pytest.approx(run(p, "iht", tol=1e-12).objective, rel=1e-9)
    assert [record.thresholdings for record in result.history][-1] - result.history[-2].thresholdings == 1


@EVERY
def test_the_best_model_met_is_returned(solver) -> None:
    result = run(problem("logistic", ridge=0.01), solver, max_passes=60)
    least = min([result.null_objective, *(record.objective for record in result.history)])
    assert result.objective <= least + result.converged * 1e-6 * result.null_objective


# -- randomness ----------------------------------------------------------------------------------------------------


@EVERY
def test_the_same_seed_gives_the_same_bits(solver) -> None:
    p = problem("logistic", ridge=0.01, fit_intercept=True)
    first, again, other = (run(p, solver, max_passes=12, tol=1e-12, random_state=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.coef, again.coef)
    assert [r.objective for r in first.history] == [r.objective for r in again.history]
    assert [r.objective for r in first.history] != [r.objective for r in other.history]


@EVERY
def test_sparse_and_dense_rows_go_the_same_way(solver) -> None:
    if solver.name == "svrg-ht" and solver.coordinates == "row":
        return  # dense rows touch every column
    X, y = data("logistic")
    X = X * (np.random.default_rng(2).random(X.shape) < 0.4)
    dense, sparse = (
        run(Problem(layout(X), y, "logistic", constraint=TopK(4), ridge=0.01), solver, max_passes=8, tol=1e-12)
        for layout in (np.asarray, sp.csc_array)
    )
    np.testing.assert_allclose(sparse.coef, dense.coef, rtol=1e-9, atol=1e-12)


# -- what they count -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "passes", "thresholdings"),
    [
        (SGHT(Fixed(0.01), batch=6, inner=50), 6 * 50 / 240, 50),
        (SVRGHT(Fixed(0.01), batch=2), 1 + 1, 120),
        (SVRGHT(Fixed(0.01), inner=30, coordinates="row"), 30 / 240 + 1, 30),
        (SAGAHT(Fixed(0.01), inner=60), 60 / 240, 60),
        (ASBCDHT(Fixed(0.01), blocks=7, batch=2, ends="last"), 2 / 7 + 1, 240),
        (SBCDHTP(Fixed(0.01), blocks=7, batch=3), 2 * 3 / 7 + 1, 1),
    ],
    ids=["sg-ht", "svrg-ht", "svrg-ht row", "saga-ht", "asbcdht", "sbcd-htp"],
)
def test_passes_and_thresholdings(solver, passes: float, thresholdings: int) -> None:
    history = run(problem("logistic"), solver, max_passes=12, tol=1e-300).history
    for before, after in pairwise(history[1:]):  # saga's table costs a pass in the first round
        assert after.passes - before.passes == pytest.approx(passes)
        assert after.thresholdings - before.thresholdings == thresholdings


def test_asbcdht_draws_the_length_of_its_rounds() -> None:
    history = run(problem("logistic"), ASBCDHT(inner=40), max_passes=60, tol=1e-300).history
    lengths = np.diff([record.thresholdings for record in history])
    assert lengths.min() >= 0
    assert lengths.max() < 40
    assert np.ptp(lengths) > 20


# -- steps ---------------------------------------------------------------------------------------------------------


def test_lengths_of_the_rules() -> None:
    rounds = np.array([0.0, 3.0, 8.0])
    np.testing.assert_allclose(Fixed(0.3).lengths(2.0, rounds), 0.3)
    np.testing.assert_allclose(Estimate(0.5).lengths(2.0, rounds), 1.0)
    np.testing.assert_allclose(Decreasing().lengths(2.0, rounds), 2 / np.sqrt(1 + rounds))
    np.testing.assert_allclose(Decreasing(0.6, hold=2, power=1).lengths(2.0, rounds), 0.6 / (1 + rounds / 2))


@pytest.mark.parametrize("name", ["svrg-ht", "saga-ht", "asbcdht", "sbcd-htp", "sg-ht"])
def test_a_step_too_long_is_an_error_and_an_estimate_shrinks(name: str) -> None:
    p, kind = problem("squared", ridge=0.01), type(SOLVERS[name])
    for step in (30.0, 1e8):
        with pytest.raises(ValueError, match=f"{name}: the step .* is too long.*use step='estimate', or a shorter one"):
            run(p, kind(step))
    result = run(p, kind(Estimate(1e4)), max_passes=400)
    assert result.state.shrunk < 1e-2
    assert result.objective < result.null_objective


def test_tuned_finds_a_step_no_worse_than_its_neighbours() -> None:
    p = problem("logistic", ridge=0.01)
    rule = Tuned(rounds=2)
    tuned = run(p, SVRGHT(rule), max_passes=30)
    chosen = tuned.state.rule.step

    def after_two_rounds(step: float) -> float:
        values = []
        solve(
            p,
            SVRGHT(step),
            random_state=3,
            tol=1e-300,
            callbacks=lambda seen: values.append(seen.objective) or len(values) == 2,
        )
        return values[-1]

    nearby = [after_two_rounds(step) for step in (chosen / 16, chosen, chosen * 64)]
    assert nearby[1] <= min(nearby) + 1e-3
    assert tuned.n_passes > 8  # trials are counted
    assert run(p, SVRGHT("tuned"), max_passes=30).objective == tuned.objective


def test_tuned_walks_up_or_down_its_grid() -> None:
    for best in (64.0, 1.0, 1 / 64):
        found = Tuned(ratio=4).choose(1.0, lambda c, best=best: abs(np.log(c / best)))
        assert found == Fixed(best)
    assert Tuned().choose(1.0, lambda c: np.inf if c > 0.01 else abs(np.log(c / 1e-3))) == Fixed(4.0**-5)
    tried = []
    Tuned(most=3).choose(1.0, lambda c: tried.append(c) or -c)
    assert tried == [1.0, 4.0, 16.0]


def test_the_safe_step() -> None:
    X, y = data("logistic")
    v = np.random.default_rng(0).uniform(0.5, 2, len(y))
    p = Problem(X, y, "logistic", constraint=TopK(3), ridge=0.1, sample_weight=v, fit_intercept=True)
    A = np.column_stack([X, np.ones(len(y))])
    curvatures = p.v / 4 * np.sum(A**2, axis=1) + 0.1
    assert 1 / run(p, SVRGHT(), max_passes=1).state.safe == pytest.approx(curvatures.max())
    assert 1 / run(p, SVRGHT(sampling=ByNorm()), max_passes=1).state.safe == pytest.approx(curvatures.mean())
    whole = np.linalg.norm(np.sqrt(p.v / 4)[:, None] * A, 2) ** 2 / len(y) + 0.1
    expected = curvatures.max() / 8 + (1 - 1 / 8) * whole
    assert 1 / run(p, SVRGHT(batch=8), max_passes=1).state.safe == pytest.approx(expected, rel=0.06)


# -- ends ----------------------------------------------------------------------------------------------------------


@EVERY
def test_a_run_that_is_cut_short_returns_its_best_whole_round(solver) -> None:
    p = problem("logistic", ridge=0.01, fit_intercept=True)
    at_once = run(p, solver, time_limit=0.0)
    assert at_once.stop_reason == "time_limit"
    assert at_once.objective == pytest.approx(at_once.null_objective)
    seen = []

    def interrupt(progress) -> None:
        seen.append(progress)
        raise KeyboardInterrupt

    cut = run(p, solver, callbacks=[interrupt])
    assert cut.stop_reason == "interrupted"
    assert cut.objective == pytest.approx(min(seen[0].objective, cut.null_objective))
    assert p.constraint.contains(cut.coef)


@EVERY
def test_starts(solver) -> None:
    p = problem("logistic", ridge=0.01, fit_intercept=True)
    first = run(p, "htp")
    again = run(p, solver, start=first, max_passes=20)
    assert again.objective <= first.objective + 1e-12
    far = run(p, solver, start=(np.full(p.d, 3.0), -1.0), max_passes=300)
    assert far.objective < far.null_objective


def test_a_step_without_progress_stalls() -> None:
    result = run(problem("logistic"), SGHT(Fixed(1e-9)), max_passes=1000)
    assert result.stop_reason == "stalled"
    assert result.n_iter == 10


@EVERY
def test_awkward_columns(solver) -> None:
    # Duplicated, constant and empty columns, more features than rows, targets without variation: an end, and finite.
    rng = np.random.default_rng(3)
    X = rng.standard_normal((8, 6))
    X = np.column_stack([X, X[:, :3], np.zeros(8), np.ones(8), rng.standard_normal((8, 5))])
    for y in (rng.standard_normal(8), np.full(8, 3.0), np.zeros(8)):
        for layout, intercept in ((np.asarray, False), (sp.csr_array, True)):
            result = run(Problem(layout(X), y, constraint=TopK(9), fit_intercept=intercept), solver, max_passes=100)
            assert np.isfinite(result.coef).all()
            assert result.objective <= result.null_objective + 1e-12
    for rows in (1, 2):
        few = Problem(X[:rows], np.ones(rows), "logistic", constraint=TopK(2), ridge=0.1, fit_intercept=True)
        assert np.isfinite(run(few, solver, max_passes=60).coef).all()


# -- constraints ---------------------------------------------------------------------------------------------------


@EVERY
@LAYOUT
def test_always_and_never(solver, layout) -> None:
    p = problem("multinomial", layout=layout, always=[8], never=[7], ridge=0.01, fit_intercept=True)
    result = run(p, solver, max_passes=200)
    assert 8 in result.support
    assert 7 not in result.support
    assert len(result.support) <= 4
    assert result.objective < result.null_objective


@EVERY
def test_ball(solver) -> None:
    X, y = data("logistic")
    p = Problem(X, y, "logistic", constraint=TopK(4) & L2Ball(0.8), fit_intercept=True)
    if getattr(solver, "scaling", "none") == "curvature":
        with pytest.raises(ValueError, match="L2Ball is a ball in the plain metric: use scaling='none'"):
            run(p, solver)
        return
    result = run(p, solver, max_passes=200)
    assert np.linalg.norm(result.coef) == pytest.approx(0.8)
    best = run(p, "iht", tol=1e-9)
    assert result.objective - best.objective < 0.1 * (best.null_objective - best.objective)


@pytest.mark.parametrize("name", [name for name in SOLVERS if "sbcd-htp" not in name])
def test_groups_and_bounds_are_refused_where_every_step_thresholds(name: str) -> None:
    solver = SOLVERS[name]
    for limits in ({"groups": np.arange(14) // 2}, {"bounds": (0, 1)}):
        with pytest.raises(ValueError, match=f"{solver.name}: thresholds after every step.*use solver='sbcd-htp'"):
            run(problem("logistic", **limits), solver)


@pytest.mark.parametrize("name", ["sbcd-htp", "sbcd-htp scaled"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_groups_and_bounds_where_a_round_thresholds(name: str, loss: str) -> None:
    groups = np.array([3, 0, 1, 2, 0, 4, 3, 1, 5, 5, 2, 4, 6, 6])
    p = problem(loss, k=3, groups=groups, bounds=(-0.3, 0.4), always=[8], never=[7], ridge=0.01, fit_intercept=True)
    result = run(p, SOLVERS[name], max_passes=100)
    assert p.constraint.contains(result.coef)
    assert {5} <= set(groups[result.support]) <= {0, 2, 3, 4, 5, 6}
    assert result.objective < result.null_objective


# -- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sg-ht", "stoiht", "hsg-ht", "svrg-ht", "saga-ht", "asbcdht", "sbcd-htp"])
def test_names_and_the_refusal_of_the_hinge(name: str) -> None:
    assert run(problem("squared"), name, max_passes=300).support.tolist() == PLANTED.tolist()
    X, y = data("logistic")
    with pytest.raises(ValueError, match="hinge has no slope at its corner; use loss='squared_hinge'"):
        run(Problem(X, y, "hinge", constraint=TopK(3)), name)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SVRGHT(batch=0), "svrg-ht: batch must be at least 1"),
        (lambda: SVRGHT(inner=0), "svrg-ht: inner must be at least 1"),
        (lambda: SVRGHT(step=0.0), "Fixed: step must be a positive number"),
        (lambda: SVRGHT(step="fast"), "step must be a rule, a number, 'estimate' or 'tuned'"),
        (lambda: SVRGHT(coordinates="some"), "coordinates must be 'all' or 'row'"),
        (lambda: SVRGHT(scaling="some"), "scaling must be 'none' or 'curvature'"),
        (lambda: SVRGHT(Estimate(-1)), "Estimate: factor must be a positive number"),
        (lambda: SVRGHT(Decreasing(hold=0)), "Decreasing: hold must be a positive number"),
        (lambda: SVRGHT(Tuned(ratio=1)), "Tuned: rounds and most must be at least 1, ratio more than 1"),
        (lambda: ASBCDHT(ends="first"), "ends must be 'random' or 'last'"),
        (lambda: ASBCDHT(blocks=0), "blocks must be at least 1"),
        (lambda: SBCDHTP(blocks=0), "blocks must be at least 1"),
        (lambda: HSGHT(growth=1.0), "growth more than 1"),
    ],
)
def test_settings_are_checked(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(problem("squared"), make())


def test_scaled_designs_are_refused_with_a_remedy() -> None:
    from paring.data.scaled import standardised

    X, y = data("squared")
    with pytest.raises(ValueError, match="sweeps over rows take data as they lie: scale a copy"):
        run(Problem(standardised(X), y, constraint=TopK(3)), SVRGHT())
