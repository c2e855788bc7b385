"""diht and sdiht: the paper's steps one by one, the counter-example, bounds below every optimum, ends and refusals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, losses, solve
from paring.certificates import swap_change
from paring.constraints import L2Ball, TopK
from paring.dual import dual_point
from paring.solvers import refine
from paring.solvers._loop import Run
from paring.solvers.diht import DIHT
from paring.solvers.dual_ascent import step_lengths
from paring.solvers.refine import Exchange, Minimise, Nothing
from paring.solvers.sdiht import SDIHT, blocks_of, swept
from tests.reference import dual
from tests.reference.enumeration import best_on, optimum
from tests.reference.thresholding import keep
from tests.solvers.problems import PLANTED, data

K = 4
ENDLESS = {"patience": np.inf, "settled": 0.0}
PAPERS = {"refine": Nothing(), "reach": np.inf, **ENDLESS}
LOSSES = ("squared", "huber", "logistic", "squared_hinge", "smoothed_hinge", "hinge")
QUADRATIC = [loss for loss in LOSSES if loss != "logistic"]
EACH = pytest.mark.parametrize("loss", LOSSES)
INTERCEPT = pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
BOTH = pytest.mark.parametrize("solver", [DIHT, SDIHT])


def pose(loss: str, ridge: float = 0.5, intercept: bool = False, layout=np.asarray, k: int = K, **options) -> Problem:
    X, y = data(loss)
    v = np.random.default_rng(5).integers(0, 4, len(y)).astype(float)
    return Problem(
        layout(X), y, loss, constraint=TopK(k, **options), ridge=ridge, sample_weight=v, fit_intercept=intercept
    )


# -- step by step ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", QUADRATIC)
def test_diht_is_algorithm_1(loss: str) -> None:
    problem, rounds, c = pose(loss), 40, 5.0
    X, y = data(loss)
    solver, run = DIHT(c=c, **PAPERS), Run()
    state = solver.init(problem, run)
    mu = dual.MU[loss]
    theirs = dual.diht(
        X, loss, y, problem.v, 0.5, K, state.a, lambda t: 1 / (mu * (t + 2)) if mu else c / (t + 2), rounds
    )
    used = problem.v > 0
    for a, w in theirs:
        np.testing.assert_allclose(state.w, w, rtol=1e-9, atol=1e-9 * np.abs(w).max())
        state = solver.step(problem, state, run)
        np.testing.assert_allclose(state.a[used], a[used], rtol=1e-9, atol=1e-9)
        value, _ = dual.dual(X, loss, y, problem.v, 0.5, K, state.a)
        assert dual_point(problem, state.a).bound() == pytest.approx(value, abs=1e-9 * (1 + abs(value)))


@EACH
def test_diht_with_an_intercept_stays_balanced_and_is_the_prox_step(loss: str) -> None:
    problem = pose(loss, intercept=True)
    _, y = data(loss)
    used = problem.v > 0
    solver, run = DIHT(reach=2.0, refine=Nothing(), **ENDLESS), Run()
    state = solver.init(problem, run)
    for _ in range(15):
        before, s = state, float(step_lengths(problem, state.c_of_steps, 1, state.steps))
        assert state.curvature > 0
        s = min(s, 2.0 / state.curvature)
        state = solver.step(problem, state, run)
        wanted = dual.balanced_step(loss, before.a[used], before.z[used], y[used], problem.v[used], s, 0.0)
        np.testing.assert_allclose(state.a[used], wanted, rtol=1e-8, atol=1e-8)
        assert np.all(state.a[~used] == 0)
        assert abs(problem.v @ state.a) <= 1e-13 * (problem.v @ np.abs(state.a))


def test_steps_are_the_papers() -> None:
    # The prox with s is the gradient step with s/(1 + mu s): blocks n/(mu (t + 2)) from t = blocks on.
    problem = pose("smoothed_hinge")
    for blocks in (1, 7):
        t = np.arange(blocks, 60)
        s, mu = step_lengths(problem, 1.0, blocks, t), 0.25
        np.testing.assert_allclose(s / (1 + mu * s), blocks / (mu * (t + 2)))
    t = np.arange(60)
    np.testing.assert_allclose(step_lengths(pose("hinge"), 3.0, 7, t), 7 * 3.0 / (t + 2))
    assert {name: _mu(name) for name in dual.MU} == dual.MU


def _mu(name: str) -> float:
    bound = losses.get(name).curvature_bound
    return 1 / bound if np.isfinite(bound) else 0.0


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("reach", [1.0, np.inf])
@INTERCEPT
@EACH
def test_sdiht_block_by_block(loss: str, intercept: bool, reach: float, layout) -> None:
    X, y = data(loss, n=60)
    X = np.round(X, 1).astype(np.float32).astype(np.float64)
    X[np.abs(X) < 0.4] = 0
    v = np.random.default_rng(5).integers(1, 4, len(y)).astype(float)
    ridge = 0.1
    problem = Problem(
        layout(X),
        y,
        loss,
        constraint=TopK(K, always=[2], never=[1]),
        ridge=ridge,
        sample_weight=v,
        fit_intercept=intercept,
    )
    rng = np.random.default_rng(3)
    order, starts = np.concatenate([rng.permutation(60) for _ in range(2)]), blocks_of(60, 8)
    starts = np.append(starts[:-1], 60 + starts)  # no block holds a row twice
    blocks = np.split(order, starts[1:-1])
    steps = 2 * rng.random(len(blocks))
    a = losses.get(loss).slope(np.zeros(60), y) * rng.random(60)
    acc = dual_point(problem, a).c / ridge
    never, always = np.arange(14) == 1, np.arange(14) == 2

    def kept(acc):
        return keep(np.where(never, 0, acc), K, np.where(always, 1e30, 1.0))

    seen = dual.sdiht(X, loss, y, problem.v, ridge, kept, a, acc, blocks, steps, reach, intercept)
    for count in (0, 1, 2, 5, len(blocks)):
        part = starts[: count + 1]
        got = swept(problem, a, acc, order[: part[-1]], part, steps[:count], reach)
        a_want, acc_want = seen[count - 1] if count else (a, acc)
        size = max(1.0, np.abs(acc_want).max())
        np.testing.assert_allclose(got[0], a_want, rtol=1e-7, atol=1e-8 * size)
        np.testing.assert_allclose(got[1], acc_want, rtol=1e-7, atol=1e-8 * size)
        np.testing.assert_array_equal(got[2], kept(got[1]))
        if intercept:
            assert problem.v @ got[0] == pytest.approx(problem.v @ a, abs=1e-12)


def test_blocks_hold_every_row_once() -> None:
    for rows, batch in ((10, 3), (11, 5), (2, 5), (1, 1), (100, 10)):
        starts = blocks_of(rows, batch)
        assert starts[0] == 0
        assert starts[-1] == rows
        assert np.diff(starts).min() >= min(rows, batch)


def test_a_round_of_sdiht_draws_its_blocks_from_the_seed() -> None:
    problem = pose("hinge", intercept=True)
    here, again, other = (solve(problem, SDIHT(**ENDLESS), max_passes=30, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(here.state.a, again.state.a)
    assert [r.objective for r in here.history] == [r.objective for r in again.history]
    assert not np.array_equal(here.state.a, other.state.a)


def test_passes_and_thresholdings() -> None:
    problem = pose("hinge")
    rows = int((problem.v > 0).sum())
    result = solve(problem, SDIHT(batch=7, refine=Nothing(), **ENDLESS), max_passes=20)
    last, before = result.history[-1], result.history[-2]
    assert last.thresholdings - before.thresholdings == len(blocks_of(rows, 7))
    assert last.passes - before.passes == pytest.approx(1 + rows / problem.n)
    result = solve(problem, DIHT(refine=Nothing(), **ENDLESS), max_passes=20)
    assert result.history[-1].passes - result.history[-2].passes == 1
    assert result.history[-1].thresholdings - result.history[-2].thresholdings == 1


# -- what the papers and enumeration say -----------------------------------------------------------------------------


def example() -> Problem:
    """The paper's counter-example to strong duality: the optimum is 4/3, the largest D 55/42 (not 7/6)."""
    return Problem(np.eye(3), [2.0, 2.0, 1.0], constraint=TopK(1), ridge=1.0)


