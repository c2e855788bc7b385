"""A damaged or hostile folder is refused by name: nothing crashes, blocks, or is allocated from a header."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paring.data.dataset import FormatError
from paring.data.folder import open_dataset, write_folder
from paring.data.formats import read

from .test_folder import make

Damage = Callable[[Path], object]


def edit(**changes: Any) -> Damage:
    def damage(folder: Path) -> None:
        meta = json.loads((folder / "meta.json").read_text())
        meta.update(changes)
        (folder / "meta.json").write_text(json.dumps({k: v for k, v in meta.items() if v is not ...}))

    return damage


def replace(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Damage:
    def damage(folder: Path) -> None:
        np.save(folder / name, change(np.load(folder / name)))

    return damage


def with_entry(name: str, at: int, value: int) -> Damage:
    def change(array: np.ndarray) -> np.ndarray:
        array[at] = value
        return array

    return replace(name, change)


def text(content: str) -> Damage:
    return lambda folder: (folder / "meta.json").write_text(content)


def header(name: str, shape: str, descr: str = "<f8") -> Damage:
    def damage(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        declared = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        content[10:128] = declared.ljust(117) + b"\n"
        (folder / name).write_bytes(content)

    return damage


def truncate(name: str, size: int) -> Damage:
    return lambda folder: os.truncate(folder / name, size)


def link_out(name: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).rename(folder.parent / name)
        (folder / name).symlink_to(folder.parent / name)

    return damage


def pipe(name: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return damage


SPARSE: dict[str, tuple[Damage, str]] = {
    "no meta": (lambda folder: (folder / "meta.json").unlink(), r"has no meta\.json: not a dataset"),
    "not JSON": (text("{"), r"meta\.json: not valid JSON"),
    "not UTF-8": (lambda folder: (folder / "meta.json").write_bytes(b"\xff{}"), "not valid JSON"),
    "deep JSON": (text("[" * 100_000), "not valid JSON"),
    "long integer": (text('{"version": ' + "1" * 10_000 + "}"), "not valid JSON"),
    "list": (text("[]"), "format is not 'paring-dataset'"),
    "other format": (edit(format="arrow"), "format is not 'paring-dataset'"),
    "newer": (edit(version=2), r"version 2 is not 1; a newer paring may read it"),
    "missing entry": (edit(nnz=...), r"unknown or missing entries \['nnz'\]"),
    "path in meta": (edit(files={"X": "../../secret"}), r"unknown or missing entries \['files'\]"),
    "kind": (edit(kind="../x"), "kind is '../x', which cannot be"),
    "kind type": (edit(kind=["csr"]), "kind is"),
    "order": (edit(order="F"), "order is 'F'"),
    "dtype": (edit(dtype="object"), "dtype is 'object'"),
    "shape length": (edit(shape=[30]), r"shape is '\[30\]'"),
    "shape type": (edit(shape=[30.0, 20]), "shape is"),
    "shape bool": (edit(shape=[True, 20]), "shape is"),
    "shape negative": (edit(shape=[30, -20]), "shape is"),
    "shape huge": (edit(shape=[10**30, 20]), "shape is"),
    "shape larger": (edit(shape=[10**15, 20]), "indptr has 31 entries, expected 1000000000000001"),
    "shape smaller": (edit(shape=[30, 19]), r"index 19 at entry \d+ is out of range for 19"),
    "nnz": (edit(nnz=10**12), r"data\.npy holds \d+ float64, but meta\.json says 1000000000000"),
    "target": (edit(target="yes"), "target is 'yes'"),
    "names": (edit(feature_names=["a"]), "feature_names is"),
    "names type": (edit(feature_names=[1] * 20), "feature_names is"),
    "file missing": (lambda folder: (folder / "data.npy").unlink(), r"has no data\.npy, which meta\.json announces"),
    "truncated": (truncate("data.npy", 500), r"data\.npy: the header declares \d+ bytes .* but 372 are there"),
    "truncated header": (truncate("indices.npy", 60), r"indices\.npy: the \.npy header is damaged"),
    "emptied": (truncate("y.npy", 0), r"y\.npy: not an \.npy array"),
    "huge header": (header("data.npy", "(10**14,)"), "the .npy header is damaged"),
    "huge shape": (header("data.npy", "(100000000000000,)"), "declares 800000000000000 bytes"),
    "overflowing shape": (header("data.npy", "(4294967296, 4294967296, 8)"), "declares 1180591620717411303424 bytes"),
    "negative shape": (header("data.npy", "(-1,)"), "impossible shape"),
    "objects": (header("data.npy", "(3,)", "|O"), "holds Python objects, which are never loaded"),
    "records": (header("data.npy", "(3,)", "V8"), r"the type \|V8 is neither numbers"),
    "no width": (header("data.npy", "(1000000000000,)", "<U0"), "neither numbers"),
    "wrong type": (replace("data.npy", lambda a: a.astype(np.float32)), r"holds \d+ float32, but"),
    "float indices": (replace("indices.npy", lambda a: a.astype(float)), "indices are float64"),
    "mixed indices": (replace("indptr.npy", lambda a: a.astype(np.int64)), "indices are int32 but indptr is int64"),
    "matrix": (replace("data.npy", lambda a: a[:, None]), "data has 2 dimensions"),
    "negative index": (with_entry("indices.npy", 5, -1), "index -1 at entry 5 is out of range for 20"),
    "index too large": (with_entry("indices.npy", 5, 20), "index 20 at entry 5 is out of range for 20"),
    "falling indptr": (with_entry("indptr.npy", 3, 10**6), "indptr decreases after entry 3"),
    "negative indptr": (with_entry("indptr.npy", 1, -5), "indptr decreases after entry 0"),
    "indptr start": (with_entry("indptr.npy", 0, 1), "indptr runs from 1 to"),
    "indptr end": (with_entry("indptr.npy", -1, 10**6), "indptr runs from 0 to 1000000"),
    "short y": (replace("y.npy", lambda a: a[:-1]), r"y\.npy has shape \(29,\), expected 30 rows"),
    "link out": (link_out("data.npy"), r"data\.npy: is a symbolic link"),
    "meta link": (link_out("meta.json"), r"meta\.json: is a symbolic link"),
    "pipe": (pipe("data.npy"), r"data\.npy: is not a regular file"),
    "meta pipe": (pipe("meta.json"), r"meta\.json: is not a regular file"),
    "folder": (lambda folder: ((folder / "y.npy").unlink(), (folder / "y.npy").mkdir()), "is not a regular file"),
}
DENSE: dict[str, tuple[Damage, str]] = {
    "shape": (edit(shape=[20, 30]), r"X\.npy: holds float64 \(30, 20\), but meta\.json says float64 \(20, 30\)"),
    "order": (edit(order="F"), "is not in the order F"),
    "nnz": (edit(nnz=3), r"X\.npy: holds"),
    "longer": (lambda folder: (folder / "X.npy").open("ab").write(b"x"), "but 4801 are there"),
}


@pytest.mark.parametrize(
    ("kind", "damage", "message"),
    [("csr", *SPARSE[name]) for name in SPARSE] + [("dense C", *DENSE[name]) for name in DENSE],
    ids=[*SPARSE, *(f"dense {name}" for name in DENSE)],
)
@pytest.mark.parametrize("mmap", [True, False])
def test_a_damaged_folder_is_refused(
    tmp_path: Path, kind: str, damage: Damage, message: str, mmap: bool, peak_of: Callable[[Callable[[], Any]], int]
) -> None:
    write_folder(tmp_path / "a", make(kind), np.arange(30))
    damage(tmp_path / "a")

    def refused() -> None:
        with pytest.raises(FormatError, match=message) as caught:
            open_dataset(tmp_path / "a", mmap=mmap)
        assert str(caught.value).startswith(str(tmp_path / "a"))

    assert peak_of(refused) < 30e6


def test_not_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_dataset(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="is not a folder"):
        open_dataset(tmp_path / "file")


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["meta.json", "data.npy", "indices.npy", "indptr.npy", "y.npy"]),
    at=st.integers(0, 700),
    junk=st.binary(min_size=1, max_size=12),
    cut=st.booleans(),
)
def test_any_damage_is_refused_or_harmless(
    name: str, at: int, junk: bytes, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fuzz") / "a"
    write_folder(folder, make("csr"), np.arange(30))
    content = (folder / name).read_bytes()
    at = min(at, len(content))
    (folder / name).write_bytes(content[:at] + junk + (b"" if cut else content[at + len(junk) :]))
    try:
        X = read(folder).X
    except FormatError as error:
        assert str(error).startswith(str(folder))
        return
    assert X.indptr[0] == 0 and (np.diff(X.indptr) >= 0).all() and X.indptr[-1] == X.indices.size == X.data.size
    assert X.indices.min() >= 0 and X.indices.max() < X.shape[1]
