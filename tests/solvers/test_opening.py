"""Where pursuit begins: thresholding first where the ridge is large, both beginnings where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, constraints, solve
from paring.certificates import swap_change
from paring.constraints import TopK
from paring.solvers import choose, opening
from paring.solvers.pursuit import Pursuit
from tests.solvers.problems import data, problem

N, D, K = 1500, 1200, 30
LARGE_RIDGE, SMALL_RIDGE = 0.3, 1e-3


def posed(ridge: float, loss: str = "logistic", k: int = K, **options: Any) -> Problem:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, D)).astype(np.float32)
    X[:, 1:] = np.sqrt(0.75) * X[:, 1:] + 0.5 * X[:, :-1]
    z = X[:, ::50] @ rng.standard_normal(D // 50) + rng.standard_normal(N)
    y = z if loss == "squared" else np.where(z > 0, 1.0, -1.0)
    return Problem(X, y, loss, constraint=TopK(k), ridge=ridge, fit_intercept=True, **options)


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge"])
def test_a_large_ridge_saves_the_stages(loss: str) -> None:
    """k alone is visited; the model is as good, by fewer passes (a tableau makes few of them anyway)."""
    ridge = 2.0 if loss != "logistic" else LARGE_RIDGE
    straight, grown = (solve(posed(ridge, loss), solver) for solver in ("pursuit", Pursuit(sizes="stages")))
    assert sorted(straight.path) == [K]
    assert sorted(grown.path)[:3] == [1, 2, 3]
    assert straight.converged
    assert straight.history[-1].thresholdings > 0
    assert straight.objective <= grown.objective * (1 + 1e-4)
    if loss != "squared":
        assert straight.n_passes < grown.n_passes / 2
    if loss == "squared":
        at = posed(ridge, loss)
        assert swap_change(at, straight.model) >= -1e-9 * at.scale


def test_a_small_ridge_has_the_lower_of_both() -> None:
    both, grown, straight = (solve(posed(SMALL_RIDGE), Pursuit(sizes=sizes)) for sizes in ("auto", "stages", "k"))
    assert both.objective <= min(grown.objective, straight.objective) + 1e-12
    assert both.path[K].objective == both.objective
    assert sorted(both.path) == sorted(grown.path)
    assert both.swap_optimal == "model"


def test_neither_beginning_could_be_left_out() -> None:
    """Over small problems each is the better one now and then, and the answer is always the better one's."""
    wins = {"stages": 0, "k": 0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 40))
        X[:, 1:] = 0.6 * X[:, 1:] + 0.8 * X[:, :-1]
        y = np.where(X[:, ::4] @ rng.standard_normal(10) + rng.standard_normal(60) > 0, 1.0, -1.0)
        at = Problem(X, y, "logistic", constraint=TopK(12), ridge=1e-3)
        found = {sizes: solve(at, Pursuit(sizes=sizes)).objective for sizes in ("stages", "k", "auto")}
        assert found["auto"] <= min(found["stages"], found["k"]) + 1e-9
        wins["stages"] += found["stages"] < found["k"] - 1e-6
        wins["k"] += found["k"] < found["stages"] - 1e-6
    assert min(wins.values()) > 0, wins


def test_without_ridge_and_from_a_start_nothing_is_thresholded() -> None:
    plain = solve(problem("logistic", k=4), "pursuit")
    assert plain.history[-1].thresholdings == 0
    again = solve(problem("logistic", k=4, ridge=0.1), "pursuit", start=plain)
    assert again.history[-1].thresholdings == 0


