"""Every command, in this process: what it prints, what it writes, how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import paring
from paring import SparseClassifier, SparseRegressor, open_dataset
from paring.cli.app import app
from paring.data.folder import write_folder
from paring.solvers import registry

N, D = 60, 8
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)).round(4)
SCORE = 2 * X[:, 1] - X[:, 4] + 0.1 * RNG.standard_normal(N)
NAMES = [f"gene {j}" for j in range(D)]
LABELS = np.array(["ill", "well"])[(SCORE > 0).astype(int)]


def paring_(*args: Any, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [str(arg) for arg in args])
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr, done.exception)
    return done


def answer(*args: Any, code: int = 0) -> dict[str, Any]:
    return json.loads(paring_(*args, "--json", code=code).stdout)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write X and a target as a file of that name."""

    def written(name: str, y: Any, names: list[str] = NAMES) -> Path:
        path = tmp_path / name
        if path.suffix == ".npz":
            np.savez(path, X=X, y=y)
        elif path.suffix == ".csv":
            pd = pytest.importorskip("pandas")
            pd.DataFrame(dict(zip(names, X.T, strict=True)) | {"outcome": y}).to_csv(path, index=False)
        else:
            from sklearn.datasets import dump_svmlight_file

            dump_svmlight_file(X, y, str(path), zero_based=False)
        return path

    return written


@pytest.fixture
def counted_from_zero(tmp_path: Path) -> Callable[[str, Any], Path]:
    """Write that X with a target as svmlight that counts from 0."""
    from sklearn.datasets import dump_svmlight_file

    def written(name: str, rows: Any) -> Path:
        dump_svmlight_file(rows, SCORE[: len(rows)] > 0, str(tmp_path / name), zero_based=True)
        return tmp_path / name

    return written


# -- fit ---------------------------------------------------------------------------------------------------------------


def test_fit_equals_the_estimator(write: Callable[..., Path]) -> None:
    found = answer("fit", write("a.npz", SCORE), "--k", 2)
    model = SparseRegressor(2).fit(X, SCORE)
    assert [feature["index"] for feature in found["features"]] == model.get_support(indices=True).tolist()
    assert [feature["coef"] for feature in found["features"]] == model.coef_[model.support_].tolist()
    assert found["intercept"] == model.intercept_ and found["objective"] == model.objective_
    assert found["dual_gap"] is None and found["certificate"]["kind"] == "swap_optimal" and found["task"] == "numbers"


def test_options_reach_the_estimator(write: Callable[..., Path], tmp_path: Path) -> None:
    groups = tmp_path / "groups.txt"
    groups.write_text("a a b b c c d d\n")
    path = write("a.npz", SCORE)
    options = ["-k", 2, "--groups", groups, "--lower", 0, "--upper", "9", "--ridge", 0.1, "--no-intercept"]
    found = answer("fit", path, *options, "--always", "6", "--tol", 1e-8)
    labels = list("aabbccdd")
    model = SparseRegressor(
        2, groups=labels, lower_bounds=0, upper_bounds=9, ridge=0.1, fit_intercept=False, always_select=[6], tol=1e-8
    ).fit(X, SCORE)
    assert found["objective"] == model.objective_ and found["intercept"] == 0
    assert {feature["index"] for feature in found["features"]} == set(model.get_support(indices=True).tolist())


@pytest.mark.parametrize("solver", ["htp", "fg-ht", "omp"])
def test_solver_by_name(write: Callable[..., Path], solver: str) -> None:
    found = answer("fit", write("a.npz", SCORE), "-k", 2, "--solver", solver)
    assert found["solver"] == registry.ALIASES.get(solver, solver)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (SCORE, "numbers"),
        (LABELS, "classes"),
        (SCORE > 0, "classes"),
        (np.digitize(SCORE, [-1, 1]), "classes"),
        (np.arange(N), "numbers"),
        (np.sign(SCORE), "classes"),
        (np.digitize(SCORE, [-1, 1]).astype(float), "numbers"),
    ],
)
def test_task_is_seen_and_said(write: Callable[..., Path], y: Any, task: str) -> None:
    path = write("a.npz", y)
    found = answer("fit", path, "-k", 2)
    assert found["task"] == task
    assert found["task_reason"] in " ".join(paring_("fit", path, "-k", 2).stdout.split())


def test_the_user_decides_the_task(write: Callable[..., Path]) -> None:
    path = write("a.svm", np.digitize(SCORE, [-1, 1]).astype(float))
    assert answer("fit", path, "-k", 2, "--classify")["classes"] == [0, 1, 2]
    assert answer("fit", path, "-k", 2, "--loss", "multinomial")["classes"] == [0, 1, 2]
    path = write("b.npz", (SCORE > 0).astype(int))
    assert answer("fit", path, "-k", 2, "--regress")["estimator"] == "SparseRegressor"
    assert answer("fit", path, "-k", 2, "--loss", "poisson")["loss"] == "poisson"


