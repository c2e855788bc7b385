"""SciPy's LAPACK, lent to the core, and its BLAS kept to one thread: the core's own workers share the work out.

A BLAS that starts threads too spends more on waiting for them, in products this small, than on the products.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from paring import _core

WORTH_LIMITING = 1e5  # entries of X: below, BLAS starts no threads of its own, and the limit would cost more


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


def one_thread(entries: float) -> AbstractContextManager[Any]:
    """BLAS on one thread while a problem of so many entries is solved."""
    return nullcontext() if entries < WORTH_LIMITING else _controller().limit(limits=1, user_api="blas")
