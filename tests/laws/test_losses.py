"""Losses against high-precision arithmetic, and the laws that tie value, slope, curvature and conjugate."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from paring import losses
from tests.reference import exact_losses as exact

SCALAR = [loss for loss in losses.ALL if loss.name != "multinomial"]
BOUNDED = [loss for loss in SCALAR if np.isfinite(loss.curvature_bound)]
SIZES = (0, 1e-300, 1e-16, 1e-8, 0.3, 0.9, 1, 1.2, 1.35, 3, 36, 37.5, 100, 700, 745, 750, 1e8, 1e16, 1e154, 1e308)
SCORES = np.array(sorted({sign * size for size in SIZES for sign in (-1.0, 1.0)}))
LARGEST = mpf(float(np.finfo(float).max))

by_name = pytest.mark.parametrize("loss", SCALAR, ids=lambda loss: loss.name)
bounded = pytest.mark.parametrize("loss", BOUNDED, ids=lambda loss: loss.name)
scores = st.floats(-1e4, 1e4)


def targets_of(loss: losses.Loss) -> tuple[float, ...]:
    return {"real": (0.0, -2.5, 1e6), "sign": (1.0, -1.0), "count": (0.0, 3.0, 1e5)}[loss.targets]


def rounded(x: mpf) -> float:
    return float(x) if abs(x) <= LARGEST else float(np.inf * mp.sign(x))


def check(got: np.ndarray, formula: object, y: float, tolerance: float = 4e-15) -> None:
    """Within a few roundings of what is added up: the result itself, and y z or z - y where they cancel."""
    for z, value in zip(SCORES, got, strict=True):
        wanted = rounded(formula(mpf(float(z)), mpf(y)))
        terms = max(abs(wanted), min(abs(float(y)), 1e300) * min(abs(float(z)), 1.0), 1e-300)
        assert value == wanted or abs(value - wanted) <= tolerance * terms, (z, y, value, wanted)


@by_name
def test_value_slope_and_curvature_at_extreme_scores(loss: losses.Loss) -> None:
    for y in targets_of(loss):
        ys = np.full(len(SCORES), y)
        check(loss.value(SCORES, ys), exact.VALUE[loss.name], y, 1e-14)
        check(loss.slope(SCORES, ys), exact.SLOPE[loss.name], y)
        check(loss.curvature(SCORES, ys), exact.CURVATURE[loss.name], y)


@by_name
def test_the_slope_is_the_derivative_of_the_value(loss: losses.Loss) -> None:
    """The formulae above against mpmath's own derivative, away from corners."""
    for y in targets_of(loss):
        for z in (-5.3, -0.7, 0.1, 0.93, 4.2):
            slope = mp.diff(lambda x, y=y: exact.VALUE[loss.name](x, mpf(y)), mpf(z))
            curvature = mp.diff(lambda x, y=y: exact.SLOPE[loss.name](x, mpf(y)), mpf(z))
            assert float(slope) == pytest.approx(loss.slope([z], [y])[0], rel=1e-12, abs=1e-12)
            assert float(curvature) == pytest.approx(loss.curvature([z], [y])[0], rel=1e-12, abs=1e-12)


@by_name
@given(z=scores, x=scores)
def test_fenchel_young(loss: losses.Loss, z: float, x: float) -> None:
    """loss(z) + loss*(a) >= a z for every slope a, with equality at the slope of z."""
    if loss.name == "poisson":
        z, x = z / 20, x / 20
    for y in targets_of(loss):
        value = loss.value([z], [y])[0]
        for at in (z, x):
            a = loss.slope([at], [y])[0]
            conjugate = loss.conjugate([a], [y])[0]
            square = a * a if loss.targets == "real" else 0
            size = abs(value) + abs(conjugate) + abs(a * z) + abs(y * z) + y * y + square + 1
            assert value + conjugate >= a * z - 1e-13 * size
            if at == z:
                assert value + conjugate == pytest.approx(a * z, abs=1e-13 * size)


@by_name
def test_conjugate_against_its_formula(loss: losses.Loss) -> None:
    for y in targets_of(loss):
        low, high = (end[0] for end in loss.domain([y]))
        ends = [end for end in (low, high) if np.isfinite(end)]
        inside = [a for a in (-7.0, -1.0, -0.5, -1e-9, 0.0, 1e-300, 0.3, 1.0, 2.5, 1e3, *ends) if low <= a <= high]
        for a in inside:
            wanted = exact.CONJUGATE[loss.name](mpf(a), mpf(y))
            size = abs(a * y) + a * a * (loss.name != "poisson") + abs(float(wanted)) + (loss.name == "logistic")
            assert abs(loss.conjugate([a], [y])[0] - float(wanted)) <= 1e-15 * size


