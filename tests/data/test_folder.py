"""The memory-mapped folder: round trips without a copy, atomic writes, and refusal of anything damaged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring.data.convert import convert
from paring.data.folder import open_dataset, write_folder

KINDS = ["dense C", "dense F", "csr", "csc"]


def make(kind: str, dtype: Any = np.float64, n: int = 30, d: int = 20) -> Any:
    rng = np.random.default_rng(1)
    X = np.where(rng.random((n, d)) < 0.3, rng.standard_normal((n, d)), 0).astype(dtype)
    if kind.startswith("dense"):
        return np.asarray(X, order=kind[-1])
    return sp.csr_matrix(X) if kind == "csr" else sp.csc_matrix(X)


def dense(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def arrays_of(X: Any) -> list[np.ndarray]:
    return [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]


def mapped_file(array: np.ndarray) -> str | None:
    """The file, if any, that the first byte of an array is mapped from."""
    address = array.__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, high = (int(part, 16) for part in line.split()[0].split("-"))
        if low <= address < high:
            return line.split(maxsplit=5)[5] if len(line.split(maxsplit=5)) > 5 else None
    return None


# -- round trips -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mmap", [True, False])
def test_round_trip(tmp_path: Path, kind: str, dtype: type, mmap: bool) -> None:
    X, y = make(kind, dtype), np.arange(30)
    names = [f"gene é {j}" for j in range(20)]
    write_folder(tmp_path / "a", X, y, feature_names=names)
    data = open_dataset(tmp_path / "a", mmap=mmap)
    assert np.array_equal(dense(data.X), dense(X)) and data.X.dtype == dtype
    assert np.array_equal(data.y, y) and data.feature_names == tuple(names) and data.path == tmp_path / "a"
    if kind.startswith("dense"):
        assert data.X.flags.c_contiguous == (kind == "dense C")
    else:
        assert data.X.format == kind and data.X.has_canonical_format
    assert repr(data).startswith(f"Dataset({type(data.X).__name__} 30 x 20 {np.dtype(dtype)}, y int64, path=")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_order_can_be_chosen(tmp_path: Path, kind: str, order: str) -> None:
    X = make(kind)
    write_folder(tmp_path / "a", X, order=order, dtype=np.float32)
    data = open_dataset(tmp_path / "a")
    assert np.array_equal(dense(data.X), dense(X).astype(np.float32)) and data.y is None
    by_rows = data.X.format == "csr" if sp.issparse(data.X) else data.X.flags.c_contiguous
    assert by_rows == (order == "C")


@pytest.mark.parametrize(
    "X",
    [
        np.arange(6, dtype=np.int8).reshape(2, 3),
        np.arange(6, dtype=">f4").reshape(2, 3)[:, ::-1],
        np.ones((2, 3), np.float16),
        np.ones((4, 6))[::2, ::2],
        sp.coo_matrix(([1.0, 2, 3], ([0, 0, 1], [2, 2, 0])), shape=(2, 3)),
        sp.csr_array((2, 3), dtype=np.float32),
        sp.csr_matrix((np.ones(3), [2, 0, 0], [0, 2, 3]), shape=(2, 3)),
    ],
    ids=["int8", "swapped and reversed", "float16", "strided", "repeated", "empty", "unsorted"],
)
def test_any_matrix_becomes_a_plain_one(tmp_path: Path, X: Any) -> None:
    before = dense(X).copy()
    write_folder(tmp_path / "a", X)
    data = open_dataset(tmp_path / "a")
    assert np.array_equal(dense(data.X), before) and np.array_equal(dense(X), before)
    assert data.X.dtype in (np.float32, np.float64) and data.X.dtype.isnative
    assert not sp.issparse(data.X) or data.X.has_canonical_format


@pytest.mark.parametrize(
    "y", [np.array(["ill", "well"] * 15), np.array(["ill", "well"] * 15, object), np.eye(30, 3), np.arange(30) > 3]
)
def test_targets(tmp_path: Path, y: np.ndarray) -> None:
    write_folder(tmp_path / "a", make("csr"), y)
    assert np.array_equal(open_dataset(tmp_path / "a").y, y)


# -- nothing is copied -----------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks addresses up in /proc/self/maps")
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_lie_in_the_files(tmp_path: Path, kind: str) -> None:
    write_folder(tmp_path / "a", make(kind), np.arange(30.0))
    data = open_dataset(tmp_path / "a")
    names = ["X"] if kind.startswith("dense") else ["data", "indices", "indptr"]
    for name, array in zip([*names, "y"], [*arrays_of(data.X), data.y], strict=True):
        assert mapped_file(array) == str(tmp_path / "a" / f"{name}.npy")
        assert isinstance(array, np.memmap) and not array.flags.writeable


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks addresses up in /proc/self/maps")
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_wide_indices_are_neither_copied_nor_narrowed(tmp_path: Path, kind: str) -> None:
    # Another program may write 64-bit indices where 32 would do; SciPy's constructor would convert them.
    write_folder(tmp_path / "a", make(kind))
    for name in ("indices", "indptr"):
        path = tmp_path / "a" / f"{name}.npy"
        np.save(path, np.load(path).astype(np.int64))
    X = open_dataset(tmp_path / "a").X
    for name in ("indices", "indptr"):
        assert getattr(X, name).dtype == np.int64
        assert mapped_file(getattr(X, name)) == str(tmp_path / "a" / f"{name}.npy")
    assert np.array_equal(dense(X), dense(make(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_opening_allocates_nothing_of_the_size_of_the_data(
    tmp_path: Path, kind: str, peak_of: Callable[[Callable[[], Any]], int]
) -> None:
    X = make(kind, n=3000, d=500)
    write_folder(tmp_path / "a", X)
    size = sum(array.nbytes for array in arrays_of(X))
    del X
    assert peak_of(lambda: open_dataset(tmp_path / "a")) < size / 20


# -- writing is atomic -----------------------------------------------------------------------------------------


def test_an_existing_folder_is_replaced_only_on_request(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", np.zeros((2, 2)))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        write_folder(tmp_path / "a", np.ones((2, 2)))
    write_folder(tmp_path / "a", np.ones((3, 2)), overwrite=True)
    assert open_dataset(tmp_path / "a").X.tolist() == [[1, 1]] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_other_folders_and_files_are_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    write_folder(tmp_path / "real", np.ones((2, 2)))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("")
    for name in ("mine", "link", "file"):
        with pytest.raises(FileExistsError, match="never replaced"):
            write_folder(tmp_path / name, np.ones((2, 2)), overwrite=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_an_interrupted_conversion_leaves_nothing(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((100, 3)))

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(tmp_path / "a.npy", tmp_path / "folder", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.ones(3)}, r"y has shape \(3,\), expected 2 rows"),
        ({"y": np.ones(2, complex)}, "y must hold numbers or text, got complex128"),
        ({"feature_names": ["a"]}, "1 feature names for 2 columns"),
        ({"dtype": np.int32}, "dtype must be float32 or float64, got int32"),
        ({"order": "K"}, "order must be 'C' or 'F', got 'K'"),
        ({"X": np.ones(2)}, "X has 1 dimensions, expected 2"),
        ({"X": np.ones((2, 2), complex)}, "X must hold real numbers, got complex128"),
        ({"X": np.array([["a", "b"]] * 2)}, "X must hold real numbers, got <U1"),
        ({"X": sp.csr_matrix((2, 2**40)), "order": "F"}, "1099511627776 columns for 0 entries"),
    ],
)
def test_what_cannot_be_written_is_named(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_folder(tmp_path / "a", **{"X": np.ones((2, 2)), **arguments})
    assert list(tmp_path.iterdir()) == []
