"""The picture of ``paring demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

MUTED, INK, FRAME = "#b8bcc4", "#22262e", "#888c94"
# Told apart at a glance, and none of them grey.
COLOURS = ["#1f77b4", "#e67e22", "#2a9d3a", "#c0392b", "#8e5cc4", "#7a4b3a", "#d9579f", "#0b7f86", "#9a9a12", "#17a2d8"]
STYLE: Any = {
    "font.size": 10,
    "font.family": "DejaVu Sans",  # matplotlib's own, so the picture is the same everywhere
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FRAME,
}


def draw_path(out: Path, path: Any) -> None:
    """Coefficients against the number of features kept; below it by how much OMP's objective is above ours."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9, 7), layout="constrained")  # belongs to no window: none is opened
        top, bottom = figure.subplots(2, 1, height_ratios=[3.4, 1], sharex=True)
        _coefficients(top, path)
        _excess(bottom, path)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=150, facecolor="white", format="png")


def _coefficients(axes: Any, path: Any) -> None:
    kept = np.flatnonzero(path.coef[path.k - 1])
    colours = dict(zip(kept.tolist(), COLOURS * 10, strict=False))
    padded = np.vstack([np.zeros(path.coef.shape[1]), path.coef])  # no features at k = 0
    sizes = np.arange(len(padded))
    axes.axhline(0, color=FRAME, lw=0.8)
    axes.axvline(path.k, color=FRAME, lw=0.8, ls=(0, (4, 3)))
    for j in np.flatnonzero(path.coef.any(axis=0)).tolist():
        colour = colours.get(j)
        look = {"color": MUTED, "lw": 1.1} if colour is None else {"color": colour, "lw": 2.4, "zorder": 3}
        axes.plot(sizes, _while_in(padded[:, j]), solid_capstyle="round", **look)
    low, high = axes.get_ylim()
    ends, last = path.coef[-1, kept], sizes[-1]
    for j, end, place in zip(kept.tolist(), ends, _spread(ends, 0.045 * (high - low)), strict=True):
        axes.plot([last, last + 0.25], [end, place], color=colours[j], lw=0.9, clip_on=False)
        axes.text(last + 0.32, place, path.names[j], color=colours[j], va="center", weight="bold")
    axes.annotate(f"k = {path.k}", (path.k, high), (5, -4), textcoords="offset points", va="top", color=INK)
    axes.set_xlim(0, last)
    axes.set_ylabel("coefficient (standardised features)")
    title = f"Exactly k features: diabetes, {path.coef.shape[1]} measurements and products"
    axes.set_title(title, loc="left", weight="bold", color=INK, pad=26, size=13)
    note = f"in colour: the {path.k} chosen at k = {path.k};  grey: chosen at other sizes"
    axes.text(0, 1.02, note, transform=axes.transAxes, color="#6b707a", va="bottom")


def _excess(axes: Any, path: Any) -> None:
    sizes = np.arange(1, len(path.coef) + 1)
    axes.axvline(path.k, color=FRAME, lw=0.8, ls=(0, (4, 3)), zorder=0)
    axes.bar(sizes, 100 * path.excess, width=0.5, color="#7f8794", clip_on=False)
    axes.axhline(0, color=FRAME, lw=0.8)
    axes.set_ylim(min(0.0, 110 * path.excess.min()), max(0.1, 115 * path.excess.max()))
    axes.set_ylabel("OMP's objective\nabove ours, %")
    axes.set_xlabel("k, the number of features kept")
    axes.set_xticks(np.arange(0, sizes[-1] + 1, 2))


def _while_in(values: NDArray[Any]) -> NDArray[Any]:
    """A coefficient where its feature is in the model or enters or leaves it; NaN, which is not drawn, elsewhere."""
    beside = values != 0
    beside[1:] |= values[:-1] != 0
    beside[:-1] |= values[1:] != 0
    return np.where(beside, values, np.nan)


def _spread(places: NDArray[Any], least: float) -> NDArray[Any]:
    """Move labels apart until no two are closer than ``least``, in their order."""
    order = np.argsort(places)
    spread = np.asarray(places, dtype=float)[order]
    for _ in range(500):
        gaps = np.diff(spread)
        if np.all(gaps >= least * 0.999):
            break
        push = np.where(gaps < least, (least - gaps) / 4, 0.0)
        spread[:-1] -= push
        spread[1:] += push
    result = np.empty_like(spread)
    result[order] = spread
    return result