@pytest.mark.parametrize("loss", [loss for loss in SCALAR if loss.name != "poisson"], ids=lambda loss: loss.name)
@given(u=scores, exponent=st.floats(-6, 12))
def test_prox_of_the_conjugate(loss: losses.Loss, u: float, exponent: float) -> None:
    """a = prox_{s loss*}(u): (u - a)/s is a subgradient of loss* at a, and Fenchel and Young equal there (Moreau)."""
    step = 10.0**exponent
    for y in targets_of(loss):
        at = u * (1 + step) if loss.targets == "real" else u
        a = loss.core.prox_conjugate(np.array([at]), np.array([y]), step)[0]
        z = (at - a) / step
        value, conjugate = loss.value([z], [y])[0], loss.conjugate([a], [y])[0]
        size = abs(value) + abs(conjugate) + abs(a * z) + y * y + abs(at / step) * (1 + abs(a)) + 1
        assert abs(value + conjugate - a * z) <= 1e-12 * size


def test_losses_without_a_prox_say_so() -> None:
    for loss in (losses.poisson, losses.multinomial(3)):
        with pytest.raises(ValueError, match="prox"):
            loss.core.prox_conjugate(np.zeros(1), np.zeros(1), 1.0)


@by_name
def test_the_conjugate_is_finite_on_its_domain_alone(loss: losses.Loss) -> None:
    for y in targets_of(loss):
        low, high = (end[0] for end in loss.domain([y]))
        for end, out in ((low, -np.inf), (high, np.inf)):
            if np.isfinite(end):
                assert np.isfinite(loss.conjugate([end], [y])[0])
                assert loss.conjugate([np.nextafter(end, out)], [y])[0] == np.inf
            else:
                assert np.isfinite(loss.conjugate([np.copysign(1e6, out)], [y])[0])
        assert low <= 0 <= high
    widths = {"hinge": 1, "logistic": 1, "smoothed_hinge": 1, "huber": 2 * losses.DEFAULT_DELTA}
    low, high = loss.domain([1.0])
    assert high[0] - low[0] == widths.get(loss.name, np.inf)


@by_name
def test_slopes_lie_in_the_domain_at_every_score(loss: losses.Loss) -> None:
    for y in targets_of(loss):
        ys = np.full(len(SCORES), y)
        slopes = loss.slope(SCORES, ys)
        low, high = loss.domain(ys)
        assert np.all((low <= slopes) & (slopes <= high))
        assert np.all(slopes[1:] >= slopes[:-1])  # convex
        usable = np.abs(slopes) < 1e150
        assert np.isfinite(loss.conjugate(slopes[usable], ys[usable])).all()


@by_name
def test_nothing_is_nan_and_nothing_negative_but_poisson(loss: losses.Loss) -> None:
    for y in targets_of(loss):
        ys = np.full(len(SCORES), y)
        for what in (loss.value, loss.slope, loss.curvature):
            assert not np.isnan(what(SCORES, ys)).any()
        assert np.all(loss.curvature(SCORES, ys) >= 0)
        if loss.name != "poisson":
            assert np.all(loss.value(SCORES, ys) >= 0)


@bounded
@given(z=scores, x=scores)
def test_curvature_bound(loss: losses.Loss, z: float, x: float) -> None:
    for y in targets_of(loss):
        a, b = loss.slope([z, x], [y, y])
        assert abs(a - b) <= loss.curvature_bound * abs(z - x) * (1 + 1e-12) + 1e-15 * (abs(a) + abs(b))


@bounded
def test_curvature_bound_is_reached(loss: losses.Loss) -> None:
    for y in targets_of(loss):
        near = np.array([y, 0.0, y * 0.9])
        assert loss.curvature(near, np.full(3, y)).max() == pytest.approx(loss.curvature_bound)


def test_curvature_bounds_of_the_page() -> None:
    wanted = {"squared": 1, "logistic": 0.25, "squared_hinge": 1, "smoothed_hinge": 4, "huber": 1}
    assert {loss.name: loss.curvature_bound for loss in BOUNDED} == wanted
    assert losses.smoothed_hinge(0.1).curvature_bound == pytest.approx(10)
    assert losses.multinomial(3).curvature_bound == 0.5