@pytest.mark.parametrize(
    "options",
    [{"always": [3]}, {"never": [0]}, {"groups": np.arange(14) // 2}, {"bounds": (0, 0.5)}],
    ids=lambda options: next(iter(options)),
)
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_every_constraint_is_kept(loss: str, options: dict[str, Any]) -> None:
    at = problem(loss, k=3, ridge=0.05, **options)
    result = solve(at, Pursuit(sizes="k"))
    assert at.constraint.contains(result.model.dense(at.d))
    assert set(options.get("always", ())) <= set(result.support.tolist())
    assert list(result.path) == [3]
    assert result.objective <= solve(at, "htp").objective + 1e-9


@pytest.mark.parametrize("sizes", ["k", "auto"])
def test_where_thresholding_finds_no_step_features_are_entered_one_by_one(
    sizes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = problem("logistic", k=5, ridge=0.1, fit_intercept=True)
    wanted = solve(at, Pursuit(sizes="stages"))
    monkeypatch.setattr(opening, "round_of", lambda *given: None)
    found = solve(at, Pursuit(sizes=sizes))
    assert found.converged
    assert found.objective == wanted.objective
    assert sorted(found.path) == sorted(wanted.path)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_stop_at_any_round_gives_a_whole_model(rounds: int) -> None:
    for sizes in ("k", "auto"):
        at = posed(SMALL_RIDGE)
        result = solve(at, Pursuit(sizes=sizes), callbacks=lambda progress: progress.rounds >= rounds)
        assert result.stop_reason == "callback"
        assert len(result.support) <= K
        assert result.objective == pytest.approx(at.objective(result.model))


def test_a_stop_in_the_second_beginning_keeps_what_the_first_found() -> None:
    grown = solve(posed(SMALL_RIDGE), Pursuit(sizes="stages"))
    result = solve(posed(SMALL_RIDGE), callbacks=lambda progress: progress.thresholdings >= 1)
    assert result.stop_reason == "callback"
    assert result.objective == grown.objective
    assert result.support.tolist() == grown.support.tolist()


def test_storages_agree() -> None:
    X, y = data("logistic")
    results = [
        solve(Problem(form(X), y, "logistic", constraint=TopK(4), ridge=0.05), Pursuit(sizes="k"))
        for form in (np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array)
    ]
    for result in results[1:]:
        assert result.support.tolist() == results[0].support.tolist()
        assert result.objective == pytest.approx(results[0].objective, rel=1e-10)


def test_what_sizes_may_be() -> None:
    with pytest.raises(ValueError, match="sizes must be one of auto, stages, all, k, got 'some'"):
        solve(problem("squared", k=2), Pursuit(sizes="some"))


def test_auto_takes_diht_for_very_many_features_with_a_ridge() -> None:
    rng = np.random.default_rng(0)
    X, y = sp.random(50, 3000, density=0.05, format="csr", random_state=0), np.sign(rng.standard_normal(50))

    def chosen(loss: str = "logistic", k: int = 2000, ridge: float = 0.1, ball: bool = False) -> str:
        bound = TopK(k) & constraints.L2Ball(1.0) if ball else TopK(k)
        targets = (y > 0).astype(float) if loss in ("multinomial", "poisson") else y
        return choose(Problem(X, targets, loss, constraint=bound, ridge=ridge))[0]

    assert chosen() == "diht"
    assert chosen("squared") == "diht"
    assert chosen(k=1999) == chosen(ridge=0.0) == chosen("multinomial") == chosen("poisson") == "pursuit"
    assert chosen(ball=True) == "iht"


def test_too_many_features_for_exchanges() -> None:
    """Refused by pursuit, left out by diht, and "auto" takes neither without a ridge: 20,000 squared are 3.2 GB."""
    k = 20_000
    X = sp.random(400, 3 * k, density=0.002, format="csr", random_state=0)
    y = np.where(np.random.default_rng(0).standard_normal(400) > 0, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"more than 10,000 features need .* use solver='htp', or with"):
        solve(Problem(X, y, "logistic", constraint=TopK(k)), "pursuit")
    assert choose(Problem(X, y, "logistic", constraint=TopK(k)))[0] == "htp"
    groups = np.arange(3 * k) // 3
    assert choose(Problem(X, y, constraint=TopK(k // 4, groups=groups)))[0] == "htp"
    result = solve(Problem(X, y, "logistic", constraint=TopK(k), ridge=1e-3))
    assert result.why.startswith("auto: with a ridge")
    assert len(result.support) <= k
    assert result.objective < Problem(X, y, "logistic", constraint=TopK(k), ridge=1e-3).null[1] / 2


def test_a_limit_in_the_second_beginning_ends_with_what_the_first_found() -> None:
    grown = solve(posed(SMALL_RIDGE), Pursuit(sizes="stages"))
    cut = solve(posed(SMALL_RIDGE), max_passes=grown.n_passes + 3)
    assert cut.converged
    assert cut.objective == grown.objective
    assert cut.certificate.statement == grown.certificate.statement
    assert sorted(cut.path) == sorted(grown.path)
    assert len(cut.history) > len(grown.history)
