"""``paring demo``: two problems that need no download, against scikit-learn's OMP, and a picture."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich import box
from rich.markup import escape
from rich.table import Table

from paring.cli.say import console, remark

K_CLINICAL, MOST = 10, 16  # the size shown, and the largest of the picture
N, D, K_MADE = 1000, 10_000, 150  # the made problem: AR(0.6) columns, 150 of 10,000 matter
REPEATS = 5  # of what takes milliseconds; the median counts


def demo(
    out: Annotated[Path, typer.Option(help="The picture to write.")] = Path("paring-demo.png"),
) -> None:
    """Show what paring does: offline, in a few seconds, with a picture of a coefficient path."""
    show = console()
    show.rule(f"[bold]1  A clinical score: the best {K_CLINICAL} of 64 features", align="left", style="dim")
    path = clinical(show)
    show.print()
    show.rule(f"[bold]2  More features than rows: {K_MADE} of {D:,}", align="left", style="dim")
    made(show)
    show.print()
    try:
        from paring.cli.picture import draw_path
    except ImportError:
        remark("no picture: it needs matplotlib: pip install 'paring[plot]'")
        return
    draw_path(out, path)
    show.print(f"picture      the coefficient path of problem 1: [bold]{escape(str(out))}[/]", soft_wrap=True)


Row = tuple[str, NDArray[Any], float]  # who, coefficients, seconds


@dataclass(frozen=True, eq=False)
class Comparison:
    """Our models of sizes 1, 2, ..: coefficients (sizes, d), and by what share OMP's objective is above ours."""

    names: list[str]
    coef: NDArray[Any]
    excess: NDArray[Any]
    k: int


# -- 1 -----------------------------------------------------------------------------------------------------------------


def diabetes() -> tuple[NDArray[Any], NDArray[Any], list[str]]:
    """scikit-learn's diabetes data with all squares and products, standardised: 442 x 64."""
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    data = load_diabetes(scaled=False)
    ready = {"bp": "bp", "s1": "chol", "s2": "ldl", "s3": "hdl", "s4": "tch", "s5": "ltg", "s6": "glu"}
    names = [ready.get(name, name) for name in data.feature_names]
    cross = PolynomialFeatures(2, include_bias=False)
    X = cross.fit_transform(StandardScaler().fit_transform(data.data))
    labels = [name.replace(" ", " × ").replace("^2", "²") for name in cross.get_feature_names_out(names)]
    kept = [j for j, label in enumerate(labels) if label != "sex²"]  # a constant shift of sex itself
    return StandardScaler().fit_transform(X[:, kept]), data.target, [labels[j] for j in kept]


def clinical(show: Any) -> Comparison:
    """Fit, print, and return the path for the picture."""
    from paring import SparseRegressor

    X, y, names = diabetes()
    show.print("442 patients, 10 measurements with squares and products (scikit-learn's data)", style="dim")
    model, seconds = timed(lambda: SparseRegressor(K_CLINICAL).fit(X, y), REPEATS)
    omp, omp_seconds = timed(lambda: fitted_omp(X, y, K_CLINICAL), REPEATS)
    show.print()
    show.print(chosen(model, names, omp))
    show.print()
    print_comparison(show, X, y, [("paring", model.coef_, seconds), ("scikit-learn OMP", omp, omp_seconds)], model)
    return path_of(X, y, names)


def chosen(model: Any, names: list[str], omp: NDArray[Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("chosen feature", min_width=20)
    table.add_column("coefficient", justify="right")
    table.add_column("")
    table.add_column("in OMP's", justify="right")
    largest = np.abs(model.coef_).max()
    for j in sorted(model.get_support(indices=True), key=lambda j: -abs(model.coef_[j])):
        w = model.coef_[j]
        bar = "█" * max(1, round(24 * abs(w) / largest))
        table.add_row(
            f"[bold]{names[j]}[/]", f"{w:+.1f}", f"[{'cyan' if w > 0 else 'red'}]{bar}[/]", "✓" if omp[j] else "·"
        )
    return table


def path_of(X: Any, y: Any, names: list[str]) -> Comparison:
    from paring import SparseRegressor
    from paring.solvers.pursuit import Pursuit

    points = SparseRegressor(MOST, solver=Pursuit(sizes="all")).fit(X, y).path_
    coef = np.array([points[size].model.dense(X.shape[1]) for size in range(1, MOST + 1)])
    ours = np.array([objective(X, y, w) for w in coef])
    omp = np.array([objective(X, y, fitted_omp(X, y, size)) for size in range(1, MOST + 1)])
    return Comparison(names, coef, omp / ours - 1, K_CLINICAL)


# -- 2 -----------------------------------------------------------------------------------------------------------------


def ar_problem() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Gaussian columns, each correlated 0.6 with the one before; signs and a tenth of noise. Returns X, y, truth."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(0)
    noise = rng.standard_normal((N, D))
    noise[:, 1:] *= np.sqrt(1 - 0.6**2)
    X = np.ascontiguousarray(lfilter([1.0], [1.0, -0.6], noise, axis=1))
    w = np.zeros(D)
    size = rng.choice([-1.0, 1.0], K_MADE) * rng.uniform(0.3, 1.5, K_MADE)
    w[rng.choice(D, K_MADE, replace=False)] = size
    z = X @ w
    return X, z + np.std(z) * 0.1 * rng.standard_normal(N), w


def made(show: Any) -> None:
    from paring import SparseRegressor

    X, y, truth = ar_problem()
    show.print(f"made here: {N:,} rows, {D:,} correlated columns, {K_MADE} of them matter", style="dim")
    model, seconds = timed(lambda: SparseRegressor(K_MADE).fit(X, y))
    omp, omp_seconds = timed(lambda: fitted_omp(X, y, K_MADE))
    rows = [("paring", model.coef_, seconds), ("scikit-learn OMP", omp, omp_seconds)]
    show.print()
    print_comparison(show, X, y, rows, model, truth)


# -- both --------------------------------------------------------------------------------------------------------------


def timed(fit: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """What ``fit`` returns, and the median of its seconds."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        answer = fit()
        seconds.append(time.perf_counter() - begin)
    return answer, float(np.median(seconds))


def fitted_omp(X: Any, y: Any, k: int) -> NDArray[Any]:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(X, y).coef_


def objective(X: Any, y: Any, w: NDArray[Any]) -> float:
    """Half the mean squared residual, with the best intercept; the same code for both."""
    kept = np.flatnonzero(w)
    r = y - X[:, kept] @ w[kept]
    return float(np.mean((r - r.mean()) ** 2)) / 2


def print_comparison(show: Any, X: Any, y: Any, rows: list[Row], model: Any, truth: Any = None) -> None:
    """Objective and seconds side by side, and the certificate."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", min_width=16)
    for head in ["features", "objective", "", "seconds", "", *([] if truth is None else ["true ones"])]:
        table.add_column(head, justify="right", no_wrap=True)
    first, fastest = objective(X, y, rows[0][1]), rows[0][2]
    for name, w, seconds in rows:
        value, ours = objective(X, y, w), name == "paring"
        cells = [str(np.count_nonzero(w)), f"{value:.5g}", "" if ours else f"{value / first - 1:+.1%}"]
        cells += [f"{seconds:.2g}", "" if ours else f"x {seconds / fastest:.2g}"]
        if truth is not None:
            cells.append(f"{np.count_nonzero(truth[w != 0])} of {np.count_nonzero(truth)}")
        table.add_row(f"[bold]{name}[/]" if ours else name, *cells)
    show.print(table)
    show.print()
    show.print(f"certificate  [green]{model.result_.certificate.statement}[/]")
