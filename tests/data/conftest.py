"""Fixtures for the tests of data."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def peak_of() -> Callable[[Callable[[], Any]], int]:
    """``peak_of(function)``: the most bytes that Python and NumPy held at once while it ran."""

    def run(function: Callable[[], Any]) -> int:
        tracemalloc.start()
        try:
            function()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return run
