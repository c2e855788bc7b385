"""``paring convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from paring.cli.options import AsJson, Format, Target
from paring.cli.say import bytes_bar, console, print_json


def convert(
    source: Annotated[
        Path, typer.Argument(help="svmlight, npz, npy, csv or parquet (also .gz .bz2 .xz), or a folder.")
    ],
    folder: Annotated[Path, typer.Argument(help="The folder to write.")],
    *,
    target: Target = None,
    dtype: Annotated[str | None, typer.Option(help="float32 or float64; by default the source's.")] = None,
    order: Annotated[str | None, typer.Option(help="C: rows together; F: columns together.")] = None,
    format: Format = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder of this kind.")] = False,
    as_json: AsJson = False,
) -> None:
    """Convert a data file to the memory-mapped folder, which may be larger than memory."""
    if order not in (None, "C", "F"):
        raise typer.BadParameter(f"--order is C or F, not {order}")
    if dtype not in (None, "float32", "float64"):
        raise typer.BadParameter(f"--dtype is float32 or float64, not {dtype}")
    from paring.data.convert import convert as run

    try:
        with bytes_bar(source.name) as progress:
            data = run(
                source,
                folder,
                target=target,
                dtype=dtype,
                order=order,
                format=format,
                overwrite=overwrite,
                progress=progress,
            )
    except FileExistsError as error:
        raise FileExistsError(str(error).replace("pass overwrite=True", "pass --overwrite")) from error
    n, d = data.X.shape
    size = sum(file.stat().st_size for file in folder.iterdir())
    target_type = None if data.y is None else str(data.y.dtype)
    if as_json:
        facts = {"rows": n, "features": d, "dtype": str(data.X.dtype), "target": target_type, "bytes": size}
        return print_json({"folder": str(folder), **facts})
    y = f"target {target_type}" if target_type else "no target"
    console().print(f"{folder}: {n:,} rows, {d:,} features, {data.X.dtype}, {y}, {decimal(size)}", soft_wrap=True)
