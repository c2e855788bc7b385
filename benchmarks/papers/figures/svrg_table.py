"""svrg-ht.txt, table I and figure 1: relative errors of FG-HT, SG-HT and SVRG-HT on equally correlated features.

    min 1/(2n) |y - Xw|^2   subject to   |w|_0 <= 500,        200 planted weights, n = 10,000, d = 25,000, noise 1
"""

from __future__ import annotations

import numpy as np

from benchmarks.papers import data, views
from benchmarks.papers.outcome import Check, Context, Figure, Outcome, Table
from benchmarks.papers.race import TUNED, Data, Entrant, Race, Trace, distance
from benchmarks.papers.tuning import run_all

N, D, S, K = 10_000, 25_000, 200, 500
CORRELATIONS = (0.1, 0.5)
PAPER = {
    0.1: {"fg-ht": 0.00851, "sg-ht": 0.02490, "svrg-ht": 0.00968},
    0.5: {"fg-ht": 0.02940, "sg-ht": 0.21676, "svrg-ht": 0.02614},
}
SECONDS = {0.1: 60.0, 0.5: 60.0}
NEAR = 3.0  # times: what counts as near the paper's size


def entrants(n: int) -> tuple[Entrant, ...]:
    return (
        Entrant("fg-ht", "iht", {"step": TUNED}, n_jobs=2),
        Entrant("sg-ht", "sg-ht", {"step": TUNED}),
        Entrant("svrg-ht", "svrg-ht", {"step": TUNED, "inner": n}),
        Entrant("pursuit", "pursuit", n_jobs=2),
    )
