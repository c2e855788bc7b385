"""``minimize``: any smooth function of a vector with at most k nonzeros, in the manner of scipy.optimize.

The function poses as a problem whose design is the identity: its scores z are the point itself, so that the
full-gradient solvers (iht, htp, grasp, omp) run on it unchanged. On a support it is minimised by SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paring import _core
from paring._differentiated import Both, value_and_gradient
from paring.constraints import Feasible, TopK, bounds_of
from paring.limits import LARGEST, SMALLEST
from paring.result import Model, Result
from paring.solvers import registry, solve
from paring.solvers._loop import Progress
from paring.solvers.restricted import Restricted

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
UNBOUNDED = "fun is not bounded below on a support of k: add a term that grows, or bounds"

SOLVERS = ("iht", "htp", "grasp", "omp")
ROUNDING = {8: 1e-12, 4: 1e-5, 2: 1e-2}  # of a function's values, relative, by the bytes of its results
STATIONARY = 1e-9  # the gradient on a support, relative to that at the start, where SciPy may stop
MISMATCH = 0.1  # between jac and differences, relative, that no rounding explains
MOST_HALVINGS = 60
FAR = 20  # binary orders of magnitude from 1 within which solvers find the length of steps by themselves
FALLEN, STEEP = 1e10, 1e-3  # falls by so many times the scale, where so much of the gradient is left, have no end
ENDLESS = 1e30  # the same, whatever the gradient


def minimize(
    fun: Callable[..., Any],
    k: int,
    x0: ArrayLike,
    *,
    jac: Any,
    hessp: Callable[[Array, Array], ArrayLike] | None = None,
    solver: Any = "grahtp",
    groups: ArrayLike | None = None,
    bounds: Any = None,
    always: Sequence[int] = (),
    never: Sequence[int] = (),
    tol: float = 1e-6,
    max_iter: int = 1000,
    time_limit: float | None = None,
    callbacks: Sequence[Callable[[Progress], Any]] | Callable[[Progress], Any] = (),
    verbose: bool = False,
) -> Result:
    """Minimise a smooth fun(x) over the x with at most k nonzeros (or k nonzero groups).

    fun : callable of a float64 vector. jac : its gradient, a callable; True if fun returns (value, gradient); "jax" if
        fun is written in JAX, "torch" if it takes and returns PyTorch tensors: it is then differentiated.
    hessp : callable (x, p) -> Hessian times p, for the minimisation on a support (without bounds).
    x0 : where to begin; its k best coordinates are kept. For nonconvex functions the answer depends on it.
    solver : "grahtp" (= "htp"), "iht", "grasp", "omp", or one of their objects with settings.
    groups, always, never : as in ``TopK``. bounds : (lower, upper), numbers or vectors; or as SciPy takes them, a
        ``scipy.optimize.Bounds`` or a pair (low, high) for each x_j, None for no limit (so are two pairs read for d=2).
    tol : bounds what the next thresholded step would gain, relative to what the first from 0 gains.
    Returns a Result: ``coef`` is x; ``n_passes`` counts gradients. Raises ValueError if jac is not fun's gradient.
    """
    start = np.array(x0, dtype=np.float64)
    if start.ndim != 1:
        raise ValueError(f"x0 must be a vector, got shape {start.shape}")
    constraint = TopK(k, always, never, groups, bounds_of(bounds, len(start))).bind(len(start))
    problem = FunctionProblem(
        value_and_gradient(fun, jac), constraint, None if jac is True or isinstance(jac, str) else fun, hessp
    )
    problem.begin(start)
    full = False

    def limit(progress: Progress) -> bool:
        nonlocal full
        full = progress.rounds >= max_iter
        return full

    watchers = (callbacks, limit) if callable(callbacks) else (*callbacks, limit)
    result = solve(
        cast(Any, problem),
        _chosen(solver),
        start=problem.start,
        tol=tol,
        max_passes=np.inf,
        time_limit=time_limit,
        callbacks=watchers,
        verbose=verbose,
    )
    return replace(result, stop_reason="max_iter") if full and result.stop_reason == "callback" else result


def _chosen(solver: Any) -> Any:
    entry = registry.entry(solver) if isinstance(solver, str) else None
    name = entry.name if entry else getattr(solver, "name", None)
    if name not in SOLVERS:
        raise ValueError(f"minimize: solver must be one of {', '.join(SOLVERS)}, got {solver!r}")
    return entry.name if entry else solver


@dataclass(frozen=True)
class _Unknown:
    """What a solver may ask of the loss of a function: that it is smooth, and nothing more."""

    name: str = "function"
    smooth: bool = True
    curvature_bound: float = np.inf


class _Identity:
    """The design of a function: scores are the point. ``passes`` counts its gradients."""

    def __init__(self) -> None:
        self.passes, self.copied_bytes, self.threads, self.stop = 0, 0, 1, _core.Stop()
        self.root = self

    def adjoint(self, r: Array) -> Array:
        return r


class FunctionProblem:
    """min fun(x) over feasible x: the verbs of ``Problem`` that full-gradient solvers use, without data.

    ``value``: the function alone, where it costs less than with its gradient.
    """

    ridge = 0.0
    fit_intercept = False
    outputs = 1
    loss = _Unknown()

    def __init__(self, both: Both, constraint: Feasible, value: Any = None, hessp: Any = None) -> None:
        self.both, self.value, self.hessp = both, value, hessp
        self.constraint, self.d, self.n = constraint, constraint.d, constraint.d
        self.design = _Identity()
        self.start = self.zeros()
        self.rounding = ROUNDING[8]
        self.first, self.unit = 1.0, 1.0  # the length of a first step, and of x, where they are far from 1
        self._last: tuple[Array, float, Array] | None = None

    def begin(self, x0: Array) -> None:
        """Start at x0 made feasible; look whether value and gradient are there, and belong together."""
        if not np.isfinite(x0).all():
            raise ValueError("x0 holds NaN or infinity")
        self.start = x0 if self.constraint.contains(x0) else self.constraint.project(x0)
        parts = [np.asarray(part) for part in self.both(self.start.copy())]
        shapes = [part.shape for part in parts]
        if parts[0].size != 1 or shapes[1] != (self.d,):
            raise ValueError(f"fun must give a number and jac a vector of {self.d}, got shapes {shapes}")
        sizes = [part.dtype.itemsize for part in parts if part.dtype.kind == "f"]
        self.rounding = max((ROUNDING.get(size, ROUNDING[8]) for size in sizes), default=ROUNDING[8])
        value, gradient = self.evaluated(self.start)
        self.begun = value
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise ValueError("fun or jac is not finite at x0 (its k best coordinates): begin elsewhere")
        size = float(np.abs(gradient).max())
        if size and not SMALLEST <= size <= LARGEST:
            raise ValueError(f"the gradient at x0 is of size {size:.2g}: rescale fun ({SMALLEST:g} to {LARGEST:g})")
        self.first = 2.0 ** self._first_step(value, gradient) if size else 1.0
        self.unit = self.first * size if self.first != 1 else 1.0
        self._check_gradient(gradient)

    def _first_step(self, value: float, gradient: Array) -> int:
        """log2 of the longest step that the diagonal model bounds, where that is far from 1; else 0, and where none is.

        Cost: two values of fun, or some ten.
        """
        slack, moved = 10 * self.rounding * abs(value), 0.0

        def held(power: int) -> bool:
            nonlocal moved
            move = self.constraint.project(self.start - 2.0**power * gradient) - self.start
            moved = float(np.abs(move).max())
            with np.errstate(all="ignore"):
                ahead = self.at(self.start + move)
            return bool(ahead <= value + gradient @ move + 2.0 ** -(power + 1) * float(move @ move) + slack)

        up = 1 if held(0) else -1
        low, high, last = 0, up * FAR, moved
        while held(high) == (up > 0):
            if up > 0 and moved == last:  # the bounds end it
                return 0
            if up > 0 and moved > LARGEST:
                raise ValueError(f"{UNBOUNDED} (or rescale x: from x0 it falls beyond {LARGEST:g})")
            if abs(high) > 500:  # no step is bounded: the gradient is looked at next
                return 0
            low, high, last = high, 2 * high, moved
        if low == 0:
            return 0
        while abs(high - low) > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if held(middle) == (up > 0) else (low, middle)
        return low if up > 0 else high

    def _check_gradient(self, gradient: Array) -> None:
        """Refuse a gradient that two values of fun, about x0, belie by more than rounding and curvature explain.

        About x0 where bounds leave it in the middle, else about a point nearby: third derivatives alone are then left
        of the difference. Near a stationary point there may be nothing but these; the second ones are larger.
        """
        rng, length = np.random.default_rng(0), float(np.linalg.norm(gradient))
        along = (gradient / length if length else 0.0) + rng.standard_normal(self.d) / np.sqrt(self.d)
        width = np.cbrt(self.rounding) * max(self.unit, float(np.abs(self.start).max()))
        ahead, behind = (self.constraint.clip(self.start + side * width * along) for side in (1, -1))
        with np.errstate(all="ignore"):
            middle, value = 0.5 * (ahead + behind), self.begun
            if self.constraint.lower is not None and not np.allclose(middle, self.start, rtol=0, atol=0.1 * width):
                value, gradient = self.evaluated(middle)
            values = self.at(ahead), self.at(behind), value
            seen, told = values[0] - values[1], float(gradient @ (ahead - behind))
        bent = abs(values[0] - value + (values[1] - value))
        noise = 10 * self.rounding * max(map(abs, values))
        # where nothing is seen, the unit is that of a step too short to fail
        nothing_seen = self.unit != 1 and not max(abs(told), bent) > noise
        if nothing_seen or abs(seen - told) > MISMATCH * max(abs(seen), abs(told), bent) + noise:
            raise ValueError(
                f"jac is not the gradient of fun: from x0 it foretells {told:.3g}, fun changes by {seen:.3g}"
            )

    # -- evaluation ---------------------------------------------------------------------------------------------

    def evaluated(self, x: Array) -> tuple[float, Array]:
        """(value, gradient) at x; the last point's are kept."""
        if self._last is not None and np.array_equal(x, self._last[0]):
            return self._last[1:]
        self.design.stop.check()
        self.design.passes += 1
        value, gradient = self.both(x.copy())
        self._last = x.copy(), self._bounded(_number(value)), np.array(gradient, dtype=np.float64)
        return self._last[1:]

    def _bounded(self, value: float) -> float:
        """The value, unless it has fallen beyond all measure."""
        if value == -np.inf or ("scale" in vars(self) and self._fallen(value) > ENDLESS):
            raise ValueError(UNBOUNDED)
        return value

    def _fallen(self, value: float) -> float:
        highest = max(each for each in (self.begun, self.null[1]) if np.isfinite(each))
        return (highest - value) / self.scale

    def at(self, x: Array) -> float:
        if self.value is None or (self._last is not None and np.array_equal(x, self._last[0])):
            return self.evaluated(x)[0]
        self.design.stop.check()
        return self._bounded(_number(self.value(x.copy())))

    # -- the verbs of a problem ---------------------------------------------------------------------------------

    def zeros(self) -> Array:
        return np.zeros(self.d)

    def scores(self, model: Model) -> Array:
        return model.dense(self.d)

    def value_at(self, z: Array, w: Array) -> float:
        return self.at(z)

    def objective(self, model: Model) -> float:
        return self.at(self.scores(model))

    def residuals(self, z: Array) -> Array:
        return self.evaluated(z)[1]

    @cached_property
    def null(self) -> tuple[float, float]:
        return 0.0, self.at(self.zeros())

    @cached_property
    def scale(self) -> float:
        """What the first thresholded step from 0 gains (from x0 where fun is not finite at 0)."""
        base = self.zeros() if np.isfinite(self.null[1]) else self.start
        value, gradient = self.evaluated(base)
        step, gain = self.first, 0.0
        for _ in range(MOST_HALVINGS):
            move = self.constraint.project(base - step * gradient)
            gain = value - self.at(move)
            if gain >= float((move - base) @ (move - base)) / (2 * step):
                break
            step /= 2
        begun = abs(self.at(self.start) - value)
        return max(gain, begun, self.rounding * abs(value), np.finfo(float).tiny * 1e50)

    @property
    def lipschitz(self) -> float:
        raise ValueError("minimize: the curvature of fun is not known; use step=Backtracking()")

    def curvatures(self) -> Array:
        return np.full(self.d, 1.0 / self.first)

    def gap(self, model: Model, objective: float, ascend: bool = False, tol: float = 0.0) -> float:
        return float(np.inf)

    def counts(self, model: Model) -> NDArray[np.bool_]:
        """Of each feature of the model, whether it is not 0."""
        return np.asarray(model.weights != 0)

    def minimise_on(self, features: Indices, w: Array | None = None, b: Any = None) -> Restricted:
        """The minimiser on ``features`` from w, by SciPy: L-BFGS-B; trust-ncg where hessp is given without bounds."""
        from scipy.optimize import minimize as scipy_minimize

        unit = self.unit

        def whole(u: Array) -> Array:
            x = self.zeros()
            x[features] = unit * u
            return x

        def scaled(u: Array) -> tuple[float, Array]:
            value, gradient = self.evaluated(whole(u))
            return value / self.scale, gradient[features] * (unit / self.scale)

        u = np.zeros(len(features)) if w is None else w / unit
        lower, upper = self.constraint.lower, self.constraint.upper
        steepest = float(np.abs(self.evaluated(self.start)[1]).max()) * unit / self.scale
        goal = STATIONARY * steepest
        chosen: dict[str, Any] = {"method": "L-BFGS-B", "options": {"ftol": 0.0, "gtol": goal, "maxcor": 20}}
        if lower is not None and upper is not None:
            chosen["bounds"] = list(zip(lower[features] / unit, upper[features] / unit, strict=True))
        elif self.hessp is not None:
            chosen = {"method": "trust-ncg", "options": {"gtol": goal}}
            chosen["hessp"] = lambda u, p: np.asarray(self.hessp(whole(u), whole(p)))[features] * (unit / self.scale)
        if len(features):
            u = scipy_minimize(scaled, u, jac=True, **chosen).x
        value = self.at(whole(u))
        if not np.isfinite(value):
            raise ValueError(f"fun is {value} where its minimum on a support of k is sought: is it bounded below?")
        if lower is None and self._fallen(value) > FALLEN and np.abs(scaled(u)[1]).max() > STEEP * steepest:
            raise ValueError(UNBOUNDED)
        no_block = cast(Any, None)
        return Restricted(features, unit * u, 0.0, whole(u), value, no_block, None, True)


def _number(value: Any) -> float:
    return float(np.asarray(value, dtype=np.float64).reshape(()))
