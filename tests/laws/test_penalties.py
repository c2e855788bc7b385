"""Penalties against the laws they obey: the prox by its inequality, the dual norm and the conjugate by Fenchel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paring.penalties import L1, L1L2, Group, MultiTask, Penalty, SparseGroup
from paring.separable import Separable, soft

D = 6
LABELS = ("b", "a", "b", "c", "a", "b")
POSITIVE = (0, np.inf)
BOX = ([-1, 0, -np.inf, -0.3, -2, 0], [0.5, 1, 0.2, np.inf, 0, 0.4])

PENALTIES: dict[str, Callable[[float], Penalty]] = {
    "l1": lambda lam: L1(lam),
    "l1 weighted": lambda lam: L1(lam, factors=[1, 0.5, 2, 0, np.inf, 1]),
    "l1 positive": lambda lam: L1(lam, bounds=POSITIVE),
    "l1 box": lambda lam: L1(lam, bounds=BOX),
    "elastic net": lambda lam: L1L2(lam, 0.4),
    "elastic net weighted box": lambda lam: L1L2(lam, 0.7, factors=[1, 3, 0.1, 1, 1, 2], bounds=BOX),
    "group": lambda lam: Group(lam, LABELS),
    "group factors": lambda lam: Group(lam, LABELS, factors=[2.0, 0.5, 1.0]),
    "group positive": lambda lam: Group(lam, LABELS, bounds=POSITIVE),
    "sparse group": lambda lam: SparseGroup(lam, LABELS, 0.3),
    "sparse group positive": lambda lam: SparseGroup(lam, LABELS, 0.5, bounds=POSITIVE),
    "rows": lambda lam: MultiTask(lam),
}
EACH = pytest.mark.parametrize("name", PENALTIES)
OUTPUTS = pytest.mark.parametrize("outputs", [1, 3])


def bound(name: str, lam: float = 0.7, outputs: int = 1, ridge: float = 0.0) -> Separable:
    return PENALTIES[name](lam).bind(D, outputs).with_ridge(ridge)


def points(rng: np.random.Generator, outputs: int, count: int = 30) -> list[np.ndarray]:
    shape = (D,) if outputs == 1 else (D, outputs)
    return [rng.standard_normal(shape) * rng.choice([0.3, 1, 4]) * (rng.random(shape) < 0.8) for _ in range(count)]


def written_out(penalty: Separable, w: np.ndarray) -> float:
    """The value, feature by feature and unit by unit."""
    rows = w.reshape(D, -1)
    total = sum(penalty.tau[j] * abs(x) + penalty.ridge[j] / 2 * x * x for j in range(D) for x in rows[j])
    labels = range(D) if penalty.unit_of is None else penalty.unit_of
    for unit in range(penalty.units):
        members = [x for j, label in enumerate(labels) if label == unit for x in rows[j]]
        total += penalty.omega[unit] * float(np.linalg.norm(members))
    return float(total)


@EACH
@OUTPUTS
def test_value(name: str, outputs: int, rng: np.random.Generator) -> None:
    penalty = bound(name, outputs=outputs, ridge=0.2)
    for w in points(rng, outputs):
        assert penalty.value(w) == pytest.approx(written_out(penalty, w), rel=1e-13)


def test_values_in_the_words_of_the_docstring() -> None:
    w, lam = np.array([1.0, -2.0, 0.5, 3.0, 0.0, -1.0]), 0.7
    norms = np.sqrt([1 + 0.25 + 1, 4, 9])  # b, a, c
    assert L1(lam).bind(D).value(w) == pytest.approx(lam * 7.5)
    assert L1L2(lam, 0.4).bind(D).value(w) == pytest.approx(lam * (0.4 * 7.5 + 0.3 * (w @ w)))
    assert Group(lam, LABELS).bind(D).value(w) == pytest.approx(lam * norms @ np.sqrt([3, 2, 1]))
    assert Group(lam, LABELS, factors=[2, 3, 4]).bind(D).value(w) == pytest.approx(lam * norms @ [3, 2, 4])
    mixed = SparseGroup(lam, LABELS, 0.3).bind(D).value(w)
    assert mixed == pytest.approx(lam * (0.3 * 7.5 + 0.7 * norms @ np.sqrt([3, 2, 1])))
    W = np.stack([w, 2 * w], axis=1)
    assert MultiTask(lam).bind(D, 2).value(W) == pytest.approx(lam * 7.5 * np.sqrt(5))


@EACH
@OUTPUTS
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_prox_is_the_minimiser(name: str, outputs: int, ridge: float, rng: np.random.Generator) -> None:
    """(u - p)/step is a subgradient at p: Omega(w) >= Omega(p) + <u - p, w - p>/step for every feasible w."""
    penalty = bound(name, outputs=outputs, ridge=ridge)
    for u in points(rng, outputs):
        step = float(rng.choice([0.1, 1.0, 3.0]))
        p = penalty.prox(u, step)
        np.testing.assert_array_equal(penalty.clip(p), p)
        for w in points(rng, outputs, 20):
            w = penalty.clip(w)
            assert penalty.value(w) >= penalty.value(p) + np.vdot(u - p, w - p) / step - 1e-12


@EACH
@OUTPUTS
def test_dual_norm_is_where_the_prox_ceases_to_be_zero(name: str, outputs: int, rng: np.random.Generator) -> None:
    """prox(c, 1) = 0 exactly where c lies in the dual set; features nothing penalises left out."""
    penalty = bound(name, outputs=outputs)
    free = Separable(
        outputs, penalty.tau, penalty.omega, 0 * penalty.tau, penalty.lower, penalty.upper, penalty.unit_of
    )
    for c in points(rng, outputs):
        c[free.unpenalised] = 0.0
        norm = free.dual_norm(c)
        if norm == 0:
            np.testing.assert_array_equal(free.prox(100 * c), 0 * c)
            continue
        np.testing.assert_array_equal(free.prox(c * (1 - 1e-9) / norm), 0 * c)
        assert np.any(free.prox(c * (1 + 1e-6) / norm))


@EACH
@OUTPUTS
@pytest.mark.parametrize("ridge", [0.3, 2.0])
def test_conjugate_with_a_ridge(name: str, outputs: int, ridge: float, rng: np.random.Generator) -> None:
    """c.w - Omega(w) <= Omega*(c), equal at w = prox(c/ridge, 1/ridge) of the penalty without the ridge."""
    penalty = bound(name, outputs=outputs, ridge=ridge)
    assert not penalty.hard.any()
    for c in points(rng, outputs):
        conjugate = penalty.conjugate(c)
        strength = penalty.ridge if outputs == 1 else penalty.ridge[:, None]
        bare = Separable(
            outputs, penalty.tau, penalty.omega, 0 * penalty.tau, penalty.lower, penalty.upper, penalty.unit_of
        )
        best = bare.prox(c / strength, 1 / float(penalty.ridge[0])) if np.ptp(penalty.ridge) == 0 else None
        if best is not None:
            assert np.vdot(c, best) - penalty.value(best) == pytest.approx(conjugate, rel=1e-10, abs=1e-12)
        for w in points(rng, outputs, 20):
            w = penalty.clip(w)
            assert np.vdot(c, w) - penalty.value(w) <= conjugate + 1e-10


def test_conjugate_within_finite_bounds(rng: np.random.Generator) -> None:
    """No ridge, bounds on both sides: the maximum is at an end or at 0."""
    penalty = L1(0.7, bounds=(-0.5, 2.0)).bind(D)
    assert not penalty.hard.any()
    for c in points(rng, 1):
        ends = sum(max(0.0, 2.0 * x - 1.4, -0.5 * x - 0.35) for x in c)
        assert penalty.conjugate(c) == pytest.approx(ends)


def test_hard_features_are_those_nothing_but_a_norm_bounds() -> None:
    assert bound("l1").hard.all() and bound("group").hard.all()
    assert not bound("elastic net").hard.any()
    np.testing.assert_array_equal(bound("l1 box").hard, [False, False, True, True, False, False])
    np.testing.assert_array_equal(bound("l1 weighted").unpenalised, np.arange(D) == 3)
    np.testing.assert_array_equal(bound("l1 weighted").excluded, np.arange(D) == 4)


@EACH
@OUTPUTS
def test_slack_is_the_distance_to_the_end_of_the_dual_set(name: str, outputs: int, rng: np.random.Generator) -> None:
    """Inside, c_g may move by less than its slack in any direction and the prox stays zero; negative outside."""
    penalty = bound(name, outputs=outputs)
    for c in points(rng, outputs):
        slack = penalty.slack(c)
        for _ in range(20):
            direction = rng.standard_normal(c.shape)
            norms = penalty.unit_norms(direction)
            per_feature = 0.999 * np.maximum(slack, 0) / norms
            spread = per_feature if penalty.unit_of is None else per_feature[penalty.unit_of]
            moved = c + direction * (spread if outputs == 1 else spread[:, None])
            zero = penalty.unit_norms(penalty.prox(moved)) == 0
            assert zero[(slack > 0)].all()
        assert np.all(penalty.unit_norms(penalty.prox(c))[slack < -1e-12] > 0)


@EACH
@OUTPUTS
def test_discarded_features_stay_zero_within_reach(name: str, outputs: int, rng: np.random.Generator) -> None:
    penalty = bound(name, outputs=outputs)
    for c in points(rng, outputs):
        reach = rng.random(D)
        gone = penalty.discarded(0.3 * c, reach)
        for _ in range(20):
            direction = rng.standard_normal(c.shape)
            spread = reach / (np.abs(direction) if outputs == 1 else np.linalg.norm(direction, axis=1))
            moved = 0.3 * c + rng.random() * direction * (spread if outputs == 1 else spread[:, None])
            w = penalty.prox(moved)
            assert not np.any(w[gone])


@EACH
def test_part_of_a_penalty_is_the_penalty_of_the_part(name: str, rng: np.random.Generator) -> None:
    penalty = bound(name, ridge=0.1)
    features = np.array([0, 1, 4, 5])
    for w in points(rng, 1):
        whole = np.zeros(D)
        whole[features] = w[features]
        assert penalty.on(features).value(w[features]) == pytest.approx(penalty.value(whole), rel=1e-13)
        np.testing.assert_allclose(
            penalty.on(features).prox(w[features]), penalty.prox(whole)[features], rtol=1e-12, atol=1e-14
        )


def test_soft_thresholding() -> None:
    np.testing.assert_array_equal(soft(np.array([3.0, -2.0, 0.5, 0.0]), 1.0), [2.0, -1.0, 0.0, 0.0])


def test_another_weight() -> None:
    assert L1(0.5).at(2.0).lam == 2.0
    mixed = SparseGroup(0.5, LABELS, 0.3).at(2.0)
    assert (mixed.lam, mixed.groups, mixed.l1_ratio) == (2.0, LABELS, 0.3)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: L1(0.0), "L1: lam must be a positive number, got 0.0"),
    (lambda: L1(np.inf), "lam must be a positive number"),
    (lambda: Group("much", LABELS), "Group: lam must be a positive number"),  # type: ignore[arg-type]
    (
        lambda: L1(1, factors=[1, 2]).bind(D),
        r"factors must hold 6 numbers, one for each of the features, got shape \(2,",
    ),
    (lambda: L1(1, factors=[-1] * D).bind(D), "factors must be at least 0"),
    (lambda: L1(1, factors=[np.nan] * D).bind(D), "factors must be at least 0"),
    (lambda: L1L2(1, 1.5).bind(D), "L1L2: l1_ratio must be a number from 0 to 1, got 1.5"),
    (lambda: SparseGroup(1, LABELS, -0.1).bind(D), "SparseGroup: l1_ratio must be a number from 0 to 1"),
    (lambda: Group(1, LABELS[:4]).bind(D), "groups must hold one label for each of the 6 features"),
    (lambda: Group(1, None).bind(D), "Group: groups must hold one label for each feature"),  # type: ignore[arg-type]
    (lambda: Group(1, LABELS, factors=[1, 2]).bind(D), "factors must hold 3 numbers, one for each of the groups"),
    (lambda: Group(1, LABELS, bounds=(-1, 1)).bind(D), "bounds of groups must be 0 or infinite"),
    (lambda: L1(1, bounds=(0.1, 1)).bind(D), "bounds must allow 0"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_refusals(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
