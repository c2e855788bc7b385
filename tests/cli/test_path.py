"""``paring path``: what it shows of a path, for numbers and classes, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import paring
from paring.cli.app import app
from paring.penalties import Group

N, D = 60, 8
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)).round(4)
SCORE = 2 * X[:, 1] - X[:, 4] + 0.1 * RNG.standard_normal(N)


def run(*args: Any, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["path", *map(str, args)])
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr, done.exception)
    return done


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=SCORE)
    return path


def test_steps_are_those_of_the_function(file: Path) -> None:
    shown = json.loads(run(file, "-n", 5, "--json").stdout)
    wanted = paring.path(X, SCORE, lams=5, fit_intercept=True)
    assert shown["stop_reason"] == "end" and shown["loss"] == "squared"
    np.testing.assert_allclose([step["lam"] for step in shown["steps"]], wanted.lams)
    assert [step["features"] for step in shown["steps"]] == [step.size for step in wanted.steps]
    assert [step["entered"] for step in shown["steps"]][:2] == [[], [1, 4]]


def test_the_page_says_what_enters(file: Path) -> None:
    text = run(file, "-n", 4, "--most-features", 2).stdout
    assert "60 rows x 8 features, squared" in text and "1, 4" in text and "ended: " in text


def test_classes_and_groups(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    import pandas as pd

    names = [f"gene {j}" for j in range(D)]
    labels = np.where(SCORE > 0, "well", "ill")
    path = tmp_path / "data.csv"
    pd.DataFrame(dict(zip(names, X.T, strict=True)) | {"outcome": labels}).to_csv(path, index=False)
    groups = tmp_path / "groups.txt"
    groups.write_text("\n".join("aabbccdd"))
    shown = json.loads(
        run(path, "--target", "outcome", "--penalty", "group", "--groups", groups, "-n", 4, "--json").stdout
    )
    assert shown["loss"] == "logistic"
    assert set(shown["steps"][1]["entered"]) >= {"gene 0", "gene 1"}
    wanted = paring.path(X, np.sign(SCORE), "logistic", penalty=Group(1, list("aabbccdd")), lams=4, fit_intercept=True)
    np.testing.assert_allclose([step["fit"] for step in shown["steps"]], wanted.table()["fit"], rtol=1e-5)


def test_an_end_before_the_end(file: Path) -> None:
    assert json.loads(run(file, "--time-limit", 1e-9, "--json", code=3).stdout)["stop_reason"] == "time_limit"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--penalty", "l0"), "--penalty is one of l1, elastic-net"),
        (("--penalty", "group"), "--penalty group needs --groups"),
        (("--loss", "hinge"), "--loss is one of squared"),
        (("--eps", "2"), "--eps between 0 and 1"),
    ],
)
def test_refusals(file: Path, options: tuple[str, ...], message: str) -> None:
    assert message in run(file, *options, code=2).stderr
