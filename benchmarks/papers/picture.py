"""Panels as one picture; a colour for each solver, the same in all pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.papers.outcome import Curve, Outcome, Panel

COLOURS = {
    "pursuit": "#000000",
    "iht": "#1f77b4",
    "fg-ht": "#1f77b4",
    "htp": "#17becf",
    "iht (backtracking)": "#aec7e8",
    "sg-ht": "#bcbd22",
    "svrg-ht": "#2ca02c",
    "asbcdht": "#9467bd",
    "asbcdht (batch 1)": "#c5b0d5",
    "asbcdht (batch 10)": "#9467bd",
    "fnhtp": "#8c564b",
    "sbcd-htp": "#d62728",
    "s2bcd-htp": "#ff9896",
    "asbcd-htp": "#d62728",
    "asg-ht": "#bcbd22",
    "asvrg-ht": "#2ca02c",
    "a2sbcd-ht": "#9467bd",
    "diht": "#ff7f0e",
    "sdiht": "#d62728",
}
OTHERS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")
COUNTED = {"effective passes": 1, "thresholdings": 1, "rounds": 1, "seconds": 0.1}
VARIANTS = {"pursuit": "--", "printed": ":"}  # "NAME, variant": drawn in the colour of NAME
LETTER, HANDLE = 0.062, 0.6  # inches of a legend
WIDTH, HEIGHT, DPI = 4.0, 3.1, 80  # small files: under 200 kB


def draw(path: Path, outcome: Outcome, title: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = outcome.panels
    if not panels:
        return
    columns = min(outcome.columns, len(panels))
    lines = -(-len(panels) // columns)
    names = len({curve.name for panel in panels for curve in panel.curves})
    size = (WIDTH * columns, HEIGHT * lines + 0.5 + 0.2 * (1 + names // columns))
    figure, grid = pyplot.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    seen: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, panels, strict=False):
        _panel(axes, panel, seen)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    wide = max(map(len, seen)) * LETTER + HANDLE
    beside = max(1, min(len(seen), int(WIDTH * columns / wide)))
    figure.legend(list(seen.values()), list(seen), loc="outside lower center", ncols=beside, fontsize=8)
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
    pyplot.close(figure)


def redraw(path: Path, record: dict[str, Any]) -> None:
    """The picture of a figure from its JSON file."""
    plain = record.get("outcome", {"panels": [], "columns": 1})
    panels = [Panel(**(panel | {"curves": [Curve(**curve) for curve in panel["curves"]]})) for panel in plain["panels"]]
    draw(path, Outcome(panels=panels, columns=plain["columns"]), record["title"])


def _panel(axes: Any, panel: Panel, seen: dict[str, Any]) -> None:
    for curve in panel.curves:
        ours = curve.name == "pursuit"
        colour = COLOURS.get(curve.name) or OTHERS[len(seen) % len(OTHERS)]
        base, _, variant = curve.name.rpartition(", ")
        same = next((seen[name] for name in (curve.name, base) if name in seen), None)
        if same is not None:
            colour = same.get_color()
        dashes = VARIANTS.get(variant, "-")
        if curve.level:
            line = axes.axhline(curve.y[0], color=colour, linestyle="--", linewidth=1.4)
        else:
            style = {"marker": "o", "markersize": 2.5 if len(curve.x) > 1 else 5, "linewidth": 1.8 if ours else 1.1}
            style["linestyle"] = dashes
            (line,) = axes.plot(curve.x, curve.y, color=colour, zorder=3 if ours else 2, **style)
        seen.setdefault(curve.name, line)
    axes.set(xlabel=panel.x, ylabel=panel.y, xscale=_scale(panel, "x"), yscale=_scale(panel, "y"))
    if panel.x in COUNTED:  # from 0, where all begin; beyond the first few on a logarithmic scale
        axes.set_xscale("symlog", linthresh=COUNTED[panel.x])
        axes.set_xlim(left=0)
    axes.set_title(panel.title, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(True, alpha=0.3)


def _scale(panel: Panel, which: str) -> str:
    """Logarithmic where asked for and possible: a scale that shows zeros where there are any."""
    scale = panel.x_scale if which == "x" else panel.y_scale
    values = [value for curve in panel.curves for value in (curve.x if which == "x" else curve.y)]
    return "symlog" if scale == "log" and values and min(values) <= 0 else scale
