"""diht.txt, figures 1 to 4: when the sparse dual is tight; sparse ridge regression on planted weights.

    min 1/(2N) |y - Xw|^2 + (ridge/2) |w|^2   subject to   |w|_0 <= k,        ridge = c / sqrt(N)

The dual value is the best that diht found. The primal minimum is that of all supports for (d, k) = (30, 5); for
(500, 50) it is not known, and the gap is that of diht's own weights, as in the paper. Beside it: pursuit's gap, with
the bound that ``certify=True`` finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from benchmarks.papers import views
from benchmarks.papers.outcome import Check, Context, Curve, Figure, Outcome, Panel, Table
from paring import Problem, constraints, solve

SHAPES = ((30, 5), (500, 50))  # d, k
RIDGES = (0.01, 0.1, 1.0, 10.0, 20.0, 100.0)  # c of figure 1; 100 is ours
SHARES = (0.2, 0.5, 1.0)  # N / d of figure 1
NOISES = (1e-3, 1, 2, 5, 10, 20, 35, 50)  # figure 2
CONDITIONS = (2, 10, 25, 50, 100, 200)  # figure 3
SIZES = (100, 200, 300, 400, 500)  # N of figure 4
BADLY = 50  # condition number there
ZERO = 1e-6  # what a gap of zero is drawn as, as in the paper
PASSES = 3000  # of diht
ACCURACY = 1e-9
SEED = 0


@dataclass(frozen=True)
class Gaps:
    """Objective, and gap, of diht and of pursuit; the primal minimum where it is known."""

    diht: float
    pursuit: float
    minimum: float | None
    pursuit_objective: float

    @property
    def missed(self) -> float:
        """What pursuit's objective is above the minimum."""
        return 0.0 if self.minimum is None else self.pursuit_objective - self.minimum


def planted(rng: np.random.Generator, d: int, k: int) -> np.ndarray:
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.standard_normal(k)
    return w