BEST = np.array([-12 / 7, -12 / 7, -1])


def test_the_counter_example() -> None:
    problem = example()
    assert dual_point(problem, BEST).bound() == pytest.approx(55 / 42, abs=1e-9)
    assert dual_point(problem, np.array([-1.5, -1.5, -1])).bound() == pytest.approx(31 / 24, abs=1e-9)
    around = BEST + 0.3 * np.random.default_rng(0).standard_normal((300, 3))
    assert max(dual_point(problem, a).bound() for a in around) < 55 / 42
    for solver in (DIHT(**ENDLESS), SDIHT(batch=1, **ENDLESS), SDIHT(batch=3, reach=np.inf, **ENDLESS)):
        result = solve(problem, solver, max_passes=2000, tol=1e-9, random_state=0)
        assert result.objective == pytest.approx(4 / 3, abs=1e-12)
        assert 55 / 42 - 3e-3 < result.state.bound <= 55 / 42
        assert 55 / 42 <= result.state.reach < 55 / 42 + 3e-3
        np.testing.assert_allclose(result.state.dual, BEST, atol=0.1)
        assert result.dual_gap == pytest.approx(4 / 3 - result.state.bound)
        assert not result.proved_optimal


def test_closed_form_steps_alone_stall() -> None:
    problem, a = example(), np.zeros(3)
    for _ in range(50):
        acc = dual_point(problem, a).c / problem.ridge
        a, _, _ = swept(problem, a, acc, np.arange(3), blocks_of(3, 1), np.full(3, 1e12), 1.0)
    np.testing.assert_allclose(a, [-1.5, -1.5, -1])
    assert dual_point(problem, a).bound() == pytest.approx(31 / 24, abs=1e-9)


