"""The stochastic solvers of penalised problems: steps against a NumPy twin, what they come to and refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, _core, losses, solve
from paring.constraints import TopK
from paring.penalties import L1, L1L2, Group, SparseGroup
from paring.screening import Strong
from paring.solvers import registry
from paring.solvers.ddss import DDSS, PSEStrong
from paring.solvers.packed import packed_of
from paring.solvers.prox_svrg import ProxSVRG
from paring.solvers.proximal import Proximal
from paring.solvers.rules import ByNorm
from paring.solvers.semistochastic import Atomic, Plain, Wild
from tests.reference.proximal import proximal

N, D = 40, 24
NAMES = [
    entry.name for entry in registry.ENTRIES if entry.family in ("penalised, stochastic", "penalised, asynchronous")
]
SERIAL = ["prox-svrg", "prox-saga"]
PENALTIES = {
    "l1": L1(0.05),
    "elastic net": L1L2(0.05, 0.5),
    "box": L1(0.02, bounds=(-0.1, 0.2)),
    "weighted": L1(0.05, factors=np.linspace(0.5, 2, D)),
    "group": Group(0.03, np.arange(D) % 8),
    "sparse group": SparseGroup(0.04, np.arange(D) // 3, 0.4),
    "positive group": Group(0.03, np.arange(D) // 4, bounds=(0, np.inf)),
}


def data(dense: bool, seed: int = 0, dtype: Any = np.float64) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """(X as given, X in float64, y, v)"""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    if not dense:
        X[rng.random(X.shape) < 0.7] = 0
    X = X.astype(dtype)
    y = np.where(X[:, :4].sum(axis=1) + 0.3 * rng.standard_normal(N) > 0, 1.0, -1.0)
    v = rng.uniform(0.5, 1.5, N)
    return (X if dense else sp.csr_array(X)), X.astype(float), y, v / v.mean()


def pose(X: Any, y: np.ndarray, penalty: Any, v: np.ndarray | None = None, **settings: Any) -> Problem:
    return Problem(X, y, settings.pop("loss", "logistic"), penalty=penalty, sample_weight=v, **settings)


# -- steps ------------------------------------------------------------------------------------------------------------


def each(z: Any, y: Any) -> Any:
    """The logistic slope of one score or of many."""
    return losses.logistic.slope(z, y) if np.ndim(z) else losses.logistic.slope([z], [y])[0]


@pytest.mark.parametrize("kind", ["anchor", "table", "plain"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("dense", [False, True])
def test_steps_are_the_twins(kind: str, penalty: str, dense: bool) -> None:
    rng = np.random.default_rng(1)
    for dtype, intercept in ((np.float64, True), (np.float32, False)):
        X, wide, y, v = data(dense, dtype=dtype)
        problem = pose(X, y, PENALTIES[penalty], v, ridge=0.1, fit_intercept=intercept)
        packed = packed_of(problem, np.arange(D))
        w = problem.regulariser.clip(0.2 * rng.standard_normal(D))
        b, c, order = 0.3 * intercept, 0.05, rng.integers(N, size=30)
        slope = losses.logistic.slope
        s = problem.v * slope(wide @ w + b, y) + 0.1 * rng.standard_normal(N)
        p = np.append(wide.T @ s, s.sum() * intercept) / N
        given: dict[str, Any] = {"anchor": {"slopes": s, "pull": p}, "table": {"slopes": "table"}, "plain": {}}[kind]
        twin = proximal(
            wide, y, problem.v, each, order, c, packed.reach, problem.regulariser, (w, b), intercept=intercept, **given
        )
        parts = problem.regulariser.parts()
        arguments = {
            "rows": packed.rows,
            "target": problem.target,
            "c": c,
            "penalty": np.ascontiguousarray([c * packed.reach, *parts[1:]]),
            "omega": parts[0],
            "units": packed.units,
        }
        behind = np.empty(0)
        if kind == "table":
            begun = problem.v * slope(wide @ w + b, y)
            behind = np.concatenate([wide.T @ begun / N, [begun.sum() / N], begun])
        for count, (w_t, b_t) in enumerate(twin):
            if count % 6:
                continue
            point = np.concatenate([w, [b], behind])
            known = given if kind == "anchor" else {}
            found = [
                _core.sweep_proximal(order=order[:count], w=point, store=store, **known, **arguments)
                for store in ("plain", "wild", "atomic")
            ]
            np.testing.assert_allclose(found[0][:D], w_t, atol=1e-12)
            assert found[0][D] == pytest.approx(b_t, abs=1e-12)
            np.testing.assert_array_equal(found[0], found[1])
            np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("penalty", ["l1", "group"])
def test_directions_average_to_the_gradient(penalty: str) -> None:
    """Steps so short that the prox is its first order: in the mean w moves by -c (gradient + pull of the penalty)."""
    X, wide, y, v = data(dense=False)
    problem = pose(X, y, PENALTIES[penalty], v)
    packed, c = packed_of(problem, np.arange(D)), 1e-7
    w = 1 + np.random.default_rng(2).random(D)
    anchor = 0.5 * w
    s = problem.residuals(wide @ anchor) * N
    parts = problem.regulariser.parts()
    moved = np.zeros(D)
    for i in range(N):
        moved += (
            _core.sweep_proximal(
                packed.rows,
                problem.target,
                np.array([i]),
                c,
                np.ascontiguousarray([c * packed.reach, *parts[1:]]),
                parts[0],
                packed.units,
                np.append(w, 0.0),
                s,
                np.append(wide.T @ s / N, 0.0),
            )[:D]
            - w
        )
    _, g, _ = problem.gradient(w)
    regulariser = problem.regulariser
    norms = regulariser.unit_norms(w)
    pulls = regulariser.tau * np.sign(w)
    if regulariser.has_norms:
        pulls = pulls + (regulariser.omega / norms)[regulariser.unit_of] * w
    stored = np.diff(sp.csc_array(wide).indptr) > 0
    np.testing.assert_allclose(moved[stored] / (N * -c), (g + pulls)[stored], atol=1e-4)


# -- what they come to ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("penalty", ["l1", "box", "sparse group"])
@pytest.mark.parametrize("dense", [False, True])
def test_the_answer_is_that_of_cd(name: str, penalty: str, dense: bool) -> None:
    X, _, y, v = data(dense)
    loose = name == "ddss-naive"
    problem = pose(X, y, PENALTIES[penalty], v, fit_intercept=True, ridge=0.05)
    wanted = solve(problem, tol=1e-10)
    result = solve(problem, name, tol=1e-5, max_passes=60 if loose else 3000, n_jobs=2, random_state=0)
    excess = (result.objective - wanted.objective) / problem.scale
    assert -1e-9 <= excess <= (0.05 if loose else 1e-5)
    assert result.dual_gap / problem.scale >= excess - 1e-9
    assert loose or (result.converged and result.proved_optimal)
    assert (problem.regulariser.clip(result.coef) == result.coef).all()


@pytest.mark.parametrize("name", NAMES)
def test_one_worker_gives_the_same_bits_again(name: str) -> None:
    X, _, y, v = data(dense=False)
    problem = pose(X, y, PENALTIES["group"], v, fit_intercept=True)
    runs = [solve(problem, name, random_state=3, max_passes=20, n_jobs=1).coef for _ in range(2)]
    np.testing.assert_array_equal(*runs)
    assert not np.array_equal(runs[0], solve(problem, name, random_state=4, max_passes=20, n_jobs=1).coef)


def test_one_worker_is_the_serial_solver() -> None:
    X, _, y, v = data(dense=False)
    problem = pose(X, y, PENALTIES["l1"], v)
    for serial, shared in (("prox-svrg", "prox-asvrg"), ("prox-saga", "prox-asaga")):
        one = solve(problem, serial, random_state=0, max_passes=30)
        np.testing.assert_array_equal(solve(problem, shared, random_state=0, max_passes=30, n_jobs=1).coef, one.coef)


def test_screening_discards_and_repacks() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((400, 300), density=0.05, format="csr", rng=rng)
    X.data = rng.standard_normal(X.nnz)
    y = X[:, :3] @ [3.0, -2.0, 1.0] + 0.1 * rng.standard_normal(400)
    problem = Problem(X, y, penalty=L1(0.03), ridge=0.01)
    result = solve(problem, "ddss", tol=1e-8, max_passes=2000, random_state=0)
    active = [record.active for record in result.history]
    assert active == sorted(active, reverse=True) and active[-1] < 20
    assert len(result.state.packed.features) < 40
    np.testing.assert_allclose(result.coef, solve(problem, tol=1e-11).coef, atol=1e-3)


def test_what_the_strong_rule_takes_wrongly_comes_back() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 80)) + 0.5 * rng.standard_normal((60, 1))
    y = X[:, ::10] @ rng.standard_normal(8) + 0.3 * rng.standard_normal(60)
    problem = Problem(X, y, penalty=L1(0.1), ridge=0.05)
    wanted = solve(problem, tol=1e-10)
    result = solve(problem, PSEStrong(screening=Strong(0.1)), tol=1e-6, max_passes=20000, random_state=0, n_jobs=1)
    assert np.count_nonzero(np.abs(X.T @ y)[wanted.support] / 60 < 0.1) > 0  # the rule discards some of the answer
    assert result.proved_optimal
    np.testing.assert_array_equal(result.support, wanted.support)


def test_a_start_is_taken_up_and_stops_are_heeded() -> None:
    X, _, y, v = data(dense=False)
    problem = pose(X, y, PENALTIES["l1"], v, fit_intercept=True)
    cold = solve(problem, "ddss", tol=1e-6, max_passes=4000, random_state=0)
    assert solve(problem, "ddss", tol=1e-5, start=cold, random_state=0).n_iter == 1
    assert solve(problem, "ddss", time_limit=0.0).stop_reason == "time_limit"
    one = solve(problem, "ddss", callbacks=lambda progress: True, random_state=0)
    assert one.stop_reason == "callback" and one.objective == pytest.approx(problem.objective(one.model))


def test_a_step_too_long_is_an_error_and_an_estimate_is_shortened() -> None:
    X, wide, _, v = data(dense=False)
    problem = pose(X, wide[:, 0], L1(0.01), v, loss="squared")
    with pytest.raises(ValueError, match=r"prox-svrg: the step .* is too long.* use step='estimate'"):
        solve(problem, ProxSVRG(step=100.0), random_state=0)
    assert solve(problem, Long(), max_passes=5000, random_state=0).converged


class Long(ProxSVRG):
    """An estimate far too long, so that it has to be shortened."""

    share = 60.0


REFUSED: list[tuple[Any, str]] = [
    (lambda X, y: solve(Problem(X, y, constraint=TopK(2)), "ddss"), "for penalised problems"),
    (lambda X, y: solve(pose(X, (y > 0) * 1.0, L1(1), loss="multinomial"), "ddss"), "use solver='cd'"),
    (lambda X, y: solve(pose(X, y, L1(1), offset=y), "ddss"), "steps know no offset; use solver='cd'"),
    (lambda X, y: solve(pose(X, y, L1(1), loss="hinge"), "prox-saga"), "use loss='squared_hinge'"),
    (lambda X, y: solve(pose(X, y, L1(1)), DDSS(step="tuned")), "use 'estimate' or a number"),
    (lambda X, y: solve(pose(X, y, L1(1)), DDSS(inner=0)), "inner must be at least 1"),
    (lambda X, y: solve(pose(X, y, L1(1)), DDSS(sampling=ByNorm())), "use sampling=Uniform"),
    (lambda X, y: solve(pose(X, y, L1(1)), DDSS(store=Plain()), n_jobs=2), "store=Plain"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refusals(call: Any, message: str) -> None:
    X, _, y, _ = data(dense=False)
    with pytest.raises(ValueError, match=message):
        call(X, y)


def test_settings_are_those_documented() -> None:
    assert isinstance(DDSS().store, Wild) and isinstance(ProxSVRG().store, Plain)
    assert isinstance(DDSS(store=Atomic()).store, Atomic)
    assert all(issubclass(registry.entry(name).load(), Proximal) for name in NAMES)
