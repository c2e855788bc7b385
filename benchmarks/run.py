"""One command, one table, one picture: exact-k solvers at equal k, objective and time beside each other.

    python benchmarks/run.py [--problem NAME ...] [--only RIVAL ...] [--k K ...] [--repeats R] [--threads T] [--quick]

Each run of config.yaml: the problem is made here and written once; every rival fits in a process of its own, in its
own environment, with the same threads; rivals alternate, R times; medians are reported. All coefficients are judged
here, in one float64 process. The clock runs over the rival's fit alone, conversions of X and y to its own form
included. Before it, each rival fits a tiny problem (imports, thread pools); `first` is its first fit of the real one,
compilation included.

A configuration with `kind: penalised` (penalised.yaml) compares penalised problems at equal gap: penalised.py.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import exchange
import penalised
import penalised_page
import penalised_rivals
import picture
import problems
import rivals
import scipy.sparse as sp
import table
from evaluate import Judge
from processes import Worker

HERE = Path(__file__).resolve().parent
ALL_RIVALS = sorted({*rivals.RIVALS, *penalised_rivals.RIVALS})


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", nargs="+", metavar="NAME", help="only these runs of the configuration")
    parser.add_argument("--only", nargs="+", metavar="RIVAL", choices=ALL_RIVALS, help="only these (and paring)")
    parser.add_argument("--k", nargs="+", type=int, help="sizes, instead of the configuration's")
    parser.add_argument("--repeats", type=int, help="timed fits of each")
    parser.add_argument("--threads", type=int, help="threads of every process")
    parser.add_argument("--timeout", type=float, help="seconds of one fit")
    parser.add_argument("--quick", action="store_true", help="small versions: a check that all rivals run")
    parser.add_argument("--config", type=Path, default=HERE / "config.yaml")
    parser.add_argument("--name", default="latest", help="results/NAME.md, .json and .png")
    parser.add_argument("--note", default="", help="a sentence for the page: what else the machine was doing, say")
    return parser.parse_args(argv)


def configuration(path: Path) -> dict[str, Any]:
    import yaml

    return yaml.safe_load(path.read_text("utf-8"))


def chosen_runs(config: dict[str, Any], args: argparse.Namespace) -> list[dict[str, Any]]:
    """The runs with defaults, --quick and the command line laid over them."""
    known = {run["name"] for run in config["runs"]}
    if unknown := set(args.problem or ()) - known:
        raise SystemExit(f"no run {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    runs = []
    for entry in config["runs"]:
        if (args.problem and entry["name"] not in args.problem) or (args.quick and "quick" not in entry):
            continue
        run = {**config["defaults"], "options": {}, **entry, **(entry.get("quick", {}) if args.quick else {})}
        given = {key: getattr(args, key) for key in ("k", "repeats", "threads", "timeout")}
        run |= {key: value for key, value in given.items() if value is not None}
        if args.only:
            run["rivals"] = [name for name in run["rivals"] if name in {"paring", *args.only}]
            run["rivals"] += [name for name in args.only if name not in run["rivals"]]
        runs.append(run)
    return runs


class Fitting:
    """The fits of one run: a worker per rival, what it answered, and where its coefficients lie."""

    def __init__(self, run: dict[str, Any], environments: dict[str, str], folder: Path, X: Any, y: Any) -> None:
        self.run, self.folder = run, folder
        self.sparse = sp.issparse(X)
        self.workers = {
            name: Worker(environments[rivals.RIVALS[name].environment], run["threads"]) for name in run["rivals"]
        }
        self.seconds: dict[tuple[str, int], list[float]] = {}
        self.errors: dict[tuple[str, int], str] = {}
        exchange.write_problem(folder / "problem", X, y)

    def request(self, name: str, k: int, **more: Any) -> dict[str, Any]:
        terms = {key: self.run[key] for key in ("loss", "ridge", "fit_intercept")}
        return {"problem": str(self.folder / "problem"), "rival": name, "k": k, **terms, **more}

    def warm_up(self, name: str) -> None:
        """A fit of a tiny problem; what a rival cannot do is said for every k."""
        rival, loss = rivals.RIVALS[name], self.run["loss"]
        if loss not in rival.losses:
            error = f"has no {loss} loss"
        elif self.sparse and not rival.sparse:
            error = "takes no sparse X"
        else:
            error = self.workers[name].ask(self.request(name, 3, warm=True), self.run["timeout"]).get("error")
        if error:
            self.errors |= {(name, k): error for k in self.run["k"]}

    def fit(self, name: str, k: int) -> None:
        if (name, k) in self.errors:
            return
        out = self.folder / f"{name}-{k}.npz"
        answer = self.workers[name].ask(self.request(name, k, out=str(out)), self.run["timeout"])
        if "error" in answer:
            self.errors[name, k] = answer["error"]
            if "limit" in answer:  # no larger size will be faster
                self.errors |= {(name, larger): answer["error"] for larger in self.run["k"] if larger > k}
            return
        self.seconds.setdefault((name, k), []).append(answer["seconds"])

    def asked(self, name: str) -> list[int]:
        """The sizes a rival is called with: its largest alone where it answers with a path that holds the others."""
        once = rivals.RIVALS[name].path and self.run.get("largest_k_only", False)
        return [max(self.run["k"])] if once else self.run["k"]

    def all(self, say) -> None:
        for name in self.workers:
            self.warm_up(name)
        for repeat in range(self.run["repeats"]):
            for name in self.workers:
                for k in self.asked(name):
                    say(f"  {name} k={k} ({repeat + 1} of {self.run['repeats']})")
                    self.fit(name, k)

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def rows_of(fitting: Fitting, judge: Judge, name: str) -> list[dict[str, Any]]:
    """The table's rows of one rival."""
    rows = []
    for k in fitting.run["k"]:
        at = k if k in fitting.asked(name) else max(fitting.run["k"])
        row: dict[str, Any] = {"rival": name, "k": k}
        times = fitting.seconds.get((name, at))
        if not times:
            rows.append({**row, "error": fitting.errors[name, at]})
            continue
        judged = judge.judge(exchange.read_fits(fitting.folder / f"{name}-{at}.npz"), k)
        if judged is None:
            rows.append({**row, "error": f"no size within {k}"})
            continue
        rows.append({**row, **judged, "seconds": statistics.median(times), "first": times[0], "repeats": len(times)})
    return rows


