"""Steps "tuned to their best performance", as the papers have it: for each solver and panel the best of a grid.

The grid is geometric, searched from 1 / max_i (L |x_i|^2 + ridge) downhill. A trial is the race's problem for
``trial_passes`` passes; the best step is that of the lowest objective at its end. Found steps are kept in
steps.json, beside this file, so that a run of the figures spends no time on them; ``--tune`` finds them again.
The search is not on anybody's clock, as in the papers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.papers.outcome import Context
from benchmarks.papers.race import Entrant, Judge, Race, Trace, is_tuned, run

BOOK = Path(__file__).with_name("steps.json")
COARSE, FINE = 4.0, 2.0
MOST_TRIALS = 12


@dataclass
class Book:
    """The steps found, by figure, panel and solver; ``again``: those in it are not believed."""

    path: Path | None = None
    again: bool = False
    steps: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = BOOK, again: bool = False) -> Book:
        return cls(path, again, json.loads(path.read_text("utf-8")) if path.exists() else {})

    def step(self, key: str, search: Callable[[], float], guess: Callable[[], float]) -> float:
        """The step in the book; else the one that ``search`` finds."""
        if self.again or key not in self.steps:
            self.steps[key] = search()
            if self.path:
                self.path.write_text(json.dumps(dict(sorted(self.steps.items())), indent=1) + "\n", "utf-8")
        return self.steps[key]


class Guesses(Book):
    """No book, and no trials: for quick runs."""

    def step(self, key: str, search: Callable[[], float], guess: Callable[[], float]) -> float:
        return guess()


def row_step(race: Race) -> float:
    """1 / max_i (L |x_i|^2 + ridge), rounded to a power of 2."""
    problem = race.problem()
    bound = problem.loss.curvature_bound
    largest = (bound if np.isfinite(bound) else 1.0) * float(problem.design.row_squares().max()) + race.ridge
    return float(2.0 ** np.floor(np.log2(1 / largest)))


def search(value: Callable[[float], float], start: float) -> float:
    """The best step of a geometric grid: downhill by factors of 4, then its neighbours by 2."""
    values: dict[float, float] = {}

    def at(step: float) -> float:
        if step not in values:
            values[step] = value(step) if len(values) < MOST_TRIALS else np.inf
        return values[step]

    best = start
    while not np.isfinite(at(best)) and len(values) < MOST_TRIALS:  # diverged
        best /= COARSE
    for factor in (COARSE, 1 / COARSE):
        while at(best * factor) < at(best):
            best *= factor
    found = min((best, best * FINE, best / FINE), key=at)
    return found if np.isfinite(at(found)) else start


def tuned(race: Race, entrant: Entrant, book: Book, key: str) -> float | None:
    """The step of an entrant that has one."""
    if not is_tuned(entrant):
        return None

    trial = replace(race, seconds=np.inf, max_passes=min(race.trial_passes, race.max_passes))

    def value(step: float) -> float:
        trace = run(trial, entrant, step)
        return np.inf if trace.error else trace.final

    return book.step(f"{key}/{entrant.label}", lambda: search(value, row_step(race)), lambda: row_step(race))


def run_all(
    race: Race, entrants: tuple[Entrant, ...], context: Context, key: str, judges: dict[str, Judge] | None = None
) -> list[Trace]:
    """The traces of one panel, one entrant after the other."""
    traces = []
    for entrant in entrants:
        step = tuned(race, entrant, context.book, key)
        context.say(f"  {race.title}: {entrant.label}" + (f", step {step:.3g}" if step else ""))
        traces.append(run(race, entrant, step, judges))
    return traces
