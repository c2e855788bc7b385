"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path, typer.Argument(help="svmlight, npz, npy, csv or parquet (.gz .bz2 .xz), or a converted folder.")]
Target = Annotated[
    str | None,
    typer.Option(help="The target: a column of a table (default: the last), an array of an npz, a file beside an npy."),
]
Format = Annotated[
    str | None, typer.Option(help="folder, npz, npy, svmlight, csv or parquet, where the name does not tell.")
]
ZeroBased = Annotated[
    bool | None,
    typer.Option("--zero-based/--one-based", help="How svmlight counts features; by default seen from the file."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
