"""Damaged and hostile files of every format: a FormatError that names the file, and nothing else."""

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paring.data.dataset import FormatError
from paring.data.formats import read

from .test_formats import D, N, X, Y, save_sparse, write_file


def npz_with(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def npy_bytes(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def npy_header(shape: str, descr: str = "'<f8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00\x76\x00" + text


CSR = sp.csr_matrix(X)
PARTS = {
    "format": npy_bytes(b"csr"),
    "shape": npy_bytes(CSR.shape),
    "data": npy_bytes(CSR.data),
    "indices": npy_bytes(CSR.indices),
    "indptr": npy_bytes(CSR.indptr),
}

DAMAGED_NPZ = {
    "objects": ({"X": npy_bytes(np.array([[None]], object))}, "X: holds Python objects, which are never loaded"),
    "huge": ({"X": npy_header("(100000000000, 100)")}, "X: the header declares 80000000000000 bytes of data"),
    "cut": ({"X": npy_bytes(X)[:-8]}, "but 1912 are there"),
    "longer": ({"X": npy_bytes(X) + b"12345678"}, "but 1928 are there"),
    "vector": ({"X": npy_bytes(Y)}, r"X has type float64 and shape \(40,\), expected a matrix of numbers"),
    "text": ({"X": npy_bytes([["a"]])}, "X has type <U1"),
    "complex": ({"X": npy_bytes([[1j]])}, "neither numbers of at most 8 bytes nor text"),
    "long y": ({"X": npy_bytes(X), "y": npy_bytes(np.ones(N + 1))}, r"y has shape \(41,\) but X has 40 rows"),
    "names": ({"X": npy_bytes(X), "feature_names": npy_bytes(["a"])}, "1 feature names for 6 columns"),
    "nothing": ({"z": npy_bytes(X)}, "has no array 'X'; it holds z"),
    "format": (PARTS | {"format": npy_bytes(7)}, "sparse format '7'"),
    "shape": (PARTS | {"shape": npy_bytes([N, -1])}, r"shape is \[40 -1\], expected two lengths"),
    "shape kind": (PARTS | {"shape": npy_bytes([1.5, 2])}, "expected two lengths"),
    "rows": (PARTS | {"shape": npy_bytes([10**15, D])}, "indptr has 41 entries, expected 1000000000000001"),
    "columns": (PARTS | {"shape": npy_bytes([N, D - 1])}, "is out of range for 5"),
    "no data": ({k: v for k, v in PARTS.items() if k != "data"}, "has no array 'data'"),
    "short data": (PARTS | {"data": npy_bytes(CSR.data[:-1])}, "indptr runs from 0 to"),
    "complex data": (PARTS | {"data": npy_bytes(CSR.data + 1j)}, "data: the type complex128"),
    "negative": (PARTS | {"indices": npy_bytes(CSR.indices - 1)}, "index -1 at entry"),
    "unsigned": (PARTS | {"indices": npy_bytes(CSR.indices.astype(np.uint32))}, "indices has type uint32"),
    "backwards": (PARTS | {"indptr": npy_bytes([0, CSR.nnz + 1, *CSR.indptr[2:]])}, "indptr decreases after entry 1"),
    "header": ({"X": npy_header("(" * 2000)}, "X: the .npy header"),
    "code": ({"X": npy_header("__import__('os').abort()")}, "X: the .npy header is damaged"),
    "long header": ({"X": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(99)}, "cut off or too long"),
    "version": ({"X": b"\x93NUMPY\x09\x00\x76\x00" + bytes(118)}, "version 9 is unknown"),
    "magic": ({"X": b"PK\x03\x04"}, "not an .npy array"),
}


@pytest.mark.parametrize(("members", "message"), DAMAGED_NPZ.values(), ids=DAMAGED_NPZ)
def test_damaged_npz(
    tmp_path: Path, members: dict[str, bytes], message: str, peak_of: Callable[[Callable[[], Any]], int]
) -> None:
    path = npz_with(tmp_path / "a.npz", **members)

    def refused() -> None:
        with pytest.raises(FormatError, match=message) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))

    assert peak_of(refused) < 30e6


def test_an_npz_that_declares_more_than_it_holds(tmp_path: Path) -> None:
    path = npz_with(tmp_path / "a.npz", X=npy_header("(1000000, 1000000)"))
    size = (8 * 10**12 + 128).to_bytes(8, "little")
    with zipfile.ZipFile(path) as file:
        info = file.getinfo("X.npy")
    # The central directory says the uncompressed size, in an extra field for 64 bits (tag 1).
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = b"\xff" * 4
    content[at + 30 : at + 32] = (12).to_bytes(2, "little")
    place = at + 46 + len("X.npy")
    content[place:place] = b"\x01\x00\x08\x00" + size
    end = content.index(b"PK\x05\x06")
    content[end + 12 : end + 16] = (end - at).to_bytes(4, "little")
    path.write_bytes(content)
    with zipfile.ZipFile(path) as file:
        assert file.getinfo("X.npy").file_size == 8 * 10**12 + 128 and info.file_size == 128
    with pytest.raises(FormatError, match="X: declares 8000000000128 bytes, more than the file can hold"):
        read(path)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = save_sparse(tmp_path / "a.npz", CSR)
    content = bytearray(path.read_bytes())
    content[content.index(b"data.npy") + 100] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"Bad CRC-32|Error -3|not an \.npy|header"):
        read(path)


def test_special_files_do_not_block(tmp_path: Path) -> None:
    for ending in ("svm", "npz", "npy", "csv", "parquet"):
        os.mkfifo(tmp_path / f"a.{ending}")
        with pytest.raises(FormatError, match="is not a regular file"):
            read(tmp_path / f"a.{ending}")


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from(["npz", "dense.npz", "npy", "csv", "csv.gz", "parquet"]),
    at=st.integers(0, 4000),
    junk=st.binary(max_size=12),
    cut=st.booleans(),
)
def test_any_damage_is_refused_or_harmless(
    kind: str, at: int, junk: bytes, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write_file(kind, tmp_path_factory.mktemp("fuzz"))
    content = path.read_bytes()
    at %= len(content)
    path.write_bytes(content[:at] + junk + (b"" if cut else content[at + len(junk) :]))
    try:
        data = read(path)
    except FormatError as error:
        assert str(error).startswith(str(path))
        return
    assert data.X.ndim == 2 and (data.y is None or len(data.y) == data.X.shape[0])


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=300), ending=st.sampled_from(["npz", "npy", "csv", "csv.xz", "parquet"]))
def test_any_bytes_are_refused_or_read(content: bytes, ending: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    magic = {"npz": b"PK\x03\x04", "npy": b"\x93NUMPY\x01\x00", "csv": b"a,b\n", "parquet": b"PAR1"}.get(ending, b"")
    path = tmp_path_factory.mktemp("fuzz") / f"a.{ending}"
    path.write_bytes(magic + content)
    try:
        read(path)
    except FormatError as error:
        assert str(error).startswith(str(path))
