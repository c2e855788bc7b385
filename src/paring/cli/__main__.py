"""``python -m paring.cli``."""

from paring.cli import main

main()
