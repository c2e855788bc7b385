"""The command that reproduces the papers' figures, on tiny problems; and what turns numbers into statements."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import __main__ as command
from benchmarks.papers import page, race, tuning, views
from benchmarks.papers.figures import FIGURES, diht_duality
from benchmarks.papers.outcome import Check, Context, Figure, Outcome, Panel, Unavailable
from benchmarks.papers.race import TUNED, Data, Entrant, Race, Trace
from paring import losses
from paring.result import Model
from paring.solvers import registry

ROOT = Path(__file__).resolve().parents[1]
LARGEST_PICTURE = 200_000  # bytes: they are checked in


@pytest.fixture
def small() -> Data:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12))
    truth = np.where(np.arange(12) < 3, 2.0, 0.0)
    return Data(X, X @ truth + 0.1 * rng.standard_normal(40), X, X @ truth, truth)


def trace(label: str, objective: list[float], seconds: list[float] | None = None) -> Trace:
    steps = [float(i) for i in range(len(objective))]
    return Trace(
        label,
        label,
        final=min(objective),
        passes=steps,
        thresholdings=steps,
        seconds=seconds or steps,
        objective=objective,
    )


# -- the figures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_runs_in_small(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command.main(["--quick", "--figure", name, "--out", str(tmp_path)])
    record = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
    outcome = record["outcome"]
    assert outcome["checks"] and all(check["statement"] and check["seen"] for check in outcome["checks"])
    assert 0 < (tmp_path / f"{name}.png").stat().st_size < LARGEST_PICTURE
    written = (tmp_path / "README.md").read_text("utf-8")
    assert f"![{FIGURES[name].title}]({name}.png)" in written and "| the paper's statement |" in written
    errors = [t["error"] for traces in outcome["traces"].values() for t in traces.values()]
    assert [error for error in errors if error and "too long" not in error] == []  # a step may diverge on toys


def test_every_exact_k_algorithm_of_the_papers_is_in_a_figure() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "benchmarks/papers/figures").glob("*.py"))
    named = ("sg-ht", "svrg-ht", "asbcdht", "sbcd-htp", "s2bcd-htp", "asg-ht", "asvrg-ht", "a2sbcd-ht", "asbcd-htp")
    for name in (*named, "iht", "htp", "fnhtp", "diht", "sdiht", "pursuit"):
        assert registry.entry(name) and f'"{name}"' in sources


def test_kept_results_are_of_these_figures() -> None:
    folder = command.RESULTS
    if not folder.exists():
        pytest.skip("no results are kept")
    assert {path.stem for path in folder.glob("*.json")} <= set(FIGURES)
    for path in folder.glob("*.png"):
        assert path.stem in FIGURES and path.stat().st_size < LARGEST_PICTURE
    known = {path.stem: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}
    assert all({"processor", "cores", "numpy", "python"} <= set(record["about"]) for record in known.values())


def test_the_page_of_the_documentation_shows_every_figure_kept() -> None:
    written = (ROOT / "docs" / "papers.md").read_text("utf-8")
    for path in command.RESULTS.glob("*.png"):
        assert f"benchmarks/results/papers/{path.name}" in written


def test_quick_numbers_are_not_laid_among_the_real_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.arguments(["--quick"])
    assert "--quick needs --out" in capsys.readouterr().err


def test_absent_data_leave_a_figure_out_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(context: Context) -> Outcome:
        raise Unavailable("x.npz is not in the data folder: set PARING_DATA")

    monkeypatch.setitem(FIGURES, "gone", Figure("gone", "a paper", "Gone", "", "", "", absent))
    command.main(["--figure", "gone", "--out", str(tmp_path)])
    assert "Left out: x.npz is not in the data folder" in (tmp_path / "README.md").read_text("utf-8")


# -- the race --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "logistic", losses.hinge, losses.smoothed_hinge(0.25)], ids=str)
def test_the_judges_losses_are_the_cores(loss: object) -> None:
    z, y = np.linspace(-3, 3, 61), np.where(np.arange(61) % 2, 1.0, -1.0)
    ours = race.loss_values(z, y, loss)
    np.testing.assert_allclose(ours, [losses.get(loss).core.total(z[[i]], y[[i]], np.ones(1)) for i in range(61)])


def test_a_race_starts_at_zero_and_ends_at_what_the_solver_returns(small: Data) -> None:
    entrant = Entrant("htp", "htp")
    found = race.run(Race("toy", small, "squared", 3), entrant, judges={"d": race.distance, "out": race.held_out})
    assert found.error == "" and found.selected == 3
    assert found.objective[0] == pytest.approx(np.mean(small.y**2) / 2) and found.passes[0] == 0
    w = np.linalg.lstsq(small.X[:, :3], small.y, rcond=None)[0]
    assert found.final == pytest.approx(np.mean((small.X[:, :3] @ w - small.y) ** 2) / 2)
    assert found.final == found.objective[-1]
    assert found.of("d")[0] == 1 and found.of("d")[-1] < 0.05 and found.of("out")[-1] < found.of("out")[0]


def test_a_surrogate_is_judged_by_the_races_own_loss(small: Data) -> None:
    labels = Data(small.X, np.sign(small.y))
    near = Entrant("iht", "iht", loss=losses.smoothed_hinge(0.5))
    toy = Race("toy", labels, losses.hinge, 3, ridge=0.1)
    assert race.run(toy, near).objective[0] == 1.0  # hinge at 0; the surrogate has 0.75
    assert "slope" in race.run(toy, Entrant("iht", "iht")).error


def test_an_objective_that_its_coefficients_do_not_have_is_an_error(small: Data, monkeypatch) -> None:
    monkeypatch.setattr(race, "objective", lambda of, model: 7.0)
    assert "says its objective is" in race.run(Race("toy", small, "squared", 3), Entrant("htp", "htp")).error


def test_points_kept() -> None:
    assert race.kept(5) == [0, 1, 2, 3, 4]
    many = race.kept(10_000)
    assert many[0] == 0 and many[-1] == 9999 and len(many) <= race.POINTS and many == sorted(many)


def test_values_along_a_trace() -> None:
    toy = trace("a", [3.0, 2.0, 1.0], [0.0, 0.5, 4.0])
    assert [toy.at("seconds", limit) for limit in (-1, 0.5, 3, 9)] == [math.inf, 2, 2, 1]
    assert [toy.reaches(target, "seconds") for target in (3, 1.5, 0)] == [0, 4, math.inf]


def test_scores_of_sparse_and_dense_columns(small: Data) -> None:
    import scipy.sparse as sp

    model = Model(np.array([1, 4]), np.array([2.0, -1.0]), 0.5)
    expected = 2 * small.X[:, 1] - small.X[:, 4] + 0.5
    for X in (small.X, sp.csr_matrix(small.X), sp.csr_array(small.X)):
        np.testing.assert_allclose(race.scores(X, model), expected)


# -- steps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("best", [2.0**-9, 1.0, 2.0**7])
def test_the_search_finds_the_best_step(best: float) -> None:
    tried: list[float] = []

    def value(step: float) -> float:
        tried.append(step)
        return abs(math.log2(step / best)) if step <= 4 * best else math.inf  # too long ones diverge

    assert tuning.search(value, 1.0) == best
    assert len(tried) == len(set(tried)) <= tuning.MOST_TRIALS


def test_a_book_is_kept_and_believed(tmp_path: Path, small: Data) -> None:
    path = tmp_path / "steps.json"
    toy, entrant = Race("toy", small, "squared", 3), Entrant("iht", "iht", {"step": TUNED})
    step = tuning.tuned(toy, entrant, tuning.Book.read(path), "key")
    assert step is not None and json.loads(path.read_text("utf-8")) == {"key/iht": step}
    path.write_text('{"key/iht": 0.5}', "utf-8")
    assert tuning.tuned(toy, entrant, tuning.Book.read(path), "key") == 0.5
    assert tuning.tuned(toy, entrant, tuning.Book.read(path, again=True), "key") == step
    assert tuning.tuned(toy, Entrant("htp", "htp"), tuning.Book(), "key") is None


# -- statements --------------------------------------------------------------------------------------------------------


def test_who_leads_at_equal_passes() -> None:
    traces = [trace("slow", [3, 2.5, 2]), trace("fast", [3, 2, 1]), trace("pursuit", [3, 0.5, 0.1])]
    held = views.leads(traces, "fast", "passes", (1, 2), "toy")
    assert held.held and "at 1 passes: fast 2 < slow 2.5" in held.seen and "pursuit" not in held.seen
    assert not views.leads(traces, "slow", "passes", (1, 2), "toy").held
    assert not views.leads(traces, "absent", "passes", (1,), "toy").held
    assert views.ends_lowest(traces, "fast", "toy").held
    assert views.fewest_thresholdings(traces, "fast", "toy").held
    assert "pursuit ends at 0.1" in views.beside_pursuit(traces, "toy") and "after 1 s" in views.beside_pursuit(
        traces, "toy"
    )


def test_nearly_equal_is_equal() -> None:
    assert views.first({"a": 1.0005, "b": 1.0}, "a") and not views.first({"a": 1.01, "b": 1.0}, "a")
    assert not views.first({"a": math.inf}, "a") and not views.first({}, "a")


def test_gaps_are_from_the_lowest_known() -> None:
    traces = [trace("a", [3.0, 2.0]), trace("pursuit", [3.0, 1.0])]
    traces[1].thresholdings = [0.0, 0.0]
    panels: list[Panel] = views.gap_panels("toy", traces, ("passes", "thresholdings"))
    assert panels[0].curves[0].y == [2.0, 1.0] and panels[0].curves[1].y[-1] == pytest.approx(1e-6)
    assert panels[1].curves[1].level


def test_numbers_as_json_takes_them() -> None:
    plain = Outcome(checks=[Check("s", True, "x")], traces={"t": {"a": [math.inf, 1 / 3, 2, None]}}).plain()
    assert plain["traces"]["t"]["a"] == ["inf", 0.333333, 2, None] and plain["checks"][0]["held"] is True
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_anchors_are_those_of_headings() -> None:
    assert page._anchor("SVRG-HT on features: 1, 2") == "svrg-ht-on-features-1-2"


# -- the duality figures -----------------------------------------------------------------------------------------------


def test_the_minimum_over_supports_by_hand() -> None:
    rng = np.random.default_rng(1)
    X, y, ridge = rng.standard_normal((15, 6)), rng.standard_normal(15), 0.3
    values = []
    for support in combinations(range(6), 2):
        A = X[:, support]
        w = np.linalg.solve(A.T @ A / 15 + ridge * np.eye(2), A.T @ y / 15)
        values.append(np.mean((A @ w - y) ** 2) / 2 + ridge / 2 * w @ w)
    assert diht_duality.minimum_over_supports(X, y, 2, ridge) == pytest.approx(min(values))


def test_designs_have_the_condition_numbers_they_are_drawn_for() -> None:
    rng, ridge = np.random.default_rng(0), 0.2
    X = diht_duality.conditioned(rng, 40_000, 6, 50.0, ridge)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True)) + ridge
    assert values[-1] / values[0] == pytest.approx(50, rel=0.05)
    w = np.where(np.arange(12) < 4, 1.0, 0.0)
    values = np.linalg.eigvalsh(np.cov(diht_duality.badly_conditioned(rng, 40_000, w).T))
    assert values[-1] / values[0] == pytest.approx(diht_duality.BADLY, rel=0.1)
