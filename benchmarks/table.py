"""The results as one markdown page and the same as JSON."""

import json
from pathlib import Path
from typing import Any

COLUMNS = (
    ("rival", "rival"),
    ("k", "k asked"),
    ("got", "k got"),
    ("objective", "objective"),
    ("refitted", "refitted"),
    ("relative", "over ours"),
    ("held_out", "held-out error"),
    ("overlap", "overlap"),
    ("seconds", "seconds"),
    ("first", "first"),
    ("ratio", "time over ours"),
)
LEGEND = (
    "`objective`: of the coefficients returned; `refitted`: of the minimiser on the same features; `over ours`, "
    "`time over ours`: against paring at the size the rival got; `overlap`: share of the planted features found, or, "
    "where none are planted, of its features that are ours; `seconds`: median fit; `first`: the first one, compilation "
    "included."
)


def number(value: Any, key: str) -> str:
    if value is None:
        return "-"
    if key in ("rival", "k", "got"):
        return str(value)
    if key in ("objective", "refitted"):
        return f"{value:.5g}"
    if key in ("seconds", "first"):
        return f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.0f}"
    if key == "relative":
        return f"{value:.4f}"
    return f"{value:.3g}"


def heading(result: dict[str, Any]) -> str:
    if "skipped" in result:
        return f"### {result['name']}\n\nLeft out: {result['skipped']}.\n"
    density = f", {result['density']:.3%} nonzero" if "density" in result else ", dense"
    intercept = "with intercept" if result["fit_intercept"] else "no intercept"
    note = f" {result['note'].capitalize()}." if result["note"] else ""
    facts = (
        f"{result['n']:,} x {result['d']:,}{density}; {result['loss']} loss, ridge {result['ridge']:.3g}, {intercept}"
    )
    return f"### {result['name']}\n\n{facts}; {result['threads']} threads, median of {result['repeats']}.{note}\n"


def order(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["k"], "error" in row, row.get("seconds", 0.0), row["rival"]


def body(result: dict[str, Any]) -> str:
    columns = [(key, title) for key, title in COLUMNS if any(row.get(key) is not None for row in result["rows"])]
    lines = ["| " + " | ".join(title for _, title in columns) + " |"]
    lines.append("|" + "|".join("---" if key == "rival" else "---:" for key, _ in columns) + "|")
    reasons: dict[str, str] = {}
    for row in sorted(result["rows"], key=order):
        if "error" in row:
            reasons.setdefault(f"{row['rival']} (k={row['k']})", row["error"])
            continue
        lines.append("| " + " | ".join(number(row.get(key), key) for key, _ in columns) + " |")
    missing = [f"- no result: {who}: {why}" for who, why in reasons.items()]
    return "\n".join([*lines, "", *missing, ""] if missing else [*lines, ""])


def markdown(about: dict[str, Any], results: list[dict[str, Any]]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["software"].items())
    parts = [
        "# Exact-k solvers side by side\n",
        LEGEND + "\n",
        f"{about['cores']} cores; {versions}. {about['note']}".strip() + "\n",
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
