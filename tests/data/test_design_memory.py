"""No verb of the door makes a float64 copy of X, nor anything near its size; nor does a fit on few columns."""

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


def use_tall_verbs(design: Design) -> None:
    """Those whose results are d x d, or n times few."""
    v = np.ones(design.n)
    design.gram(v, None)
    design.gram(v, np.zeros(design.d))
    design.centred_squares(np.arange(design.d), v, np.zeros(design.d))


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


TALL = ["C", "F", "strided C", "memmap C", "csr", "csc", "csr fuller", "csc fuller"]


@pytest.mark.parametrize("layout", TALL)
def test_no_hidden_copy_of_tall(layout: str, tmp_path: Path, peak_of: Callable[[Callable[[], Any]], int]) -> None:
    n, d = 120_000, 200
    if layout.startswith("cs"):
        density = 0.7 if layout.endswith("fuller") else 0.25
        some = sp.random_array((n // 40, d), density=density, dtype=np.float32, rng=np.random.default_rng(0))
        X = sp.vstack([some] * 40, format=layout[:3])
        size = X.data.nbytes + X.indices.nbytes
    else:
        A = np.ones((n, d), np.float32, order=layout[-1])
        size, X = A.nbytes, mapped(A, tmp_path, "X") if layout.startswith("memmap") else DENSE[layout](A)
    assert peak_of(lambda: use_tall_verbs(Design(X))) < min(48 * MB, size)


LIMITED = """
import resource, sys
import numpy as np
from paring import Problem, solve
from paring.constraints import TopK
from paring.data.design import Design
from tests.data.test_design_memory import use_every_verb

def fit(X):
    y = np.random.default_rng(1).standard_normal(len(X)) + 3 * X[:, 5]
    support = solve(Problem(X, y, constraint=TopK(2), fit_intercept=True, n_jobs=2)).support
    assert 5 in support, support

def use(X):
    use_every_verb(Design(X, n_jobs=2))

n, d, room, path, order, work = *map(int, sys.argv[1:4]), *sys.argv[4:]
X = np.memmap(path, np.float32, "r", shape=(n, d), order=order)
use(np.ones((50, 60), np.float32))  # load what loads late
fit(np.random.default_rng(0).standard_normal((50, 60)))
held = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (held + room, held + room))
try:
    np.ones(n * d, np.float32)
except MemoryError:
    globals()[work](X)
    print("within")
"""


def within(room: int, path: Path, shape: tuple[int, int], order: str, work: str) -> None:
    """Does that work in a process that may hold so many bytes more."""
    environment = {"OPENBLAS_NUM_THREADS": "1", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *map(str, shape), str(room), str(path), order, work],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.stdout.strip() == "within", done.stderr


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits private memory by Linux's RLIMIT_DATA")


@linux
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_memory_map_under_a_memory_limit(order: str, tmp_path: Path) -> None:
    """The compiled core's memory counts too. 256 MB of float32 within 80 MB, of which stacks of threads are 16."""
    path = tmp_path / "X.raw"
    with path.open("wb") as file:
        file.truncate(4 * 8192 * 8192)
    within(80 * MB, path, (8192, 8192), order, "use")


@linux
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_fit_on_a_tall_memory_map_under_a_memory_limit(order: str, tmp_path: Path) -> None:
    """Few columns, of which all products are made: 256 MB of float32 within 112 MB; a vector of a row each has 4."""
    n, d = 1 << 19, 128
    X = np.memmap(tmp_path / "X.raw", np.float32, "w+", shape=(n, d), order=order)
    X[: n // 16] = np.random.default_rng(0).standard_normal((n // 16, d))  # the rest is a hole, which reads as zeros
    X.flush()
    within(112 * MB, tmp_path / "X.raw", (n, d), order, "fit")
