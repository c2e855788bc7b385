"""svmlight files: equal to scikit-learn's reader, whatever the cut, the compression or the base; refusals by line."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from paring import _core
from paring.data import svmlight
from paring.data.convert import convert
from paring.data.dataset import FormatError
from paring.data.formats import open_dataset, read
from paring.data.svmlight import read_svmlight


def same(X: sp.csr_matrix, Y: sp.csr_matrix) -> bool:
    return (
        X.shape == Y.shape
        and np.array_equal(X.indptr, Y.indptr)
        and np.array_equal(X.indices, Y.indices)
        and np.array_equal(X.data, Y.data, equal_nan=True)
    )


def random_csr(rng: np.random.Generator, n: int = 60, d: int = 40) -> tuple[sp.csr_matrix, np.ndarray]:
    X = sp.random(n, d, density=0.2, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    return sp.csr_matrix(X), rng.standard_normal(n)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(text: bytes, name: str = "file.svm") -> Path:
        (tmp_path / name).write_bytes(text)
        return tmp_path / name

    return write


# -- equal to scikit-learn's reader ----------------------------------------------------------------------------


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_sklearn(tmp_path: Path, rng: np.random.Generator, zero_based: bool, dtype: type) -> None:
    X, y = random_csr(rng)
    path = tmp_path / "a.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, comment="made by a test")
    for base in ("auto", zero_based):
        ours = read_svmlight(path, dtype=dtype, zero_based=base)
        theirs, labels = load_svmlight_file(str(path), dtype=dtype, zero_based=base)
        assert same(ours.X, theirs) and ours.X.dtype == dtype and ours.path == path
        assert np.array_equal(ours.y, labels)
        assert ours.X.has_canonical_format and ours.X.indices.dtype == ours.X.indptr.dtype == np.int32


@pytest.mark.parametrize(
    "text",
    [
        b"1 1:2 # comment\n\n# whole line\n-1 qid:3 2:1e-3\r\n2.5",
        b"+1\n-1\n",
        b"1 1:nan 2:inf\n-1e2 7:-Infinity\n",
        b"1 1:0.1#x\n2 3:1e400 4:1e-400\n",
        b"nan 1:0.30000000000000004\n",
    ],
)
def test_equals_sklearn_on_odd_text(write: Callable[..., Path], text: bytes) -> None:
    path = write(text)
    ours, (theirs, labels) = read(path), load_svmlight_file(str(path))
    assert same(ours.X, theirs) and np.array_equal(ours.y, labels, equal_nan=True)


def test_equals_sklearn_on_real_data(tmp_path: Path, load_dataset: Callable[[str], tuple]) -> None:
    X, y, _ = load_dataset("mushrooms")
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    theirs, labels = load_svmlight_file(str(tmp_path / "a.svm"))
    ours = read(tmp_path / "a.svm")
    assert same(ours.X, theirs) and np.array_equal(ours.y, labels)


def test_the_declared_width_is_kept_and_enforced(write: Callable[..., Path]) -> None:
    path = write(b"1 3:1\n")
    assert read_svmlight(path, n_features=5).X.shape == (1, 5)
    assert read_svmlight(path, n_features=3).X.shape == (1, 3)
    with pytest.raises(FormatError, match=r"file\.svm: line 1: index 3 is out of range for n_features=2"):
        read_svmlight(path, n_features=2)
    with pytest.raises(ValueError, match="n_features must be at least 1"):
        read_svmlight(path, n_features=0)
    with pytest.raises(ValueError, match="zero_based must be"):
        read_svmlight(path, zero_based="maybe")


def test_unsorted_and_repeated_indices_are_tidied(write: Callable[..., Path]) -> None:
    path = write(b"1 3:1 1:2\n2 2:1 2:5 1:1\n3 4:1\n")
    expected = sp.csr_matrix([[2.0, 0, 1, 0], [1, 6, 0, 0], [0, 0, 0, 1]])
    assert same(read(path).X, expected)
    assert same(convert(path, path.with_name("folder")).X, expected)


@pytest.mark.parametrize("piece", [9, 1 << 22])
def test_wide_indices(write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(svmlight, "_PIECE", piece)
    path = write(b"1 1:1\n2 2147483649:7\n3 5:2\n")
    for X in (read(path).X, convert(path, tmp_path / "folder").X):
        assert X.shape == (3, 2**31 + 1)
        assert X.indices.dtype == X.indptr.dtype == np.int64
        assert X.indices.tolist() == [0, 2**31, 4]


# -- pieces ----------------------------------------------------------------------------------------------------


def parsed(text: bytes, piece: int, **options: object) -> list[np.ndarray]:
    reader = _core.SvmlightReader(**options)
    taken = []
    for start in range(0, len(text), piece):
        reader.feed(np.frombuffer(text[start : start + piece], np.uint8))
        taken.append(reader.take())
    reader.finish()
    y, indptr, indices, values, ids = zip(*[*taken, reader.take()], strict=True)
    lengths = np.concatenate([np.diff(part) for part in indptr])
    return [np.concatenate(y), lengths, np.concatenate(indices), np.concatenate(values), np.concatenate(ids)]


@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_any_cut_gives_the_same_rows(piece: int, tmp_path: Path, rng: np.random.Generator) -> None:
    X, y = random_csr(rng)
    dump_svmlight_file(X, y, str(tmp_path / "a"), query_id=np.arange(60), comment="x y")
    text = (tmp_path / "a").read_bytes().replace(b"\n", b" # end\r\n", 20)
    whole = parsed(text, len(text), query_ids=True)
    assert len(whole[0]) == 60 and len(whole[3]) == X.nnz and whole[4].tolist() == list(range(60))
    for part, expected in zip(parsed(text, piece, query_ids=True), whole, strict=True):
        assert np.array_equal(part, expected) and part.dtype == expected.dtype


def test_pieces_of_a_file(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(b"".join(b"%d 2:1 1:%d 3:4\n" % (i, i) for i in range(500)))
    whole = read(path)
    monkeypatch.setattr(svmlight, "_PIECE", 13)
    cut = read(path)
    assert same(cut.X, whole.X) and np.array_equal(cut.y, whole.y) and cut.X.has_canonical_format


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_compressed(write: Callable[..., Path], ending: str, pack: Callable[[bytes], bytes]) -> None:
    text = b"".join(b"1 %d:0.5 7:%d\n" % (i % 6 + 1, i) for i in range(3000))
    plain = read(write(text))
    half = len(text) // 2  # two streams, one after the other, are one file
    packed = write(pack(text[:half]) + pack(text[half:]), f"file.svm{ending}")
    assert same(read(packed).X, plain.X)
    for damaged in (pack(text)[:-9], pack(text)[:40], text, b"", b"\x1f\x8b\x08\x00", b"\xfd7zXZ\x00" + bytes(30)):
        path = write(damaged, f"damaged.svm{ending}")
        with pytest.raises(FormatError, match=f"damaged.svm{ending}: "):
            read(path)


def test_xz_declaring_a_huge_dictionary_is_refused(write: Callable[..., Path]) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    small = lzma.compress(b"1 1:1\n", check=lzma.CHECK_NONE, filters=filters)
    # After the stream's 12 bytes a block header: its size in words, ..., LZMA2 (0x21) with one byte of properties,
    # which codes the dictionary's size (40: 4 GiB), ..., and a checksum.
    start, end = 12, 12 + 4 * (small[12] + 1)
    header = bytearray(small[start:end])
    header[header.index(b"\x21\x01") + 2] = 40
    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    path = write(small[:start] + header + small[end:], "bomb.svm.xz")
    with pytest.raises(FormatError, match="Memory usage limit"):
        read(path)


# -- refusals --------------------------------------------------------------------------------------------------

REFUSED = {
    b"1 1:1\n2 abc\n": "line 2: expected index:value, found 'abc'",
    b"1 1:x\n": "line 1: expected index:value, found '1:x'",
    b"1 x:1\n": "line 1: expected index:value, found 'x:1'",
    b"\n\nspam 1:1\n": "line 3: expected a label \\(a number\\), found 'spam'",
    b"1,3 1:1\n": "line 1: expected one label, found '1,3': multi-label files are not read",
    b"1 -2:1\n": "line 1: index -2 is negative",
    b"1 4611686018427387904:1\n": "line 1: index 4611686018427387904 is too large",
    b"1 123456789012345678901:1": "line 1: the index in '123456789012345678901:1' is too large",
    b"1 qid:a 1:1\n": "line 1: expected qid:integer, found 'qid:a'",
    b"\xff\xfe1\x00": r"line 1: expected a label \(a number\), found '\\xff\\xfe1\\x00'",
    b"1 \xc3\xa9:1\n": r"line 1: expected index:value, found '\\xc3\\xa9:1'",
    b"1 " + b"9" * 5000: "line 1: expected index:value, found more than 4096 bytes without a blank",
    b"": "holds no rows",
    b"# nothing but a comment\n\n": "holds no rows",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_refused_with_file_and_line(write: Callable[..., Path], text: bytes) -> None:
    path = write(text)
    with pytest.raises(FormatError, match=f"^{path}: {REFUSED[text]}"):
        read(path)
    with pytest.raises(FormatError, match=REFUSED[text]):
        convert(path, path.with_name("folder"))
    assert [p.name for p in path.parent.iterdir()] == ["file.svm"]  # nothing half-written stays


def test_options_of_the_reader() -> None:
    text = np.frombuffer(b"1 1:nan\n", np.uint8)
    with pytest.raises(_core.SvmlightError, match="line 1: the value in '1:nan' is not finite"):
        _core.SvmlightReader(refuse_nonfinite=True).feed(text)
    with pytest.raises(_core.SvmlightError, match="more than 5 bytes in one line"):
        _core.SvmlightReader(max_line=5).feed(text)
    with pytest.raises(ValueError, match="dtype must be"):
        _core.SvmlightReader(dtype="float16")
    with pytest.raises(ValueError, match="base must be"):
        _core.SvmlightReader(base="two")


# A grammar near the format, so that most texts get far before they fail.
TOKEN = st.one_of(
    st.sampled_from([b" ", b"\n", b":", b"#", b"\r\n", b"qid:1", b"nan", b"1e999", b"-", b"+", b",", b"\x00"]),
    st.integers(-3, 2**63).map(lambda i: b"%d" % i),
    st.floats().map(lambda x: b"%r" % x),
    st.binary(max_size=4),
    st.tuples(st.integers(0, 99), st.floats(-9, 9)).map(lambda pair: b"%d:%r " % pair),
)
TEXT = st.one_of(st.binary(max_size=200), st.lists(TOKEN, max_size=40).map(b"".join).map(b"1 1:1 ".__add__))


@settings(max_examples=300, deadline=None)
@given(text=TEXT, ending=st.sampled_from(["", ".gz", ".bz2", ".xz"]), pack=st.booleans())
@example(text=b"1 4611686018427387903:1", ending="", pack=False)
def test_any_bytes_are_read_or_refused(
    text: bytes, ending: str, pack: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / f"file.svm{ending}"
    packers = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    path.write_bytes(packers[ending](text) if pack and ending else text)
    try:
        data = read(path)
    except FormatError as error:
        assert str(error).startswith(f"{path}: ")
        return
    n, d = data.X.shape
    assert data.y is not None and data.y.size == n == data.X.indptr.size - 1 > 0
    assert data.X.indices.size == data.X.data.size == data.X.indptr[-1]
    assert data.X.nnz == 0 or 0 <= data.X.indices.min() <= data.X.indices.max() < d


# -- memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_conversion_does_not_hold_the_data(
    tmp_path: Path, rng: np.random.Generator, order: str, peak_of: Callable[[Callable[[], Any]], int]
) -> None:
    X = sp.random(40_000, 500, density=0.08, format="csr", random_state=rng)
    path = tmp_path / "large.svm"
    with open(path, "wb") as file:
        rows = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        file.writelines(
            b"1 " + b" ".join(b"%d:%.3f" % e for e in zip(X.indices[a:b], X.data[a:b], strict=True)) + b"\n"
            for a, b in rows
        )
    size = X.data.nbytes + X.indices.nbytes
    peak = peak_of(lambda: convert(path, tmp_path / "folder", order=order))
    X = open_dataset(tmp_path / "folder").X
    assert X.nnz == 1_600_000 and X.format == {"C": "csr", "F": "csc"}[order]
    assert peak < 0.6 * size, f"{peak / 2**20:.1f} MiB for {size / 2**20:.1f} MiB of entries"
    assert peak_of(lambda: read(path)) < 1.6 * size  # the result, a quarter to grow into, and a piece of text
    assert (read(path).X != X).nnz == 0
