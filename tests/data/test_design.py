"""The door: every layout and type gives the answers of float64 NumPy, and nothing usable is copied."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from paring import _core
from paring.data.design import Design, as_design, cores
from tests.data.layouts import (
    DENSE,
    SPARSE,
    check_verbs,
    compressed,
    expect,
    mapped,
    unaligned,
    values,
)

SMALL = (37, 23)
BIG = (1201, 907)  # above a million multiply-adds a pass: two threads work
SHAPES = [(1, 1), (1, 9), (9, 1), (2, 1), (1, 2), (3, 200), (200, 3)]
FLOATS = [np.float32, np.float64]


def parts(X: Any) -> list[np.ndarray]:
    return [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]


def held(design: Design) -> list[np.ndarray]:
    return parts(design._X)


def nbytes(X: Any) -> int:
    return sum(part.nbytes for part in parts(X))


def assert_lies_in(design: Design, X: Any) -> None:
    """Not copied: the design's memory is the caller's."""
    assert design.copied_bytes == 0
    for mine, theirs in zip(held(design), parts(X), strict=True):
        assert np.shares_memory(mine, theirs) or mine.size == 0


# -- what is usable is used ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", [*DENSE, *SPARSE])
def test_every_verb_on_every_layout_without_a_copy(layout: str, dtype: Any) -> None:
    A = values(*SMALL, dtype)
    X = (DENSE | SPARSE)[layout](A)
    before = [part.copy() for part in parts(X)]
    design = Design(X)
    assert_lies_in(design, X)
    assert design.dtype == dtype and design.is_dense == (layout in DENSE)
    check_verbs(design, A.astype(np.float64))
    for part, old in zip(parts(X), before, strict=True):
        np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layout", ["C", "F", "strided C", "strided F", "csr int32", "csc int64"])
def test_every_verb_on_all_threads(layout: str, threads: int) -> None:
    A = values(*BIG, np.float32)
    design = Design((DENSE | SPARSE)[layout](A), n_jobs=threads)
    assert design.threads == threads
    check_verbs(design, A.astype(np.float64))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", [*DENSE, *SPARSE])
def test_every_verb_on_slight_shapes(layout: str, shape: tuple[int, int]) -> None:
    A = values(*shape, seed=4)
    X = (DENSE | SPARSE)[layout](A)
    design = Design(X)
    assert_lies_in(design, X)
    check_verbs(design, A)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_memory_map(tmp_path: Path, dtype: Any, order: str) -> None:
    A = np.asarray(values(*SMALL, dtype), order=order)
    X = mapped(A, tmp_path, "X")
    design = Design(X)
    assert_lies_in(design, X)
    check_verbs(design, A.astype(np.float64))
    window = X[3:-2, 1:-4:2]
    assert_lies_in(Design(window), window)
    check_verbs(Design(window), A[3:-2, 1:-4:2].astype(np.float64))


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_over_memory_maps(tmp_path: Path, kind: str) -> None:
    A = values(*SMALL, np.float32)
    X = compressed(kind, A, np.int64)
    X.data, X.indices, X.indptr = (mapped(part, tmp_path, f"part{i}") for i, part in enumerate(parts(X)))
    design = Design(X)
    assert_lies_in(design, X)
    check_verbs(design, A.astype(np.float64))


@pytest.mark.parametrize("layout", ["C", "F", "strided F", "csr int32", "csc int64"])
def test_the_core_reads_the_caller_s_memory(layout: str) -> None:
    X = (DENSE | SPARSE)[layout](values(*SMALL))
    design, w = Design(X), np.ones(SMALL[1])
    before = design.scores(w)
    stored = parts(X)[0]
    stored *= 2
    np.testing.assert_array_equal(design.scores(w), 2 * before)


def test_a_repeated_row_or_column_is_a_view() -> None:
    row = np.arange(1.0, 8.0)
    for X in (np.broadcast_to(row, (5, 7)), np.broadcast_to(row[:, None], (7, 5)), np.broadcast_to(3.0, (4, 6))):
        design = Design(X)
        assert_lies_in(design, X)
        check_verbs(design, np.array(X))


def test_a_design_passes_through() -> None:
    design = Design(values(*SMALL))
    assert as_design(design) is design


# -- what is not usable is copied once, and counted ---------------------------------------------------------------

CONVERTED = {
    "int8": (lambda A: A.astype(np.int8), np.float32),
    "uint16": (lambda A: np.abs(A).astype(np.uint16), np.float32),
    "bool": (lambda A: A > 0, np.float32),
    "float16": (lambda A: A.astype(np.float16), np.float32),
    "int32": (lambda A: A.astype(np.int32), np.float64),
    "int64": (lambda A: A.astype(np.int64), np.float64),
    "longdouble": (lambda A: A.astype(np.longdouble), np.float64),
    "swapped float64": (lambda A: A.astype(A.dtype.newbyteorder()), np.float64),
    "swapped float32": (lambda A: A.astype(np.dtype(np.float32).newbyteorder()), np.float32),
    "unaligned float64": (unaligned, np.float64),
    "unaligned float32": (lambda A: unaligned(A.astype(np.float32)), np.float32),
    "negative rows": (lambda A: A[::-1], np.float64),
    "negative columns": (lambda A: A[:, ::-1], np.float64),
    "negative both": (lambda A: A[::-2, ::-3], np.float64),
    "field of records": (lambda A: np.rec.fromarrays([A.astype("i4"), A], names="a,b").b, np.float64),
    "packed field": (lambda A: np.rec.fromarrays([A.astype("i1"), A], names="a,b").b, np.float64),
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", CONVERTED)
def test_dense_conversions(name: str, order: str) -> None:
    make, dtype = CONVERTED[name]
    X = make(np.asarray(np.rint(4 * values(*SMALL)) / 4, order=order))
    design = Design(X)
    mine = held(design)[0]
    assert mine.dtype == design.dtype == dtype and not np.shares_memory(mine, X)
    assert design.copied_bytes == X.size * np.dtype(dtype).itemsize
    assert mine.flags.forc and mine.flags.f_contiguous == np.array(X, order="K").flags.f_contiguous  # order kept
    check_verbs(design, np.asarray(X, np.float64))


def test_lists_and_frames_are_taken() -> None:
    A = values(5, 3)
    design = Design(A.tolist())
    assert design.copied_bytes == A.nbytes
    check_verbs(design, A)
    check_verbs(Design(sp.csr_matrix(A).todense()), A)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(A)
    design = Design(frame)
    assert design.copied_bytes == 0 and np.shares_memory(held(design)[0], frame.to_numpy())
    with pytest.raises(TypeError, match=r"X holds object; real numbers are needed\. Encode or drop"):
        Design(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))


@pytest.mark.parametrize("name", ["coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("family", ["matrix", "array"])
def test_other_sparse_formats(name: str, family: str) -> None:
    A = values(12, 9)
    X = getattr(sp, f"{name}_{family}")(A)
    design = Design(X)
    assert design.copied_bytes == nbytes(design._X) > 0
    check_verbs(design, A)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_index_types_are_made_one_at_the_lesser_cost(kind: str) -> None:
    A = values(*SMALL)
    for indices, starts in ((np.int32, np.int64), (np.int64, np.int32)):
        X = compressed(kind, A, indices, starts)
        design = Design(X)
        mine = design._X
        assert mine.indices.dtype == mine.indptr.dtype == indices
        assert np.shares_memory(mine.indices, X.indices) and np.shares_memory(mine.data, X.data)
        assert design.copied_bytes == mine.indptr.nbytes
        check_verbs(design, A)
    for odd in (np.int16, np.uint16, ">i4"):
        X = compressed(kind, A, odd)
        design = Design(X)
        assert design._X.indices.dtype == design._X.indptr.dtype == np.int32
        assert design.copied_bytes == design._X.indices.nbytes + design._X.indptr.nbytes
        check_verbs(design, A)
    wide = compressed(kind, A, np.uint32)
    assert Design(wide)._X.indices.dtype == np.int64
    check_verbs(Design(wide), A)


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("convert", [lambda x: x.astype(int), unaligned, lambda x: x.astype(">f4"), lambda x: x[::-1]])
def test_sparse_values_are_converted(kind: str, convert: Any) -> None:
    X = compressed(kind, np.rint(4 * values(*SMALL)))
    if convert(X.data).strides[0] < 0:
        X.data = X.data[::-1].copy()
    X.data = convert(X.data)
    design = Design(X)
    assert design.copied_bytes == design._X.data.nbytes and not np.shares_memory(design._X.data, X.data)
    assert np.shares_memory(design._X.indices, X.indices)
    check_verbs(design, compressed(kind, np.rint(4 * values(*SMALL))).toarray())


def shuffled(X: Any, rng: np.random.Generator, twice: bool) -> Any:
    """The entries of each line in random order; ``twice``: each split in two (exactly)."""
    copies = 2 if twice else 1
    data, indices = [], []
    for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = rng.permutation(np.repeat(np.arange(begin, end), copies))
        data.append(X.data[order] / copies)
        indices.append(X.indices[order])
    Y = type(X)(X.shape, dtype=X.dtype)
    Y.data, Y.indices = np.concatenate(data).astype(X.dtype), np.concatenate(indices)
    Y.indptr = (X.indptr * copies).astype(X.indptr.dtype)
    return Y


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("twice", [False, True], ids=["unsorted", "duplicates"])
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_unsorted_and_duplicate_indices(kind: str, twice: bool, dtype: Any, rng: np.random.Generator) -> None:
    A = values(*SMALL, dtype)
    X = shuffled(compressed(kind, A), rng, twice)
    X.has_canonical_format = X.has_sorted_indices = True  # a stale mark must not be believed
    before = [part.copy() for part in parts(X)]
    design = Design(X)
    assert design.copied_bytes == nbytes(design._X)
    assert not any(np.shares_memory(mine, theirs) for mine, theirs in zip(held(design), parts(X), strict=True))
    for part, old in zip(parts(X), before, strict=True):
        np.testing.assert_array_equal(part, old)
    check_verbs(design, A.astype(np.float64))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_csr_is_turned_once_when_columns_are_needed(index: Any) -> None:
    A = values(*SMALL)
    design = Design(compressed("csr", A, index))
    design.scores(np.ones(SMALL[1]))
    design.adjoint(np.ones(SMALL[0]))
    assert design.copied_bytes == 0
    design.block(np.array([3, 1]))
    entries = np.count_nonzero(A)
    once = entries * (8 + np.dtype(index).itemsize) + (SMALL[1] + 1) * np.dtype(index).itemsize
    assert design.copied_bytes == once
    design.gram_rows(np.array([2]), np.ones(SMALL[0]), None)
    design.block(np.array([3, 1]))
    assert design.copied_bytes == once
    check_verbs(design, A)


@pytest.mark.parametrize("layout", [*DENSE, "csr int32", "csr int64", "csc int32", "csc int64"])
def test_rows_side_by_side_for_sweeps(layout: str) -> None:
    A = values(*SMALL)
    X = (DENSE | SPARSE)[layout](A)
    design, w = Design(X), np.ones(SMALL[1])
    rows = design.by_rows
    assert not rows.lines_are_columns
    assert design.by_rows is rows
    expect(rows.product(w[:, None], False)[:, 0], A @ w)
    lies_so = layout.startswith("csr") or (layout in DENSE and X.strides[1] == X.itemsize)
    assert design.copied_bytes == (
        0 if lies_so else sum(part.nbytes for part in parts(sp.csr_array(X) if "cs" in layout else A))
    )


def test_rows_of_a_tall_matrix_are_its_lines() -> None:
    for shape in ((9, 1), (1, 9), (5, 1)):
        A = values(*shape)
        assert not Design(A).by_rows.lines_are_columns
        expect(Design(A).by_rows.product(np.ones((shape[1], 1)), False)[:, 0], A.sum(axis=1))


@pytest.mark.parametrize("layout", ["C", "csr int32", "csc int64", "csr explicit zeros"])
def test_column_counts(layout: str) -> None:
    A = values(*SMALL)
    stored = np.full_like(A, 1.0) if layout in ("C", "csr explicit zeros") else A
    np.testing.assert_array_equal(Design((DENSE | SPARSE)[layout](A)).column_counts(), np.count_nonzero(stored, axis=0))


# -- what cannot be taken is refused by name ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "two dimensions, got 1: reshape"),
        (np.ones((2, 2, 2)), "two dimensions, got 3"),
        (5.0, "two dimensions, got 0"),
        (sp.coo_array(np.ones(3)), "two dimensions, got 1"),
        (np.empty((0, 3)), "0 rows and 3 columns"),
        (np.empty((3, 0)), "3 rows and 0 columns"),
        (sp.csr_array((0, 3)), "0 rows and 3 columns"),
        (sp.csc_array((3, 0)), "3 rows and 0 columns"),
    ],
)
def test_shapes_refused(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Design(X)


@pytest.mark.parametrize(
    ("X", "held"),
    [
        (np.ones((2, 2), complex), "complex128"),
        (np.array([["a", "b"]]), "<U1"),
        (np.array([[b"a", b"b"]]), r"\|S1"),
        (np.array([[1.0, None]], dtype=object), "object"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), r"datetime64\[D\]"),
        (sp.csr_array(np.ones((2, 2), complex)), "complex128"),
        (sp.coo_array(np.ones((2, 2), complex)), "complex128"),
    ],
)
def test_types_refused(X: Any, held: str) -> None:
    with pytest.raises(TypeError, match=f"X holds {held}; real numbers are needed. Encode or drop such columns first"):
        Design(X)


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match=r"masked array: impute it, or take X\.filled"):
        Design(np.ma.masked_invalid([[1.0, np.nan]]))


def broken(kind: str, **change: Any) -> Any:
    X = (sp.csr_array if kind == "csr" else sp.csc_array)(np.arange(1.0, 13.0).reshape(3, 4) * (np.eye(3, 4) > 0))
    for name, part in change.items():
        setattr(X, name, part(getattr(X, name).copy()))
    return X


def at(index: int, value: int) -> Any:
    def change(part: np.ndarray) -> np.ndarray:
        part[index] = value
        return part

    return change


MALFORMED = {
    "index too large": ({"indices": at(1, 99)}, "an index outside the shape"),
    "negative index": ({"indices": at(0, -1)}, "an index outside the shape"),
    "huge index": ({"indices": lambda x: at(0, 2**32 + 1)(x.astype(np.int64))}, "an index outside the shape"),
    "starts fall": ({"indptr": at(1, 3)}, r"\(indptr\)"),
    "starts begin late": ({"indptr": at(0, 1)}, r"\(indptr\)"),
    "starts end beyond": ({"indptr": at(-1, 9)}, r"\(indptr\)"),
    "a negative start": ({"indptr": at(1, -1)}, r"\(indptr\)"),
    "a start that wraps": ({"indptr": lambda x: at(1, 2**32 + 1)(x.astype(np.int64))}, r"\(indptr\)"),
    "starts too short": ({"indptr": lambda x: x[:-1]}, r"\(indptr\)"),
    "starts too long": ({"indptr": lambda x: np.append(x, x[-1:])}, r"\(indptr\)"),
    "no starts": ({"indptr": lambda x: x[:0]}, r"\(indptr\)"),
    "fewer values than indices": ({"data": lambda x: x[:-1]}, r"\(indptr\)"),
    "more values than indices": ({"data": lambda x: np.append(x, 1.0)}, r"\(indptr\)"),
}


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_sparse(name: str, kind: str) -> None:
    change, message = MALFORMED[name]
    with pytest.raises(ValueError, match=rf"X: malformed sparse matrix {message}|X: malformed.*{message}"):
        Design(broken(kind, **change))
    with pytest.raises(TypeError, match=r"malformed sparse matrix \(indices of type float64\)"):
        Design(broken(kind, indices=lambda x: x.astype(float)))


def test_malformed_coordinates_and_blocks() -> None:
    X = sp.coo_array(np.eye(3))
    X.coords[0][1] = 10**6
    with pytest.raises(ValueError, match="an index outside the shape"):
        Design(X)
    B = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    B.indices[0] = 10**6
    with pytest.raises(ValueError, match="malformed sparse matrix"):
        Design(B)


def test_vectors_of_the_wrong_length_are_refused() -> None:
    design = Design(values(*SMALL))
    n, d = SMALL
    for verb, size in ((design.scores, n), (design.adjoint, d)):
        with pytest.raises(ValueError, match="differ in length"):
            verb(np.ones(size))
    with pytest.raises(ValueError, match="differ in length"):
        design.moments(np.ones(n + 1), np.ones(n))
    for j in (-1, d):
        with pytest.raises(ValueError, match="no such column"):
            design.block(np.array([j]))
    with pytest.raises(ValueError, match="one weight a row"):
        design.block(np.array([0]), np.ones(n - 1))


def test_cores() -> None:
    available = cores(None)
    assert available == cores(-1) >= 1 and cores(3) == 3 and cores(-10_000) == 1
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        Design(np.ones((2, 2)), n_jobs=0)


# -- accuracy, bits, counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layout", ["C", "F", "strided C", "strided F", "csr int32", "csc int32"])
def test_float32_is_accumulated_in_float64(layout: str, threads: int) -> None:
    """2^26 + many ones: float32 would lose every one of them; 2^52 and its square test the products too."""
    n, d = 3000, 700
    A = np.ones((n, d), np.float32)
    A[0] = A[:, 0] = 2.0**26
    design = Design((DENSE | SPARSE)[layout](A), n_jobs=threads)
    np.testing.assert_array_equal(design.adjoint(np.ones(n))[1:], 2.0**26 + n - 1)
    np.testing.assert_array_equal(design.scores(np.ones(d))[1:], 2.0**26 + d - 1)
    np.testing.assert_array_equal(design.scores_on(np.arange(5), np.ones(5))[1:], 2.0**26 + 4)
    np.testing.assert_array_equal(design.scores_on(np.arange(d), np.ones(d))[1:], 2.0**26 + d - 1)
    slopes, sums, squares = design.moments(np.ones(n), np.ones(n))
    np.testing.assert_array_equal(slopes[1:], 2.0**26 + n - 1)
    np.testing.assert_array_equal(sums[1:], 2.0**26 + n - 1)
    np.testing.assert_array_equal(squares[1:], 2.0**52 + n - 1)
    np.testing.assert_array_equal(design.gram_rows(np.array([1, 2]), np.ones(n), None)[:, 1:], 2.0**52 + n - 1)
    np.testing.assert_array_equal(design.gram(np.ones(n), None)[1:, 1:], 2.0**52 + n - 1)
    block = design.block(np.array([0, 1]))
    np.testing.assert_array_equal(block.scores(np.ones(2), 0.0)[1:], 2.0**26 + 1)


def same_bits(a: Any, b: Any) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(np.atleast_2d(a), np.atleast_2d(b), strict=True))


@pytest.mark.parametrize("layout", ["C", "F", "strided C", "csr int32", "csc int32"])
def test_a_number_of_threads_fixes_the_bits(layout: str) -> None:
    n, d = BIG
    A, rng = values(n, d, np.float32), np.random.default_rng(3)
    w, r, c = rng.standard_normal(d), rng.standard_normal(n), rng.random(n)
    features = rng.permutation(d)[:7]

    def answers() -> list[Any]:
        design = Design((DENSE | SPARSE)[layout](A), n_jobs=2)
        first = [design.scores(w), design.adjoint(r), *design.moments(r, c), design.scores_on(features, w[:7])]
        block = design.block(features)
        grams = [design.gram_rows(features, c, None), design.gram(c, c @ A / c.sum())]
        return [*first, *grams, block.scores(w[:7], 0.1, 2), block.cross(block, c, 2)]

    first = answers()
    for _ in range(3):
        assert all(same_bits(a, b) for a, b in zip(first, answers(), strict=True))


@pytest.mark.parametrize("layout", ["C", "csr int32"])
def test_passes_are_counted(layout: str) -> None:
    n, d = SMALL
    design = Design((DENSE | SPARSE)[layout](values(n, d)))
    steps = [
        (lambda: design.scores(np.ones(d)), 0),
        (lambda: design.scores_on(np.arange(3), np.ones(3)), 0),
        (lambda: design.block(np.arange(3)), 0),
        (lambda: design.columns(np.arange(3)), 0),
        (lambda: design.adjoint(np.ones(n)), 1),
        (lambda: design.adjoint(np.ones((n, 4))), 1),
        (lambda: design.moments(np.ones(n), np.ones(n)), 1),
        (lambda: design.gram_rows(np.arange(3), np.ones(n), None), 1),
    ]
    for step, cost in steps:
        before = design.passes
        step()
        assert design.passes - before == cost


def test_weights_of_zero_leave_no_nan() -> None:
    for X in (values(*SMALL), sp.csr_array(values(*SMALL))):
        design, zero = Design(X), np.zeros(SMALL[0])
        for means in (None, np.zeros(SMALL[1])):
            np.testing.assert_array_equal(design.gram_rows(np.arange(2), zero, means), 0)
        for sums in design.moments(zero, zero):
            np.testing.assert_array_equal(sums, 0)


@pytest.mark.parametrize("layout", ["C", "F", "strided C", "csr int32", "csc int32"])
def test_a_stop_is_heeded_by_every_pass(layout: str) -> None:
    n, d = SMALL
    design = Design((DENSE | SPARSE)[layout](values(n, d)))
    design.stop = _core.Stop()
    design.stop.request()
    for verb in (
        lambda: design.scores(np.ones(d)),
        lambda: design.adjoint(np.ones(n)),
        lambda: design.moments(np.ones(n), np.ones(n)),
        lambda: design.gram_rows(np.arange(3), np.ones(n), None),
        *([lambda: design.block(np.arange(3))] if design.is_dense else []),
    ):
        with pytest.raises(_core.Stopped):
            verb()
    design.stop = _core.Stop()
    design.scores(np.ones(d))