@by_name
def test_total_is_the_weighted_sum(loss: losses.Loss) -> None:
    rng = np.random.default_rng(0)
    z, v = rng.standard_normal(37), rng.random(37)
    y = np.resize(targets_of(loss)[:2], 37)
    total = loss.core.total(z, np.ascontiguousarray(y), v)
    assert total == pytest.approx(v @ loss.value(z, y), rel=1e-13)


# -- multinomial ------------------------------------------------------------------------------------------------------


def simplex_points(rng: np.random.Generator, count: int, classes: int) -> np.ndarray:
    return rng.dirichlet(np.full(classes, 0.5), count)


def test_multinomial_against_mpmath() -> None:
    loss = losses.multinomial(3)
    rows = np.array([[0, 0, 0], [1, -2, 0.5], [750, 0, -750], [1e308, -1e308, 0], [-1e308, -1e308, 0], [40, 39, 0]])
    for label in range(3):
        y = np.full(len(rows), float(label))
        value, slope, curvature = loss.value(rows, y), loss.slope(rows, y), loss.curvature(rows, y)
        for i, row in enumerate(rows):
            z = [mpf(float(x)) for x in row]
            top = max(z)
            shares = [mp.exp(x - top) for x in z]
            p = [share / mp.fsum(shares) for share in shares]
            assert value[i] == pytest.approx(rounded(top + mp.log(mp.fsum(shares)) - z[label]), rel=1e-14)
            for c in range(3):
                assert slope[i, c] == pytest.approx(float(p[c] - (c == label)), rel=1e-13, abs=1e-15)
                assert curvature[i, c] == pytest.approx(float(p[c] * (1 - p[c])), rel=1e-13, abs=1e-15)
        np.testing.assert_allclose(slope.sum(axis=1), 0, atol=1e-15)


def test_multinomial_fenchel_young_on_the_simplex() -> None:
    rng = np.random.default_rng(1)
    loss = losses.multinomial(4)
    z, y = 5 * rng.standard_normal((300, 4)), rng.integers(0, 4, 300).astype(float)
    onto = np.eye(4)[y.astype(int)]
    value = loss.value(z, y)
    a = simplex_points(rng, 300, 4) - onto
    assert np.all(value + loss.conjugate(a, y) >= (a * z).sum(axis=1) - 1e-12)
    a = loss.slope(z, y)
    np.testing.assert_allclose(value + loss.conjugate(a, y), (a * z).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(value, loss.value(z + 3.0, y), atol=1e-12)
    assert np.all(loss.conjugate(np.zeros((300, 4)), y) == 0)


@pytest.mark.parametrize("q", [[0.5, 0.6, 0.0], [1.1, -0.1, 0.0], [0.2, 0.2, 0.2], [1.0, 1e-6, -1e-6]])
def test_multinomial_conjugate_outside_the_simplex(q: list[float]) -> None:
    for label in range(3):
        assert losses.multinomial(3).conjugate([np.array(q) - np.eye(3)[label]], [label])[0] == np.inf


def test_multinomial_curvature_bound() -> None:
    """The largest eigenvalue of diag(p) - pp' is at most 1/2, and 1/2 at (1/2, 1/2)."""
    rng = np.random.default_rng(2)
    for p in (*simplex_points(rng, 500, 3), np.array([0.5, 0.5, 0.0])):
        top = np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]
        assert top <= 0.5 + 1e-15
    assert top == pytest.approx(0.5)


