"""Projections against enumeration, ties, units, and what bind refuses."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paring.constraints import Feasible, L2Ball, TopK, TopKGroups, largest
from tests.reference.projections import distance, project

NUMBERS = st.sampled_from([-3.0, -2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 2.5]) | st.floats(-10, 10)


@st.composite
def feasible_and_point(draw: st.DrawFn) -> tuple[Feasible, np.ndarray]:
    """Every combination of k, groups in any label order, always, never, bounds, for d up to 7 and 1 or 2 outputs."""
    d, outputs = draw(st.integers(1, 7)), draw(st.sampled_from([1, 1, 2]))
    groups = draw(st.none() | st.lists(st.sampled_from([5, -2, 9, 0]), min_size=d, max_size=d))
    unit_of = np.arange(d) if groups is None else np.unique(groups, return_inverse=True)[1]
    units = int(unit_of.max()) + 1
    k = draw(st.integers(1, units))
    roles = [draw(st.sampled_from("....an")) for _ in range(units)]
    always = [j for j in range(d) if roles[unit_of[j]] == "a"]
    if len({unit_of[j] for j in always}) > k:
        always = []
    never = [j for j in range(d) if roles[unit_of[j]] == "n"]
    bounds = None
    if draw(st.booleans()):
        ends = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, np.inf])
        bounds = (
            [-draw(ends) for _ in range(d)],
            [draw(ends) for _ in range(d)],
        )
    values = draw(st.lists(NUMBERS, min_size=d * outputs, max_size=d * outputs))
    u = np.array(values).reshape((d,) if outputs == 1 else (d, outputs))
    return TopK(k, always=always, never=never, groups=groups, bounds=bounds).bind(d, outputs), u


@given(feasible_and_point())
def test_projection_is_the_nearest_feasible_point(drawn: tuple[Feasible, np.ndarray]) -> None:
    feasible, u = drawn
    w = feasible.project(u)
    assert feasible.contains(w)
    assert distance(u, w, None) <= project(feasible, u)[0] * (1 + 1e-12) + 1e-12


@given(feasible_and_point(), st.data())
def test_projection_in_a_metric(drawn: tuple[Feasible, np.ndarray], data: st.DataObject) -> None:
    feasible, u = drawn
    h = np.array([data.draw(st.sampled_from([0.01, 0.5, 1.0, 4.0, 100.0])) for _ in range(feasible.d)])
    w = feasible.project(u, h)
    assert feasible.contains(w)
    assert distance(u, w, h) <= project(feasible, u, h)[0] * (1 + 1e-12) + 1e-12


@given(feasible_and_point())
def test_projecting_twice_changes_nothing(drawn: tuple[Feasible, np.ndarray]) -> None:
    feasible, u = drawn
    w = feasible.project(u)
    np.testing.assert_array_equal(feasible.project(w), w)


@given(feasible_and_point(), st.floats(0.1, 5))
def test_projection_with_a_ball(drawn: tuple[Feasible, np.ndarray], tau: float) -> None:
    """H_k, then scaled to the ball: the nearest point of both."""
    feasible, u = drawn
    if feasible.lower is not None:
        return
    ball = Feasible(
        feasible.d, feasible.outputs, feasible.k, feasible.unit_of, feasible.always, feasible.never, radius=tau
    )
    w = ball.project(u)
    assert ball.contains(w)
    assert np.linalg.norm(w) <= tau * (1 + 1e-12)
    assert distance(u, w, None) <= project(ball, u)[0] * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize(
    ("constraint", "u", "wanted"),
    [
        (TopK(2), [1.0, -1.0, 1.0, 1.0], [1, -1, 0, 0]),
        (TopK(2), [0.5, 1.0, -1.0, 1.0], [0, 1, -1, 0]),
        (TopK(1), [0.0, 0.0, 0.0, 0.0], [0, 0, 0, 0]),
        (TopK(2, always=[3]), [1.0, 2.0, 2.0, 0.1], [0, 2, 0, 0.1]),
        (TopK(2, never=[0]), [9.0, 2.0, 2.0, 2.0], [0, 2, 2, 0]),
        (TopK(2, bounds=(-1, 1)), [5.0, 1.0, -5.0, 5.0], [1, 0, -1, 0]),
        (TopK(1, groups=["b", "a", "b", "a"]), [1.0, 1.0, 1.0, 1.0], [0, 1, 0, 1]),
    ],
)
def test_ties_go_to_the_lowest_index(constraint: TopK, u: list[float], wanted: list[float]) -> None:
    """Of groups: to the label that sorts first, 'a'."""
    np.testing.assert_array_equal(constraint.bind(4).project(np.array(u)), wanted)


def test_a_bound_can_make_a_smaller_weight_worth_more() -> None:
    """8 clipped to 0.5 saves 64 - 56.25 = 7.75; 3, free, saves 9."""
    feasible = TopK(1, bounds=([-1, -9], [0.5, 9])).bind(2)
    np.testing.assert_array_equal(feasible.project(np.array([8.0, 3.0])), [0, 3])


def test_nonnegative_weights() -> None:
    feasible = TopK(2, bounds=(0, np.inf)).bind(4)
    np.testing.assert_array_equal(feasible.project(np.array([-9.0, 1.0, 2.0, 3.0])), [0, 0, 2, 3])


def test_unselected_and_unused_units_keep_their_bounds_apart() -> None:
    u = np.array([[3.0, -3.0], [0.1, 0.1], [2.0, 2.0]])
    feasible = TopK(1, bounds=(-1, [2, 2, 1])).bind(3, 2)
    np.testing.assert_array_equal(feasible.project(u), [[2, -1], [0, 0], [0, 0]])


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1, max_size=9), st.integers(-1, 11))
def test_largest_is_a_stable_sort(values: list[float], k: int) -> None:
    wanted = np.sort(np.argsort(-np.array(values), kind="stable")[: max(k, 0)])
    np.testing.assert_array_equal(largest(np.array(values), k), wanted)


def test_units() -> None:
    feasible = TopK(2, groups=["b", "c", "a", "b", "a"], always=[0], never=[1]).bind(5)
    assert feasible.units == 3
    assert [m.tolist() for m in feasible.members] == [[2, 4], [0, 3], [1]]
    assert feasible.features(np.array([0, 1])).tolist() == [0, 2, 3, 4]
    assert feasible.features(np.array([], dtype=np.int64)).tolist() == []
    assert feasible.units_of(np.array([4, 3, 0])).tolist() == [0, 1]
    assert feasible.unit_sums(np.arange(5.0)).tolist() == [6, 3, 1]
    assert feasible.best_units(np.array([1.0, 0.0, 9.0])).tolist() == [0, 1]
    plain = TopK(2).bind(5)
    assert [m.tolist() for m in plain.members] == [[0], [1], [2], [3], [4]]
    assert plain.features(np.array([3, 1])).tolist() == [1, 3]
    assert plain.unit_sums(np.arange(5.0)).tolist() == [0, 1, 2, 3, 4]


def test_fewer_units_are_kept_where_never_leaves_fewer() -> None:
    feasible = TopK(3, never=[0, 1]).bind(4)
    np.testing.assert_array_equal(feasible.project(np.ones(4)), [0, 0, 1, 1])
    np.testing.assert_array_equal(TopK(1, never=range(4)).bind(4).project(np.ones(4)), np.zeros(4))


def test_contains() -> None:
    feasible = TopK(2, always=[3], never=[0], bounds=(-1, 1)).bind(4)
    assert feasible.contains(np.zeros(4))
    assert feasible.contains(np.array([0, 1.0, 0, 0]))
    assert not feasible.contains(np.array([0, 1.0, 1.0, 0]))  # the always-feature counts
    assert not feasible.contains(np.array([1.0, 0, 0, 0]))
    assert not feasible.contains(np.array([0, 0, 0, 1.1]))
    assert not (TopK(2) & L2Ball(1)).bind(2).contains(np.array([1.0, 1.0]))
    assert (TopK(2) & L2Ball(2)).bind(2).contains(np.array([1.0, 1.0]))


def test_balls_combine_either_way_and_the_smaller_counts() -> None:
    assert (TopK(2) & L2Ball(3)).radius == 3
    assert (L2Ball(3) & TopK(2)).radius == 3
    assert (TopK(2) & L2Ball(3) & L2Ball(2) & L2Ball(5)).radius == 2
    assert TopK(2).radius == np.inf


def test_groups_have_a_name_of_their_own() -> None:
    feasible = TopKGroups(1, [1, 0, 1], never=[1]).bind(3)
    assert (feasible.k, feasible.units, feasible.never.tolist()) == (1, 2, [True, False])
    assert (TopKGroups(1, [1, 0, 1]) & L2Ball(2)).bind(3).radius == 2


def test_whole_numbers_of_any_kind() -> None:
    for k in (2, np.int64(2), 2.0):
        assert TopK(k).bind(3).k == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (TopK(0), "k must be a whole number of at least 1, got 0"),
        (TopK(-3), "k must be a whole number of at least 1, got -3"),
        (TopK(1.5), "k must be a whole number of at least 1, got 1.5"),
        (TopK(np.True_), "k must be a whole number of at least 1, got"),
        (TopK(True), "k must be a whole number of at least 1, got True"),
        (TopK(np.nan), "k must be a whole number of at least 1, got nan"),
        (TopK(np.inf), "k must be a whole number of at least 1, got inf"),
        (TopK("3"), "k must be a whole number of at least 1, got '3'"),
        (TopK(None), "k must be a whole number of at least 1, got None"),
        (TopK(5), "k=5 is more than the 4 features there are: choose k <= 4"),
        (TopK(3, groups=[0, 0, 1, 1]), "k=3 is more than the 2 groups there are: choose k <= 2"),
        (TopK(1, groups=[0, 1]), r"groups must hold one label for each of the 4 features, got shape \(2,\)"),
        (TopK(1, groups=[[0, 1, 2, 3]]), r"groups must hold one label .* got shape \(1, 4\)"),
        (TopK(1, always=[0, 2]), "2 are always kept, but k=1: raise k or shorten always"),
        (TopK(2, always=[1], never=[1]), "unit 1 is in both always and never"),
        (TopK(1, groups=[0, 0, 1, 1], always=[0], never=[1]), "unit 0 is in both always and never"),
        (TopK(1, always=[4]), r"always must be feature indices from 0 to 3, got \[4\]"),
        (TopK(1, never=[-1]), r"never must be feature indices from 0 to 3, got \[-1\]"),
        (TopK(1, never=[0.5]), "never must be feature indices from 0 to 3"),
        (TopK(1, never=["age"]), "never must be feature indices from 0 to 3"),
        (TopK(1, bounds=(0.1, 1)), "bounds must allow 0 for every feature"),
        (TopK(1, bounds=(-1, [1, 1, -1, 1])), "bounds must allow 0 for every feature"),
        (TopK(1, bounds=(np.nan, 1)), "lower bounds hold NaN"),
        (TopK(1, bounds=(-1, [1, 2])), r"upper bounds must be one number or 4 of them, got shape \(2,\)"),
        (TopK(1, bounds=(-1, 1, 2)), r"bounds must be a pair \(lower, upper\)"),
        (TopK(1, bounds=3), r"bounds must be a pair \(lower, upper\)"),
        (TopK(1, bounds=(-1, 1)) & L2Ball(1), "bounds and L2Ball cannot be combined"),
    ],
)
def test_what_bind_refuses(constraint: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        constraint.bind(4)


@pytest.mark.parametrize("tau", [0, -1, np.nan])
def test_a_ball_has_a_positive_radius(tau: float) -> None:
    with pytest.raises(ValueError, match="L2Ball: tau must be positive"):
        L2Ball(tau)


def test_only_balls_combine() -> None:
    with pytest.raises(TypeError, match="TopK combines with L2Ball, not with TopK"):
        TopK(1) & TopK(2)  # type: ignore[operator]
