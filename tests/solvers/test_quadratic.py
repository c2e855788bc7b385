"""The quadratic model of a pursuit: its moves against the model written out with dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paring import Problem
from paring.constraints import TopK, largest
from paring.solvers.quadratic import Quadratic
from paring.solvers.support import Support
from tests.solvers.problems import data

FORMS = {"dense": np.asarray, "F": np.asfortranarray, "csc": sp.csc_array, "csr": sp.csr_array}


class Written:
    """F's second-order model in (w, b) at a point, over every column, minimised by lstsq on any support."""

    def __init__(self, posed: Problem, X: np.ndarray, w: np.ndarray, b: float):
        A = np.column_stack([X, np.ones(len(X))])
        z, core = X @ w + b, posed.loss.core
        self.point, self.F = np.append(w, b), posed.value_at(z, w)
        self.g = A.T @ posed.residuals(z) + posed.ridge * np.append(w, 0.0)
        curvature = core.model_curvature(z, posed.y, posed.v)
        self.H = A.T @ (A * (curvature * posed.v / posed.n)[:, None])
        self.H[np.arange(len(w)), np.arange(len(w))] += posed.ridge
        self.intercept = posed.fit_intercept

    def least(self, features: np.ndarray) -> tuple[float, np.ndarray]:
        """(value, point) of the model's minimum with those weights free, the others 0."""
        free = np.append(features, len(self.point) - 1) if self.intercept else features
        out = np.setdiff1d(np.arange(len(self.point)), free)
        step = np.zeros_like(self.point)
        step[out] = -self.point[out]
        rest = self.g + self.H @ step
        step[free] = np.linalg.lstsq(self.H[np.ix_(free, free)], -rest[free], rcond=None)[0]
        return self.F + self.g @ step + 0.5 * step @ self.H @ step, self.point + step


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("always", [(), (0, 9)], ids=["", "always"])
@pytest.mark.parametrize("loss", ["logistic", "poisson", "squared_hinge"])
def test_the_model_goes_where_none_of_its_exchanges_is_left(
    loss: str, always: tuple[int, ...], intercept: bool, form: str
) -> None:
    X, y = data(loss, n=150, d=20, seed=2)
    X = np.where(np.abs(X) < 0.4, 0, X)
    v = np.random.default_rng(3).integers(1, 4, len(y)).astype(float)
    constraint = TopK(8, always=always)
    posed = Problem(
        FORMS[form](X), y, loss, constraint=constraint, ridge=0.02, sample_weight=v, fit_intercept=intercept
    )
    engine = Support(posed, 1e-9)
    engine.enter(np.array([0, 2, 3, 9, 12]))
    for tolerance in (1e-13, 1.0):  # the last has nothing left to do but to invert the Hessian at the minimiser
        engine._accept(engine.units, engine._minimised(engine.units, engine.dense, engine.at.b, tolerance))
    gains = engine._gains()
    outsiders = largest(gains, int((gains >= 0).sum()))
    here = engine.g, engine.h, engine.curvature
    model = Quadratic.build(posed, engine.at, outsiders, here, engine.objective - engine.tolerance)
    written = Written(posed, X, engine.dense, float(engine.at.b))
    for size in (5, 7):
        moved = model.moved(size)
        assert len(set(moved.features)) == size and set(always) <= set(moved.features)
        value, point = written.least(moved.features)
        assert moved.objective == pytest.approx(value, rel=1e-6)
        np.testing.assert_allclose(moved.w, point[moved.features], rtol=1e-4, atol=1e-5)
        if intercept:
            assert moved.b == pytest.approx(point[-1], abs=1e-4)
        inside = [j for j in moved.features if j not in always]
        entering = [i for i in outsiders if i not in moved.features]
        for j in inside:
            for i in entering:
                other = np.append(np.setdiff1d(moved.features, [j]), i)
                assert written.least(other)[0] >= value - 1e-6
