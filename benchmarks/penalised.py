"""Penalised problems at equal gap: the fits of one run, each package at the loosest tolerance that reaches the gap.

Started by run.py for a configuration with `kind: penalised`. A point is a weight, lam = ratio lam_max, or a path of
weights (then the largest gap counts). Per point and package the tolerance is searched on the package's own grid, from
where the last point ended: looser while the gap of gap.py is reached, tighter until it is. Then all packages are timed
at theirs, alternating; the fits of the search are not timed, but where a fit is so long that it is not repeated.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import exchange
import numpy as np
import penalised_problems  # noqa: F401  registers its problems
import problems
import scipy.sparse as sp
from gap import GapJudge, Penalty
from penalised_rivals import RIVALS, PenalisedRival
from processes import Worker

MODULE = "penalised_rivals"


@dataclass(frozen=True)
class Point:
    """name: the ratio, or "path"."""

    name: str
    lams: tuple[float, ...]


@dataclass
class Found:
    """The search's last word on a package at a point."""

    tol: float
    clock: tuple[float, float]  # seconds, and the processor's
    judged: dict[str, Any]


def refusal(rival: PenalisedRival, run: dict[str, Any], sparse: bool) -> str | None:
    if run["loss"] not in rival.losses:
        return f"has no {run['loss']} loss"
    if run["penalty"] not in rival.penalties:
        return f"has no {run['penalty']} penalty"
    if "path" in run and not rival.has_path:
        return "has no path"
    return "takes no sparse X" if sparse and not rival.sparse else None


class Race:
    """The packages of one run, a process each."""

    def __init__(self, run: dict[str, Any], environments: dict[str, str], folder: Path, judge: GapJudge) -> None:
        self.run, self.folder, self.judge = run, folder, judge
        self.workers = {n: Worker(environments[RIVALS[n].environment], run["threads"]) for n in run["rivals"]}
        self.out: dict[str, str] = {}  # why a package is out of the run
        self.at = {n: int(np.argmin(np.abs(np.log(np.array(RIVALS[n].grid) / RIVALS[n].begin)))) for n in run["rivals"]}
        exchange.write_problem(folder / "problem", judge.X, judge.loss.y)

    def ask(self, name: str, lams: tuple[float, ...], tol: float, **more: Any) -> dict[str, Any]:
        """The worker's answer, with what the judge says of its fits; {"error": ...} where there are none."""
        terms = {key: self.run[key] for key in ("penalty", "size", "l1_ratio")} | {"tol": tol}
        out = self.folder / "fits.npz"
        request = {"problem": str(self.folder / "problem"), "rival": name, "module": MODULE, "k": list(lams)}
        request |= {"loss": self.run["loss"], "ridge": 0.0, "fit_intercept": False, "options": terms}
        answer = self.workers[name].ask(request | more | ({} if more else {"out": str(out)}), self.run["timeout"])
        return answer if "error" in answer or more else answer | {"judged": self.judged(out, lams)}

    def judged(self, out: Path, lams: tuple[float, ...]) -> dict[str, Any]:
        fits = exchange.read_fits(out)
        if len(fits) != len(lams):
            return {"objective": np.inf, "gap": np.inf, "nonzeros": 0}
        each = [self.judge.judge(coef, lam) for (_, coef, _), lam in zip(fits, lams, strict=True)]
        return {**each[-1], "gap": max(one["gap"] for one in each)}

    def warm_up(self) -> None:
        warm = (0.05, 0.02) if "path" in self.run else (0.05,)
        for name in self.workers:
            error = refusal(RIVALS[name], self.run, sp.issparse(self.judge.X))
            error = error or self.ask(name, warm, RIVALS[name].begin, warm=True).get("error")
            if error:
                self.out[name] = error

    def search(self, name: str, point: Point) -> Found | str:
        """The loosest tolerance of the grid that reaches the gap, or why there is none."""
        grid, at, step = RIVALS[name].grid, self.at[name], 0
        found: Found | None = None
        nearest = np.inf
        while 0 <= at < len(grid):
            answer = self.ask(name, point.lams, grid[at])
            if "limit" in answer and step <= 0 and at > 0 and not found:  # no end in sight so tight: looser may do
                step, at = -1, at - 1
                continue
            if "error" in answer:
                return found or f"{answer['error']}, at tolerance {grid[at]:g} (gap before: {nearest:.1e})"
            reached = answer["judged"]["gap"] <= self.run["gap"]
            nearest = min(nearest, answer["judged"]["gap"])
            if reached:
                self.at[name] = at
                found = Found(grid[at], (answer["seconds"], answer["cpu"]), answer["judged"])
            if (reached and step > 0) or (not reached and step < 0):
                break
            step = -1 if reached else 1
            at += step
        return found or f"gap {nearest:.1e} at best, down to tolerance {grid[min(max(at, 0), len(grid) - 1)]:g}"

    def time(self, points: list[Point], say) -> list[dict[str, Any]]:
        rows = []
        for point in points:
            found = {}
            for name in self.workers:
                say(f"  {name} {point.name}: searching the tolerance")
                found[name] = self.out.get(name) or self.search(name, point)
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in found}
            for _ in range(self.run["repeats"]):
                for name, what in found.items():
                    if isinstance(what, Found) and what.clock[0] <= self.run["once_above"]:
                        answer = self.ask(name, point.lams, what.tol)
                        times[name].append((answer.get("seconds", np.inf), answer.get("cpu", np.inf)))
            rows += [row_of(point, name, what, times[name]) for name, what in found.items()]
        return rows

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def row_of(point: Point, name: str, found: Found | str, times: list[tuple[float, float]]) -> dict[str, Any]:
    row = {"rival": name, "point": point.name}
    if isinstance(found, str):
        return row | {"error": found}
    seconds, cpu = (statistics.median(clock) for clock in zip(*(times or [found.clock]), strict=True))
    return row | found.judged | {"tol": found.tol, "seconds": seconds, "cpu": cpu, "repeats": max(1, len(times))}


