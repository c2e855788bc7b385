"""How fast the sparse stochastic step is, and what a second worker brings: Figures 3 and 4 of the ASBCD-HTP paper.

    python benchmarks/speedup.py [--repeats 5] [--rounds 10] [--blocks 10 1] [--save results/speedup]

Logistic loss, k=200, ridge 1/n, on the zipf problem (71 nonzeros a row) and on rcv1. Three things, each run `repeats`
times in turn with its rival, medians:

* a step of s2bcd-htp against `plain_loop.cpp`, the same by hand, compiled here with -O3;
* the sweep of asbcd-htp by 1 worker and by 2, on the same rows (relaxed stores, and atomic ones);
* whole fits of asbcd-htp by 1 worker and by 2: the same 10 rounds of 2n steps, and the objectives they come to.
"""

import argparse
import ctypes
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from problems import Unavailable, make

from paring import Problem, _core, solve
from paring.constraints import TopK
from paring.solvers._loop import Run
from paring.solvers.s2bcd_htp import ASBCDHTP
from paring.solvers.semistochastic import IN_EVERY_BLOCK, Atomic, Plain, Wild, moves

HERE = Path(__file__).parent
K = 200
PASSES_OF_A_SWEEP = 20  # rows of a timed sweep, in n: a tenth of a second and more
TINY = 1e-300  # a tolerance that no fit comes to


def in_turn(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each run, one after the other, again and again; the first turn warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - begin)
    return seconds


