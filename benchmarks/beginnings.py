"""Which way to k features where there is a ridge: growing in stages, from where htp ends, diht, htp alone.

    python benchmarks/beginnings.py [--save results/beginnings]

The rules of solver="auto" and of Pursuit(sizes="auto") rest on this table (docs/choose.md). Objectives, and processor
seconds of one thread: they hardly depend on what else the machine does. A ridge is also told in mean curvatures of F
along a column: above 1 pursuit goes straight to k.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from problems import Unavailable, make

from paring import Problem, solve
from paring.constraints import TopK
from paring.solvers.pursuit import Pursuit

WAYS: dict[str, Any] = {
    "stages": Pursuit(sizes="stages"),
    "from htp": Pursuit(sizes="k"),
    "diht": "diht",
    "htp": "htp",
}
TEXT = [
    *((k, ridge) for k in (200, 500) for ridge in (1e-3, 1e-4, 1e-5, 1e-6)),
    *((k, ridge) for k in (1000, 3000) for ridge in (1e-2, 1e-4)),
    (2000, 1e-6),
]
NEWS = [(200, 1e-4), (1000, 1e-4), (5000, 1e-4)]
NUMBERS = [(150, 0.01), (150, 1.0), (1000, 0.01), (1000, 1.0)]
LIMIT = 120.0  # seconds, by the clock, of one fit


def problems() -> Iterator[tuple[str, Any, np.ndarray, str, list[tuple[int, float]]]]:
    for name, grid, options in (("rcv1", TEXT, {}), ("news20", NEWS, {"n_train": 15_000, "columns": 30_000})):
        try:
            X, y, _ = make(name, **options)
        except Unavailable as reason:
            print(f"{name}: {reason}")
            continue
        yield name, X, y, "logistic", grid
    X, z, _ = make("ar", n=2000, d=4000, s=500)
    z = z + 0.5 * z.std() * np.random.default_rng(0).standard_normal(len(z))
    yield "ar", X, z, "squared", NUMBERS
    yield "ar", X, np.where(z > 0, 1.0, -1.0), "logistic", [(k, 0.1 * ridge) for k, ridge in NUMBERS]


def curvatures(problem: Problem, ridge: float) -> float:
    return ridge / float(problem.loss.curvature_bound * problem.variances.mean())


def row(name: str, X: Any, y: np.ndarray, loss: str, k: int, ridge: float) -> dict[str, Any]:
    found: dict[str, Any] = {"problem": name, "loss": loss, "k": k, "ridge": ridge}
    for way, solver in WAYS.items():
        problem = Problem(X, y, loss, constraint=TopK(k), ridge=ridge, fit_intercept=True)
        begin = time.process_time()
        result = solve(problem, solver, n_jobs=1, time_limit=LIMIT)
        found[way] = (result.objective, time.process_time() - begin, result.stop_reason)
        found["curvatures"] = curvatures(problem, ridge)
    return found


def cell(objective: float, seconds: float, ended: str) -> str:
    return f"{objective:.5f}, {seconds:.2g}" + ("" if ended == "converged" else f" ({ended})")


def page(rows: list[dict[str, Any]]) -> str:
    lines = ["| problem | k | ridge | in curvatures | " + " | ".join(WAYS) + " |", "|" + "---|" * (4 + len(WAYS))]
    for found in rows:
        head = (
            f"| {found['problem']}, {found['loss']} | {found['k']} | {found['ridge']:g} | {found['curvatures']:.2g} | "
        )
        lines.append(head + " | ".join(cell(*found[way]) for way in WAYS) + " |")
    return "\n".join(lines) + "\n\nObjective, processor seconds of one thread; with an intercept.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", help="PATH: writes PATH.md and PATH.json")
    options = parser.parse_args()
    rows = []
    for name, X, y, loss, grid in problems():
        for k, ridge in grid:
            rows.append(row(name, X, y, loss, k, ridge))
            print(page(rows[-1:]).splitlines()[2], flush=True)
    if options.save:
        Path(options.save).with_suffix(".md").write_text(page(rows))
        Path(options.save).with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
