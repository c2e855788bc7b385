"""The losses written out for mpmath: value and conjugate; derivatives follow by formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

mp.dps = 60
GAMMA, DELTA = mpf("0.25"), mpf(1.35)  # the library's defaults, as doubles


def _log1pexp(x: Any) -> Any:
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x)) if x > 0 else mp.exp(x) / (1 + mp.exp(x))


def _smoothed(u: Any) -> Any:
    return mpf(0) if u <= 0 else u - GAMMA / 2 if u >= GAMMA else u * u / (2 * GAMMA)


def _huber(r: Any) -> Any:
    return r * r / 2 if abs(r) <= DELTA else DELTA * (abs(r) - DELTA / 2)


def _entropy(q: Any) -> Any:
    return q * mp.log(q) if q > 0 else mpf(0)


def clip(x: Any, low: Any, high: Any) -> Any:
    return min(max(x, low), high)


VALUE: dict[str, Callable[[Any, Any], Any]] = {
    "squared": lambda z, y: (z - y) ** 2 / 2,
    "logistic": lambda z, y: _log1pexp(-y * z),
    "hinge": lambda z, y: max(1 - y * z, 0),
    "squared_hinge": lambda z, y: max(1 - y * z, 0) ** 2 / 2,
    "smoothed_hinge": lambda z, y: _smoothed(1 - y * z),
    "huber": lambda z, y: _huber(z - y),
    "poisson": lambda z, y: mp.exp(z) - y * z,
}
SLOPE: dict[str, Callable[[Any, Any], Any]] = {
    "squared": lambda z, y: z - y,
    "logistic": lambda z, y: -y * _sigmoid(-y * z),
    "hinge": lambda z, y: -y if y * z < 1 else mpf(0),
    "squared_hinge": lambda z, y: -y * max(1 - y * z, 0),
    "smoothed_hinge": lambda z, y: -y * clip((1 - y * z) / GAMMA, 0, 1),
    "huber": lambda z, y: clip(z - y, -DELTA, DELTA),
    "poisson": lambda z, y: mp.exp(z) - y,
}
CURVATURE: dict[str, Callable[[Any, Any], Any]] = {
    "squared": lambda z, y: mpf(1),
    "logistic": lambda z, y: _sigmoid(z) * _sigmoid(-z),
    "hinge": lambda z, y: mpf(0),
    "squared_hinge": lambda z, y: mpf(y * z < 1),
    "smoothed_hinge": lambda z, y: 1 / GAMMA if 0 < 1 - y * z < GAMMA else mpf(0),
    "huber": lambda z, y: mpf(abs(z - y) <= DELTA),
    "poisson": lambda z, y: mp.exp(z),
}
CONJUGATE: dict[str, Callable[[Any, Any], Any]] = {
    "squared": lambda a, y: a * a / 2 + a * y,
    "logistic": lambda a, y: _entropy(-a * y) + _entropy(1 + a * y),
    "hinge": lambda a, y: a * y,
    "squared_hinge": lambda a, y: a * y + a * a / 2,
    "smoothed_hinge": lambda a, y: a * y + GAMMA * a * a / 2,
    "huber": lambda a, y: a * a / 2 + a * y,
    "poisson": lambda a, y: _entropy(a + y) - (a + y),
}
