"""The compiled sweeps of the stochastic solvers against their twins in ``tests/reference``, step by step."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem, _core
from paring.constraints import TopK
from tests.reference.asbcdht import asbcdht
from tests.reference.rows import Rows
from tests.reference.saga_ht import saga_ht
from tests.reference.sbcd_htp import sbcd_htp
from tests.reference.sg_ht import sg_ht
from tests.reference.svrg_ht import svrg_ht, svrg_ht_by_rows
from tests.solvers.sweeps import BLOCKS, LAYOUTS, Case, case

STEPS = 40
CHOSEN = np.random.default_rng(8).integers(BLOCKS, size=STEPS).astype(np.int32)


def sg(at: Case, batches, lengths):
    return _core.sweep_frozen(**at.given(batches, lengths))


def svrg(at: Case, batches, lengths):
    return _core.sweep_frozen(**at.given(batches, lengths), **at.at_anchor())


def by_rows(at: Case, batches, lengths):
    return _core.sweep_by_rows(**at.given(batches, lengths), **at.at_anchor(), often=at.often)


def asbcd(at: Case, batches, lengths):
    chosen = CHOSEN[: len(lengths)]
    return _core.sweep_frozen(
        **at.given(batches, lengths), **at.at_anchor(), block_of=at.block_of, blocks=BLOCKS, chosen=chosen
    )


def sbcd(at: Case, batches, lengths):
    return _core.sweep_blocks(
        **at.given(batches, lengths),
        **at.at_anchor(),
        group_of=at.groups(),
        groups=BLOCKS + 1,
        chosen=CHOSEN[: len(lengths)] + np.int32(1),
    )


def saga(at: Case, batches, lengths):
    known = at.at_anchor()
    return _core.sweep_moving(
        **at.given(batches, lengths), table=known["slopes"], mean=known["nu"], mean_b=known["nu_b"]
    )


def saga_twin(at: Case, *given):
    return saga_ht(at.F, *given, at.w, at.b, at.F.slopes(np.arange(at.F.n), *at.anchor), *at.F.gradient(*at.anchor))


PAIRS = {
    "sg-ht": (sg, lambda at, *given: sg_ht(at.F, *given, at.w, at.b)),
    "svrg-ht": (svrg, lambda at, *given: svrg_ht(at.F, *given, at.w, at.b, at.anchor)),
    "svrg-ht by rows": (by_rows, lambda at, *given: svrg_ht_by_rows(at.F, *given, at.w, at.b, at.anchor, at.stored)),
    "saga-ht": (saga, saga_twin),
    "asbcdht": (asbcd, lambda at, *given: asbcdht(at.F, *given, CHOSEN, at.block_of, at.w, at.b, at.anchor)),
    "sbcd-htp": (sbcd, lambda at, *given: sbcd_htp(at.F, *given, CHOSEN + 1, at.groups(), at.w, at.b, at.anchor)),
}
EVERY = pytest.mark.parametrize("name", PAIRS)


def drawn(at: Case, sizes) -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    return [rng.integers(at.F.n, size=size) for size in sizes]


def assert_same(at: Case, name: str, batches, lengths, accuracy: float = 1e-10) -> None:
    """After 1, 2, 5 and all steps."""
    ours, twin = PAIRS[name]
    iterates = list(twin(at, batches, lengths))
    for count in (1, 2, 5, len(batches)):
        got, want = ours(at, batches[:count], lengths[:count]), iterates[count - 1]
        for mine, theirs in zip(got, want, strict=True):
            np.testing.assert_allclose(np.reshape(mine, theirs.shape), theirs, rtol=accuracy, atol=accuracy)


@EVERY
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "multinomial"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_single_rows(name: str, loss: str, layout: str) -> None:
    at = case(loss, layout)
    assert_same(at, name, drawn(at, [1] * STEPS), np.full(STEPS, 0.02))


@EVERY
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "all"])
def test_batches(name: str, loss: str, layout: str, dtype, plain: bool) -> None:
    at = case(loss, layout, dtype=dtype, plain=plain)
    assert_same(at, name, drawn(at, [4] * STEPS), np.full(STEPS, 0.05))


@EVERY
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("k", [1, 39, 40])
def test_any_k(name: str, layout: str, k: int) -> None:
    at = case("squared", layout, k=k, plain=True, ridge=0.0)
    assert_same(at, name, drawn(at, [2] * STEPS), np.full(STEPS, 0.02))


@EVERY
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_more_columns_than_a_look_takes(name: str, layout: str) -> None:
    at = case("squared", layout, n=30, d=5000, k=120, plain=True)
    assert_same(at, name, drawn(at, [1] * STEPS), np.full(STEPS, 1e-3))


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "sbcd-htp"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_ball(name: str, layout: str) -> None:
    at = case("squared", layout, radius=0.4)
    assert_same(at, name, drawn(at, [1] * STEPS), np.full(STEPS, 0.02))


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_steps_that_fall_and_batches_that_grow(layout: str) -> None:
    at = case("logistic", layout)
    assert_same(at, "sg-ht", drawn(at, range(1, STEPS + 1)), 0.3 / np.arange(1, STEPS + 1))


# -- ties, to the bit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "svrg-ht by rows"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_ties_go_to_the_lowest_index(name: str, layout, batch: int, seed: int) -> None:
    # Small whole numbers, steps that are powers of 2, columns that repeat: no rounding, and ties in every step.
    rng = np.random.default_rng(seed)
    X = np.tile(rng.integers(-1, 2, (16, 12)), 6).astype(float)[:, rng.permutation(72)]
    y = rng.integers(-4, 5, 16).astype(float)
    problem = Problem(layout(X), y, constraint=TopK(5))
    F = Rows(X, y, problem.loss.core, 5)
    w = np.zeros((72, 1))
    at = Case(problem, F, w, np.zeros(1), (w, np.zeros(1)), X != 0, rng.integers(3, size=72).astype(np.int32), None)
    batches, lengths = [rng.integers(16, size=batch) for _ in range(6)], np.full(6, 2.0**-4)
    ours, twin = PAIRS[name]
    for count, want in enumerate(islice(twin(at, batches, lengths), 6), 1):
        np.testing.assert_array_equal(at.as_twin(ours(at, batches[:count], lengths[:count])[0]), want[0])


# -- refused at the door -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": np.array([0, 60])}, "no such row"),
        ({"order": np.array([0, -1])}, "no such row"),
        ({"starts": np.array([0, 1, 1, 2])}, "starts must rise"),
        ({"starts": np.array([0, 1, 3])}, "starts must rise"),
        ({"starts": np.empty(0, np.int64)}, "starts must rise"),
        ({"lengths": np.ones(3)}, "one length a step"),
        ({"w": np.ones(40)}, "more than k features"),
        ({"w": np.zeros(39)}, "one weight"),
        ({"b": np.zeros(2)}, "one weight"),
        ({"importance": np.ones(59)}, "one importance a row"),
        ({"nu": np.zeros(39)}, "one nu a weight"),
        ({"slopes": np.zeros(59)}, "one slope a row"),
        ({"block_of": np.full(40, 3, np.int32)}, "blocks: which"),
        ({"block_of": np.full(40, 3, np.int32), "chosen": np.zeros(2, np.int32), "blocks": 3}, "no such block"),
        ({"block_of": np.zeros(40, np.int32), "chosen": np.full(2, 3, np.int32), "blocks": 3}, "no such block"),
        ({"block_of": np.zeros(39, np.int32), "chosen": np.zeros(2, np.int32), "blocks": 3}, "one block a feature"),
    ],
)
def test_arguments_are_checked_before_they_are_followed(change, message: str) -> None:
    at = case(plain=True)
    given = {**at.given([np.array([0]), np.array([1])], np.ones(2)), **at.at_anchor(), **change}
    with pytest.raises(ValueError, match=message):
        _core.sweep_frozen(**given)


def test_limits_are_checked() -> None:
    flags = np.zeros(4, np.uint8)
    with pytest.raises(ValueError, match="k must be between"):
        _core.Limits(4, 5, flags, flags)
    with pytest.raises(ValueError, match="more features are always kept"):
        _core.Limits(4, 3, flags + np.uint8(1), flags)
    with pytest.raises(ValueError, match="one flag"):
        _core.Limits(5, 3, flags, flags)


def test_a_sweep_without_steps_stays_where_it_is() -> None:
    at = case(plain=True)
    w, b = svrg(at, [], [])
    np.testing.assert_array_equal(at.as_twin(w), at.w)
    np.testing.assert_array_equal(b, at.b)
