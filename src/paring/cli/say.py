"""How the commands speak: tables and text on stdout, JSON on demand, remarks and bars on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

MOST_IN_A_SENTENCE = 400  # characters


class Refused(ValueError):
    """What the user asked for cannot be done with these data; the message is for the user."""


def console() -> Console:
    return Console(highlight=False, soft_wrap=False)


def printable(text: str) -> str:
    """Text of the data as rich may show it: no markup of its own, no codes for the terminal."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def remark(text: str) -> None:
    """A line on stderr."""
    print(f"paring: {text}", file=sys.stderr)


def print_json(value: dict[str, Any]) -> None:
    """One object on stdout. Infinities and NaN, which JSON lacks, are null."""
    print(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def sentence(error: BaseException) -> str:
    """What an error says, on one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if isinstance(error, FileNotFoundError):
        return f"{error}: no such file or folder"
    if isinstance(error, MemoryError):
        return f"out of memory ({error or 'no details'}); `paring convert` makes a folder that is mapped, not read"
    said = " ".join(str(error).strip().split("\n\n")[0].splitlines()[:1]) or type(error).__name__
    said = said if len(said) <= MOST_IN_A_SENTENCE else f"{said[:MOST_IN_A_SENTENCE]}.."
    expected = isinstance(error, ValueError | TypeError | OSError | ImportError)
    return said if expected else f"unexpected {type(error).__name__}: {said} (PARING_DEBUG=1 shows where)"


@contextmanager
def bytes_bar(what: str) -> Iterator[Callable[[int, int], object] | None]:
    """A bar of bytes done on stderr, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
