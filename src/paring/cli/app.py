"""The commands together, and what becomes of an error: one sentence on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from paring import __version__
from paring.cli import convert, demo, fit, path, predict, solvers
from paring.cli.say import sentence

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

EPILOG = (
    "Exit codes: 0 done; 1 the data or the fit is at fault; 2 the command is; 3 the fit stopped early (time limit, "
    "passes, no progress), its model is written all the same; 130 interrupted. PARING_DEBUG=1 shows tracebacks."
)


class Commands(TyperGroup):
    """typer's group, with this program's way of ending."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command. What it returns is the exit code."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
            sys.stdout.flush()
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        except BrokenPipeError:  # `paring predict .. | head`: nobody reads on
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FAILED
        except Exception as error:
            code = report(error)
        if code == INTERRUPTED:
            print("paring: interrupted", file=sys.stderr)
        sys.exit(code or OK)


def report(error: Exception) -> int:
    """Say what went wrong, in a sentence; returns the exit code."""
    if hasattr(error, "format_message"):  # a usage error of typer's
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "paring"
        said = error.format_message().removeprefix("Invalid value: ").rstrip(".")
        print(f"{command}: {said} (see {command} --help)", file=sys.stderr)
        return USAGE
    if os.environ.get("PARING_DEBUG", "0") != "0":
        traceback.print_exception(error)
    print(f"paring: {sentence(error)}", file=sys.stderr)
    return FAILED


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paring {__version__}")
        raise typer.Exit()


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,  # tables of three columns leave no room for the words at 80
    pretty_exceptions_enable=False,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Sparse learning that keeps only what matters: linear models with at most k features."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(demo.demo)
app.command()(fit.fit)
app.command()(path.path)
app.command()(predict.predict)
app.command()(convert.convert)
app.command()(solvers.solvers)
