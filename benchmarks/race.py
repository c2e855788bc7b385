"""The race of screening on a click log: objective above the best found, and features left, against seconds.

    python benchmarks/race.py [--rows N] [--columns D] [--ratio R] [--seconds S] [--workers 1 2] [--name race] [--full]

Squared loss with an l1 penalty, as in the screening papers, by our own solvers one after another: ddss, ddss-naive,
prox-asaga, prox-asvrg, pse-safe, pse-strong by 1 and 2 workers, and cd beside them. The default size runs in a minute
or two; --full is 2 million rows by 1 million columns. The clock starts at the call: steps that are found by trial are
counted. The gap is the solver's own, as its rounds recorded it. Writes results/NAME.json, .md and .png.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
RACERS = ("ddss", "ddss-naive", "prox-asvrg", "prox-asaga", "pse-safe", "pse-strong", "cd")
LEVELS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of the objective above the best, relative to the null model's


def clicks(n: int, d: int, entries: int = 15, seed: int = 0) -> tuple[Any, np.ndarray]:
    """A click log: rows of 15 draws of a column by a power law, clicks by a hundred of the frequent ones."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((d ** rng.random(n * entries) - 1).astype(np.int32), d - 1)
    X = sp.csr_matrix((np.ones(n * entries), columns, np.arange(n + 1) * entries), shape=(n, d))
    X.sum_duplicates()
    w = np.zeros(d)
    w[rng.choice(min(d, 2000), 100, replace=False)] = rng.standard_normal(100)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-(X @ w))), 1.0, -1.0)


def run(
    X: Any, y: np.ndarray, ratio: float, seconds: float, workers: tuple[int, ...], solvers: tuple[str, ...] = RACERS
) -> list[dict[str, Any]]:
    """A row a solver and number of workers: (seconds, objective, gap, features left) of every round."""
    import paring

    problem = paring.Problem(X, y, penalty=paring.penalties.L1(ratio * float(np.abs(X.T @ y).max()) / len(y)))
    rows = []
    for name in solvers:
        for jobs in workers:
            result = paring.solve(problem, name, tol=1e-6, time_limit=seconds, n_jobs=jobs, random_state=0)
            points = [(round(r.seconds, 4), r.objective, r.certificate, r.active) for r in result.history]
            row = {"solver": name, "workers": jobs, "stop": result.stop_reason, "seconds": result.seconds}
            row |= {"gap": min(point[2] for point in points), "nonzeros": len(result.support), "points": points}
            rows.append(row | {"null": result.null_objective})
            print(f"{name} x {jobs}: {result}", file=sys.stderr, flush=True)
    return rows


def reached(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Seconds until the objective is within each level of the lowest of all; None where it never is."""
    best = min(point[1] for row in rows for point in row["points"])
    for row in rows:
        row["reached"] = {
            f"{level:g}": next((p[0] for p in row["points"] if p[1] - best <= level * row["null"]), None)
            for level in LEVELS
        }
    return rows


def page(about: str, rows: list[dict[str, Any]]) -> str:
    titles = ["solver", "workers", *(f"to {level:g}" for level in LEVELS), "least gap", "features left", "ended"]
    lines = ["# The race of screening\n", about + "\n", f"| {' | '.join(titles)} |", "| --- " + "| ---: " * 9 + "|"]
    for row in rows:
        cells = [row["solver"], str(row["workers"])]
        cells += ["-" if seconds is None else f"{seconds:.3g}" for seconds in row["reached"].values()]
        left = row["points"][-1][3]
        cells += [f"{row['gap'] / row['null']:.1e}", f"{left:,}" if left is not None else "-", row["stop"]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(path: Path, rows: list[dict[str, Any]]) -> None:
    """Objective above the lowest found, relative to the null model's, against seconds; 2 workers dashed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    best = min(point[1] for row in rows for point in row["points"])
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for row in rows:
        above = [max((objective - best) / row["null"], 1e-9) for _, objective, _, _ in row["points"]]
        colour = f"C{list(dict.fromkeys(r['solver'] for r in rows)).index(row['solver'])}"
        style = "-" if row["workers"] == 1 else "--"
        label = f"{row['solver']} x {row['workers']}"
        axes.plot([point[0] for point in row["points"]], above, style, color=colour, linewidth=1.2, label=label)
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="objective above the lowest / null objective")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=50_000)
    parser.add_argument("--full", action="store_true", help="2,000,000 x 1,000,000")
    parser.add_argument("--ratio", type=float, default=2e-3, help="lam / lam_max")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each solver")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--name", default="race")
    parser.add_argument("--note", default="", help="what else the machine was doing, say")
    args = parser.parse_args(argv)
    X, y = clicks(2_000_000, 1_000_000) if args.full else clicks(args.rows, args.columns)
    rows = reached(run(X, y, args.ratio, args.seconds, tuple(args.workers)))
    about = (
        f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros; squared loss, l1, lam = {args.ratio:g} lam_max; "
        f"{args.seconds:g} s a solver, {os.cpu_count()} cores. Seconds until the objective is so near to the lowest "
        f"found, relative to the null model's. {args.note}"
    ).strip()
    (HERE / "results" / f"{args.name}.json").write_text(json.dumps({"about": about, "rows": rows}) + "\n", "utf-8")
    (HERE / "results" / f"{args.name}.md").write_text(page(about, rows), "utf-8")
    draw(HERE / "results" / f"{args.name}.png", rows)
    print(page(about, rows))


if __name__ == "__main__":
    main()
