"""The results of penalised runs as one markdown page, the same as JSON, and one picture: times over ours."""

import json
from pathlib import Path
from typing import Any

import table

COLUMNS = (
    ("rival", "rival"),
    ("point", "lam / lam_max"),
    ("seconds", "seconds"),
    ("ratio", "time over ours"),
    ("cpu", "processor seconds"),
    ("cpu_ratio", "those over ours"),
    ("gap", "gap"),
    ("above", "objective above the lowest"),
    ("nonzeros", "nonzeros"),
    ("tol", "its tolerance"),
    ("repeats", "timed"),
)
LEGEND = (
    "Each package at the loosest tolerance of a grid by half decades (ours: 1e-6 alone) with which its coefficients "
    "reach the relative duality gap of the run; the gap is computed from the coefficients alone, and for all alike. "
    "`time over ours`: above 1 ours is faster. `objective above the lowest`: of all packages at that weight. `timed`: "
    "how many fits the median is of. `processor seconds`: of all threads together, which other work on the machine "
    "moves less. Imports and compilation are not in the times."
)
COLOURS = {
    "celer": "#1f77b4",
    "skglm": "#2ca02c",
    "scikit-learn": "#ff7f0e",
    "liblinear": "#9467bd",
    "saga": "#8c564b",
    "adelie": "#e377c2",
    "copt": "#bcbd22",
}


def number(value: Any, key: str) -> str:
    if value is None:
        return "-"
    if key in ("gap", "above", "tol"):
        return f"{value:.1e}"
    if key in ("rival", "point", "repeats", "nonzeros"):
        return str(value)
    return table.number(value, "seconds" if key == "cpu" else key)


def heading(result: dict[str, Any]) -> str:
    if "skipped" in result:
        return f"### {result['name']}\n\nLeft out: {result['skipped']}.\n"
    density = f", {result['density']:.3%} nonzero" if "density" in result else ", dense"
    groups = f" in groups of {result['size']}" if result["penalty"] != "l1" else ""
    facts = (
        f"{result['n']:,} x {result['d']:,}{density}; {result['loss']} loss, {result['penalty']}{groups}, no intercept"
    )
    note = f" {result['note'].capitalize()}." if result["note"] else ""
    return f"### {result['name']}\n\n{facts}; {result['threads']} threads; gap {result['gap']:g}.{note}\n"


def best_rival(result: dict[str, Any], point: str, key: str = "ratio") -> dict[str, Any] | None:
    rows = [r for r in result["rows"] if r["point"] == point and r["rival"] != "paring" and r.get(key)]
    return min(rows, key=lambda row: row[key], default=None)


def points(result: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["point"] for row in result.get("rows", ())))


def summary(results: list[dict[str, Any]]) -> str:
    """Every problem's best rival, over ours."""
    titles = ("problem", "lam / lam_max", "ours, seconds", "best other", "its time over ours")
    lines = [f"| {' | '.join((*titles, 'least processor time', 'over ours'))} |"]
    lines.append("| --- | ---: | ---: | --- | ---: | --- | ---: |")
    for result in results:
        for point in points(result):
            ours = next((r for r in result["rows"] if r["point"] == point and r["rival"] == "paring"), {})
            cells = [result["name"], point, number(ours.get("seconds"), "seconds")]
            for key in ("ratio", "cpu_ratio"):
                best = best_rival(result, point, key)
                cells += [best["rival"], number(best[key], key)] if best else ["none reached the gap", "-"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def body(result: dict[str, Any]) -> str:
    lines = ["| " + " | ".join(title for _, title in COLUMNS) + " |"]
    lines.append("|" + "|".join("---" if key == "rival" else "---:" for key, _ in COLUMNS) + "|")
    missing: dict[tuple[str, str], list[str]] = {}
    for point in points(result):
        rows = [row for row in result["rows"] if row["point"] == point]
        for row in sorted(rows, key=lambda row: row.get("seconds", 0.0)):
            if "error" in row:
                missing.setdefault((row["rival"], row["error"]), []).append(point)
            else:
                lines.append("| " + " | ".join(number(row.get(key), key) for key, _ in COLUMNS) + " |")
    reasons = [f"- no result: {rival} ({', '.join(at)}): {why}" for (rival, why), at in missing.items()]
    return "\n".join([*lines, "", *reasons, ""] if reasons else [*lines, ""])


def markdown(about: dict[str, Any], results: list[dict[str, Any]]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["software"].items())
    parts = [
        "# Penalised learning at equal gap\n",
        LEGEND + "\n",
        f"{about['cores']} cores; {versions}. {about['note']}".strip() + "\n",
        summary(results),
    ]
    for result in results:
        parts.append(heading(result))
        if "rows" in result:
            parts.append(body(result))
    return "\n".join(parts)


def write(stem: Path, about: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """stem.md and stem.json."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".md").write_text(markdown(about, results), "utf-8")
    page = json.dumps({"about": about, "results": results}, indent=1)
    stem.with_suffix(".json").write_text(page + "\n", "utf-8")


def draw(path: Path, results: list[dict[str, Any]]) -> None:
    """A line per problem and weight, a mark per package: right of 1 ours is faster."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines = [(result, point) for result in results for point in points(result) if best_rival(result, point)]
    if not lines:
        return
    figure, axes = pyplot.subplots(figsize=(8, 1.4 + 0.24 * len(lines)), layout="constrained")
    seen: dict[str, Any] = {}
    for at, (result, point) in enumerate(lines):
        for row in result["rows"]:
            if row["point"] == point and row["rival"] != "paring" and row.get("ratio"):
                colour = COLOURS.get(row["rival"], "black")
                (mark,) = axes.plot(row["ratio"], at, "o", color=colour, markersize=6)
                seen.setdefault(row["rival"], mark)
    axes.set_xscale("log")
    axes.axvline(1, color="#d62728", linewidth=1.5)
    axes.axvline(1.5, color="#d62728", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(lines)), [f"{result['name']}  {point}" for result, point in lines], fontsize=8)
    axes.invert_yaxis()
    axes.grid(True, axis="both", alpha=0.3)
    axes.set_xlabel("time over ours, at equal gap (lines: 1 and 1.5)")
    axes.legend(list(seen.values()), list(seen), fontsize=8, loc="lower right")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