LIMITS = {
    "plain": {},
    "always, never": {"always": [3], "never": [0]},
    "groups": {"groups": [0, 1, 2, 0, 3, 4, 1, 2]},
    "bounds": {"bounds": (-0.3, np.where(np.arange(8) % 2, 0.2, np.inf))},
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("weights", [False, True], ids=["", "weights"])
@INTERCEPT
@EACH
def test_bounds_lie_below_the_enumerated_optimum(loss: str, intercept: bool, weights: bool, limits) -> None:
    X, y = data(loss, n=24)
    X = X[:, :8]
    v = np.random.default_rng(2).integers(0, 3, 24).astype(float) if weights else None
    problem = Problem(X, y, loss, constraint=TopK(2, **limits), ridge=0.1, sample_weight=v, fit_intercept=intercept)
    least, _ = optimum(problem, X)
    slack = 1e-6 * problem.scale  # the reference's own accuracy
    solvers = [DIHT(**ENDLESS)]
    solvers += [] if limits.keys() & {"groups", "bounds"} else [SDIHT(**ENDLESS)]
    for solver in solvers:
        result = solve(problem, solver, max_passes=60, random_state=0, tol=1e-12)
        assert result.state.bound <= least + slack
        assert result.objective - result.dual_gap <= least + slack
        assert result.objective >= least - slack
        assert result.objective == pytest.approx(problem.objective(result.model), rel=1e-12)
        assert problem.constraint.contains(result.coef)
        assert result.state.reach >= result.state.bound - 1e-9 * problem.scale
        if intercept:
            for a in (result.state.a, result.state.dual):
                assert abs(problem.v @ a) <= 1e-13 * (problem.v @ np.abs(a) + 1e-300)


@INTERCEPT
@EACH
def test_long_runs_find_the_maximum_that_the_relaxation_has(loss: str, intercept: bool) -> None:
    problem = pose(loss, 0.3, intercept)
    model = solve(problem, DIHT(), random_state=0).model
    objective = problem.objective(model)
    ascended = objective - problem.gap(model, objective, ascend=True)
    near = 2e-3 * problem.scale
    for solver in (DIHT(**ENDLESS), SDIHT(**ENDLESS)):
        state = solve(problem, solver, max_passes=3000, tol=1e-7, random_state=0).state
        assert abs(state.bound - ascended) <= near, (state.bound, ascended)
        assert state.reach >= ascended - 1e-6 * problem.scale


@EACH
def test_the_gap_in_the_history_is_that_of_the_best_so_far(loss: str) -> None:
    result = solve(pose(loss, 0.02, True), SDIHT(**ENDLESS), max_passes=60, random_state=0)
    gaps, values = ([getattr(r, name) for r in result.history] for name in ("certificate", "objective"))
    assert np.all(np.diff(gaps) <= 0)
    assert np.all(np.diff(values) <= 0)
    assert gaps[-1] == pytest.approx((result.objective - result.state.bound) / result.null_objective, rel=0.3)


# -- duality as in the paper's figures -----------------------------------------------------------------------------


def regression(n: int, d: int, k: int, noise: float, condition: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
    X = rng.standard_normal((n, d)) @ (turn * np.sqrt(np.linspace(1, condition, d) / condition)) @ turn.T
    w = np.zeros(d)
    w[rng.permutation(d)[:k]] = rng.choice([-1.0, 1.0], k) * (1 + rng.random(k))
    return X, X @ w + noise * rng.standard_normal(n)


@pytest.mark.parametrize("condition", [1.0, 50.0])
@pytest.mark.parametrize("noise", [0.1, 3.0])
def test_the_gap_closes_where_weights_stand_out(noise: float, condition: float) -> None:
    # Theorem 2, remark 4: strong duality holds if and only if min_S |w| >= max_outside |F'(w)| / ridge at the optimum.
    X, y = regression(12, 9, 2, noise, condition, seed=4)
    held = []
    for ridge in (0.01, 0.1, 0.3, 1.0, 3.0):
        problem = Problem(X, y, constraint=TopK(2), ridge=ridge)
        least, model = optimum(problem, X)
        _, g, _ = problem.gradient(model.dense(9))
        outside = np.delete(np.abs(g), model.support).max() / ridge
        margin = np.abs(model.weights).min() - outside
        assert abs(margin) > 1e-3 * np.abs(model.weights).min()
        for solver in (DIHT(), SDIHT()):
            result = solve(problem, solver, random_state=0)
            assert result.proved_optimal == (margin > 0), (ridge, margin, result)
            if margin > 0:
                assert result.objective == pytest.approx(least, rel=1e-9)
                assert result.dual_gap <= 1e-6 * problem.scale
        held.append(margin > 0)
    assert any(held)
    assert not all(held)


def test_ill_conditioned_columns_do_not_hinder_it() -> None:
    # Figures 3 and 4: with the ridge strong enough, the gap closes whatever the condition number of X'X.
    for condition in (1.0, 20.0, 200.0):
        X, y = regression(60, 40, 4, 0.1, condition, seed=1)
        problem = Problem(X, y, constraint=TopK(4), ridge=20 / np.sqrt(60))
        for name in ("diht", "sdiht"):
            result = solve(problem, name, random_state=0)
            assert result.proved_optimal, (condition, name, result)
            assert result.objective <= solve(problem, "iht").objective * (1 + 1e-9)


# -- answers -----------------------------------------------------------------------------------------------------------


@BOTH
@INTERCEPT
@EACH
def test_the_planted_support(loss: str, intercept: bool, solver) -> None:
    problem = pose(loss, 0.02, intercept)
    result = solve(problem, solver(), random_state=0)
    assert result.converged, result
    np.testing.assert_array_equal(result.support, PLANTED)
    x, _ = data(loss)
    least, _ = best_on(problem, x, PLANTED)
    assert result.objective == pytest.approx(least, abs=1e-7 * problem.scale)
    assert result.certificate.kind in ("dual_gap", "dual_maximum", "swap_optimal")
    assert result.dual_gap <= result.objective - result.state.bound + 1e-12


@EACH
def test_diht_weights_equal_repetition(loss: str) -> None:
    X, y = data(loss)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"constraint": TopK(K), "ridge": 0.05, "fit_intercept": True}
    weighted = solve(Problem(X, y, loss, sample_weight=2.5 * counts, **options), "diht")
    repeated = solve(Problem(np.repeat(X, counts, axis=0), np.repeat(y, counts), loss, **options), "diht")
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept, repeated.intercept, rtol=1e-7, atol=1e-8)
    assert weighted.dual_gap == pytest.approx(repeated.dual_gap, rel=1e-3, abs=1e-9)