def minimum_over_supports(X: np.ndarray, y: np.ndarray, k: int, ridge: float) -> float:
    """The least objective of all supports of k: |y|^2/2N - c_S' G_S^-1 c_S / 2, G = X'X/N + ridge I."""
    n, d = X.shape
    G, c = X.T @ X / n + ridge * np.eye(d), X.T @ y / n
    supports = np.array(list(combinations(range(d), k)))
    gains = []
    for some in np.array_split(supports, max(1, len(supports) // 20_000)):
        right = c[some]
        w = np.linalg.solve(G[some[:, :, None], some[:, None, :]], right[:, :, None])[:, :, 0]
        gains.append(np.einsum("ij,ij->i", right, w).max())
    return float(y @ y / (2 * n) - max(gains) / 2)


def gaps_of(context: Context, X: np.ndarray, y: np.ndarray, k: int, ridge: float) -> Gaps:
    def problem() -> Problem:
        return Problem(X, y, constraint=constraints.TopK(k), ridge=ridge)

    posed = problem()
    dual = solve(posed, "diht", tol=ACCURACY, max_passes=context.of(PASSES, 200), n_jobs=1)
    own = dual.history[-1].certificate * posed.scale  # its objective less its own best dual value
    ours = solve(problem(), "pursuit", tol=ACCURACY, certify=True, n_jobs=1)
    minimum = minimum_over_supports(X, y, k, ridge) if X.shape[1] <= SHAPES[0][0] else None
    gap = own if minimum is None else minimum - (dual.objective - own)
    return Gaps(max(gap, 0.0), max(ours.dual_gap, 0.0), minimum, ours.objective)


def curves(name: str, x: list[float], found: list[Gaps]) -> list[Curve]:
    """The gap of diht, and beside it the one that pursuit certifies."""
    return [
        Curve(name, x, [max(gap.diht, ZERO) for gap in found]),
        Curve(f"{name}, pursuit", x, [max(gap.pursuit, ZERO) for gap in found]),
    ]


def panel(d: int, k: int, x: str, drawn: list[Curve], x_scale: str = "linear") -> Panel:
    return Panel(f"d = {d}, k = {k}", x, "gap of diht (pursuit: dashed)", drawn, x_scale=x_scale)


def shapes(context: Context) -> tuple[tuple[int, int], ...]:
    return context.of(SHAPES, ((8, 2),))


def table(title: str, keys: list[str], rows: dict[str, list[Gaps]], x: list[float]) -> Table:
    """Both gaps, diht | pursuit, and how often pursuit missed the minimum over all supports."""
    lines = [[key, *(f"{g.diht:.2g} / {g.pursuit:.2g}" for g in rows[key])] for key in keys]
    return Table(f"{title}: gap of diht / of pursuit with certify=True", ["", *(f"{value:g}" for value in x)], lines)


def pursuits_misses(found: list[Gaps]) -> str:
    known = [g for g in found if g.minimum is not None]
    missed = [g for g in known if g.missed > 1e-9 * max(1.0, abs(g.minimum or 0.0))]
    return (
        f"Of {len(known)} problems whose best support is known by trying all, pursuit found it in "
        f"{len(known) - len(missed)}."
    )


# -- figure 1 --------------------------------------------------------------------------------------------------------


def strong_duality(context: Context) -> Outcome:
    outcome, everything = Outcome(columns=2), []
    for d, k in shapes(context):
        rng = np.random.default_rng(SEED)
        w, found = planted(rng, d, k), {}
        for share in SHARES:
            n = max(2, round(share * d))
            X = rng.standard_normal((n, d))
            y = X @ w + rng.standard_normal(n)
            found[f"N/d = {share:g}"] = [gaps_of(context, X, y, k, c / np.sqrt(n)) for c in RIDGES]
        drawn = [curve for name, values in found.items() for curve in curves(name, list(RIDGES), values)]
        outcome.panels.append(panel(d, k, "ridge sqrt(N)", drawn))
        outcome.tables.append(table(f"d = {d}, k = {k}, by ridge sqrt(N)", list(found), found, list(RIDGES)))
        outcome.checks += [falls(found, f"d = {d}"), closes(found, f"d = {d}")]
        everything += [gap for values in found.values() for gap in values]
    outcome.notes.append(pursuits_misses(everything))
    return outcome


def falls(found: dict[str, list[Gaps]], where: str) -> Check:
    down = {name: all(a.diht >= b.diht - ZERO for a, b in pairwise(v[1:])) for name, v in found.items()}
    return Check(
        f"{where}: for each N the gap falls as the ridge grows (from ridge sqrt(N) = 0.1 on)",
        all(down.values()),
        "; ".join(f"{name}: " + ", ".join(f"{g.diht:.2g}" for g in values) for name, values in found.items()),
    )


def closes(found: dict[str, list[Gaps]], where: str) -> Check:
    last = {name: max(values[-1].diht, 0.0) for name, values in found.items()}
    return Check(f"{where}: at the largest ridge the gap is zero", max(last.values()) <= ZERO, views.ranked(last))


# -- figures 2 and 3 -------------------------------------------------------------------------------------------------


def by_noise(context: Context) -> Outcome:
    outcome, everything = Outcome(columns=2), []
    ridges, noises = (0.01, 0.1, 1.0), list(context.of(NOISES, NOISES[:2]))
    for d, k in shapes(context):
        rng = np.random.default_rng(SEED)
        w, X, noise = planted(rng, d, k), rng.standard_normal((d, d)), rng.standard_normal(d)
        found = {
            f"ridge sqrt(N) = {c:g}": [gaps_of(context, X, X @ w + s * noise, k, c / np.sqrt(d)) for s in noises]
            for c in ridges
        }
        drawn = [curve for name, values in found.items() for curve in curves(name, noises, values)]
        outcome.panels.append(panel(d, k, "noise", drawn))
        outcome.tables.append(table(f"d = {d}, k = {k}, by noise", list(found), found, noises))
        up = all(a.diht <= b.diht * 1.05 + ZERO for v in found.values() for a, b in pairwise(v))
        outcome.checks.append(Check(f"d = {d}: for each ridge the gap grows with the noise", up, _ends(found)))
        outcome.checks.append(smaller_with_ridge(found, f"d = {d}"))
        everything += [gap for values in found.values() for gap in values]
    outcome.notes.append(pursuits_misses(everything))
    return outcome


def _ends(found: dict[str, list[Gaps]]) -> str:
    return "; ".join(f"{name}: {values[0].diht:.2g} to {values[-1].diht:.2g}" for name, values in found.items())


def smaller_with_ridge(found: dict[str, list[Gaps]], where: str) -> Check:
    lines = list(found.values())
    down = [a.diht >= b.diht - ZERO for less, more in pairwise(lines) for a, b in zip(less, more, strict=True)]
    return Check(
        f"{where}: at each noise the gap is smaller with a larger ridge", all(down), f"{sum(down)} of {len(down)} pairs"
    )


def conditioned(rng: np.random.Generator, n: int, d: int, condition: float, ridge: float) -> np.ndarray:
    """Rows N(0, Sigma), cond(Sigma + ridge I) = condition: Sigma' with eigenvalues 0..(2 condition - 1) ridge, plus
    ridge condition / (condition - 1) I; footnote 3 of the paper."""
    values = np.linspace(0, (2 * condition - 1) * ridge, d) + ridge * condition / (condition - 1)
    basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return (rng.standard_normal((n, d)) * np.sqrt(values)) @ basis.T


def by_condition(context: Context) -> Outcome:
    outcome, everything = Outcome(columns=2), []
    conditions = list(context.of(CONDITIONS, CONDITIONS[:2]))
    for d, k in shapes(context):
        found: dict[str, list[Gaps]] = {}
        for c in (0.1, 1.0, 10.0):
            ridge = c / np.sqrt(d)
            for condition in conditions:
                rng = np.random.default_rng(SEED)  # the same weights, basis and noise for all
                w = planted(rng, d, k)
                X = conditioned(rng, d, d, condition, ridge)
                y = X @ w + rng.standard_normal(d)
                found.setdefault(f"ridge sqrt(N) = {c:g}", []).append(gaps_of(context, X, y, k, ridge))
        drawn = [curve for name, values in found.items() for curve in curves(name, conditions, values)]
        outcome.panels.append(panel(d, k, "condition number", drawn))
        outcome.tables.append(table(f"d = {d}, k = {k}, by condition", list(found), found, conditions))
        bad = {
            name: [g.diht for g, kappa in zip(v, conditions, strict=True) if kappa >= 50] for name, v in found.items()
        }
        flat = all(max(values) <= 2 * min(values) + ZERO for values in bad.values() if values)
        seen = "; ".join(f"{name}: " + ", ".join(f"{v:.2g}" for v in values) for name, values in bad.items())
        statement = f"d = {d}: the gap does not depend on the condition number from 50 on (within a factor of 2)"
        outcome.checks.append(Check(statement, flat, seen))
        everything += [gap for values in found.values() for gap in values]
    outcome.notes.append(pursuits_misses(everything))
    return outcome


# -- figure 4 --------------------------------------------------------------------------------------------------------


def badly_conditioned(rng: np.random.Generator, n: int, w: np.ndarray) -> np.ndarray:
    """k/2 features of the support and k/2 others equally correlated, so that the covariance has condition ``BADLY``."""
    d, k = len(w), np.count_nonzero(w)
    inside = rng.choice(np.flatnonzero(w), k // 2, replace=False)
    outside = rng.choice(np.flatnonzero(w == 0), k // 2, replace=False)
    chosen = np.concatenate([inside, outside])
    c = (BADLY - 1) / (BADLY + len(chosen) - 1)  # (1 + (q - 1) c) / (1 - c) = BADLY
    X = rng.standard_normal((n, d))
    X[:, chosen] = np.sqrt(1 - c) * X[:, chosen] + np.sqrt(c) * rng.standard_normal((n, 1))
    return X


SOLVERS = ("iht", "htp", "diht", "pursuit")
Found = dict[str, list[float]]


def against_primal(context: Context) -> Outcome:
    outcome = Outcome(columns=2)
    sizes = list(context.of(SIZES, (10, 20)))
    for c in (1.0, 10.0):
        F, error = by_size(context, sizes, c)
        title = f"ridge = {c:g}/sqrt(N)"
        for what, y_label in ((F, "objective"), (error, "|w - w*|")):
            drawn = [Curve(name, sizes, values) for name, values in what.items()]
            outcome.panels.append(Panel(title, "N", y_label, drawn, y_scale="linear"))
        rows = [[name, *(f"{a:.4g} / {b:.3g}" for a, b in zip(F[name], error[name], strict=True))] for name in SOLVERS]
        outcome.tables.append(Table(f"{title}, by N: objective / |w - w*|", ["solver", *map(str, sizes)], rows))
        outcome.checks += [
            wins(F, f"{title}: diht has a lower objective than iht and htp in most cases"),
            wins(error, f"{title}: diht is nearer to the planted weights than iht and htp in most cases"),
        ]
    return outcome


def by_size(context: Context, sizes: list[int], c: float) -> tuple[Found, Found]:
    """Objective, and distance to the planted weights, of each solver at each N."""
    d, k = context.of(SHAPES[1], (20, 4))
    F: Found = {name: [] for name in SOLVERS}
    error: Found = {name: [] for name in SOLVERS}
    for n in sizes:
        rng = np.random.default_rng(SEED)
        w = planted(rng, d, k)
        X = badly_conditioned(rng, n, w)
        y = X @ w + rng.standard_normal(n)
        for name in SOLVERS:
            problem = Problem(X, y, constraint=constraints.TopK(k), ridge=c / np.sqrt(n))
            result = solve(problem, name, tol=ACCURACY, max_passes=context.of(PASSES, 200), n_jobs=1)
            F[name].append(result.objective)
            error[name].append(float(np.linalg.norm(result.coef - w)))
    return F, error


def wins(values: Found, statement: str) -> Check:
    rows = [{name: values[name][i] for name in ("diht", "iht", "htp")} for i in range(len(values["diht"]))]
    won = sum(row["diht"] < min(row["iht"], row["htp"]) * (1 - 1e-6) for row in rows)
    level = sum(views.first(row, "diht") for row in rows)
    seen = f"lower than both in {won} of {len(rows)}, within 0.1 % of the lowest in {level}"
    return Check(statement, 2 * won > len(rows), seen)


def figure(number: int, title: str, claim: str, setting: str, run) -> Figure:
    differs = "The planted weights are standard normal (the paper does not say)" + (
        "; the noise is 1 (the paper does not say)." if number != 2 else "."
    )
    return Figure(f"diht-{number}", f"diht.txt, figure {number}", title, claim, setting, differs, run)


FIGURES = (
    figure(
        1,
        "Strong duality against ridge",
        "The gap falls as the ridge grows, and is zero when it is large enough; N hardly matters.",
        "(d, k) = (30, 5), (500, 50); N/d = 0.2, 0.5, 1; ridge sqrt(N) = 0.01, 0.1, 1, 10, 20, and 100.",
        strong_duality,
    ),
    figure(
        2,
        "The gap against noise",
        "The gap grows with the noise, and shrinks with the ridge.",
        "N = d; ridge sqrt(N) = 0.01, 0.1, 1; noise 0.001 to 50.",
        by_noise,
    ),
    figure(
        3,
        "The gap against the condition number",
        "The gap that diht reaches hardly depends on the condition number of the Hessian, above all from 50 on.",
        "N = d; ridge sqrt(N) = 0.1, 1, 10; condition numbers 2 to 200.",
        by_condition,
    ),
    figure(
        4,
        "Dual and primal thresholding where the Hessian is badly conditioned",
        "In most cases diht comes to a lower objective and nearer to the planted weights than iht and htp.",
        "d = 500, k = 50, N = 100 to 500, condition number 50; ridge sqrt(N) = 1, 10.",
        against_primal,
    ),
)
