"""`read` and `convert` over every format: round trips, the choice by name, and refusal of damaged files."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from paring.data.convert import convert
from paring.data.dataset import FormatError
from paring.data.folder import write_folder
from paring.data.formats import open_dataset, read

N, D = 40, 6
RNG = np.random.default_rng(3)
X = np.where(RNG.random((N, D)) < 0.5, RNG.standard_normal((N, D)), 0.0)
X = X.round(3)  # text of 16 digits, as scikit-learn writes, gives these numbers back
X[0, D - 1] = 1.0  # so that text without a declared width has all columns
Y = RNG.integers(0, 3, N).astype(np.float64)
NAMES = tuple(f"x{j}" for j in range(D))


def write_table(path: Path, **columns: Any) -> Path:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({**dict(zip(NAMES, X.T, strict=True)), "price": Y, **columns})
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


def save_sparse(path: Path, matrix: Any, **more: Any) -> Path:
    """As scipy.sparse.save_npz writes, with more arrays beside."""
    np.savez_compressed(
        path,
        format=matrix.format.encode(),
        shape=matrix.shape,
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        **more,
    )
    return path


def write_file(kind: str, folder: Path) -> Path:
    path = folder / f"a.{kind}"
    match kind:
        case "npz":
            return save_sparse(path, sp.csr_matrix(X), y=Y)
        case "csc.npz":
            return save_sparse(path, sp.csc_matrix(X), y=Y)
        case "dense.npz":
            np.savez(path, X=X, y=Y)
        case "npy":
            np.save(path, X)
            np.save(folder / "y.npy", Y)
        case "f.npy":
            np.save(path, np.asfortranarray(X))
            np.save(folder / "y.npy", Y)
        case "svm" | "libsvm" | "txt" | "svmlight":
            dump_svmlight_file(X, Y, str(path), zero_based=False)
        case "folder":
            write_folder(path, X, Y)
        case _:
            write_table(path)
    return path


KINDS = ["npz", "csc.npz", "dense.npz", "npy", "f.npy", "svm", "libsvm", "txt", "svmlight", "folder"]
KINDS += ["csv", "csv.gz", "csv.bz2", "csv.xz", "parquet"]


def target_of(path: Path) -> str | None:
    return str(path.with_name("y.npy")) if path.suffix == ".npy" else None


def dense(A: Any) -> np.ndarray:
    return A.toarray() if sp.issparse(A) else np.asarray(A)


# -- round trips -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [None, np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_read(tmp_path: Path, kind: str, dtype: Any) -> None:
    path = write_file(kind, tmp_path)
    data = read(path, target=target_of(path), dtype=dtype)
    assert np.array_equal(dense(data.X), X.astype(dtype or np.float64)) and data.X.dtype == (dtype or np.float64)
    assert np.array_equal(data.y, Y) and data.path == path
    assert data.feature_names == (NAMES if kind.startswith(("csv", "parquet")) else None)


@pytest.mark.parametrize("order", [None, "C", "F"])
@pytest.mark.parametrize("kind", KINDS)
def test_convert(tmp_path: Path, kind: str, order: str | None) -> None:
    path = write_file(kind, tmp_path)
    calls: list[tuple[int, int]] = []
    data = convert(
        path,
        tmp_path / "out",
        target=target_of(path),
        order=order,
        dtype=np.float32,
        progress=lambda done, total: calls.append((done, total)),
    )
    source = read(path, target=target_of(path))
    assert np.array_equal(dense(data.X), X.astype(np.float32)) and np.array_equal(data.y, Y)
    assert data.feature_names == source.feature_names and sp.issparse(data.X) == sp.issparse(source.X)
    flat = data.X.data if sp.issparse(data.X) else data.X
    assert isinstance(flat, np.memmap) and flat.dtype == np.float32
    by_rows = data.X.format == "csr" if sp.issparse(data.X) else data.X.flags.c_contiguous
    default = "F" if kind in ("csc.npz", "f.npy") else "C"
    assert by_rows == ((order or default) == "C")
    if kind not in ("npz", "csc.npz", "dense.npz", "folder"):  # those are not streamed
        assert calls and all(0 < done <= total for done, total in calls) and calls[-1][0] == calls[-1][1]


def test_scipys_own_files(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(X))
    data = read(tmp_path / "a.npz")
    assert np.array_equal(dense(data.X), X) and data.y is None
    sp.save_npz(tmp_path / "b.npz", sp.coo_matrix(X))
    with pytest.raises(FormatError, match=r"sparse format 'coo'; save it as csr or csc \(X\.tocsr\(\)\)"):
        read(tmp_path / "b.npz")


def test_real_data(data_dir: Path, load_dataset: Callable[[str], tuple]) -> None:
    for name in ("mushrooms", "diabetes"):
        expected, y, _ = load_dataset(name)
        data = read(data_dir / f"{name}.npz")
        assert np.array_equal(dense(data.X), dense(expected)) and np.array_equal(data.y, y)


def test_targets_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=X, y=Y, weight=Y + 1, feature_names=NAMES)
    assert np.array_equal(read(tmp_path / "a.npz", target="weight").y, Y + 1)
    assert read(tmp_path / "a.npz").feature_names == NAMES
    with pytest.raises(FormatError, match="has no array 'z'; it holds X, y, weight, feature_names"):
        read(tmp_path / "a.npz", target="z")
    np.save(tmp_path / "a.npy", X)
    assert read(tmp_path / "a.npy").y is None
    dump_svmlight_file(X, Y, str(tmp_path / "a.svm"))
    with pytest.raises(ValueError, match="target does not apply to svmlight files"):
        read(tmp_path / "a.svm", target="y")


def test_the_format_goes_by_the_name_or_the_argument(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    os.rename(tmp_path / "a.npy", tmp_path / "data")
    assert np.array_equal(read(tmp_path / "data", format="npy").X, X)
    with pytest.raises(FormatError, match=r"the name does not tell the format; known endings are \.npz \.npy"):
        read(tmp_path / "data")
    with pytest.raises(FormatError, match="the name does not tell the format"):
        read(tmp_path / "a.npy.gz")
    with pytest.raises(ValueError, match="format must be one of folder, npz, npy, svmlight, csv, parquet, got 'xls'"):
        read(tmp_path / "data", format="xls")
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        read(tmp_path / "data", format="npy", dtype=int)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.npz")


# -- tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables(tmp_path: Path, ending: str) -> None:
    path = write_table(tmp_path / f"a.{ending}", flag=Y > 1, gap=np.where(Y > 0, Y, np.nan), count=np.arange(N))
    data = read(path, target="x2")
    assert data.feature_names == ("x0", "x1", "x3", "x4", "x5", "price", "flag", "gap", "count")
    assert np.array_equal(data.y, X[:, 2]) and np.array_equal(data.X[:, 6], Y > 1)
    assert np.array_equal(np.isnan(data.X[:, 7]), Y == 0)
    with pytest.raises(FormatError, match="has no column 'nope'; it has 'x0', 'x1', 'x2', 'x3', 'x4' and 5 more"):
        read(path, target="nope")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_text_are_refused_and_targets_of_text_are_labels(tmp_path: Path, ending: str) -> None:
    kind = np.array(["ill", "well"] * (N // 2))
    path = write_table(tmp_path / f"a.{ending}", kind=kind)
    assert np.array_equal(read(path).y, kind)
    assert np.array_equal(convert(path, tmp_path / "out").y, kind)
    with pytest.raises(FormatError, match=r"column 'kind' holds text, not numbers; leave out or encode \(pandas"):
        read(path, target="price")
    path = write_table(tmp_path / f"b.{ending}", kind=np.where(Y > 0, "a", None), price=Y)
    with pytest.raises(FormatError, match="target 'kind' is text with missing values"):
        read(path, target="kind")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No columns to parse"),
        ("a,b\n", "holds no rows"),
        ("a\n1\n", "has 1 column, expected features and a target; are its fields separated by commas"),
        (",a,b\n0,1,2\n", "column 1 has no name; if it is a frame's index, write with index=False"),
        ("a,b\n1,2,3\n4,5,6\n", "Expected 2 fields in line 2, saw 3"),
        ("a,a,b\n1,2,3\n", "two columns have the same name"),
        ("a,b\n1,2\n1,2,3,4\n", "Expected 2 fields in line 3, saw 4"),
        ('a,b\n"1,2\n', "EOF inside string"),
        ("0.5,-1.25,3\n1,2,3\n", "the first line holds numbers, expected the names of the columns: add such a line"),
    ],
)
def test_damaged_csv(tmp_path: Path, text: str, message: str) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path / "a.csv")
    assert str(caught.value).startswith(str(tmp_path / "a.csv"))


def test_a_target_that_changes_its_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setattr("paring.data.tables._BLOCK", 64)
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 30 + "1,x\n" * 30)
    with pytest.raises(FormatError, match="the target is part numbers, part text"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    path = write_table(tmp_path / "a.parquet")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # Python's way to say: not installed
    with pytest.raises(ImportError, match=rf"need {package}.*: pip install 'paring\[tables\]'"):
        read(path)


# -- memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_conversion_does_not_hold_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, order: str, peak_of: Callable[[Callable[[], Any]], int]
) -> None:
    path = tmp_path / f"a.{kind}"
    block = RNG.integers(0, 1000, (20_000, 100)) / 8
    if kind == "npy":
        np.save(path, np.tile(block, (4, 1)))
    else:
        monkeypatch.setattr("paring.data.tables._BLOCK", 1 << 20)
        lines = "\n".join(",".join(map(str, row)) for row in block[:5000])
        path.write_text(",".join(f"c{j}" for j in range(100)) + ("\n" + lines) * 8)
    monkeypatch.setattr("paring.data.npy._PIECE", 1 << 20)
    pytest.importorskip("pandas")
    peak = peak_of(lambda: convert(path, tmp_path / "out", order=order))
    size = open_dataset(tmp_path / "out").X.nbytes
    assert size > 30e6 and peak < size / 3, f"{peak / 2**20:.1f} MiB for {size / 2**20:.1f} MiB"
