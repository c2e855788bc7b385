"""The benchmark's generators, its judge, and how it names what is missing (no rival is needed to run these)."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]
PROTOTYPES = ROOT / ".." / "shared" / "prototypes" / "problems.py"
SYNTHETIC: list[tuple[str, dict[str, Any]]] = [
    ("ar", {"n": 60, "d": 90, "s": 5, "n_test": 20}),
    ("equicorrelated", {"n": 50, "d": 80, "s": 5, "k": 8, "n_test": 20}),
    ("logistic", {"n": 60, "d": 90, "s": 5, "n_test": 20}),
    ("zipf", {"n": 200, "d": 2500, "s": 10, "n_test": 50}),
    ("zipf", {"n": 200, "d": 2500, "s": 10, "n_test": 50, "task": "regression"}),
]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Modules of benchmarks/, which are scripts beside each other, not a package."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and "benchmarks" in Path(sys.modules[name].__file__).parts:
            del sys.modules[name]


def dense(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize(("name", "options"), SYNTHETIC)
def test_generators_are_deterministic(bench: Any, name: str, options: dict[str, Any]) -> None:
    make = bench("problems").make
    (X, y, meta), (again, y_again, meta_again) = make(name, **options), make(name, **options)
    np.testing.assert_array_equal(dense(X), dense(again))
    np.testing.assert_array_equal(y, y_again)
    np.testing.assert_array_equal(dense(meta.X_test), dense(meta_again.X_test))
    other, y_other, _ = make(name, **options, seed=1)
    assert not np.array_equal(y, y_other) and not np.array_equal(dense(X), dense(other))
    assert X.shape == (options["n"], options["d"]) and np.count_nonzero(meta.truth) == options["s"]
    assert meta.loss == "squared" or set(np.unique(y)) == {-1.0, 1.0}


def test_generators_equal_the_prototypes_bit_for_bit(bench: Any) -> None:
    if not PROTOTYPES.exists():
        pytest.skip("no ../shared/prototypes here")
    prototype = load(PROTOTYPES, "prototype_problems")
    make = bench("problems").make
    X, y, meta = make("ar", n=80, d=120, s=7)
    for ours, theirs in zip((X, y, meta.truth), prototype.ar_regression(n=80, d=120, s=7), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for task in ("classification", "regression"):
        X, y, meta = make("zipf", n=300, d=2500, s=9, task=task)
        theirs_X, theirs_y, truth = prototype.zipf_text(n=300, d=2500, s=9, task=task)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(X, part), getattr(theirs_X, part))
        np.testing.assert_array_equal(y, theirs_y)
        np.testing.assert_array_equal(meta.truth, truth)


def load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_absent_file_is_named(bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    problems = bench("problems")
    monkeypatch.setenv("PARING_DATA", str(tmp_path))
    with pytest.raises(problems.Unavailable, match=r"riboflavin\.npz .* PARING_DATA"):
        problems.make("riboflavin")


@pytest.mark.parametrize("name", ["rcv1", "leukemia", "colon", "dorothea", "arcene", "madelon", "riboflavin", "mice"])
def test_real_problems_are_well_formed(bench: Any, name: str) -> None:
    problems = bench("problems")
    try:
        X, y, meta = problems.make(name)
    except problems.Unavailable as reason:
        pytest.skip(str(reason))
    assert X.dtype == np.float64 and len(y) == X.shape[0] and np.isfinite(X.sum())
    assert meta.loss == "squared" or set(np.unique(y)) == {-1.0, 1.0}
    if meta.X_test is not None:
        assert meta.X_test.shape == (len(meta.y_test), X.shape[1])


X_TINY = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 3.0, 1.0]])


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_the_judge_by_hand(bench: Any, store: Any) -> None:
    evaluate, Meta = bench("evaluate"), bench("problems").Meta
    X, y, coef = store(X_TINY), np.array([1.0, -1.0, 2.0, 0.0]), np.array([2.0, 0.0, 0.0])
    meta = Meta("squared", (1,), X_test=X, y_test=y, truth=np.array([1.0, 1.0, 0.0]))
    row = evaluate.Judge(X, y, meta, ridge=0.5, fit_intercept=True).judge([(1, coef, 0.5)], 1)
    residuals = np.array([2.5, 0.5, 2.5, 0.5]) - y
    assert row["objective"] == pytest.approx(np.mean(residuals**2) / 2 + 0.25 * 4)
    assert row["held_out"] == pytest.approx(np.mean(residuals**2))
    assert row["got"] == 1 and row["overlap"] == 0.5
    # on that column: min over w, b of mean((x w + b - y)^2) / 2 + w^2 / 4; centred x = +-1/2, centred x'y/n = .5
    w = 0.5 / (0.25 + 0.5)
    assert row["refitted"] == pytest.approx((np.var(y) - 2 * w * 0.5 + 0.25 * w * w) / 2 + 0.25 * w * w)

    labels = np.array([1.0, -1.0, 1.0, -1.0])
    row = evaluate.Judge(X, labels, Meta("logistic", (1,), X_test=X, y_test=labels), 0.5, False).judge(
        [(1, coef, 0.0)], 1
    )
    assert row["objective"] == pytest.approx((2 * np.log1p(np.exp(-2)) + 2 * np.log(2)) / 4 + 0.25 * 4)
    assert row["held_out"] == 0.0  # a score of 0 is the lower class
    assert row["refitted"] < row["objective"]


def test_of_a_path_the_largest_size_within_k_is_judged(bench: Any) -> None:
    evaluate = bench("evaluate")
    small, large, worse = np.array([1.0, 0, 0]), np.array([1.0, 1, 0]), np.array([0, 1.0, 1])
    fits = [(1, small, 0.0), (2, worse, 0.0), (2, large, 0.0), (3, np.ones(3), 0.0)]
    assert evaluate.pick(fits, 2, lambda coef, b: coef[2])[1] is large
    assert evaluate.pick(fits[3:], 2, lambda coef, b: 0.0) is None


def test_problems_and_fits_survive_the_exchange(bench: Any, tmp_path: Path) -> None:
    exchange = bench("exchange")
    for name, X in (("dense", np.asfortranarray(X_TINY)), ("sparse", sp.csr_matrix(X_TINY))):
        exchange.write_problem(tmp_path / name, X, np.arange(4.0))
        back, y = exchange.read_problem(tmp_path / name)
        assert sp.issparse(back) == sp.issparse(X)
        np.testing.assert_array_equal(dense(back), X_TINY)
        np.testing.assert_array_equal(y, np.arange(4.0))
    fits = [(1, np.array([0.0, 2.0, 0.0]), 0.5), (2, np.array([1.0, 0.0, -3.0]), 0.0)]
    exchange.write_fits(tmp_path / "fits.npz", fits)
    for (k, coef, b), (k_back, coef_back, b_back) in zip(fits, exchange.read_fits(tmp_path / "fits.npz"), strict=True):
        assert (k, b) == (k_back, b_back)
        np.testing.assert_array_equal(coef, coef_back)


def test_what_is_missing_or_fails_is_a_line_of_the_table(bench: Any, tmp_path: Path) -> None:
    run, table = bench("run"), bench("table")
    entry = {
        "name": "toy",
        "problem": "ar",
        "options": {"n": 30, "d": 40, "s": 2, "n_test": 5},
        "k": [2],
        "repeats": 1,
        "threads": 1,
        "timeout": 30,
        "rivals": ["omp", "abess", "liblinear-l1"],
    }
    here = os.path.relpath(sys.prefix, ROOT)  # an environment with scikit-learn, without abess
    result = run.execute(entry, {"rivals": here, "ours": here}, tmp_path, lambda line: None)
    page = table.markdown({"cores": 1, "software": {}, "note": ""}, [result, {"name": "gone", "skipped": "no file"}])
    assert "| omp | 2 | 2 |" in page
    assert "liblinear-l1 (k=2): has no squared loss" in page
    if importlib.util.find_spec("abess") is None:
        assert "abess (k=2): ModuleNotFoundError: No module named 'abess'" in page
    assert "Left out: no file." in page

    entry |= {"rivals": ["abess"], "name": "absent"}
    result = run.execute(entry, {"rivals": "no/such/folder", "ours": here}, tmp_path, lambda line: None)
    assert "no environment no/such/folder" in result["rows"][0]["error"]


def test_the_default_runs_name_what_exists(bench: Any) -> None:
    pytest.importorskip("yaml")
    run, problems, rivals = bench("run"), bench("problems"), bench("rivals")
    config = run.configuration(ROOT / "benchmarks" / "config.yaml")
    for flags in ([], ["--quick"], ["--only", "omp", "--k", "3"]):
        for entry in run.chosen_runs(config, run.arguments(flags)):
            assert entry["problem"] in problems.PROBLEMS
            assert set(entry["rivals"]) <= set(rivals.RIVALS)
            assert "paring" in entry["rivals"]


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        ("squared", "l1"),
        ("squared", "group"),
        ("squared", "sparse_group"),
        ("logistic", "l1"),
        ("logistic", "sparse_group"),
        ("multinomial", "l1"),
    ],
)
def test_the_gap_of_penalised_rivals_is_judged_as_ours_is(bench: Any, loss: str, penalty: str) -> None:
    import paring

    gap = bench("gap")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    scores = X[:, 0] - X[:, 1] + rng.standard_normal(60)
    thirds = np.digitize(scores, [-0.7, 0.7]).astype(float)
    y = {"squared": scores, "logistic": np.sign(scores), "multinomial": thirds}[loss]
    judge = gap.GapJudge(X, y, loss, gap.Penalty(penalty, 5, 0.5))
    lam, groups, penalties = 0.1 * judge.lam_max, np.arange(30) // 5, paring.penalties
    kinds = {
        "l1": penalties.L1(lam),
        "group": penalties.Group(lam, groups),
        "sparse_group": penalties.SparseGroup(lam, groups, 0.5),
    }
    problem = paring.Problem(X, y, loss, penalty=kinds[penalty])
    best = paring.solve(problem, tol=1e-10)
    judged = judge.judge(best.model.dense(30).ravel(), lam)
    assert judged["gap"] <= 2e-10 and judged["objective"] == pytest.approx(best.objective, rel=1e-12)
    assert judged["nonzeros"] == np.count_nonzero(best.model.weights)
    bad = judge.judge(0.1 * rng.standard_normal(30 * judge.loss.outputs), lam)
    assert bad["gap"] > 0.01 and bad["gap"] * judge.null >= bad["objective"] - best.objective
    zeros = np.zeros(30 * judge.loss.outputs)
    assert judge.judge(zeros, judge.lam_max)["gap"] <= 1e-12 < judge.judge(zeros, 0.99 * judge.lam_max)["gap"]


def test_a_rival_is_timed_at_the_loosest_tolerance_that_reaches_the_gap(bench: Any, tmp_path: Path) -> None:
    penalised, gap, rivals = bench("penalised"), bench("gap"), bench("penalised_rivals")
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((40, 20)))
    judge = gap.GapJudge(X, X[:, 0], "squared", gap.Penalty())
    run = {"rivals": ["celer"], "threads": 1, "penalty": "l1", "size": 1, "l1_ratio": 0.5, "loss": "squared"}
    race = penalised.Race(run | {"gap": 1e-6, "timeout": 1}, {"rivals": "no/such/folder"}, tmp_path / "run", judge)
    grid, asked = rivals.RIVALS["celer"].grid, []

    def reaches(limit: float) -> Any:
        def ask(name: str, lams: Any, tol: float) -> dict[str, Any]:
            asked.append(tol)
            judged = {"gap": 0.0 if tol <= limit else 1.0, "objective": 0.0, "nonzeros": 0}
            return {"seconds": tol, "cpu": tol, "judged": judged}

        return ask

    for limit in (1e-8, 3e-4, 1e-10, 1e-2):
        race.ask = reaches(limit)
        assert race.search("celer", penalised.Point("0.1", (0.1,))).tol == limit == grid[race.at["celer"]]
    asked.clear()
    race.ask = reaches(0.0)
    assert race.search("celer", penalised.Point("0.1", (0.1,))) == "gap 1.0e+00 at best, down to tolerance 1e-10"
    assert asked == list(grid)
    race.at["celer"], fits = 8, reaches(1e-3)  # at a tolerance of 1e-6, which does not end in time
    race.ask = lambda name, lams, tol: fits(name, lams, tol) if tol > 2e-5 else {"error": "late", "limit": 1}
    assert race.search("celer", penalised.Point("0.1", (0.1,))).tol == 1e-3
    race.ask = lambda name, lams, tol: {"error": "more than 1 s"}
    assert "more than 1 s" in race.search("celer", penalised.Point("0.1", (0.1,)))


def test_a_penalised_run_is_a_page(bench: Any, tmp_path: Path) -> None:
    penalised, page = bench("penalised"), bench("penalised_page")
    entry = {
        "name": "toy",
        "problem": "grouped",
        "options": {"n": 40, "d": 60, "size": 5, "s": 2},
        "ratios": [0.5],
        "gap": 1e-6,
        "repeats": 1,
        "once_above": 5,
        "threads": 1,
        "timeout": 30,
        "rivals": ["paring", "scikit-learn", "liblinear"],
    }
    here = os.path.relpath(sys.prefix, ROOT)
    result = penalised.execute(entry, {"rivals": here, "ours": here}, tmp_path, lambda line: None)
    rows = {row["rival"]: row for row in result["rows"]}
    assert rows["paring"]["gap"] <= 1e-6 and rows["scikit-learn"]["gap"] <= 1e-6
    assert rows["paring"]["ratio"] == 1.0 and rows["liblinear"]["error"] == "has no squared loss"
    text = page.markdown({"cores": 1, "software": {}, "note": ""}, [result, {"name": "gone", "skipped": "no file"}])
    assert "| toy | 0.5 |" in text and "| scikit-learn |" in text and "Left out: no file." in text
    assert "- no result: liblinear (0.5): has no squared loss" in text
    entry |= {"name": "path", "path": {"count": 3, "eps": 0.3}}
    result = penalised.execute(entry, {"rivals": here, "ours": here}, tmp_path, lambda line: None)
    assert [row["point"] for row in result["rows"]] == ["path"] * 3
    assert all(row["gap"] <= 1e-6 for row in result["rows"][:2])


def test_the_penalised_runs_name_what_exists(bench: Any) -> None:
    pytest.importorskip("yaml")
    run, problems, rivals = bench("run"), bench("problems"), bench("penalised_rivals")
    config = run.configuration(ROOT / "benchmarks" / "penalised.yaml")
    for flags in ([], ["--quick"]):
        for entry in run.chosen_runs(config, run.arguments(flags)):
            assert entry["problem"] in problems.PROBLEMS
            assert set(entry["rivals"]) <= set(rivals.RIVALS) and entry["rivals"][0] == "paring"
            assert {rivals.RIVALS[name].environment for name in entry["rivals"]} <= set(config["environments"])
            assert ("path" in entry) != ("ratios" in entry)


def test_click_logs_are_deterministic(bench: Any) -> None:
    clicks = bench("race").clicks
    (X, y), (again, y_again) = clicks(300, 200), clicks(300, 200)
    assert X.shape == (300, 200) and set(np.unique(y)) == {-1.0, 1.0} and X.sum() == 300 * 15
    np.testing.assert_array_equal(X.toarray(), again.toarray())
    np.testing.assert_array_equal(y, y_again)


def test_the_race_says_when_each_solver_came_how_near(bench: Any) -> None:
    race = bench("race")
    X, y = race.clicks(400, 100)
    rows = race.reached(race.run(X, y, 0.05, 20.0, (1,), ("ddss", "cd")))
    assert [row["stop"] for row in rows] == ["converged", "converged"]
    for row in rows:
        assert row["gap"] <= 1e-6 * row["null"]
        times = list(row["reached"].values())
        assert None not in times and times == sorted(times)
    assert "| ddss | 1 |" in race.page("here", rows)