@BOTH
def test_refinements(solver) -> None:
    problem = pose("hinge", 0.02, True)
    bare, minimised, exchanged = (
        solve(problem, solver(refine=refine), max_passes=300, random_state=0)
        for refine in (Nothing(), Minimise(), Exchange())
    )
    assert exchanged.objective <= minimised.objective + 1e-12
    assert minimised.objective < bare.objective
    assert exchanged.certificate.kind in ("swap_optimal", "dual_maximum")
    assert exchanged.swap_optimal is None  # under another loss
    smooth = solve(pose("logistic", 0.02, True), solver(), random_state=0)
    assert smooth.swap_optimal in ("model", None)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_what_exchanges_show_and_what_is_said_of_it_agree(loss: str) -> None:
    said = {"exact": "no exchange of one feature lowers", "model": "in the model: of the exchanges it ranks best"}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 12)) @ rng.normal(size=(12, 12))
        z = X[:, :6].sum(axis=1) + 3 * rng.normal(size=30)
        y = z if loss == "squared" else np.where(z > 0, 1.0, -1.0)
        problem = Problem(X, y, loss, constraint=TopK(4, always=[seed % 12]), ridge=1e-3, fit_intercept=True)
        result = solve(problem, "diht")
        if result.certificate.kind != "swap_optimal":
            continue
        if result.swap_optimal is None:
            assert "smoothed" in result.certificate.statement and loss == "hinge"
        else:
            assert said[result.swap_optimal] in result.certificate.statement
        if result.swap_optimal == "exact":
            assert swap_change(problem, result.model) >= -1e-9 * problem.scale


