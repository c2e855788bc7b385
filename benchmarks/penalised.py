"""l1 problems at equal gap: seconds of paring, celer, skglm, scikit-learn, liblinear; and the race of screening.

    python benchmarks/penalised.py [--problem NAME ...] [--ratio R ...] [--threads T] [--repeats N] [--quick]
    python benchmarks/penalised.py --race [--quick]

Lasso (squared loss) and logistic l1, without intercept, at lam = ratio lam_max. Each rival fits in a process of its own
environment with the same threads. Packages measure their tolerances differently: each is called with falling ones until
its coefficients, judged here in float64, are within a relative gap of 1e-6, and that call is timed (median). Before the
clock every rival fits once (imports, compilation). Columns by columns (CSC, column-major), as all of them like best.

--race: the click-log problem; objective above the best against seconds, for the asynchronous solvers and cd.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import exchange
import numpy as np
import problems
import scipy.sparse as sp
from processes import pinned, python_of

HERE = Path(__file__).resolve().parent
GAP = 1e-6
LADDER = (1e-3, 1e-4, 1e-5, 1e-6, 3e-7, 1e-7, 1e-8, 1e-9)
RATIOS = (0.5, 0.1, 0.02, 0.005)
RACERS = ("ddss", "ddss-naive", "prox-asaga", "prox-asvrg", "pse-safe", "pse-strong", "cd")


def _paring(X, y, lam, loss, tol):
    import os

    import paring

    problem = paring.Problem(X, y, loss, penalty=paring.penalties.L1(lam))
    return paring.solve(problem, tol=tol, n_jobs=int(os.environ["OMP_NUM_THREADS"])).coef


def _celer(X, y, lam, loss, tol):
    import celer

    if loss == "squared":
        return celer.Lasso(lam, fit_intercept=False, tol=tol, max_iter=200, max_epochs=100_000).fit(X, y).coef_
    model = celer.LogisticRegression(C=1 / (len(y) * lam), tol=tol, max_iter=200, max_epochs=100_000)
    return model.fit(X, y).coef_


def _skglm(X, y, lam, loss, tol):
    import skglm

    if loss == "squared":
        return skglm.Lasso(lam, fit_intercept=False, tol=tol, max_iter=200, max_epochs=100_000).fit(X, y).coef_
    return skglm.SparseLogisticRegression(lam, fit_intercept=False, tol=tol, max_iter=200).fit(X, y).coef_


def _sklearn(X, y, lam, loss, tol):
    from sklearn import linear_model

    return linear_model.Lasso(lam, fit_intercept=False, tol=tol, max_iter=1_000_000).fit(X, y).coef_


def _liblinear(X, y, lam, loss, tol):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        l1_ratio=1.0, C=1 / (len(y) * lam), solver="liblinear", fit_intercept=False, tol=tol, max_iter=100_000
    )
    return model.fit(X, y).coef_


RIVALS: dict[str, tuple[Callable[..., Any], tuple[str, ...], str]] = {
    "paring": (_paring, ("squared", "logistic"), "ours"),
    "celer": (_celer, ("squared", "logistic"), "rivals"),
    "skglm": (_skglm, ("squared", "logistic"), "rivals"),
    "scikit-learn": (_sklearn, ("squared",), "rivals"),
    "liblinear": (_liblinear, ("logistic",), "rivals"),
}
ENVIRONMENTS = {"ours": ".venv", "rivals": ".venv-bench/rivals"}


def gap_of(X, y, w, lam, loss) -> float:
    """(P - D) / P(0), D at the slopes scaled into the dual set; for squared loss at the best scaling too."""
    n = len(y)
    z = X @ w
    if loss == "squared":
        slope, null = z - y, y @ y / 2 / n
        value = slope @ slope / 2 / n
    else:
        slope, null = -y / (1 + np.exp(y * z)), np.log(2)
        value = np.mean(np.logaddexp(0, -y * z))
    primal = value + lam * np.abs(w).sum()
    most = lam / max(np.abs(X.T @ slope).max() / n, 1e-300)
    best = -np.inf
    scales = [min(1.0, most)]
    if loss == "squared":
        scales.append(float(np.clip(-(y @ slope) / max(slope @ slope, 1e-300), 0, most)))
    for scale in scales:
        a = scale * slope
        if loss == "squared":
            dual = -(a @ a / 2 + a @ y) / n
        else:
            p = np.clip(-a * y, 1e-300, 1 - 1e-16)
            dual = -np.mean(p * np.log(p) + (1 - p) * np.log1p(-p))
        best = max(best, dual)
    return float((primal - best) / null)


def largest_weight(X, y, loss) -> float:
    return float(np.abs(X.T @ (y if loss == "squared" else y / 2)).max() / len(y))


def posed(name: str, quick: bool) -> tuple[Any, np.ndarray, str]:
    """(X by columns, y, loss) of a named problem: NAME, or NAME-logistic."""
    base, _, loss = name.partition("-")
    loss = loss or "squared"
    if base == "gaussian":
        rng = np.random.default_rng(0)
        n, d = (200, 2000) if quick else (2000, 20000)
        X = np.asfortranarray(rng.standard_normal((n, d)))
        w = np.zeros(d)
        w[rng.choice(d, d // 100, replace=False)] = rng.standard_normal(d // 100)
        return X, X @ w + rng.standard_normal(n), loss
    options = {"rows": "all"} if base in ("rcv1", "leukemia") else {}
    X, y, _ = problems.make(base, **options)
    X = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    return X, y - (y.mean() if base == "leukemia" and loss == "squared" else 0.0), loss


# -- one rival, in its own process ------------------------------------------------------------------------------------


def child(rival: str, folder: str, loss: str, lam: str, repeats: str) -> None:
    X, y = exchange.read_problem(Path(folder))
    fit, weight = RIVALS[rival][0], float(lam)
    fit(X, y, 0.9 * largest_weight(X, y, loss), loss, 1e-2)
    for tol in LADDER:
        begin = time.perf_counter()
        w = np.ravel(fit(X, y, weight, loss, tol))
        seconds, gap = [time.perf_counter() - begin], gap_of(X, y, w, weight, loss)
        if gap <= GAP:
            break
    while len(seconds) < int(repeats) and sum(seconds) < 60:
        begin = time.perf_counter()
        fit(X, y, weight, loss, tol)
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"seconds": statistics.median(seconds), "gap": gap, "tol": tol, "size": int((w != 0).sum())}))


def compare(names: list[str], ratios: list[float], threads: int, repeats: int, quick: bool) -> list[dict[str, Any]]:
    rows = []
    for name in names:
        try:
            X, y, loss = posed(name, quick)
        except problems.Unavailable as reason:
            print(f"{name}: {reason}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "problem"
            exchange.write_problem(folder, X, y)
            for ratio in ratios:
                for rival, (_, losses, environment) in RIVALS.items():
                    if loss in losses:
                        lam = ratio * largest_weight(X, y, loss)
                        row = {"problem": name, "ratio": ratio, "rival": rival}
                        rows.append(row | asked(rival, environment, folder, loss, lam, threads, repeats))
                        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def asked(rival, environment, folder, loss, lam, threads, repeats) -> dict[str, Any]:
    python = python_of(ENVIRONMENTS[environment])
    if not python.exists():
        return {"error": f"no environment {ENVIRONMENTS[environment]}: make bench creates it"}
    command = [str(python), __file__, "--child", rival, str(folder), loss, repr(lam), str(repeats)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=pinned(threads), timeout=900, cwd=HERE)
    except subprocess.TimeoutExpired:
        return {"error": "more than 900 s"}
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"error": done.stderr[-200:]}


def page(rows: list[dict[str, Any]]) -> str:
    """A table of seconds, and of the best rival's over ours; a rival that did not come to the gap has its gap shown."""
    lines = [f"| problem | lam / lam_max | {' | '.join(RIVALS)} | best / paring |", "| --- " * (len(RIVALS) + 3) + "|"]
    for key in dict.fromkeys((row["problem"], row["ratio"]) for row in rows):
        cells, times = [], {}
        for rival in RIVALS:
            row = next((r for r in rows if (r["problem"], r["ratio"], r["rival"]) == (*key, rival)), None)
            reached = row is not None and row.get("gap", 1) <= GAP
            if reached:
                times[rival] = row["seconds"]
            cells.append(
                "" if row is None else f"{row['seconds']:.3g}" if reached else row.get("error", "gap not reached")
            )
        others = [seconds for rival, seconds in times.items() if rival != "paring"]
        ratio = f"{min(others) / times['paring']:.2f}" if others and "paring" in times else ""
        lines.append(f"| {key[0]} | {key[1]:g} | {' | '.join(cells)} | {ratio} |")
    return "\n".join(lines) + "\n"


