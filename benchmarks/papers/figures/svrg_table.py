"""svrg-ht.txt, table I and figure 1: relative errors of FG-HT, SG-HT and SVRG-HT on equally correlated features.

min 1/(2n) |y - Xw|^2   subject to   |w|_0 <= 500,        200 planted weights, n = 10,000, d = 25,000, noise 1
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.papers import data, views
from benchmarks.papers.outcome import QUICK_PASSES, Check, Context, Curve, Figure, Outcome, Panel, Table
from benchmarks.papers.race import PURSUIT, TUNED, Entrant, Race, Trace, distance
from benchmarks.papers.tuning import run_all

N, D, S, K = 10_000, 25_000, 200, 500
CORRELATIONS = (0.1, 0.5)
PAPER = {
    0.1: {"fg-ht": 0.00851, "sg-ht": 0.02490, "svrg-ht": 0.00968},
    0.5: {"fg-ht": 0.02940, "sg-ht": 0.21676, "svrg-ht": 0.02614},
}
PASSES = 100  # of sg-ht; the others go on for longer, as their steps are shorter
ORACLE = "least squares on the planted features"
NEAR = 3.0  # times: what counts as near the paper's size


def entrants(n: int) -> tuple[Entrant, ...]:
    return (
        Entrant("fg-ht", "iht", {"step": TUNED}, n_jobs=2, patience=10.0),
        Entrant("sg-ht", "sg-ht", {"step": TUNED, "batch": 1}),
        Entrant("svrg-ht", "svrg-ht", {"step": TUNED, "inner": n}, patience=3.0),
        replace(PURSUIT, n_jobs=2),
    )


def run(context: Context) -> Outcome:
    n, d, s, k = context.of((N, D, S, K), (150, 300, 4, 10))
    outcome, found, lows = Outcome(columns=2), {}, {}
    for c in CORRELATIONS:
        planted = data.correlated(n, d, s, c)
        race = Race(f"correlation {c}", planted, "squared", k, max_passes=context.of(PASSES, QUICK_PASSES))
        traces = run_all(race, entrants(n), context, f"svrg-ht/{c}", {"distance": distance})
        outcome.panels.append(ratio_panel(race.title, traces))
        outcome.panels.append(views.measure_panel(race.title, traces, "passes", "distance", "|w - w*| / |w*|"))
        outcome.tables.append(views.race_table(race.title, traces, "passes", (10, 100, 300, 1000)))
        outcome.traces[race.title] = views.recorded(traces)
        finished = [t for t in traces if t.objective]
        found[c] = {t.label: t.of("distance")[-1] for t in finished} | {ORACLE: oracle(race)}
        lows[c] = {t.label: min(t.of("distance")) for t in finished}
        outcome.checks += statements(c, {name: found[c].get(name, np.inf) for name in PAPER[c]}, traces)
        outcome.notes.append(views.beside_pursuit(traces, race.title))
    outcome.tables.insert(0, errors_table(found, lows))
    return outcome


def ratio_panel(title: str, traces: list[Trace]) -> Panel:
    """Figure 1: the objective over that of w = 0."""
    curves = [Curve(t.label, t.passes, [v / t.objective[0] for v in t.objective]) for t in traces if t.objective]
    return Panel(title, "effective passes", "F / F(0)", curves)


def oracle(race: Race) -> float:
    """The error of least squares on the planted features, which nobody knows in earnest."""
    X, y, truth = race.data.X, race.data.y, race.data.truth
    planted = np.flatnonzero(truth)
    best = np.linalg.lstsq(X[:, planted].astype(np.float64), y, rcond=None)[0]
    return float(np.linalg.norm(best - truth[planted]) / np.linalg.norm(truth))


def statements(c: float, errors: dict[str, float], traces: list[Trace]) -> list[Check]:
    ratios = ", ".join(f"{name} {errors[name] / PAPER[c][name]:.2f}" for name in PAPER[c])
    ends = {t.label: t.final for t in traces if t.objective and t.label in PAPER[c]}
    passes = {t.label: t.reaches(1.05 * min(ends.values()), "passes") for t in traces if t.label in ends}
    return [
        Check(
            f"correlation {c}: svrg-ht is comparable with fg-ht, both well below sg-ht",
            errors["svrg-ht"] <= 1.25 * errors["fg-ht"]
            and max(errors["fg-ht"], errors["svrg-ht"]) < 0.8 * errors["sg-ht"],
            views.ranked(errors),
        ),
        Check(
            f"correlation {c}: errors near the paper's size (within a factor of {NEAR:g})",
            all(1 / NEAR <= errors[name] / PAPER[c][name] <= NEAR for name in PAPER[c]),
            f"ours over the paper's: {ratios}",
        ),
        Check(
            f"correlation {c}: svrg-ht needs the fewest passes",
            views.first(passes, "svrg-ht"),
            f"to within 5 % of the lowest objective: {views.ranked(passes)}",
        ),
    ]


def errors_table(found: dict, lows: dict) -> Table:
    header = [
        "solver",
        *(f"{c}: {what}" for c in CORRELATIONS for what in ("paper", "ours", "its square", "lowest met")),
    ]
    rows = []
    for name in found[CORRELATIONS[0]]:
        row = [name]
        for c in CORRELATIONS:
            error = found[c].get(name, np.inf)
            low = views.number(lows[c].get(name, np.inf))
            row += [PAPER[c].get(name, "-"), views.number(error), views.number(error**2), low]
        rows.append(row)
    return Table("Relative error |w - w*| / |w*| at the end, by correlation", header, rows)


FIGURES = (
    Figure(
        name="svrg-ht-table-1",
        source="svrg-ht.txt, table I (sigma = 1, batch 1) and figure 1",
        title="SVRG-HT on equally correlated features",
        claim="svrg-ht comes to the estimation error of fg-ht (0.0097 against 0.0085 at correlation 0.1, 0.026 against "
        "0.029 at 0.5) in far fewer passes; sg-ht stays worse (0.025, 0.217).",
        setting=f"n = {N:,}, d = {D:,}, {S} planted weights uniform on (-2, 2), k = {K}, noise 1, m = n, batch 1, "
        "float32.",
        differs=f"One draw, not 50; not a million passes, but {10 * PASSES} for fg-ht, {3 * PASSES} for svrg-ht and "
        f"{PASSES} for sg-ht; "
        "steps are those of the lowest objective, not of the lowest error, which no user knows.",
        run=run,
    ),
)
