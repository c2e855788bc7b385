"""Every way a matrix may lie in memory, and the answers of plain float64 NumPy to every verb of the door."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from paring.data.design import Design

RELATIVE = 1e-12
INEXACT_WITHOUT_FLOAT64 = 1e-9  # float32 accumulation errs by more than this


def values(n: int, d: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    """Half zeros; an empty row and column, where there are several."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, d)) < 0.5, rng.standard_normal((n, d)), 0.0)
    if n > 2:
        A[n // 2] = 0
    if d > 2:
        A[:, d // 3] = 0
    return A.astype(dtype)


def unaligned(A: np.ndarray) -> np.ndarray:
    """The same values one byte off."""
    room = np.empty(A.nbytes + 1, np.uint8)
    B = room[1:].view(A.dtype).reshape(A.shape)
    B[...] = A
    return B


def mapped(A: np.ndarray, folder: Path, name: str, mode: str = "r") -> np.ndarray:
    np.save(folder / f"{name}.npy", A)
    return np.load(folder / f"{name}.npy", mmap_mode=mode)


def read_only(A: np.ndarray) -> np.ndarray:
    A = A.copy(order="K")
    A.flags.writeable = False
    return A


def spread(A: np.ndarray, order: str) -> np.ndarray:
    """A as X[::2, ::3] of a larger array."""
    room = np.full((2 * A.shape[0], 3 * A.shape[1]), 99, dtype=A.dtype, order=order)
    room[::2, ::3] = A
    return room[::2, ::3]


def inside(A: np.ndarray, order: str) -> np.ndarray:
    """A as a window of a larger array."""
    room = np.full((A.shape[0] + 2, A.shape[1] + 3), 99, dtype=A.dtype, order=order)
    room[1:-1, 2:-1] = A
    return room[1:-1, 2:-1]


DENSE: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "window C": lambda A: inside(A, "C"),
    "window F": lambda A: inside(A, "F"),
    "strided C": lambda A: spread(A, "C"),
    "strided F": lambda A: spread(A, "F"),
    "transposed view": lambda A: np.ascontiguousarray(A.T).T,
    "read-only": read_only,
}


def compressed(kind: str, A: np.ndarray, indices: Any = np.int32, starts: Any = None) -> Any:
    """CSR or CSC with index types that SciPy itself would not leave alone."""
    X = (sp.csr_array if kind == "csr" else sp.csc_array)(A)
    X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(starts or indices)
    return X


def with_zeros(kind: str, A: np.ndarray) -> Any:
    """All entries stored, zeros too."""
    X = (sp.csr_array if kind == "csr" else sp.csc_array)(np.ones_like(A))
    X.data = np.ravel(A, order="C" if kind == "csr" else "F").copy()
    return X


def with_room(kind: str, A: np.ndarray) -> Any:
    """More room in data and indices than there are entries."""
    X = (sp.csr_array if kind == "csr" else sp.csc_array)(A)
    X.data = np.concatenate([X.data, np.full(5, np.nan, A.dtype)])
    X.indices = np.concatenate([X.indices, np.full(5, -7, X.indices.dtype)])
    return X


def _for_both(make: Callable[[str, np.ndarray], Any], name: str) -> dict[str, Callable[[np.ndarray], Any]]:
    return {f"{kind} {name}": lambda A, kind=kind: make(kind, A) for kind in ("csr", "csc")}


SPARSE: dict[str, Callable[[np.ndarray], Any]] = {
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    **_for_both(lambda kind, A: compressed(kind, A, np.int32), "int32"),
    **_for_both(lambda kind, A: compressed(kind, A, np.int64), "int64"),
    **_for_both(with_zeros, "explicit zeros"),
    **_for_both(with_room, "spare room"),
}


def expect(got: Any, want: np.ndarray, scale: Any = None) -> None:
    """Equal to RELATIVE of the largest magnitude, or of ``scale``: what the sums of magnitudes come to."""
    assert got.dtype == np.float64 and got.shape == want.shape
    largest = np.max(np.abs(want), initial=0.0) if scale is None else scale
    np.testing.assert_allclose(got, want, rtol=RELATIVE, atol=RELATIVE * float(np.max(largest)))


def check_verbs(design: Design, A: np.ndarray, seed: int = 1) -> None:
    """Every verb against NumPy on the float64 matrix A."""
    rng = np.random.default_rng(seed)
    n, d = A.shape
    assert (design.n, design.d) == (n, d)
    w, W, r, R = (rng.standard_normal(shape) for shape in (d, (d, 3), n, (n, 3)))
    sparse_w = np.where(rng.random(d) < 0.1, w, 0.0)
    for v in (w, W, W[:, ::-1], np.asfortranarray(W), sparse_w, np.zeros(d)):
        expect(design.scores(v), A @ v, np.abs(A) @ np.abs(v))
    for v in (r, R, R[:, ::2], np.zeros(n)):
        expect(design.adjoint(v), A.T @ v, np.abs(A).T @ np.abs(v))
    c = rng.random(n)
    for got, want in zip(design.moments(r, c), (A.T @ r, A.T @ c, (A**2).T @ c), strict=True):
        expect(got, want, np.abs(A).sum(axis=0))
    means, every = c @ A / c.sum(), np.arange(d)
    for centre in (None, means):
        moved = A if centre is None else A - centre
        expect(design.gram(c, centre), moved.T @ (c[:, None] * moved), np.abs(A).T @ (c[:, None] * np.abs(A)))
    expect(design.centred_squares(every[::-1], c, means), (c @ (A - means) ** 2)[::-1])
    for size in {0, 1, min(5, d), min(d // 2, 40), min(d, 40)}:
        check_selection(design, A, rng.permutation(d)[:size], rng)


def check_selection(design: Design, A: np.ndarray, features: np.ndarray, rng: np.random.Generator) -> None:
    """The verbs of a few columns, in any order."""
    n, _ = A.shape
    part, k = A[:, features], len(features)
    for w in (rng.standard_normal(k), rng.standard_normal((k, 2))):
        expect(design.scores_on(features, w), part @ w, np.abs(part) @ np.abs(w))
    expect(design.columns(features), part)
    blocks = np.full(part.shape, np.nan)
    for rows, block in design.parts(features):
        blocks[rows] = block
    expect(blocks, part)
    if k == 0:
        return
    c, w = rng.random(n), rng.standard_normal(k)
    means = c @ A / c.sum()
    for centre in (None, c):
        block = design.block(features, centre)
        shifts = means[features] if centre is not None and design.is_dense else np.zeros(k)
        expect(block.shifts, shifts)
        shifted, magnitude = part - shifts, np.abs(part).T @ (c[:, None] * np.abs(part))
        expect(block.scores(w, 0.5, design.threads), shifted @ w + 0.5, np.abs(part) @ np.abs(w))
        expect(block.cross(block, c, design.threads), shifted.T @ (c[:, None] * shifted), magnitude)
    few = features[:16]
    for centre in (None, means):
        moved = A if centre is None else A - centre
        magnitude = np.abs(A[:, few]).T @ (c[:, None] * np.abs(A))
        expect(design.gram_rows(few, c, centre), moved[:, few].T @ (c[:, None] * moved), magnitude)
