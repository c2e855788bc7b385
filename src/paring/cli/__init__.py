"""The command line: ``paring``. Needs the extra ``cli`` (typer, rich)."""

import sys

EXTRA = "the command line needs typer and rich: pip install 'paring[cli]'"


def main() -> None:
    """The entry point of the script."""
    try:
        try:
            import rich  # noqa: F401
            import typer  # noqa: F401
        except ImportError:
            print(f"paring: {EXTRA}", file=sys.stderr)
            sys.exit(2)
        from paring.cli.app import app

        app(prog_name="paring")
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)
