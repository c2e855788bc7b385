"""No verb of the door makes a float64 copy of X, nor anything near its size."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring.data.design import Design
from tests.data.layouts import DENSE, mapped

MB = 1 << 20


def use_every_verb(design: Design) -> None:
    n, d = design.n, design.d
    w, r, c = np.ones(d), np.ones(n), np.ones(n)
    few, many = np.arange(5), np.arange(0, d, 3)
    design.scores(w)
    design.scores(np.ones((d, 2)))
    design.adjoint(r)
    design.adjoint(np.ones((n, 2)))
    design.moments(r, c)
    design.scores_on(few, np.ones(5))
    design.scores_on(many, np.ones(len(many)))
    design.block(few, c).cross(design.block(few, c), c)
    design.gram_rows(few, c, None)
    design.gram_rows(few, c, np.zeros(d))
    design.columns(few)
    design.rows(few)
    design.row_squares()


@pytest.mark.parametrize("layout", ["C", "F", "strided C", "memmap C", "memmap F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_hidden_copy_of_dense(
    layout: str, dtype: Any, tmp_path: Path, peak_of: Callable[[Callable[[], Any]], int]
) -> None:
    A = np.ones((3000, 4000), dtype, order=layout[-1])
    X = mapped(A, tmp_path, "X") if layout.startswith("memmap") else DENSE[layout](A)
    assert peak_of(lambda: use_every_verb(Design(X))) < 20 * MB < A.nbytes / 2


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_no_hidden_copy_of_sparse(index: Any, peak_of: Callable[[Callable[[], Any]], int]) -> None:
    """By columns: nothing. By rows: the other orientation, once, and a block of five columns."""
    X = sp.random_array((20_000, 5_000), density=0.04, format="csc", dtype=np.float32, rng=np.random.default_rng(0))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    size = X.nnz * (4 + np.dtype(index).itemsize)
    n, d = X.shape
    few = np.arange(5)

    def use(design: Design) -> None:
        design.scores(np.ones(d))
        design.adjoint(np.ones(n))
        design.moments(np.ones(n), np.ones(n))
        design.block(few)
        design.gram_rows(few, np.ones(n), None)
        design.scores_on(few, np.ones(5))

    small = 3 * 8 * d + 6 * 8 * n
    assert peak_of(lambda: use(Design(X))) < small < size / 8
    by_rows = X.tocsr()
    assert peak_of(lambda: use(Design(by_rows))) < 1.1 * size + small


LIMITED = """
import resource, sys
import numpy as np
from tests.data.test_design_memory import use_every_verb
from paring.data.design import Design

path, order = sys.argv[1:]
X = np.memmap(path, np.float32, "r", shape=({n}, {d}), order=order)
use_every_verb(Design(np.ones((50, 60), np.float32)))  # load what loads late
held = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (held + {room}, held + {room}))
try:
    np.ones({n} * {d}, np.float32)
except MemoryError:
    use_every_verb(Design(X, n_jobs=2))
    print("within")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits private memory by Linux's RLIMIT_DATA")
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_memory_map_under_a_memory_limit(order: str, tmp_path: Path) -> None:
    """The compiled core's memory counts too. 256 MB of float32 within 80 MB, of which stacks of threads are 16."""
    n, d = 8192, 8192
    path = tmp_path / "X.raw"
    with path.open("wb") as file:
        file.truncate(4 * n * d)
    code = LIMITED.format(n=n, d=d, room=80 * MB)
    environment = {"OPENBLAS_NUM_THREADS": "1", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), order],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.stdout.strip() == "within", done.stderr