def test_the_page_says_which_class_and_shows_no_codes(write: Callable[..., Path]) -> None:
    names = ["\x1b[31mred", "[bold]b[/]", *NAMES[2:]]
    page = paring_("fit", write("a.csv", LABELS, names), "--k", 8).stdout
    assert "coefficient, for well" in page
    assert "\x1b" not in page and "[31mred" in page and "[bold]b[/]" in page


def test_where_the_model_goes_is_tried_first(write: Callable[..., Path], tmp_path: Path) -> None:
    said = paring_("fit", write("a.npz", SCORE), "--k", 2, "--out", tmp_path / "new" / "m", code=1).stderr
    assert "no such folder" in said and not (tmp_path / "new").exists()


def test_a_page_fits_eighty_columns(write: Callable[..., Path]) -> None:
    page = paring_("fit", write("a.csv", LABELS), "-k", 3, "--always", "gene 6, gene 1").stdout
    assert max(len(line) for line in page.splitlines()) <= 80
    for expected in ("gene 6", "gene 1", "coefficient", "certificate", "swap-optimal", "accuracy"):
        assert expected in page


def test_stopped_early_is_3_and_the_model_is_there(write: Callable[..., Path], tmp_path: Path) -> None:
    done = paring_(
        "fit", write("a.npz", SCORE), "-k", 2, "--solver", "iht", "--time-limit", 1e-9, "--out", tmp_path / "m", code=3
    )
    assert "early: time_limit" in done.stdout and "time_limit" in done.stderr
    assert paring.load_model(tmp_path / "m").result_.stop_reason == "time_limit"


def test_classes_that_are_separated_are_told_of_once(write: Callable[..., Path]) -> None:
    y = np.where(2 * X[:, 1] - X[:, 4] > 0, 1, -1)
    done = paring_("fit", write("a.npz", y), "-k", 2, "--classify", "--ridge", 0)
    assert done.stderr.count("the features chosen separate classes") == 1


def test_verbose_speaks_on_stderr_only(write: Callable[..., Path]) -> None:
    done = paring_("fit", write("a.npz", SCORE), "-k", 2, "--verbose", "--json")
    assert "pursuit: round" in done.stderr and json.loads(done.stdout)
    assert paring_("fit", write("a.npz", SCORE), "-k", 2).stderr == ""