def compiled(folder: Path) -> Any:
    library = folder / "plain_loop.so"
    flags = ["-O3", "-std=c++20", "-shared", "-fPIC"]
    subprocess.run(["c++", *flags, str(HERE / "plain_loop.cpp"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).plain_steps


class Sweeps:
    """The steps of a round away from the start: the anchor is the model of a few rounds."""

    def __init__(self, X: Any, y: np.ndarray, blocks: int) -> None:
        self.X, self.problem = X, Problem(X, y, "logistic", constraint=TopK(K), ridge=1 / len(y))
        self.blocks, rng = blocks, np.random.default_rng(1)
        start = solve(self.problem, ASBCDHTP(blocks=blocks), random_state=0, n_jobs=1, max_passes=4)
        self.solver = ASBCDHTP(blocks=blocks)
        self.state = self.solver.init(self.problem, Run(start=start, rng=rng))
        self.steps = PASSES_OF_A_SWEEP * len(y)
        self.order = rng.integers(len(y), size=self.steps)
        self.labels = self.state.carried.copy()
        self.labels[self.state.model.support] = IN_EVERY_BLOCK
        self.chosen = rng.integers(blocks, size=self.steps, dtype=np.int16)
        self.slopes, pull, pull_b = self.solver.reference(self.problem, self.state)
        rarity = self.solver.rarity(self.problem)
        self.moves = moves(self.problem, self.state.metric, self.state.safe, rarity, pull, pull_b)

    def by_library(self, store: Any, workers: int) -> np.ndarray:
        some = _core.Moving.in_blocks(self.labels, self.chosen)
        w, _ = _core.sweep_s2bcd(
            self.problem.design.by_rows, self.problem.target, self.order, 1, self.slopes, self.moves, self.state.w,
            np.zeros(1), _core.Moving.everywhere() if self.blocks == 1 else some, None, store.core, workers,
        )  # fmt: skip
        return w

    def by_hand(self, plain_steps: Any) -> np.ndarray:
        w, problem = self.state.w.copy(), self.problem
        arrays = [
            self.X.data, self.X.indices, self.X.indptr, problem.y, problem.v, self.slopes, self.moves,
            None if self.blocks == 1 else self.labels, self.order, self.chosen,
        ]  # fmt: skip
        pointers = [None if a is None else a.ctypes.data_as(ctypes.c_void_p) for a in arrays]
        plain_steps(*pointers, ctypes.c_int64(self.steps), w.ctypes.data_as(ctypes.c_void_p))
        return w


def steps_and_sweeps(X: Any, y: np.ndarray, blocks: int, repeats: int, plain_steps: Any) -> dict[str, Any]:
    sweeps = Sweeps(X, y, blocks)
    np.testing.assert_allclose(sweeps.by_hand(plain_steps), sweeps.by_library(Plain(), 1), rtol=1e-9, atol=1e-12)
    runs: dict[str, Callable[[], Any]] = {
        "by hand": lambda: sweeps.by_hand(plain_steps),
        "plain, 1": lambda: sweeps.by_library(Plain(), 1),
        "wild, 1": lambda: sweeps.by_library(Wild(), 1),
        "wild, 2": lambda: sweeps.by_library(Wild(), 2),
        "atomic, 1": lambda: sweeps.by_library(Atomic(), 1),
        "atomic, 2": lambda: sweeps.by_library(Atomic(), 2),
    }
    seconds = {name: statistics.median(times) for name, times in in_turn(runs, repeats).items()}
    step = {name: 1e9 * value / sweeps.steps for name, value in seconds.items()}
    return {
        "nanoseconds a step": {name: round(value, 1) for name, value in step.items()},
        "plain over by hand": step["plain, 1"] / step["by hand"],
        "wild: 1 worker over 2": step["wild, 1"] / step["wild, 2"],
        "atomic: 1 worker over 2": step["atomic, 1"] / step["atomic, 2"],
    }


def fits(X: Any, y: np.ndarray, blocks: int, repeats: int, rounds: int) -> dict[str, Any]:
    problem = Problem(X, y, "logistic", constraint=TopK(K), ridge=1 / len(y))
    found: dict[int, list[Any]] = {1: [], 2: []}

    def fit(workers: int) -> None:
        solver = ASBCDHTP(blocks=blocks, inner=2 * len(y))
        stop = [lambda at: at.rounds >= rounds]
        found[workers].append(
            solve(problem, solver, random_state=0, n_jobs=workers, tol=TINY, max_passes=np.inf, callbacks=stop)
        )

    seconds = {
        workers: statistics.median(times)
        for workers, times in in_turn({1: lambda: fit(1), 2: lambda: fit(2)}, repeats).items()  # type: ignore[dict-item]
    }
    return {
        "seconds": seconds,
        "1 worker over 2": seconds[1] / seconds[2],  # type: ignore[index]
        "passes": {workers: results[-1].n_passes for workers, results in found.items()},
        "objective": {workers: statistics.median(r.objective for r in results) for workers, results in found.items()},
    }


def measured(name: str, options: argparse.Namespace, plain_steps: Any) -> dict[str, Any]:
    X, y, _ = make(name)
    out: dict[str, Any] = {"n": X.shape[0], "d": X.shape[1], "nonzeros a row": X.nnz / X.shape[0]}
    for blocks in options.blocks:
        out[f"blocks={blocks}"] = {
            **steps_and_sweeps(X, y, blocks, options.repeats, plain_steps),
            "fit": fits(X, y, blocks, options.repeats, options.rounds),
        }
    return out


def page(results: dict[str, Any]) -> str:
    lines = [
        "| problem | blocks | by hand | plain | over by hand | wild, 1 | wild, 2 | faster by | atomic, 1 | atomic, 2 "
        "| fit 1, s | fit 2, s | faster by | F, 1 worker | F, 2 |",
        "|" + "---|" * 15,
    ]
    for name, result in results.items():
        for key, found in result.items():
            if not key.startswith("blocks="):
                continue
            step, fit = found["nanoseconds a step"], found["fit"]
            cells = [
                name, key[7:], step["by hand"], step["plain, 1"], f"{found['plain over by hand']:.2f}", step["wild, 1"],
                step["wild, 2"], f"{found['wild: 1 worker over 2']:.2f}", step["atomic, 1"], step["atomic, 2"],
                f"{fit['seconds'][1]:.3f}", f"{fit['seconds'][2]:.3f}", f"{fit['1 worker over 2']:.2f}",
                f"{fit['objective'][1]:.6f}", f"{fit['objective'][2]:.6f}",
            ]  # fmt: skip
            lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n\nSteps in nanoseconds, sweeps and fits as medians in turn.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=["zipf", "rcv1"])
    parser.add_argument("--blocks", nargs="+", type=int, default=[10, 1])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=10, help="of a fit; more, and one may end sooner than the other")
    parser.add_argument("--save", help="PATH: writes PATH.md and PATH.json")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        plain_steps = compiled(Path(folder))
        for name in options.problems:
            try:
                results[name] = measured(name, options, plain_steps)
            except Unavailable as reason:
                print(f"{name}: {reason}")
    print(page(results))
    if options.save:
        Path(options.save).with_suffix(".md").write_text(page(results))
        Path(options.save).with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