def ours_at_their_sizes(fitting: Fitting, rows: list[dict[str, Any]]) -> None:
    """Path rivals skip sizes: ours fits those they did reach too, for objectives are compared at equal k only."""
    sizes = {row["got"] for row in rows if row.get("got", 0) > 0} - set(fitting.run["k"])
    if "paring" not in fitting.workers or not fitting.seconds.get(("paring", max(fitting.run["k"]))):
        return
    for k in sorted(sizes):
        fitting.fit("paring", k)
    fitting.run = {**fitting.run, "k": sorted(sizes | set(fitting.run["k"]))}


def compare(rows: list[dict[str, Any]]) -> None:
    """Objective and time over ours at the size the rival got; overlap with our support where no truth is known.

    Of a rival that minimises another objective, ours is not shown.
    """
    judged = [row for row in rows if "objective" in row]
    ours = {row["k"]: row for row in judged if row["rival"] == "paring"}
    for row in judged:
        same = ours.get(row["got"])
        if same is None:
            continue
        row["relative"] = row["objective"] / same["objective"] if same["objective"] > 0 else None
        row["ratio"] = row["seconds"] / same["seconds"]
        row.setdefault("overlap", len(set(row["support"]) & set(same["support"])) / max(1, row["got"]))
    for row in judged:
        del row["support"]
        if rivals.RIVALS[row["rival"]].other_objective:
            row["objective"] = row["relative"] = None


def execute(run: dict[str, Any], environments: dict[str, str], scratch: Path, say) -> dict[str, Any]:
    """One run: its heading and its rows, or the reason why it was left out."""
    try:
        X, y, meta = problems.make(run["problem"], **run["options"])
    except problems.Unavailable as reason:
        return {"name": run["name"], "skipped": str(reason)}
    terms = {"k": list(meta.k), "ridge": meta.ridge, "fit_intercept": meta.fit_intercept, "loss": meta.loss}
    run = {**terms, **run}
    judge = Judge(X, y, meta, run["ridge"], run["fit_intercept"])
    fitting = Fitting(run, environments, scratch / run["name"], X, y)
    try:
        fitting.all(say)
        rows = [row for name in fitting.workers for row in rows_of(fitting, judge, name)]
        ours_at_their_sizes(fitting, rows)
        rows = [row for row in rows if row["rival"] != "paring"]
        rows += rows_of(fitting, judge, "paring") if "paring" in fitting.workers else []
    finally:
        fitting.close()
    compare(rows)
    keys = ("name", "problem", "loss", "ridge", "fit_intercept", "repeats", "threads", "options")
    heading = {key: run[key] for key in keys} | {"n": X.shape[0], "d": X.shape[1], "note": meta.note}
    if fitting.sparse:
        heading["density"] = X.nnz / (X.shape[0] * X.shape[1])
    return {**heading, "rows": rows}


def software(environments: dict[str, str], known: dict[str, Any]) -> dict[str, str]:
    """Versions of the rivals, as each environment knows them."""
    found = {"python": platform.python_version()}
    for environment, folder in environments.items():
        packages = {rival.package for rival in known.values() if rival.environment == environment}
        worker = Worker(folder, 1)
        found |= worker.ask({"versions": sorted({*packages, "numpy"})}, 60).get("versions", {})
        worker.close()
    return found


def main(argv: list[str] | None = None) -> None:
    args = arguments(argv)
    config = configuration(args.config)
    runs, environments = chosen_runs(config, args), config["environments"]
    is_penalised = config.get("kind") == "penalised"
    known, one = (penalised_rivals.RIVALS, penalised.execute) if is_penalised else (rivals.RIVALS, execute)
    write, draw = (penalised_page.write, penalised_page.draw) if is_penalised else (table.write, picture.draw)

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    results: list[dict[str, Any]] = []
    about = {"cores": os.cpu_count(), "software": software(environments, known), "note": args.note}
    folder = HERE / "results"
    with tempfile.TemporaryDirectory() as scratch:
        for run in runs:
            say(run["name"])
            results.append(one(run, environments, Path(scratch), say))
            write(folder / args.name, about, results)  # after every run: an interruption loses none
            draw(folder / f"{args.name}.png", results)
    print((folder / f"{args.name}.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
