"""The progress of a solve on stderr, shown only when asked for: a bar where a terminal is, else plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from paring.solvers._loop import Progress

SECONDS_BETWEEN_LINES = 1.0

Watch = Callable[[Progress], None]


@contextmanager
def shown(solver_name: str, problem: Any) -> Iterator[Watch]:
    """A callback that shows each round. rich draws it where it is installed and stderr is a terminal."""
    drawn = _bar if sys.stderr.isatty() and _has_rich() else _lines
    with drawn(solver_name, problem) as watch:
        yield watch


def _has_rich() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None


def _facts(progress: Progress) -> str:
    return f"objective {progress.objective:.6g}  {progress.passes:.0f} passes  {progress.seconds:.1f} s"


def _units(problem: Any, progress: Progress) -> int:
    """What the bound k counts of the model: features, or groups of them."""
    return len(problem.constraint.units_of(progress.model.support))


@contextmanager
def _lines(solver_name: str, problem: Any) -> Iterator[Watch]:
    last: Progress | None = None
    written = -SECONDS_BETWEEN_LINES

    def write(progress: Progress) -> None:
        print(
            f"{solver_name}: round {progress.rounds}  {progress.n_selected} features  {_facts(progress)}",
            file=sys.stderr,
            flush=True,
        )

    def watch(progress: Progress) -> None:
        nonlocal last, written
        last, now = progress, time.monotonic()
        if now - written >= SECONDS_BETWEEN_LINES:
            write(progress)
            last, written = None, now

    try:
        yield watch
    finally:
        if last is not None:  # the end is shown in any case
            write(last)


@contextmanager
def _bar(solver_name: str, problem: Any) -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    k = problem.constraint.k
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[size]}  {task.fields[facts]}"),
    )
    console = Console(stderr=True, highlight=False)
    with Bar(*columns, console=console, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task(solver_name, total=None, size="", facts="")
        grows = False

        def watch(progress: Progress) -> None:
            nonlocal grows
            reached = _units(problem, progress)
            grows = grows or (progress.rounds <= 1 and reached < k)  # others keep k features from their first round on
            bar.update(
                task,
                total=k if grows else None,
                completed=min(reached, k),
                size=f"{progress.n_selected} features  round {progress.rounds}",
                facts=_facts(progress),
            )

        yield watch
        if not grows:  # it pulsed
            bar.update(task, total=k, completed=k)