class Misled:
    """An engine that ends elsewhere, or not at all."""

    def __init__(self, engine, settled: bool, units) -> None:
        self.engine, self.settled, self.units = engine, settled, units

    def __getattr__(self, name: str):
        return getattr(self.engine, name)

    def settle(self, size: int) -> bool:
        if self.units is not None:
            self.engine = type(self.engine)(self.engine.problem)
            self.engine.enter(self.units)
        return True


@pytest.mark.parametrize(("settled", "units"), [(False, None), (True, np.array([8, 9, 10, 11]))])
def test_an_engine_that_shows_nothing_of_the_model_says_nothing(monkeypatch, settled: bool, units) -> None:
    problem = pose("squared", 1e-3)
    best = solve(problem, "pursuit")
    real = refine.make_engine
    monkeypatch.setattr(refine, "make_engine", lambda problem, tol: Misled(real(problem, tol), settled, units))
    result = solve(problem, "diht", start=best)
    assert result.objective <= best.objective * (1 + 1e-12)
    assert result.swap_optimal is None
    assert result.certificate.kind != "swap_optimal"


@BOTH
def test_a_start_is_where_it_begins_and_is_never_lost(solver) -> None:
    problem = pose("hinge", 0.02, True)
    best = solve(problem, solver(), random_state=0)
    again = solve(problem, solver(), start=best, max_passes=4, random_state=0)
    assert again.objective <= best.objective + 1e-12
    early = solve(problem, solver(), max_passes=4, random_state=0)
    assert again.history[0].certificate < early.history[0].certificate


@BOTH
def test_a_deadline_keeps_the_bound(solver) -> None:
    problem = pose("hinge", 0.02, True)
    result = solve(problem, solver(**ENDLESS), tol=1e-12, max_passes=np.inf, time_limit=0.1, random_state=0)
    assert result.stop_reason == "time_limit"
    assert result.dual_gap == pytest.approx(result.objective - result.state.bound)
    assert np.isfinite(result.dual_gap)