def test_two_classes_are_logistic() -> None:
    z = np.linspace(-30, 30, 61)
    both = np.column_stack([np.zeros_like(z), z])
    for label, sign in ((0.0, -1.0), (1.0, 1.0)):
        two, one = losses.multinomial(2), losses.logistic
        y, s = np.full(61, label), np.full(61, sign)
        np.testing.assert_allclose(two.value(both, y), one.value(z, s), rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(two.slope(both, y)[:, 1], one.slope(z, s), rtol=1e-12, atol=1e-15)


@bounded
@given(z=st.floats(-30, 30), u=st.floats(-1e3, 1e3))
def test_the_majorant_is_a_parabola_above(loss: losses.Loss, z: float, u: float) -> None:
    for y in targets_of(loss):
        at, to = np.array([y + z]), np.array([y + u])
        value, slope, c = loss.value(at, [y])[0], loss.slope(at, [y])[0], loss.core.majorant(at, np.array([y]))[0]
        move = to[0] - at[0]
        above = value + slope * move + 0.5 * c * move**2
        rounding = 1e-9 * (1 + abs(value) + abs(slope * move) + c * move**2)
        assert loss.value(to, [y])[0] <= above + rounding


def test_the_majorant_is_the_least_where_the_loss_is_straight() -> None:
    """Far out it falls as one over the distance: there the parabola touches the other side."""
    far = np.array([10.0, 1e3, 1e6])
    np.testing.assert_allclose(losses.huber(2.0).core.majorant(far, np.zeros(3)), 2.0 / far)
    gamma = 0.5  # the hinge's corner is at u = 1 - y z = gamma / 2
    for y in (1.0, -1.0):
        c = losses.smoothed_hinge(gamma).core.majorant(y * (1 - gamma / 2 - far), np.full(3, y))
        np.testing.assert_allclose(c, 1 / (2 * far))
    for loss in (losses.huber(2.0), losses.smoothed_hinge(gamma)):
        for z in (5.0, -7.0, 40.0):
            at, y = np.array([z]), np.array([1.0])
            value, slope, c = loss.value(at, y), loss.slope(at, y), loss.core.majorant(at, y)
            to = np.linspace(-100, 100, 200_001)
            below = value + slope * (to - z) + 0.499 * c * (to - z) ** 2
            assert np.any(loss.value(to, np.ones(len(to))) > below)


# -- by name, with parameters, and errors -----------------------------------------------------------------------------


def test_limits_of_the_families() -> None:
    z, y = np.linspace(-4, 4, 41), np.ones(41)
    np.testing.assert_allclose(losses.huber(1e6).value(z, y), losses.squared.value(z, y))
    np.testing.assert_allclose(losses.smoothed_hinge(1e-9).value(z, y), losses.hinge.value(z, y), atol=1e-9)


def test_known_by_name() -> None:
    for loss in losses.ALL:
        assert losses.get(loss.name) is loss
        assert losses.get(loss) is loss
    with pytest.raises(ValueError, match=r"unknown loss 'absolute'; known: squared, logistic, multinomial, hinge"):
        losses.get("absolute")


def test_parameters() -> None:
    assert repr(losses.huber(2.0)) == "huber(2)"
    assert repr(losses.squared) == "squared"
    assert losses.huber(2.0) == losses.huber(2.0) != losses.huber
    for bad in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="huber: delta must be positive"):
            losses.huber(bad)
    with pytest.raises(TypeError, match="squared takes no parameter"):
        losses.squared(2.0)
    with pytest.raises(ValueError, match="the number of classes is not known yet"):
        losses.multinomial.value([[0.0, 1.0]], [0])


def test_targets_are_checked_by_name() -> None:
    for loss, bad, message in (
        (losses.logistic, 0.0, "logistic: targets must be -1 or"),
        (losses.poisson, -1.0, "poisson: targets must be at least 0"),
        (losses.multinomial(3), 3.0, "multinomial: targets must be class numbers 0, 1"),
        (losses.multinomial(3), 0.5, "multinomial: targets must be class numbers 0, 1"),
        (losses.multinomial(3), -1.0, "multinomial: targets must be class numbers 0, 1"),
    ):
        z = np.zeros((1, 3) if loss.outputs > 1 else 1)
        for what in (loss.value, loss.slope, loss.curvature, loss.conjugate):
            with pytest.raises(ValueError, match=message):
                what(z, [bad])


def test_scores_and_targets_of_different_length() -> None:
    with pytest.raises(ValueError, match="scores and targets differ in length"):
        losses.squared.value([0.0, 1.0], [0.0])
    with pytest.raises(ValueError, match="scores and targets differ in length"):
        losses.multinomial(3).value([[0.0, 1.0]], [0.0])
    with pytest.raises(ValueError, match="simplex, not an interval"):
        losses.multinomial(3).domain([0.0])


def test_copies_and_pickles_work_after_use() -> None:
    for loss in (losses.squared, losses.huber(2.0), losses.multinomial(3)):
        z = np.zeros((2, 3) if loss.outputs > 1 else 2)
        wanted = loss.value(z, [0.0, 1.0])
        for twin in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
            assert twin == loss
            np.testing.assert_array_equal(twin.value(z, [0.0, 1.0]), wanted)