def test_interrupted_is_130_and_keeps_the_model(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce = SparseRegressor._announce

    def interrupted(self: Any, result: Any) -> None:
        announce(self, result)
        raise KeyboardInterrupt

    monkeypatch.setattr(SparseRegressor, "_announce", interrupted)
    done = paring_("fit", write("a.npz", SCORE), "-k", 2, "--out", tmp_path / "m", code=130)
    assert "model so far" in done.stderr and "interrupted" in done.stderr and done.stdout == ""
    assert paring.load_model(tmp_path / "m").n_features_in_ == D


# -- predict -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [SCORE, LABELS, SCORE > 0, (SCORE > 0).astype(int), np.digitize(SCORE, [-1, 1])])
def test_predict_after_fit(write: Callable[..., Path], tmp_path: Path, y: Any) -> None:
    path = write("a.npz", y)
    paring_("fit", path, "-k", 3, "--out", tmp_path / "m")
    known = SparseRegressor if y.dtype.kind == "f" else SparseClassifier
    model = known(3).fit(X, y)
    assert answer("predict", tmp_path / "m", path)["predictions"] == model.predict(X).tolist()
    lines = paring_("predict", tmp_path / "m.npz", path).stdout.splitlines()
    assert lines == [str(value) for value in model.predict(X).tolist()]
    paring_("predict", tmp_path / "m.json", path, "--out", tmp_path / "p.npy")
    assert np.array_equal(np.load(tmp_path / "p.npy"), model.predict(X))
    if known is SparseClassifier:
        assert answer("predict", tmp_path / "m", path, "--proba")["probabilities"] == model.predict_proba(X).tolist()
        paring_("predict", tmp_path / "m", path, "--proba", "--out", tmp_path / "p.csv")
        head = (tmp_path / "p.csv").read_text().splitlines()[0]
        assert head == ",".join(map(str, model.classes_.tolist()))


def test_tables_are_matched_by_name(write: Callable[..., Path], tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    path = write("a.csv", SCORE)
    paring_("fit", path, "-k", 3, "--out", tmp_path / "m")
    expected = answer("predict", tmp_path / "m", path)["predictions"]
    frame = pd.read_csv(path)
    frame[["outcome", "gene 7", *NAMES[:7]]].to_csv(tmp_path / "moved.csv", index=False)
    frame[NAMES].to_csv(tmp_path / "bare.csv", index=False)
    for name in ("moved.csv", "bare.csv"):
        assert answer("predict", tmp_path / "m", tmp_path / name)["predictions"] == expected
    frame[NAMES[1:]].to_csv(tmp_path / "less.csv", index=False)
    assert "no column 'gene 0'" in paring_("predict", tmp_path / "m", tmp_path / "less.csv", code=1).stderr


def test_a_table_needs_only_the_columns_of_the_model(write: Callable[..., Path], tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    paring_("fit", write("a.csv", SCORE), "--k", 2, "--out", tmp_path / "m")
    model = SparseRegressor(2).fit(X, SCORE)
    used = model.get_support(indices=True)
    few = pd.DataFrame({"other": ["x"] * N} | {NAMES[j]: X[:, j] for j in used[::-1]})
    few.to_csv(tmp_path / "few.csv", index=False)
    found = answer("predict", tmp_path / "m", tmp_path / "few.csv")["predictions"]
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)
    few.drop(columns=NAMES[used[0]]).to_csv(tmp_path / "fewer.csv", index=False)
    said = paring_("predict", tmp_path / "m", tmp_path / "fewer.csv", code=1).stderr
    assert f"has no column {NAMES[used[0]]!r}, which the model uses" in said


def test_svmlight_is_read_as_the_model_s_own_file_counts(
    counted_from_zero: Callable[[str, Any], Path], write: Callable[..., Path], tmp_path: Path
) -> None:
    without_first = X.copy()
    without_first[:, 0] = 0
    train, test = counted_from_zero("train.svm", X), counted_from_zero("test.svm", without_first)
    fitted = paring_("fit", train, "--k", 2, "--out", tmp_path / "m").stdout
    model = SparseClassifier(2).fit(X, SCORE > 0)
    found = answer("predict", tmp_path / "m", test)["predictions"]
    np.testing.assert_array_equal(found, model.predict(without_first).astype(int))
    from_one = paring_("fit", write("one.svm", (SCORE > 0).astype(int)), "--k", 2).stdout
    for j in model.get_support(indices=True):  # features are called what the file calls them
        assert f"\n{j} " in fitted and f"\n{j + 1} " in from_one


def test_svmlight_may_lack_the_last_features(write: Callable[..., Path], tmp_path: Path) -> None:
    paring_("fit", write("a.svm", SCORE), "-k", 2, "--out", tmp_path / "m")
    (tmp_path / "few.svm").write_text("0 2:1.0\n0 1:1.0\n")
    model = SparseRegressor(2).fit(X, SCORE)
    found = answer("predict", tmp_path / "m", tmp_path / "few.svm")["predictions"]
    np.testing.assert_allclose(found, model.predict(np.eye(D)[[1, 0]]), rtol=1e-12)


# -- the others --------------------------------------------------------------------------------------------------------


def test_convert(write: Callable[..., Path], tmp_path: Path) -> None:
    found = answer("convert", write("a.svm", SCORE), tmp_path / "folder", "--order", "F", "--dtype", "float32")
    data = open_dataset(tmp_path / "folder")
    assert data.X.format == "csc" and data.X.dtype == np.float32
    assert (found["rows"], found["features"], found["dtype"]) == (N, D, "float32")
    assert "--overwrite" in paring_("convert", tmp_path / "a.svm", tmp_path / "folder", code=1).stderr
    page = paring_("convert", tmp_path / "a.svm", tmp_path / "folder", "--overwrite").stdout
    assert f"{N} rows, {D} features" in page
    assert answer("fit", tmp_path / "folder", "-k", 2)["data"]["rows"] == N


def test_solvers_are_all_listed() -> None:
    rows = answer("solvers")["solvers"]
    assert [row["name"] for row in rows] == [entry.name for entry in registry.ENTRIES]
    assert {alias for row in rows for alias in row["aliases"]} == set(registry.ALIASES)
    page = paring_("solvers").stdout
    assert all(name in page for name in [*registry.ALIASES, *(row["name"] for row in rows)])


def test_version_and_help() -> None:
    assert paring_("--version").stdout == f"paring {paring.__version__}\n"
    for command in ("fit", "predict", "convert", "solvers", "demo"):
        assert command in paring_("--help").stdout
        assert "--help" in paring_(command, "--help").stdout
    assert "Exit codes" in paring_().stdout


# -- bad input ---------------------------------------------------------------------------------------------------------


def refused(*args: Any, code: int = 1) -> str:
    """The one line that a refusal writes."""
    done = paring_(*args, code=code)
    assert done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_data_that_cannot_be_fitted(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write("a.npz", SCORE)
    assert "no such file" in refused("fit", tmp_path / "none.csv", "-k", 2)
    assert "more than its 8 features" in refused("fit", path, "-k", 9, "--json")
    (tmp_path / "a.xyz").write_text("?")
    assert "does not tell the format" in refused("fit", tmp_path / "a.xyz", "-k", 2)
    np.savez(tmp_path / "nan.npz", X=np.where(X > 2, np.nan, X), y=SCORE)
    assert "NaN" in refused("fit", tmp_path / "nan.npz", "-k", 2)
    np.savez(tmp_path / "y.npz", X=X, y=np.where(SCORE > 1, np.nan, SCORE))
    assert "NaN" in refused("fit", tmp_path / "y.npz", "-k", 2)
    np.savez(tmp_path / "no.npz", X=X)
    assert "--target" in refused("fit", tmp_path / "no.npz", "-k", 2)
    assert "unknown solver" in refused("fit", path, "-k", 2, "--solver", "magic")
    assert "neither a feature's name nor an index" in refused("fit", path, "-k", 2, "--always", "nine")
    assert "neither a number nor a file" in refused("fit", path, "-k", 2, "--lower", "low")
    (tmp_path / "g.txt").write_text("a b")
    assert "holds 2 labels" in refused("fit", path, "-k", 1, "--groups", tmp_path / "g.txt")
    assert "text" in refused("fit", write("t.npz", LABELS), "-k", 2, "--regress")
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:200])
    assert "cut.npz" in refused("fit", tmp_path / "cut.npz", "-k", 2)


def test_commands_that_cannot_be_meant(write: Callable[..., Path]) -> None:
    path = write("a.npz", SCORE)
    assert "--k" in refused("fit", path, code=2)
    assert "--k" in refused("fit", path, "-k", 0, code=2)
    assert "--loss is one of" in refused("fit", path, "-k", 2, "--loss", "absolute", code=2)
    assert "for numbers" in refused("fit", path, "-k", 2, "--loss", "squared", "--classify", code=2)
    for ridge in ("some", -1, "nan", "inf"):
        assert "--ridge" in refused("fit", path, "-k", 2, "--ridge", ridge, code=2)
    assert "positive" in refused("fit", path, "-k", 2, "--time-limit", -1, code=2)
    assert "fitt" in refused("fitt", path, code=2)
    assert "--order" in refused("convert", path, "x", "--order", "G", code=2)


def test_models_that_cannot_predict(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write("a.npz", SCORE)
    assert "no such file" in refused("predict", tmp_path / "m", path)
    paring_("fit", path, "-k", 2, "--out", tmp_path / "m")
    assert "--proba" in refused("predict", tmp_path / "m", path, "--proba")
    np.save(tmp_path / "narrow.npy", X[:, :3])
    assert "3 features" in refused("predict", tmp_path / "m", tmp_path / "narrow.npy")
    np.save(tmp_path / "nan.npy", np.full((2, D), np.nan))
    assert "NaN" in refused("predict", tmp_path / "m", tmp_path / "nan.npy")
    head = (tmp_path / "m.json").read_text()
    (tmp_path / "m.json").write_text(head.replace('"version": 1', '"version": 99'))
    assert "version 99" in refused("predict", tmp_path / "m", path)
    (tmp_path / "m.json").write_text(head[:100])
    assert "m.json" in refused("predict", tmp_path / "m", path)


def test_a_defect_is_named_as_such(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **options: Any) -> None:
        raise ZeroDivisionError("division")

    path = write("a.npz", SCORE)
    monkeypatch.setattr(SparseRegressor, "fit", broken)
    assert "unexpected ZeroDivisionError" in refused("fit", path, "-k", 2)
    monkeypatch.setenv("PARING_DEBUG", "1")
    assert "Traceback" in paring_("fit", path, "-k", 2, code=1).stderr


def test_folder_with_names(tmp_path: Path) -> None:
    write_folder(tmp_path / "f", X, SCORE, feature_names=NAMES)
    found = answer("fit", tmp_path / "f", "-k", 2, "--out", tmp_path / "m")
    assert [feature["name"] for feature in found["features"]] == ["gene 1", "gene 4"]
    assert len(answer("predict", tmp_path / "m", tmp_path / "f")["predictions"]) == N
    write_folder(tmp_path / "g", X, SCORE, feature_names=NAMES[::-1])
    assert "not in their order" in refused("predict", tmp_path / "m", tmp_path / "g")
