"""What a figure leaves: curves to draw, tables, and the paper's statements with what the numbers say of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

DIGITS = 6  # significant ones kept in the JSON file
QUICK_PASSES = 8


class Unavailable(Exception):
    """A figure's data are not there; the message says which."""


@dataclass(frozen=True)
class Context:
    """How a figure is run. ``quick``: problems of a second, to see that all works; their numbers say nothing.

    book : the steps found by trials (``tuning.Book``). say : told what goes on.
    """

    book: Any
    quick: bool = False
    say: Callable[[str], None] = lambda line: None

    def of(self, whole: Any, quick: Any) -> Any:
        return quick if self.quick else whole

    def limits(self, seconds: float) -> dict[str, float]:
        """Of a race: its seconds; a few passes in a quick run, which are the same on a busy machine."""
        return {"max_passes": QUICK_PASSES} if self.quick else {"seconds": seconds}


@dataclass(frozen=True)
class Figure:
    """A picture or table of a paper.

    claim : what the paper shows. setting : its settings, as we run them. differs : where ours are not the paper's.
    """

    name: str
    source: str
    title: str
    claim: str
    setting: str
    differs: str
    run: Callable[[Context], Outcome]


@dataclass(frozen=True)
class Curve:
    """Points of one solver. ``level``: a line across, for what has no place on this axis."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    level: bool = False


@dataclass(frozen=True)
class Panel:
    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    x_scale: str = "linear"
    y_scale: str = "log"


@dataclass(frozen=True)
class Table:
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Check:
    """A statement of the paper, whether our numbers bear it out, and these numbers."""

    statement: str
    held: bool
    seen: str


@dataclass
class Outcome:
    """All of it. ``columns``: panels beside each other. ``traces``: all numbers, by panel and solver."""

    panels: list[Panel] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    columns: int = 3
    traces: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As JSON takes it: floats short, infinities as words."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, Sequence):
        return [_plain(inner) for inner in value]
    if isinstance(value, int):
        return value
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else str(number)
