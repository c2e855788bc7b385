"""What the directions of the stochastic solvers average to, summed over every choice of rows and blocks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from paring import _core
from paring.solvers.rules import ByNorm, Shuffled, Uniform
from paring.solvers.smoothness import row_curvatures, row_squares
from paring.solvers.steps import metric_of
from tests.solvers.sweeps import BLOCKS, Case, case

C = 2.0**-6
LOSSES = pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
LAYOUT = pytest.mark.parametrize("layout", ["dense", "csr"])
ROWS, COLUMNS = 12, 12


def setting(loss: str, layout: str, ridge: float = 0.3) -> Case:
    """Nothing is thresholded (k = d), and the point is not the anchor. Weights, ridge and intercept; no metric."""
    at = case(loss, layout, n=ROWS, d=COLUMNS, k=COLUMNS, ridge=ridge)
    at.F.never, at.F.always, at.F.h, at.F.h_b, at.h = [], [], np.ones(COLUMNS), 1.0, None
    at.F.importance = np.ones(ROWS)
    return at


def given(at: Case, B) -> dict:
    flags = np.zeros(at.F.d, np.uint8)
    return {**at.given([np.array(B)], [C]), "limits": _core.Limits(at.F.d, at.F.d, flags, flags)}


def gradient(at: Case) -> tuple[np.ndarray, np.ndarray]:
    g, g_b = at.F.gradient(at.w, at.b)
    return g + at.F.ridge * at.w, g_b


def direction(at: Case, step, B, *choice) -> tuple[np.ndarray, np.ndarray]:
    w, b = step(at, B, *choice)[:2]
    return (at.w - at.as_twin(w)) / C, (at.b - b) / C


def mean_of(at: Case, step, choices, chances=None) -> tuple[np.ndarray, np.ndarray]:
    chances = np.full(len(choices), 1 / len(choices)) if chances is None else chances
    parts = [direction(at, step, *choice) for choice in choices]
    return tuple(sum(p * part[which] for p, part in zip(chances, parts, strict=True)) for which in (0, 1))


def assert_equal(got, want) -> None:
    for mine, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def sg(at: Case, B):
    return _core.sweep_frozen(**given(at, B))


def svrg(at: Case, B):
    return _core.sweep_frozen(**given(at, B), **at.at_anchor())


def asbcd(at: Case, B, block: int):
    chosen = np.array([block], np.int32)
    return _core.sweep_frozen(**given(at, B), **at.at_anchor(), block_of=at.block_of, blocks=BLOCKS, chosen=chosen)


def sbcd(at: Case, B, block: int):
    chosen = np.array([block + 1], np.int32)
    groups = at.groups()
    return _core.sweep_blocks(**given(at, B), **at.at_anchor(), group_of=groups, groups=BLOCKS + 1, chosen=chosen)


def saga(at: Case, B):
    """From a table in which rows have slopes of different points."""
    old = at.at_anchor()
    batches = [np.arange(0, ROWS, 2), np.arange(1, 5)]
    moved = _core.sweep_moving(
        **{**at.given(batches, [0.3, 0.2]), "limits": given(at, B)["limits"]},
        table=old["slopes"],
        mean=old["nu"],
        mean_b=old["nu_b"],
    )
    return _core.sweep_moving(**given(at, B), table=moved[2], mean=moved[3], mean_b=moved[4])


def by_rows(at: Case, B):
    return _core.sweep_by_rows(**given(at, B), **at.at_anchor(), often=at.often)


BATCHES = {
    "rows": [([i],) for i in range(ROWS)],
    "pairs": [(list(B),) for B in product(range(ROWS), repeat=2)],
}


@LOSSES
@LAYOUT
@pytest.mark.parametrize("batches", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("step", [sg, svrg, saga], ids=["sg-ht", "svrg-ht", "saga-ht"])
def test_every_choice_together_makes_the_gradient(step, loss: str, layout: str, batches) -> None:
    at = setting(loss, layout)
    assert_equal(mean_of(at, step, batches), gradient(at))


@LOSSES
@LAYOUT
def test_asbcdht_makes_the_gradient_once_in_blocks(loss: str, layout: str) -> None:
    at = setting(loss, layout)
    choices = [([i], block) for i, block in product(range(ROWS), range(BLOCKS))]
    g, g_b = gradient(at)
    assert_equal(mean_of(at, asbcd, choices), (g / BLOCKS, g_b))  # the intercept moves in every step


@LOSSES
@LAYOUT
def test_sbcd_htp_makes_the_gradient_on_the_support_and_a_part_of_it_elsewhere(loss: str, layout: str) -> None:
    at = setting(loss, layout)
    choices = [([i], block) for i, block in product(range(ROWS), range(BLOCKS))]
    g, g_b = gradient(at)
    q = np.where(np.any(at.anchor[0] != 0, axis=1), 1, 1 / BLOCKS)[:, None]
    assert 0 < np.sum(q == 1) < len(q)
    assert_equal(mean_of(at, sbcd, choices), (q * g, g_b))


@LOSSES
@LAYOUT
@pytest.mark.parametrize("batches", BATCHES.values(), ids=BATCHES)
def test_by_rows_makes_the_gradient(loss: str, layout: str, batches) -> None:
    at = setting(loss, layout, ridge=0.0)
    assert_equal(mean_of(at, by_rows, batches), gradient(at))


@LOSSES
@LAYOUT
def test_by_rows_takes_the_ridge_implicitly(loss: str, layout: str) -> None:
    # w' = (w - c u) / (1 + c ridge D) where a row stores column j: then (w - w') (1 + c ridge D) / c = u + ridge D w.
    at = setting(loss, layout)
    stretch = 1 + C * at.F.ridge * at.often[:, None]
    parts = []
    for i in range(ROWS):
        g, _ = direction(at, by_rows, [i])
        parts.append(np.where(at.stored[i][:, None], g * stretch, g))
        assert np.all(g[~at.stored[i]] == 0)
    np.testing.assert_allclose(np.mean(parts, axis=0), gradient(at)[0], rtol=1e-9, atol=1e-12)


@LOSSES
@LAYOUT
@pytest.mark.parametrize("step", [sg, svrg, saga, by_rows], ids=["sg-ht", "svrg-ht", "saga-ht", "by rows"])
def test_rows_drawn_by_their_norm_are_weighed_so_that_the_mean_stays(step, loss: str, layout: str) -> None:
    at = setting(loss, layout, ridge=0.0 if step is by_rows else 0.3)
    metric = metric_of(at.problem, "none")
    curvatures = row_curvatures(at.problem, row_squares(at.problem, metric), np.zeros(ROWS), metric)
    at.F.importance = ByNorm().importance(curvatures)
    assert np.ptp(at.F.importance) > 0.1
    chances = curvatures / curvatures.sum()
    assert_equal(mean_of(at, step, BATCHES["rows"], chances), gradient(at))
    pairs = np.outer(chances, chances).ravel()
    assert_equal(mean_of(at, step, BATCHES["pairs"], pairs), gradient(at))


def test_samplings_draw_with_the_chances_that_they_say() -> None:
    curvatures = np.array([1.0, 0.0, 3.0, 4.0])
    rng = np.random.default_rng(0)
    shares = np.bincount(ByNorm().order(curvatures, 80000, rng), minlength=4) / 80000
    np.testing.assert_allclose(shares, curvatures / 8, atol=0.01)
    np.testing.assert_allclose(ByNorm().importance(curvatures)[[0, 2, 3]] * curvatures[[0, 2, 3]] / 8, 1 / 4)
    shares = np.bincount(Uniform().order(curvatures, 80000, rng), minlength=4) / 80000
    np.testing.assert_allclose(shares, 1 / 4, atol=0.01)
    order = Shuffled().order(curvatures, 10, rng)
    assert sorted(order[:4]) == sorted(order[4:8]) == [0, 1, 2, 3]
    assert Uniform().importance(curvatures) is Shuffled().importance(curvatures) is None
    assert (Uniform().largest(curvatures), ByNorm().largest(curvatures)) == (4.0, 2.0)
