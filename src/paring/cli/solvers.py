"""``paring solvers``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from paring.cli.say import console, print_json
from paring.solvers import registry


def solvers(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """List the solvers, with where they come from."""
    aliases = {
        entry.name: [alias for alias, name in registry.ALIASES.items() if name == entry.name]
        for entry in registry.ENTRIES
    }
    if as_json:
        rows = [
            {
                "name": entry.name,
                "aliases": aliases[entry.name],
                "family": entry.family,
                "source": entry.source,
                "summary": entry.summary,
            }
            for entry in registry.ENTRIES
        ]
        return print_json({"solvers": rows})
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("solver", style="bold")
    table.add_column("family", no_wrap=True)
    table.add_column("what it does, and its source")
    for entry in registry.ENTRIES:
        name = "\n".join([entry.name, *(f"[not bold dim]= {alias}[/]" for alias in aliases[entry.name])])
        table.add_row(name, entry.family, f"{entry.summary}\n[dim]{entry.source}[/]")
    console().print(table)
