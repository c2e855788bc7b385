"""The outcomes as one Markdown page, and each as a JSON file beside its picture."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.papers import picture
from benchmarks.papers.outcome import Figure, Outcome, Table

PACKAGES = ("paring", "numpy", "scipy", "scikit-learn", "matplotlib")
HEAD = """\
# The papers' tables and figures, by our solvers

Written by `python -m benchmarks.papers`. [What to make of it](../../../docs/papers.md) is a page of the documentation.
F is the objective. *Passes* are effective passes: n gradients of one row over all columns. Seconds are those of
`solve`, one thread unless said otherwise, tuning of steps not counted. A statement of a paper is *borne out* if our
numbers at the places named show it; objectives within 0.1 % of each other count as equal.
"""


def machine(note: str = "") -> dict[str, Any]:
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text("utf-8").splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else ""
    return {
        "processor": model or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "note": note,
    }


def table(what: Table) -> str:
    lines = [f"**{what.title}**", "", "| " + " | ".join(what.header) + " |", "|" + "---|" * len(what.header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in what.rows]
    return "\n".join(lines)


def section(name: str, record: dict[str, Any]) -> str:
    parts = [f"## {record['title']}", f"`{name}`: {record['source']}. Run in {record['seconds']:.0f} s."]
    if "skipped" in record:
        return "\n\n".join([*parts, f"Left out: {record['skipped']}."])
    parts += [f"**The paper:** {record['claim']}", f"**Here:** {record['setting']} {record['differs']}".rstrip()]
    if record["outcome"]["panels"]:
        parts.append(f"![{record['title']}]({name}.png)")
    checks = record["outcome"]["checks"]
    if checks:
        lines = ["| the paper's statement | borne out | what we see |", "|---|---|---|"]
        lines += [f"| {c['statement']} | {'yes' if c['held'] else '**no**'} | {c['seen']} |" for c in checks]
        parts.append("\n".join(lines))
    parts += [f"* {note}" for note in record["outcome"]["notes"]]
    parts += [table(Table(**t)) for t in record["outcome"]["tables"]]
    return "\n\n".join(parts)


def summary(records: dict[str, dict[str, Any]]) -> str:
    lines = ["| figure | statements borne out | |", "|---|---|---|"]
    for record in records.values():
        checks = record.get("outcome", {}).get("checks", [])
        held = f"{sum(c['held'] for c in checks)} of {len(checks)}" if checks else "-"
        lines.append(f"| [{record['title']}](#{_anchor(record['title'])}) | {held} | {record.get('skipped', '')} |")
    return "\n".join(lines)


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def save(folder: Path, figure: Figure, outcome: Outcome | str, seconds: float, about: dict[str, Any]) -> None:
    """NAME.json and NAME.png; of an outcome that is a word, why there is none."""
    record: dict[str, Any] = {key: getattr(figure, key) for key in ("title", "source", "claim", "setting", "differs")}
    record |= {"seconds": round(seconds, 1), "about": about}
    if isinstance(outcome, str):
        record["skipped"] = outcome
    else:
        record["outcome"] = outcome.plain()
        picture.draw(folder / f"{figure.name}.png", outcome, figure.title)
    text = json.dumps(record, separators=(",", ":"))
    (folder / f"{figure.name}.json").write_text(text + "\n", "utf-8")


def redraw(folder: Path, names: list[str]) -> None:
    for name in names:
        if (path := folder / f"{name}.json").exists():
            picture.redraw(folder / f"{name}.png", json.loads(path.read_text("utf-8")))


def write(folder: Path, names: list[str]) -> str:
    """README.md of all figures in the folder, in the order of ``names``."""
    paths = {name: folder / f"{name}.json" for name in names}
    found = {name: json.loads(path.read_text("utf-8")) for name, path in paths.items() if path.exists()}
    abouts = list({json.dumps(record["about"], sort_keys=True): record["about"] for record in found.values()}.values())
    machines = ["; ".join(f"{key} {value}" for key, value in about.items() if value) + "." for about in abouts]
    parts = [HEAD, *machines, summary(found), *(section(name, record) for name, record in found.items())]
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    (folder / "README.md").write_text(text, "utf-8")
    return text
