"""The program as a user runs it: processes, signals, missing extras, the demo."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paring import SparseClassifier

pytest.importorskip("typer")
pytest.importorskip("rich")

TIMEOUT = 240


def command(*args: Any) -> list[str]:
    return [sys.executable, "-m", "paring.cli", *map(str, args)]


def run(*args: Any, code: int = 0, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command(*args), capture_output=True, text=True, timeout=TIMEOUT, cwd=cwd, env={**os.environ, **env}
    )
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def test_fit_and_predict_as_processes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    np.savez(tmp_path / "a.npz", X=X, y=X[:, 2] > 0)
    found = json.loads(run("fit", "a.npz", "-k", 1, "--out", "m", "--json", cwd=tmp_path).stdout)
    assert found["model"] == ["m.json", "m.npz"] and found["features"][0]["index"] == 2
    expected = SparseClassifier(1).fit(X, X[:, 2] > 0).predict(X).tolist()
    assert run("predict", "m", "a.npz", cwd=tmp_path).stdout.splitlines() == [str(y) for y in expected]
    assert "a.csv: no such file" in run("fit", "a.csv", "-k", 1, code=1, cwd=tmp_path).stderr


NO_NETWORK = """
import socket, sys

def refuse(*args, **options):
    raise OSError("no network here")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from paring.cli import main
sys.argv = ["paring", "demo", "--out", sys.argv[1]]
main()
"""


def test_demo_is_offline_and_draws(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / "picture.png"
    done = subprocess.run([sys.executable, "-c", NO_NETWORK, out], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    for expected in ("bmi", "scikit-learn OMP", "swap-optimal", "seconds", "objective", "150 of 150"):
        assert expected in done.stdout
    assert max(map(len, done.stdout.replace(str(out), "").splitlines())) <= 80
    import matplotlib.image

    picture = matplotlib.image.imread(out)
    assert picture.shape[0] > 800 and picture.shape[1] > 1000
    assert np.unique(picture.reshape(-1, picture.shape[2])[::7], axis=0).shape[0] > 50  # not one plain colour


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_is_130(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 20_000))
    np.savez(tmp_path / "a.npz", X=X, y=X @ rng.standard_normal(20_000))
    process = subprocess.Popen(
        command("fit", tmp_path / "a.npz", "-k", 500, "--verbose", "--out", tmp_path / "m"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "pursuit: round" in process.stderr.readline()  # the fit is under way
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130 and "Traceback" not in err and out == "", err
    assert time.monotonic() - begin < 30
    assert "interrupted" in err and (tmp_path / "m.json").exists()


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from paring.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 2 and "pip install 'paring[cli]'" in done.stderr and done.stderr.count("\n") == 1


def test_demo_without_matplotlib(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; from paring.cli import demo; "
        "demo.made = lambda show: None; demo.demo(__import__('pathlib').Path('x.png'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT, cwd=tmp_path)
    assert done.returncode == 0 and "paring[plot]" in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_nobody_reads_on(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 2))
    np.savez(tmp_path / "a.npz", X=X, y=X[:, 0])
    run("fit", tmp_path / "a.npz", "-k", 1, "--out", tmp_path / "m")
    process = subprocess.Popen(
        command("predict", tmp_path / "m", tmp_path / "a.npz"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait(timeout=TIMEOUT)
    process.stderr.close()


def test_quick_commands_do_not_load_scikit_learn() -> None:
    code = "import sys, paring.cli.app; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.stdout == "False\n", done.stderr
