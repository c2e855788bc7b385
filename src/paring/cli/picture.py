"""The picture of ``paring demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

MUTED, INK, ACCENT = "#b8bcc4", "#22262e", "#c0392b"


def draw_path(out: Path, path: Any) -> None:
    """Coefficients against the number of features kept; below it the fit of ours and of OMP."""
    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#888c94"}
    with plt.rc_context({**style, "font.family": "DejaVu Sans"}):
        figure, (top, bottom) = plt.subplots(
            2, 1, figsize=(9, 7.2), height_ratios=[3, 1.2], sharex=True, layout="constrained"
        )
        _coefficients(top, path)
        _fit(bottom, path)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=150, facecolor="white")
        plt.close(figure)


def _coefficients(axes: Any, path: Any) -> None:
    sizes = np.arange(1, len(path.coef) + 1)
    kept = np.flatnonzero(path.coef[path.k - 1])
    colours = plt.get_cmap("tab10")
    axes.axhline(0, color="#888c94", lw=0.8)
    axes.axvline(path.k, color="#888c94", lw=0.8, ls=(0, (4, 3)))
    for j in np.flatnonzero(path.coef.any(axis=0)):
        chosen = j in kept
        values = np.concatenate([[0.0], path.coef[:, j]])
        options = (
            {"color": colours(list(kept).index(j)), "lw": 2.2, "zorder": 3} if chosen else {"color": MUTED, "lw": 1}
        )
        axes.plot(np.arange(len(values)), values, **options)
    low, high = axes.get_ylim()
    ends = path.coef[-1, kept]
    for j, end, place in zip(kept, ends, _spread(ends, 0.047 * (high - low)), strict=True):
        colour = colours(list(kept).index(j))
        axes.plot([sizes[-1], sizes[-1] + 0.45], [end, place], color=colour, lw=0.9, clip_on=False)
        axes.text(sizes[-1] + 0.55, place, path.names[j], color=colour, va="center", weight="bold")
    axes.annotate(f"k = {path.k}", (path.k, high), (4, -4), textcoords="offset points", va="top", color=INK)
    axes.set_xlim(0, sizes[-1])
    axes.set_ylabel("coefficient (standardised features)")
    axes.set_title(
        "Exactly k features at a time: the coefficient path of the diabetes data",
        loc="left",
        weight="bold",
        color=INK,
        pad=12,
    )


def _fit(axes: Any, path: Any) -> None:
    sizes = np.arange(1, len(path.ours) + 1)
    axes.axvline(path.k, color="#888c94", lw=0.8, ls=(0, (4, 3)))
    axes.plot(sizes, path.omp, color=MUTED, lw=2, marker="o", ms=3.5)
    axes.plot(sizes, path.ours, color=ACCENT, lw=2, marker="o", ms=3.5)
    axes.text(sizes[-1] + 0.35, path.ours[-1], "paring", color=ACCENT, va="bottom", weight="bold")
    axes.text(sizes[-1] + 0.35, path.omp[-1], "OMP", color="#80858f", va="top", weight="bold")
    axes.set_ylabel("R² (training)")
    axes.set_xlabel("k, the number of features kept")
    axes.set_xticks(np.arange(0, sizes[-1] + 1, 2))


def _spread(places: Any, least: float) -> Any:
    """Move labels apart until no two are closer than ``least``, keeping their order and about their middle."""
    order = np.argsort(places)
    spread = np.asarray(places, dtype=float)[order]
    for _ in range(500):
        gaps = np.diff(spread)
        close = gaps < least - 1e-9
        if not close.any():
            break
        push = np.where(close, (least - gaps) / 2, 0.0)
        spread[:-1] -= push * 0.5
        spread[1:] += push * 0.5
    result = np.empty_like(spread)
    result[order] = spread
    return result
