"""Ctrl-C and deadlines end a pass of the core long before it is done, and leave no thread behind.

No time is asserted: machines are noisy. A run that was cut short must have done a small part of its work.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, _core, losses
from paring.constraints import TopK
from paring.data.design import Design
from paring.data.scaled import ScaledDesign
from paring.solvers._loop import Run
from paring.solvers.asvrg_ht import ASVRGHT

SOON = 0.15  # seconds until the interruption
PASSES = 4000  # of tens of milliseconds: minutes
COLUMNS = 4000  # vectors in one call: as long

posix = pytest.mark.skipif(sys.platform == "win32", reason="a signal to oneself ends a Windows process")


@contextmanager
def interrupted() -> Iterator[None]:
    """Ctrl-C, soon, in whatever runs then."""
    timer = threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.cancel()
        timer.join()


@contextmanager
def past_the_deadline(design: Design) -> Iterator[None]:
    design.stop = _core.Stop(SOON)
    with pytest.raises(_core.Stopped):
        yield


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = living_threads()
    yield
    for _ in range(500):  # the system takes a moment to strike a joined thread off its list
        if living_threads() <= before:
            return
        time.sleep(0.01)
    assert living_threads() <= before


def living_threads() -> int:
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()


def dense(order: str) -> Design:
    return Design(np.ones((3000, 2000), np.float32, order=order))


def mapped(folder: Path) -> Design:
    """A file of 64 MB: a hole, which reads as zeros."""
    with (folder / "X.raw").open("wb") as file:
        file.truncate(4 * 8192 * 2048)
    return Design(np.memmap(folder / "X.raw", np.float32, "r", shape=(8192, 2048)))


def sparse() -> Design:
    return Design(sp.random_array((20_000, 5_000), density=0.02, format="csr", rng=np.random.default_rng(0)))


def scaled() -> Design:
    X = np.ones((3000, 2000), np.float32)
    return ScaledDesign(X, np.ones(2000), np.ones(2000))


MAKERS: dict[str, Callable[[Path], Design]] = {
    "C": lambda _: dense("C"),
    "F": lambda _: dense("F"),
    "memory map": mapped,
    "csr": lambda _: sparse(),
    "scaled": lambda _: scaled(),
}


def verbs(design: Design) -> dict[str, Callable[[], Any]]:
    w, r = np.ones(design.d), np.ones(design.n)
    return {
        "scores": lambda: design.scores(w),
        "adjoint": lambda: design.adjoint(r),
        "moments": lambda: design.moments(r, r),
        "gram_rows": lambda: design.gram_rows(np.arange(4), r, None),
    }


class Counted:
    """Calls a verb again and again."""

    def __init__(self, verb: Callable[[], Any]) -> None:
        self.verb, self.done = verb, 0

    def run(self) -> None:
        for _ in range(PASSES):
            self.verb()
            self.done += 1


@posix
@pytest.mark.parametrize("name", ["scores", "adjoint", "moments", "gram_rows"])
@pytest.mark.parametrize("maker", MAKERS)
def test_ctrl_c_between_and_within_passes(maker: str, name: str, tmp_path: Path) -> None:
    counted = Counted(verbs(MAKERS[maker](tmp_path))[name])
    with interrupted():
        counted.run()
    assert counted.done < PASSES / 2


@pytest.mark.parametrize("name", ["scores", "adjoint", "moments", "gram_rows"])
@pytest.mark.parametrize("maker", MAKERS)
def test_deadline_between_and_within_passes(maker: str, name: str, tmp_path: Path) -> None:
    design = MAKERS[maker](tmp_path)
    counted = Counted(verbs(design)[name])
    with past_the_deadline(design):
        counted.run()
    assert counted.done < PASSES / 2
    design.stop = _core.Stop()
    counted.verb()


@pytest.mark.parametrize("kind", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_a_gram_matrix_is_not_begun_past_the_deadline(kind: Callable[[np.ndarray], Any]) -> None:
    design = Design(kind(np.ones((50, 6))))
    design.stop = _core.Stop(0.0)
    with pytest.raises(_core.Stopped):
        design.gram(np.ones(50), None)


# -- a single call that lasts ---------------------------------------------------------------------------------------


def long_calls(design: Design, columns: int) -> dict[str, Callable[[], Any]]:
    """One call each, its length proportional to ``columns``."""
    every, v = np.arange(columns) % design.d, np.ones(design.n)
    W, R = np.ones((design.d, columns)), np.ones((design.n, columns))
    return {
        "scores": lambda: design.scores(W),
        "adjoint": lambda: design.adjoint(R),
        "gram_rows": lambda: design.gram_rows(every, v, None),
    }


def expected_seconds(design: Design, name: str) -> float:
    """What the long call would take, by a hundredth of it."""
    begin = time.perf_counter()
    long_calls(design, COLUMNS // 100)[name]()
    return 100 * (time.perf_counter() - begin)


@posix
@pytest.mark.parametrize("name", ["scores", "adjoint", "gram_rows"])
@pytest.mark.parametrize("maker", ["C", "F", "csr"])
def test_ctrl_c_within_one_call(maker: str, name: str, tmp_path: Path) -> None:
    design = MAKERS[maker](tmp_path)
    expected = expected_seconds(design, name)
    call = long_calls(design, COLUMNS)[name]
    begin = time.perf_counter()
    with interrupted():
        call()
    assert time.perf_counter() - begin < max(expected / 2, 10 * SOON)


@pytest.mark.parametrize("name", ["scores", "adjoint", "gram_rows"])
@pytest.mark.parametrize("maker", ["C", "F", "csr"])
def test_deadline_within_one_call(maker: str, name: str, tmp_path: Path) -> None:
    design = MAKERS[maker](tmp_path)
    expected = expected_seconds(design, name)
    call = long_calls(design, COLUMNS)[name]
    begin = time.perf_counter()
    with past_the_deadline(design):
        call()
    assert time.perf_counter() - begin < max(expected / 2, 10 * SOON)


# -- many short steps within one call -------------------------------------------------------------------------------


def endless_newton(stop: _core.Stop, kind: str) -> tuple[Callable[[], Any], Callable[[], int]]:
    """Newton again and again from random starts, all rounds short, and no tolerance small enough."""
    rng = np.random.default_rng(0)
    n, k = 4000, 30
    X = rng.standard_normal((n, k))
    design = Design(X if kind == "dense" else sp.csc_array(X))
    y, v = np.where(rng.random(n) < 0.5, 1.0, -1.0), np.ones(n)
    loss = losses.logistic.core
    target = _core.Target(loss, y, v, 0.0, False, loss)
    block = design.block(np.arange(k))
    done = 0

    def run() -> None:
        nonlocal done
        for _ in range(PASSES):
            start = rng.standard_normal(k)
            _core.minimise_block(target, block, start, 0.0, tolerance=0.0, max_rounds=1000, threads=2, stop=stop)
            done += 1

    return run, lambda: done


@posix
@pytest.mark.parametrize("kind", ["dense", "csc"])
def test_ctrl_c_within_newton(kind: str) -> None:
    run, done = endless_newton(_core.Stop(), kind)
    with interrupted():
        run()
    assert done() < PASSES / 2


@pytest.mark.parametrize("kind", ["dense", "csc"])
def test_deadline_within_newton(kind: str) -> None:
    run, done = endless_newton(_core.Stop(SOON), kind)
    with pytest.raises(_core.Stopped):
        run()
    assert done() < PASSES / 2


# -- a sweep over rows, on one worker and on several -----------------------------------------------------------------


class LongSweep:
    """A million steps of a microsecond and more, in one call, each thresholded."""

    def __init__(self, workers: int) -> None:
        rng = np.random.default_rng(0)
        X = sp.random_array((500, 4000), density=0.2, format="csr", rng=rng)
        y = np.where(rng.random(500) < 0.5, 1.0, -1.0)
        self.problem = Problem(X, y, "logistic", constraint=TopK(20), ridge=0.01, n_jobs=workers)
        self.solver = ASVRGHT()
        self.state = self.solver.init(self.problem, Run())
        self.order = rng.integers(500, size=1_000_000)

    def run(self, steps: int = 1_000_000) -> None:
        everywhere = _core.Moving.everywhere()
        self.solver.along(self.problem, self.state, 0.01, self.order[:steps], everywhere)

    def expected_seconds(self) -> float:
        begin = time.perf_counter()
        self.run(10_000)
        return 100 * (time.perf_counter() - begin)


@posix
@pytest.mark.parametrize("workers", [1, 3])
def test_ctrl_c_within_a_sweep(workers: int) -> None:
    sweep = LongSweep(workers)
    expected = sweep.expected_seconds()
    begin = time.perf_counter()
    with interrupted():
        sweep.run()
    assert time.perf_counter() - begin < max(expected / 2, 10 * SOON)


@pytest.mark.parametrize("workers", [1, 3])
def test_deadline_within_a_sweep(workers: int) -> None:
    sweep = LongSweep(workers)
    expected = sweep.expected_seconds()
    begin = time.perf_counter()
    with past_the_deadline(sweep.problem.design):
        sweep.run()
    assert time.perf_counter() - begin < max(expected / 2, 10 * SOON)
