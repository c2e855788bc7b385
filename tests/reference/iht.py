"""w <- H_k(w - c g / h), b <- b - c gb, with the four rules for c."""

from __future__ import annotations

import numpy as np

from tests.reference.thresholding import keep


def iht(F, k, choose, rounds, w, b=0.0):
    """The iterates of ``rounds`` steps; ``choose(w, b, last step)`` gives the step."""
    iterates, c = [], 0.0
    for _ in range(rounds):
        c = choose(w, b, c)
        g, gb = F.gradient(w, b)
        w, b = keep(w - c * g, k), b - c * gb
        iterates.append((w, b))
    return iterates


def lipschitz(F):
    """1 / (1.05 L) of a squared loss."""
    A = np.column_stack([F.X, np.ones(len(F.y))]) if F.intercept else F.X
    return 1 / (1.05 * (np.linalg.norm(np.sqrt(F.v)[:, None] * A, 2) ** 2 / len(F.y) + F.ridge))


def holds(F, k, w, b, c):
    """Whether F at the step is at most the diagonal model's value."""
    (g, gb), new = F.gradient(w, b), None
    new, b_new = keep(w - c * g, k), b - c * gb
    move = g @ (new - w) + gb * (b_new - b) + (np.sum((new - w) ** 2) + (b_new - b) ** 2) / (2 * c)
    return F.value(new, b_new) <= F.value(w, b) + move + 1e-12 * abs(F.value(w, b))


def normalised(F, k):
    """|g_S|^2 / |g_S|_H^2 of a squared loss on the current support (at first: of the k largest of g), halved while the
    support changes and the model does not hold."""

    def choose(w, b, c):
        g, gb = F.gradient(w, b)
        S = w != 0 if w.any() else keep(g, k) != 0
        e = np.where(S, g, 0)
        z = F.X @ e + gb
        c = (e @ e + gb**2) / (np.mean(F.v * z**2) + F.ridge * e @ e)
        while not (np.array_equal(keep(w - c * g, k) != 0, w != 0) or holds(F, k, w, b, c)):
            c /= 2
        return c

    return choose


def backtracking(F, k, first):
    def choose(w, b, c):
        c = 1.5 * c or first
        while not holds(F, k, w, b, c):
            c /= 2
        return c

    return choose
