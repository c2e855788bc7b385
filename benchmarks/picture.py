"""One picture: objective against seconds, a panel per run, a colour per rival, a line through its sizes."""

from pathlib import Path
from typing import Any

COLOURS = {
    "paring": "#d62728",
    "omp": "#1f77b4",
    "abess": "#2ca02c",
    "skscope-htp": "#9467bd",
    "skscope-htp-spectral": "#c5b0d5",
    "skscope-scope": "#8c564b",
    "skscope-grasp": "#e377c2",
    "fastsparsegams": "#ff7f0e",
    "fastsparsegams-swaps": "#bcbd22",
    "l1-refit": "#7f7f7f",
}


def _ticks(axes: Any, name: str, values: list[float]) -> None:
    """Logarithmic with plain numbers; linear where the values lie within a factor of three."""
    from matplotlib import ticker

    if min(values) <= 0 or max(values) < 3 * min(values):
        return
    axes.set(**{f"{name}scale": "log"})
    axis = getattr(axes, f"{name}axis")
    subs = (1.0, 2.0, 5.0) if max(values) < 100 * min(values) else (1.0,)
    axis.set_major_locator(ticker.LogLocator(subs=subs))
    axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_formatter(ticker.NullFormatter())


def _panel(axes: Any, result: dict[str, Any], seen: dict[str, Any]) -> None:
    by_rival: dict[str, list[dict[str, Any]]] = {}
    for row in result["rows"]:
        if row.get("objective") is not None:
            by_rival.setdefault(row["rival"], []).append(row)
    for rival, rows in by_rival.items():
        rows = sorted(rows, key=lambda row: row["got"])
        ours = rival == "paring"
        (line,) = axes.plot(
            [row["seconds"] for row in rows],
            [row["objective"] for row in rows],
            marker="o" if ours else "s",
            markersize=8 if ours else 6,
            linewidth=1,
            color=COLOURS.get(rival, "black"),
            zorder=3 if ours else 2,
        )
        seen.setdefault(rival, line)
        if len(by_rival) <= 5 or ours:
            for row in rows:
                axes.annotate(
                    str(row["got"]),
                    (row["seconds"], row["objective"]),
                    textcoords="offset points",
                    xytext=(6, 4),
                    fontsize=7,
                    color=line.get_color(),
                )
    _ticks(axes, "x", [row["seconds"] for rows in by_rival.values() for row in rows])
    _ticks(axes, "y", [row["objective"] for rows in by_rival.values() for row in rows])
    axes.set_title(f"{result['name']}: {result['n']:,} x {result['d']:,}, {result['loss']}", fontsize=10)
    axes.margins(0.12)
    axes.grid(True, which="major", alpha=0.3)
    axes.set_xlabel("seconds")
    axes.set_ylabel("objective")


def draw(path: Path, results: list[dict[str, Any]]) -> None:
    """Lower and further left is better; small numbers beside points are the sizes got."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = [r for r in results if any(row.get("objective") for row in r.get("rows", ()))]
    if not drawn:
        return
    columns = min(3, len(drawn))
    lines = -(-len(drawn) // columns)
    figure, grid = pyplot.subplots(
        lines, columns, figsize=(4.6 * columns, 3.6 * lines + 0.8), squeeze=False, layout="constrained"
    )
    seen: dict[str, Any] = {}
    for axes, result in zip(grid.flat, drawn, strict=False):
        _panel(axes, result, seen)
    for axes in grid.flat[len(drawn) :]:
        axes.set_axis_off()
    names = sorted(seen, key=lambda name: (name != "paring", name))
    figure.legend(
        [seen[name] for name in names], names, loc="outside lower center", ncols=min(5, len(names)), fontsize=9
    )
    figure.suptitle("Objective against time at equal k: lower and further left is better", fontsize=12)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
