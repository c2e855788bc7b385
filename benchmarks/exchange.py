"""What the processes of a benchmark hand each other: problems and fits, as plain npy/npz files (no objects)."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Fit = tuple[int, np.ndarray, float]  # k, coef, intercept


def write_problem(folder: Path, X: Any, y: np.ndarray) -> None:
    folder.mkdir(parents=True)
    if sp.issparse(X):
        sp.save_npz(folder / "X.npz", X, compressed=False)
    else:
        np.save(folder / "X.npy", X)  # keeps the column-major order
    np.save(folder / "y.npy", y)


def read_problem(folder: Path) -> tuple[Any, np.ndarray]:
    sparse, dense = folder / "X.npz", folder / "X.npy"
    return (sp.load_npz(sparse) if sparse.exists() else np.load(dense)), np.load(folder / "y.npy")


def write_fits(path: Path, fits: list[Fit]) -> None:
    coefs = sp.vstack([sp.csr_matrix(np.asarray(coef, dtype=np.float64)) for _, coef, _ in fits], format="csr")
    np.savez(
        path,
        k=np.array([k for k, _, _ in fits]),
        intercept=np.array([float(intercept) for _, _, intercept in fits]),
        data=coefs.data,
        indices=coefs.indices,
        indptr=coefs.indptr,
        shape=np.array(coefs.shape),
    )


def read_fits(path: Path) -> list[Fit]:
    with np.load(path) as file:
        coefs = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        rows = (coefs[[i]].toarray().ravel() for i in range(coefs.shape[0]))
        return [(int(k), row, float(b)) for k, row, b in zip(file["k"], rows, file["intercept"], strict=True)]