def compare(rows: list[dict[str, Any]]) -> None:
    """Time over ours, and how far the objective is above the lowest of all, both at the same point."""
    for row in rows:
        same = [other for other in rows if other["point"] == row["point"] and "seconds" in other]
        ours = next((other for other in same if other["rival"] == "paring"), None)
        if "seconds" in row:
            row["above"] = row["objective"] - min(other["objective"] for other in same)
            if ours is not None:
                row["ratio"] = row["seconds"] / ours["seconds"]
                row["cpu_ratio"] = row["cpu"] / max(ours["cpu"], 1e-9)


def points_of(run: dict[str, Any], lam_max: float) -> list[Point]:
    if "path" in run:
        weights = lam_max * np.geomspace(1.0, run["path"]["eps"], run["path"]["count"])
        return [Point("path", tuple(map(float, weights)))]
    return [Point(f"{ratio:g}", (ratio * lam_max,)) for ratio in run["ratios"]]


def execute(run: dict[str, Any], environments: dict[str, str], scratch: Path, say) -> dict[str, Any]:
    """One run: its heading and its rows, or the reason why it was left out."""
    try:
        X, y, meta = problems.make(run["problem"], **run["options"])
    except problems.Unavailable as reason:
        return {"name": run["name"], "skipped": str(reason)}
    run = {"loss": meta.loss, "penalty": "l1", "size": 1, "l1_ratio": 0.5, **run}
    X = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    y = y - y.mean() if run.get("centred") else y
    judge = GapJudge(X, y, run["loss"], Penalty(run["penalty"], run["size"], run["l1_ratio"]))
    race = Race(run, environments, scratch / run["name"], judge)
    try:
        race.warm_up()
        rows = race.time(points_of(run, judge.lam_max), say)
    finally:
        race.close()
    compare(rows)
    keys = ("name", "problem", "loss", "penalty", "size", "repeats", "threads", "options", "gap")
    note = f"{meta.note}; y centred" if run.get("centred") else meta.note
    heading = {key: run[key] for key in keys} | {"n": X.shape[0], "d": X.shape[1], "note": note}
    if sp.issparse(X):
        heading["density"] = X.nnz / (X.shape[0] * X.shape[1])
    return {**heading, "rows": rows}
