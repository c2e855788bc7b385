"""SciPy's LAPACK, lent to the core, and its BLAS kept to one thread: the core's own workers share the work out.

A BLAS that starts threads too spends more on waiting for them, in products this small, than on the products.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from paring import _core

# Entries of X (times outputs squared: Hessians are so much larger).
WORTH_LIMITING = 1e5  # below, BLAS starts no threads of its own, and the limit would cost more


@cache
def lend_blas() -> None:
    """Once: SciPy's LAPACK to the core."""
    from scipy.linalg import cython_lapack

    _core.install_blas(cython_lapack.__pyx_capi__)


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    lend_blas()
    return ThreadpoolController()


class _OneThread:
    """The limit is the process's: of solves that overlap, the first sets it and the last takes it back."""

    def __init__(self) -> None:
        self.lock, self.depth = Lock(), 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if self.depth == 0:
                self.limit = _controller().limit(limits=1, user_api="blas")
            self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0 and self.limit is not None:
                self.limit.restore_original_limits()


_limited = _OneThread()


def one_thread(entries: float) -> AbstractContextManager[Any]:
    """BLAS on one thread while a problem of so many entries (times outputs squared) is solved."""
    return nullcontext() if entries < WORTH_LIMITING else _limited
