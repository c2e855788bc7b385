"""asg-ht, asvrg-ht, a2sbcd-ht and asbcd-htp on one worker and on several: the same bits, the same certificate."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, _core, solve
from paring.constraints import L2Ball, TopK
from paring.solvers.a2sbcd_ht import A2SBCDHT
from paring.solvers.asg_ht import ASGHT
from paring.solvers.asvrg_ht import ASVRGHT, Sampled
from paring.solvers.rules import ByNorm, Decreasing, Shuffled
from paring.solvers.s2bcd_htp import ASBCDHTP, S2BCDHTP
from paring.solvers.semistochastic import Atomic, Plain, Wild
from tests.solvers.problems import PLANTED, SMOOTH, data, problem
from tests.solvers.test_semistochastic import LAYOUTS, half_empty

KINDS = {
    "asg-ht": (ASGHT, {}),
    "asvrg-ht": (ASVRGHT, {}),
    "asvrg-ht sampled": (ASVRGHT, {"coordinates": "sampled"}),
    "a2sbcd-ht": (A2SBCDHT, {"blocks": 3}),
    "asbcd-htp": (ASBCDHTP, {"blocks": 3}),
    "asbcd-htp batch": (ASBCDHTP, {"blocks": 1, "batch": 3, "inner": 100, "sampling": Shuffled()}),
}
EVERY = pytest.mark.parametrize("kind", KINDS)


def solver_of(kind: str, **settings):
    cls, own = KINDS[kind]
    return cls(**{**own, **settings})


def require_same_bits(a, b) -> None:
    assert a.coef.tobytes() == b.coef.tobytes()
    assert np.asarray(a.intercept).tobytes() == np.asarray(b.intercept).tobytes()
    assert [record.objective for record in a.history] == [record.objective for record in b.history]


# -- one worker ------------------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_worker_is_the_plain_serial_run_bit_for_bit(kind: str, layout: str) -> None:
    X, y = half_empty("logistic")
    p = Problem(LAYOUTS[layout](X), y, "logistic", constraint=TopK(4, always=[2], never=[5]), ridge=0.02)
    plain, *others = (
        solve(p, solver_of(kind, store=store), random_state=3, n_jobs=1, max_passes=30)
        for store in (Plain(), Wild(), Atomic())
    )
    assert plain.n_iter > 1
    for other in others:
        require_same_bits(plain, other)


def test_asbcd_htp_on_one_worker_is_s2bcd_htp() -> None:
    X, y = half_empty("squared")
    p = Problem(sp.csr_array(X), y, constraint=TopK(4), ridge=0.02, fit_intercept=True)
    options = {"random_state": 5, "n_jobs": 1, "max_passes": 8}
    require_same_bits(solve(p, ASBCDHTP(), **options), solve(p, S2BCDHTP(), **options))
    require_same_bits(solve(p, S2BCDHTP(), **options), solve(p, "s2bcd-htp", **(options | {"n_jobs": 4})))


@EVERY
def test_the_same_seed_gives_the_same_bits_and_another_does_not(kind: str) -> None:
    p = problem("logistic", layout=sp.csr_array, ridge=0.02)
    first, again, other = (solve(p, solver_of(kind), random_state=seed, n_jobs=1, max_passes=6) for seed in (1, 1, 2))
    require_same_bits(first, again)
    assert first.coef.tobytes() != other.coef.tobytes()


@EVERY
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("workers", [1, 3])
def test_every_loss(kind: str, loss: str, layout, workers: int) -> None:
    p = problem(loss, layout=layout, ridge=0.02, fit_intercept=True)
    result = solve(p, solver_of(kind), random_state=0, n_jobs=workers, max_passes=60)
    assert p.constraint.contains(result.coef)
    assert np.isfinite(result.coef).all()
    reach = solve(p, "htp").objective
    assert result.objective - reach < 0.6 * (result.null_objective - reach)
    assert result.certificate.kind == "fixed_point"


@EVERY
def test_planted_support(kind: str) -> None:
    X, y = data("squared", noise=0.3)
    p = Problem(sp.csr_array(X), y, constraint=TopK(4), fit_intercept=True)
    result = solve(p, solver_of(kind), random_state=0, n_jobs=1, tol=1e-8, max_passes=400)
    assert result.support.tolist() == PLANTED.tolist()


@pytest.mark.parametrize("name", ["s2bcd-htp", "asbcd-htp", "asg-ht", "asvrg-ht", "a2sbcd-ht"])
def test_names_and_the_refusal_of_the_hinge(name: str) -> None:
    result = solve(problem("squared", fit_intercept=True), name, random_state=0, n_jobs=1)
    assert result.solver == name
    assert result.support.tolist() == PLANTED.tolist()
    X, y = data("logistic")
    with pytest.raises(ValueError, match="hinge has no slope at its corner; use loss='squared_hinge'"):
        solve(Problem(X, y, "hinge", constraint=TopK(3)), name)


# -- several ---------------------------------------------------------------------------------------------------------


def text_like(n: int = 1500, d: int = 600, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of twelve numbers in columns of falling frequency; six of the frequent ones matter."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(4, d + 4)
    columns = rng.choice(d, size=12 * n, p=chance / chance.sum())
    X = sp.coo_array((rng.standard_normal(12 * n), (np.repeat(np.arange(n), 12), columns)), shape=(n, d)).tocsr()
    z = X[:, :6] @ np.array([3.0, -2.5, 2.0, -3.0, 2.5, -2.0])
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), 1.0, -1.0)


@pytest.mark.parametrize("store", [Wild(), Atomic()], ids=["wild", "atomic"])
@EVERY
def test_eight_workers_reach_the_serial_certificate(kind: str, store) -> None:
    X, y = text_like()
    p = Problem(X, y, "logistic", constraint=TopK(6), ridge=0.01)
    tol = 1e-3 if kind == "asg-ht" else 1e-4  # its steps do not shrink: it ends in a ball around the answer
    serial, shared = (
        solve(p, solver_of(kind, store=store), random_state=1, n_jobs=workers, tol=tol, max_passes=100)
        for workers in (1, 8)
    )
    for result in (serial, shared):
        assert result.converged, result
        assert result.certificate.value <= tol
    assert serial.support.tolist() == list(range(6))
    # Workers that threshold apart may settle at a fixed point with another in place of one of the six: a race decides.
    once_a_round = kind.startswith("asbcd-htp")
    assert len(set(shared.support.tolist()) & set(range(6))) >= (6 if once_a_round else 5)
    near = 30 * tol if once_a_round else 0.06
    assert shared.objective == pytest.approx(serial.objective, abs=near * p.scale)
    assert shared.n_passes < 2 * serial.n_passes + 10


@EVERY
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_what_is_thresholded_beside_others_is_feasible_in_the_end(kind: str, layout) -> None:
    X, y = text_like(n=400, d=80)
    p = Problem(layout(X.toarray()), y, "logistic", constraint=TopK(5, always=[70], never=[0, 3]), ridge=0.01)
    seen = []
    solve(p, solver_of(kind), random_state=0, n_jobs=8, max_passes=20, callbacks=[lambda at: seen.append(at.model)])
    assert len(seen) > 3
    for model in seen:
        assert p.constraint.contains(model.dense(80))
        assert 70 in model.support


def test_workers_leave_at_most_k_features_each() -> None:
    X, y = text_like(n=3000)
    p = Problem(X, y, "logistic", constraint=TopK(5), ridge=0.01)
    p.design.threads = 8
    solver = ASVRGHT()
    state = solver.init(p, _run())
    for seed in range(5):
        swept = solver.sweep(p, state, np.full(3000, 0.5), np.random.default_rng(seed))
        assert 1 <= np.count_nonzero(swept.w) <= 8 * 5
        assert swept.thresholdings == 3001
    p.design.threads = 1
    assert np.count_nonzero(solver.sweep(p, state, np.full(3000, 0.5), np.random.default_rng(0)).w) <= 5


def _run():
    from paring.solvers._loop import Run

    return Run(rng=np.random.default_rng(0))


def test_dense_rows_take_the_mean_of_private_iterates() -> None:
    X, y = data("logistic")
    p = Problem(X, y, "logistic", constraint=TopK(4), ridge=0.02, n_jobs=1)
    solver = ASBCDHTP(blocks=1)
    state = solver.init(p, _run())
    order, moving = np.random.default_rng(3).integers(240, size=90), _core.Moving.everywhere()
    parts = [solver.along(p, state, 0.05, order[30 * t : 30 * (t + 1)], moving) for t in range(3)]
    p.design.threads = 3
    w, b = solver.along(p, state, 0.05, order, moving)
    np.testing.assert_allclose(w, np.mean([part[0] for part in parts], axis=0), rtol=1e-14)
    assert b == pytest.approx(np.mean([part[1] for part in parts]))


# -- counts ----------------------------------------------------------------------------------------------------------


def test_counts_of_passes_and_thresholdings() -> None:
    p = problem("logistic", ridge=0.02)
    runs = {
        "s2bcd-htp": (S2BCDHTP(), 2 / 10, 1),
        "s2bcd-htp whole": (S2BCDHTP(blocks=1, inner=60, batch=4), 1.0, 1),
        "asg-ht": (ASGHT(), 0.0, 12),
        "asvrg-ht": (ASVRGHT(), 1.0, 240),
        "sampled": (ASVRGHT(coordinates=Sampled(2)), 2 / 14, 240),
    }
    for name, (solver, passes, thresholdings) in runs.items():
        result = solve(p, solver, random_state=0, n_jobs=1, max_passes=40, tol=1e-12)
        first, second = result.history[:2]
        assert second.passes - first.passes == pytest.approx(1 + passes), name  # 1: mu, or n steps without one
        assert second.thresholdings - first.thresholdings == thresholdings, name


def test_a2sbcd_ht_draws_the_length_of_a_round() -> None:
    p = problem("squared")
    result = solve(p, A2SBCDHT(inner=50), random_state=0, n_jobs=1, tol=1e-12, max_passes=60)
    lengths = np.diff([record.thresholdings for record in result.history])
    assert lengths.min() >= 0
    assert lengths.max() < 50
    assert len(set(lengths.tolist())) > 5


# -- what is refused, what is awkward --------------------------------------------------------------------------------


def test_refusals_name_a_remedy() -> None:
    plain, ball = problem("squared"), Problem(*data("squared"), constraint=TopK(4) & L2Ball(1.0))
    grouped = problem("squared", k=3, groups=np.arange(14) // 2)
    with pytest.raises(ValueError, match=r"store=Plain\(\) is for one worker, but there are 2; use n_jobs=1"):
        solve(plain, ASVRGHT(store=Plain()), n_jobs=2)
    for solver in (S2BCDHTP(blocks=2**15), A2SBCDHT(blocks=0)):
        with pytest.raises(ValueError, match="blocks must be between 1 and 32767"):
            solve(plain, solver)
    with pytest.raises(ValueError, match="ends must be 'random' or 'last'"):
        A2SBCDHT(ends="first")
    with pytest.raises(ValueError, match=r"use sampling=Uniform\(\) or Shuffled\(\)"):
        solve(plain, ASBCDHTP(sampling=ByNorm()))
    with pytest.raises(ValueError, match="coordinates must be 'row', 'sampled'"):
        ASVRGHT(coordinates="columns")
    with pytest.raises(ValueError, match="size must be between 1 and k=4"):
        solve(plain, ASVRGHT(coordinates=Sampled(5)))
    for solver in (ASGHT(), ASVRGHT(), A2SBCDHT()):
        with pytest.raises(ValueError, match=f"{solver.name}: .*use solver="):
            solve(grouped, solver)
        with pytest.raises(ValueError, match=f"{solver.name}: .*use solver="):
            solve(ball, solver)
    with pytest.raises(ValueError, match=r"too long.*use step='estimate'"):
        solve(plain, S2BCDHTP(step=1e3))


@pytest.mark.parametrize("solver", [S2BCDHTP(), ASBCDHTP()], ids=["serial", "shared"])
def test_thresholded_once_a_round_it_takes_every_constraint(solver) -> None:
    X, y = data("logistic")
    for constraint in (
        TopK(2, groups=np.arange(14) // 2),
        TopK(4, bounds=(-0.3, 0.4)),
        TopK(4) & L2Ball(0.8),
        TopK(4, always=[3], never=[1]),
    ):
        p = Problem(X, y, "logistic", constraint=constraint, ridge=0.01, fit_intercept=True)
        result = solve(p, solver, random_state=0, n_jobs=2)
        assert p.constraint.contains(result.coef)
        assert result.objective < 0.95 * result.null_objective


@EVERY
def test_empty_columns_start_at_zero_and_stay(kind: str) -> None:
    X, y = half_empty("squared")  # column 3 is stored nowhere
    p = Problem(sp.csr_array(X), y, constraint=TopK(4), ridge=0.1)
    start = np.zeros(14)
    start[[1, 3]] = 1.0, 5.0
    result = solve(p, solver_of(kind), start=start, random_state=0, n_jobs=1, max_passes=100)
    assert result.coef[3] == 0
    assert result.objective < result.null_objective


def test_a_decreasing_step_takes_asg_ht_nearer() -> None:
    p = problem("logistic", layout=sp.csr_array, ridge=0.02)
    reach = solve(p, "htp").objective
    far, near = (
        solve(p, ASGHT(step), random_state=0, n_jobs=1, max_passes=200, tol=1e-10).history[-1].objective - reach
        for step in ("estimate", Decreasing(hold=1.0, power=1.0))
    )
    assert near < 0.3 * far


# -- ends ------------------------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("workers", [1, 3])
def test_cut_short_it_returns_the_last_whole_round(kind: str, workers: int) -> None:
    p = problem("logistic", layout=sp.csr_array, ridge=0.02)
    at_once = solve(p, solver_of(kind), time_limit=0.0, n_jobs=workers)
    assert at_once.stop_reason == "time_limit"
    assert at_once.objective == pytest.approx(at_once.null_objective)


@EVERY
@pytest.mark.parametrize("workers", [1, 3])
def test_cut_off_within_a_round_it_returns_the_model_before_it(kind: str, workers: int) -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 2000), density=0.3, format="csr", rng=rng)
    p = Problem(X, np.where(rng.random(300) < 0.5, 1.0, -1.0), "logistic", constraint=TopK(20), ridge=0.01)
    start = np.where(np.arange(2000) < 20, 0.01, 0.0)
    long = solver_of(kind, inner=1_500_000)  # seconds
    result = solve(p, long, start=start, time_limit=0.3, n_jobs=workers, random_state=0)
    assert result.stop_reason == "time_limit"
    assert len(result.history) == 0
    np.testing.assert_array_equal(result.coef, start)