# -- the race of screening --------------------------------------------------------------------------------------------


def clicks(n: int, d: int, entries: int = 15, seed: int = 0) -> tuple[Any, np.ndarray]:
    """A click log: rows of 15 ones, columns by a power law, clicks by a hundred of the frequent ones."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((d ** rng.random(n * entries) - 1).astype(np.int32), d - 1)
    X = sp.csr_matrix((np.ones(n * entries), columns, np.arange(n + 1) * entries), shape=(n, d))
    X.sum_duplicates()
    w = np.zeros(d)
    w[rng.choice(min(d, 2000), 100, replace=False)] = rng.standard_normal(100)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-(X @ w))), 1.0, -1.0)


def race(quick: bool, seconds: float, workers: tuple[int, ...] = (1, 2)) -> list[dict[str, Any]]:
    """Squared loss, as the paper's; lam = 2e-3 lam_max, as for its Avazu data. Objective and seconds of every round."""
    import paring

    X, y = clicks(20_000, 10_000) if quick else clicks(2_000_000, 1_000_000)
    problem = paring.Problem(X, y, penalty=paring.penalties.L1(2e-3 * largest_weight(X, y, "squared")))
    rows = []
    for name in RACERS:
        for jobs in workers:
            result = paring.solve(problem, name, tol=1e-7, time_limit=seconds, n_jobs=jobs, random_state=0)
            points = [(round(r.seconds, 4), r.objective, r.active) for r in result.history]
            rows.append({"solver": name, "workers": jobs, "reason": result.stop_reason, "points": points})
            print(f"{name} x {jobs}: {result}", file=sys.stderr, flush=True)
    best = min(point[1] for row in rows for point in row["points"])
    for row in rows:
        row["above"] = [(s, f - best, active) for s, f, active in row.pop("points")]
    return rows


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["rcv1", "news20", "gaussian", "leukemia", "rcv1-logistic", "news20-logistic"]
    parser.add_argument("--problem", nargs="+", default=names)
    parser.add_argument("--ratio", nargs="+", type=float, default=list(RATIOS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a small gaussian problem alone")
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--seconds", type=float, default=120.0, help="of each solver in the race")
    parser.add_argument("--name", default="penalised", help="results/NAME.json and, of the table, .md")
    args = parser.parse_args()
    results = HERE / "results"
    if args.race:
        rows = race(args.quick, args.seconds)
        (results / f"{args.name}-race.json").write_text(json.dumps(rows), "utf-8")
        return
    rows = compare(["gaussian"] if args.quick else args.problem, args.ratio, args.threads, args.repeats, args.quick)
    (results / f"{args.name}.json").write_text(json.dumps(rows, indent=1), "utf-8")
    (results / f"{args.name}.md").write_text(page(rows), "utf-8")
    print(page(rows))


if __name__ == "__main__":
    main()
