"""The papers' data, or what stands in for them; in a quick run, small synthetic data of the same kind."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks import problems
from benchmarks.papers.outcome import Unavailable
from benchmarks.papers.race import Data

NEWS20_TRAIN = 15_000  # diht.txt, section 5.2.2
NEWS20_COLUMNS = 30_000  # sbcd-htp.txt, table 2


def _made(name: str, **options: Any) -> Data:
    try:
        X, y, meta = problems.make(name, **options)
    except problems.Unavailable as reason:
        raise Unavailable(str(reason)) from reason
    return Data(X, y, meta.X_test, meta.y_test, meta.truth)


@cache
def rcv1(quick: bool = False, rows: str = "half") -> Data:
    """RCV1, two classes. rows="half": half trains, half tests; "all": 23,749, nearly as many as rcv1-train has."""
    return tiny_text() if quick else _made("rcv1", rows=rows)


@cache
def news20(quick: bool = False) -> Data:
    """news20, two classes: 15,000 rows train, the others test; all columns."""
    return tiny_text(seed=1) if quick else _made("news20", n_train=NEWS20_TRAIN)


@cache
def news20_frequent(quick: bool = False) -> Data:
    """news20: all rows, its 30,000 most frequent columns."""
    return tiny_text(seed=1) if quick else _made("news20", columns=NEWS20_COLUMNS)


def tiny_text(seed: int = 0) -> Data:
    return _made("zipf", n=200, d=2000, words=30, s=10, n_test=50, seed=seed)


def correlated(n: int, d: int, s: int, c: float, sigma: float = 1.0, seed: int = 0) -> Data:
    """svrg-ht.txt, section V.A: rows N(0, (1-c) I + c 11'), s weights uniform on (-2, 2); X in float32, row by row."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X *= np.float32(np.sqrt(1 - c))
    X += (np.sqrt(c) * rng.standard_normal(n)).astype(np.float32)[:, None]
    truth = np.zeros(d)
    support = rng.choice(d, s, replace=False)
    truth[support] = rng.uniform(-2, 2, s)
    y = X[:, support].astype(np.float64) @ truth[support] + sigma * rng.standard_normal(n)
    return Data(X, y, truth=truth)


def chen_gu(loss: str, n: int, d: int, s: int, seed: int = 0) -> Data:
    """asbcdht.txt, sections 6.2.1 (squared) and 6.3.1 (logistic, with the minus that its text has lost)."""
    return _made("ar" if loss == "squared" else "logistic", n=n, d=d, s=s, n_test=10, seed=seed)
