"""Warnings that point to the caller's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

OURS = ("paring.", "sklearn.callback.")  # the latter wraps ``fit``


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the nearest frame that is not the library's own."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