def test_no_rows_no_columns_to_speak_of() -> None:
    for intercept in (False, True):
        for X, y in ((np.zeros((6, 3)), [1.0, -1, 1, -1, 1, 1]), (np.ones((1, 2)), [1.0]), (np.eye(4), np.ones(4))):
            problem = Problem(X, y, "hinge", constraint=TopK(2), ridge=0.1, fit_intercept=intercept)
            for name in ("diht", "sdiht"):
                result = solve(problem, name, random_state=0)
                assert np.isfinite(result.coef).all()
                assert result.converged, (X.shape, intercept, result)
                assert result.proved_optimal or len(X) == 4


# -- refusals ----------------------------------------------------------------------------------------------------------


@BOTH
def test_refusals(solver) -> None:
    X, y = data("hinge")
    counts = np.arange(len(y)) % 3

    def told(match: str, loss="hinge", y=y, ridge=0.1, constraint=None, chosen=None, **options) -> None:
        problem = Problem(X, y, loss, constraint=constraint or TopK(3), ridge=ridge, **options)
        with pytest.raises(ValueError, match=match):
            solve(problem, chosen or solver())

    told(
        f"{solver.name}: without ridge the dual has no step; use ridge > 0, or solver='pursuit'",
        ridge=0.0,
        loss="logistic",
    )
    told("no dual step for loss multinomial.* is implemented; use solver='pursuit'", loss="multinomial", y=counts)
    told("no dual step for loss poisson is implemented; use solver='pursuit'", loss="poisson", y=counts)
    told("L2Ball is not implemented; use ridge instead of the ball", constraint=TopK(3) & L2Ball(1.0))
    told("c must be None or a positive number, got -1", chosen=solver(c=-1))
    told("reach must be positive, got 0", chosen=solver(reach=0))


def test_sdiht_refuses_what_diht_takes() -> None:
    X, y = data("hinge")
    for limits, what in (({"groups": np.arange(14) // 2}, "groups"), ({"bounds": (-1, 1)}, "bounds")):
        problem = Problem(X, y, "hinge", constraint=TopK(3, **limits), ridge=0.1, fit_intercept=True)
        with pytest.raises(ValueError, match=f"sdiht: {what} are not handled step by step; use solver='diht'"):
            solve(problem, "sdiht")
        assert solve(problem).solver == "diht"
    problem = Problem(X, y, "hinge", constraint=TopK(3), ridge=0.1, fit_intercept=True)
    with pytest.raises(ValueError, match="sdiht: batch must be at least 2 with an intercept: their sum is kept, got 1"):
        solve(problem, SDIHT(batch=1))


def test_steps_that_overflow_are_named() -> None:
    X, y = data("squared")
    problem = Problem(1e3 * X, y, constraint=TopK(3), ridge=1e-6)
    with pytest.raises(
        ValueError, match="the dual steps are too long: the weights overflow; use reach=1, or raise ridge"
    ):
        solve(problem, DIHT(reach=np.inf, refine=Nothing(), **ENDLESS), max_passes=1000)


def test_what_auto_takes_for_the_hinge() -> None:
    X, y = data("hinge")
    wide = np.tile(X, (1, 40))
    assert solve(Problem(X, y, "hinge", constraint=TopK(3), ridge=0.1)).solver == "diht"
    result = solve(Problem(wide, y, "hinge", constraint=TopK(3), ridge=0.1), max_passes=20, random_state=0)
    assert result.solver == "sdiht"
    assert "corner" in result.why
    with pytest.raises(ValueError, match="hinge: without ridge no solver takes a loss without slopes; use ridge > 0"):
        solve(Problem(X, y, "hinge", constraint=TopK(3)))
    with pytest.raises(ValueError, match="hinge: no solver takes it within an L2Ball; use ridge instead of the ball"):
        solve(Problem(X, y, "hinge", constraint=TopK(3) & L2Ball(1.0), ridge=0.1))
