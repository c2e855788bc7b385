"""Traces as panels, as rows of a table, and as rankings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.papers.outcome import Check, Curve, Panel, Table
from benchmarks.papers.race import Trace, lowest

AXES = {"passes": "effective passes", "thresholdings": "thresholdings", "seconds": "seconds", "rounds": "rounds"}
OURS = "pursuit"
CLOSE = 1e-3  # relative: two objectives nearer than this are told apart by no picture


def gap_panels(title: str, traces: Sequence[Trace], axes: Sequence[str], y: str = "objective - best known") -> list:
    """Objective less the lowest known, a panel an axis. Pursuit does not threshold: there its end is a level."""
    best = lowest(traces)
    floor = 1e-6 * abs(best)
    panels = []
    for axis in axes:
        curves = []
        for trace in traces:
            if not trace.objective:
                continue
            gaps = [max(value - best, floor) for value in trace.objective]
            if axis == "thresholdings" and max(trace.thresholdings) == 0:
                curves.append(Curve(trace.label, [0.0], [gaps[-1]], level=True))
            else:
                curves.append(Curve(trace.label, trace.of(axis), gaps))
        panels.append(Panel(title, AXES[axis], y, curves))
    return panels


def measure_panel(title: str, traces: Sequence[Trace], axis: str, measure: str, y: str, y_scale: str = "log") -> Panel:
    curves = [Curve(t.label, t.of(axis), t.of(measure)) for t in traces if t.objective]
    return Panel(title, AXES[axis], y, curves, y_scale=y_scale)


def number(value: float) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.5g}"


def race_table(title: str, traces: Sequence[Trace], axis: str, limits: Sequence[float]) -> Table:
    """Objectives at equal passes or seconds, and what each came to in the end."""
    header = ["solver", "step", *(f"F at {limit:g} {axis}" for limit in limits)]
    header += ["F at the end", "features", "passes", "thresholdings", "seconds"]
    rows = []
    for trace in traces:
        if not trace.objective:
            rows.append([trace.label, number(trace.step), f"no result: {trace.error}"] + [""] * (len(header) - 3))
            continue
        row = [trace.label, number(trace.step), *(number(trace.at(axis, limit)) for limit in limits)]
        row += [number(trace.final), trace.selected, number(trace.passes[-1]), trace.thresholdings[-1]]
        rows.append([*row, number(trace.seconds[-1])])
    return Table(title, header, rows)


def ranked(values: dict[str, float]) -> str:
    """'a 0.1 < b 0.2 < c -': from the lowest up."""
    return " < ".join(f"{name} {number(value)}" for name, value in sorted(values.items(), key=lambda pair: pair[1]))


def first(values: dict[str, float], winner: str, close: float = CLOSE) -> bool:
    """Is the winner's value the lowest, or as close to it as no picture shows?"""
    least = min(values.values(), default=math.inf)
    return winner in values and values[winner] <= least + close * abs(least) and math.isfinite(values[winner])


def leads(
    traces: Sequence[Trace], winner: str, axis: str, limits: Sequence[float], where: str, close: float = CLOSE
) -> Check:
    """The paper's 'converges faster': the lowest objective at equal passes, or seconds, of all but pursuit."""
    theirs = [trace for trace in traces if trace.label != OURS and trace.objective]
    found = {limit: {t.label: t.at(axis, limit) for t in theirs} for limit in limits}
    held = [first(values, winner, close) for values in found.values()]
    seen = "; ".join(f"at {limit:g} {axis}: {ranked(values)}" for limit, values in found.items())
    statement = f"{where}: {winner} has the lowest objective at equal {axis}"
    return Check(statement, all(held), seen)


def ends_lowest(traces: Sequence[Trace], winner: str, where: str) -> Check:
    values = {t.label: t.final for t in traces if t.label != OURS and t.objective}
    return Check(f"{where}: {winner} ends lowest", first(values, winner), ranked(values))


def beside_pursuit(traces: Sequence[Trace], where: str) -> str:
    """What a user gains or loses by the default solver: objective and seconds against the best of the others."""
    ours = next((t for t in traces if t.label == OURS), None)
    theirs = [t for t in traces if t.label != OURS and t.objective]
    if ours is None or not ours.objective or not theirs:
        return f"{where}: pursuit has no result ({ours.error if ours else 'not run'})."
    best = min(theirs, key=lambda t: min(t.objective))
    low = min(best.objective)
    reached = ours.reaches(low, "seconds")
    when = f"passes that value after {number(reached)} s" if math.isfinite(reached) else "does not reach that value"
    return (
        f"{where}: pursuit ends at {number(ours.final)} after {number(ours.seconds[-1])} s ({ours.ended}); the best of "
        f"the papers' solvers, {best.label}, comes to {number(low)} in {number(best.reaches(low, 'seconds'))} s. "
        f"Pursuit {when}."
    )


def recorded(traces: Sequence[Trace]) -> dict[str, dict]:
    """For the JSON file."""
    return {trace.label: {key: value for key, value in vars(trace).items() if key != "label"} for trace in traces}


def fewest_thresholdings(traces: Sequence[Trace], winner: str, where: str) -> Check:
    """Thresholdings on the way to the objective the winner ends with."""
    theirs = [t for t in traces if t.label != OURS and t.objective]
    won = next((t for t in theirs if t.label == winner), None)
    statement = f"{where}: {winner} needs the fewest thresholdings to its own final objective"
    if won is None:
        return Check(statement, False, f"{winner} has no result")
    target = won.final * (1 + CLOSE)
    values = {t.label: t.reaches(target, "thresholdings") for t in theirs}
    return Check(statement, first(values, winner), ranked(values))
