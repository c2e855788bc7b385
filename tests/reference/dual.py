"""Dual iterative hard thresholding as the paper has it, and its stochastic form, in NumPy.

D(a) = -mean(v loss*(a)) - (ridge/2) |H_k(u)|^2,   u = -X'(v a) / (ridge n),   a in the domain of loss*; with an
intercept sum v a = 0.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from tests.reference.thresholding import keep

GAMMA, DELTA = 0.25, 1.35
MU = {"squared": 1.0, "huber": 1.0, "squared_hinge": 1.0, "smoothed_hinge": GAMMA, "hinge": 0.0, "logistic": 4.0}
CONJUGATES = {
    "squared": lambda a, y: a**2 / 2 + a * y,
    "huber": lambda a, y: a**2 / 2 + a * y,
    "squared_hinge": lambda a, y: a**2 / 2 + a * y,
    "smoothed_hinge": lambda a, y: GAMMA * a**2 / 2 + a * y,
    "hinge": lambda a, y: a * y,
    "logistic": lambda a, y: entropy(-a * y) + entropy(1 + a * y),
}


def entropy(p):
    return p * np.log(np.where(p > 0, p, 1))


def project(loss, a, y):
    """P_F: the nearest point of the domain."""
    p = -a * y
    if loss == "squared":
        return a
    if loss == "huber":
        return np.clip(a, -DELTA, DELTA)
    return -y * (np.maximum(p, 0) if loss == "squared_hinge" else np.clip(p, 0, 1))


def papers_step(loss, a, z, y, eta):
    """P_F(a + eta (z - loss*'(a))): equation (9), with eta for eta/n."""
    return project(loss, a + eta * (z - MU[loss] * a - y), y)


def prox_step(loss, a, z, y, s):
    """argmin over the domain of loss*(b) - b z + (b - a)^2 / (2 s)."""
    if loss != "logistic":
        return project(loss, (a + s * (z - y)) / (1 + s * MU[loss]), y)
    # With p = -b y: log(p / (1 - p)) + z y + (p + a y) / s = 0.
    find = [
        brentq(lambda m, t=t, y=y: s * m + 1 / (1 + np.exp(-m)) + y * t, -40, 40, xtol=1e-14)
        for t, y in zip(a + s * z, y, strict=True)
    ]
    return -y / (1 + np.exp(-np.array(find)))


def balanced_step(loss, a, z, y, v, s, total):
    """The prox step at z - t, t such that sum v a = total; for the paper's, eta is s (1 - mu eta)."""

    def lack(t):
        return total - v @ prox_step(loss, a, z - t, y, s)

    far = 1.0
    while lack(-far) > 0 or lack(far) < 0:
        far *= 2
    return prox_step(loss, a, z - brentq(lack, -far, far, xtol=1e-15, rtol=1e-15), y, s)


def dual(X, loss, y, v, ridge, k, a):
    n = len(y)
    w = keep(-X.T @ (v * a) / (ridge * n), k)
    return -np.mean(v * CONJUGATES[loss](a, y)) - ridge / 2 * w @ w, w


def diht(X, loss, y, v, ridge, k, a, eta, rounds):
    """The a and w of each round of algorithm 1, with eta(t) for the step over n."""
    seen = []
    for t in range(rounds):
        _, w = dual(X, loss, y, v, ridge, k, a)
        a = papers_step(loss, a, X @ w, y, eta(t))
        seen.append((a, w))
    return seen


def sdiht(X, loss, y, v, ridge, kept, a, acc, blocks, steps, reach, intercept):
    """(a, acc) after each block; ``kept(acc)`` is H_k."""
    n, seen = len(y), []
    a, acc = a.copy(), acc.copy()
    for B, s in zip(blocks, steps, strict=True):
        w = kept(acc)
        squares = v[B] @ (X[B] ** 2 @ (w != 0))
        s = min(s, reach * ridge * n / squares) if squares > 0 else s
        if intercept:
            new = balanced_step(loss, a[B], X[B] @ w, y[B], v[B], s, v[B] @ a[B])
        else:
            new = prox_step(loss, a[B], X[B] @ w, y[B], s)
        acc = acc - X[B].T @ (v[B] * (new - a[B])) / (ridge * n)
        a[B] = new
        seen.append((a.copy(), acc.copy()))
    return seen
