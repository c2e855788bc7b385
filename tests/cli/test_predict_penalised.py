"""``paring predict`` with penalised models, which Python saves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

import paring
from tests.cli.test_commands import NAMES, SCORE, X, answer, paring_

LABELS = np.array(["ill", "so, so", "well"])[np.digitize(SCORE, [-1, 1])]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.savez(tmp_path / "a.npz", X=X)
    return tmp_path / "a.npz"


@pytest.mark.parametrize("model", [paring.Lasso(0.1), paring.PenalizedRegressorCV(alphas=4, cv=3)])
def test_numbers(model: Any, data: Path, tmp_path: Path) -> None:
    paring.save_model(tmp_path / "m", model.fit(X, SCORE))
    assert answer("predict", tmp_path / "m", data)["predictions"] == model.predict(X).tolist()
    assert paring_("predict", tmp_path / "m", data).stdout.split() == [str(z) for z in model.predict(X).tolist()]
    assert "--proba is for classes" in paring_("predict", tmp_path / "m", data, "--proba", code=1).stderr


def test_classes(data: Path, tmp_path: Path) -> None:
    model = paring.PenalizedClassifier(0.05).fit(X, LABELS)
    paring.save_model(tmp_path / "m", model)
    assert paring_("predict", tmp_path / "m", data).stdout.splitlines() == model.predict(X).tolist()
    said = paring_("predict", tmp_path / "m", data, "--proba").stdout.splitlines()
    assert said[0] == 'ill,"so, so",well'
    np.testing.assert_array_equal([list(map(float, line.split(","))) for line in said[1:]], model.predict_proba(X))
    hinge = paring.PenalizedClassifier(0.05, loss="squared_hinge").fit(X, SCORE > 0)
    paring.save_model(tmp_path / "h", hinge)
    assert "gives no probabilities" in paring_("predict", tmp_path / "h", data, "--proba", code=1).stderr


def test_several_targets_are_a_table(data: Path, tmp_path: Path) -> None:
    model = paring.MultiTaskLasso(0.1).fit(X, np.column_stack([SCORE, -SCORE]))
    paring.save_model(tmp_path / "m", model)
    wanted = model.predict(X)
    assert answer("predict", tmp_path / "m", data)["predictions"] == wanted.tolist()
    said = paring_("predict", tmp_path / "m", data, "--out", tmp_path / "p.csv").stderr
    table = (tmp_path / "p.csv").read_text().splitlines()
    assert f"{len(X)} predictions" in said and table[0] == "0,1"
    np.testing.assert_array_equal([list(map(float, line.split(","))) for line in table[1:]], wanted)
    paring_("predict", tmp_path / "m", data, "--out", tmp_path / "p.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), wanted)


def test_a_table_is_matched_by_name(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=NAMES)
    model = paring.GroupLasso(0.1, groups=[0, 0, 1, 1, 2, 2, 3, 3]).fit(frame, SCORE)
    paring.save_model(tmp_path / "m", model)
    frame[NAMES[::-1]].to_csv(tmp_path / "moved.csv", index=False)
    found = json.loads(paring_("predict", tmp_path / "m", tmp_path / "moved.csv", "--json").stdout)
    np.testing.assert_allclose(found["predictions"], model.predict(frame), rtol=1e-12)
