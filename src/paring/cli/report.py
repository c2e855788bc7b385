"""What a fit found: as one dict for JSON, and as a page for eighty columns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from paring.cli.say import console, printable
from paring.result import Result

MOST_ROWS = 25  # features shown; --json and the model hold all
MOST_COLUMNS = 5  # classes shown side by side


def facts(estimator: Any, dataset: Any, y: Any, why: str) -> dict[str, Any]:
    """All that is shown, and more, in plain values."""
    from sklearn.base import is_classifier

    result: Result = estimator.result_
    classes = estimator.classes_.tolist() if is_classifier(estimator) else None
    names = dataset.feature_names
    coef = np.atleast_2d(estimator.coef_)[:, result.support].T
    return {
        "estimator": type(estimator).__name__,
        "task": "classes" if classes else "numbers",
        "task_reason": why,
        "loss": str(estimator.loss if not classes or estimator.loss != "auto" else _auto(classes)),
        "ridge": 1.0 / len(y) if estimator.ridge == "auto" else estimator.ridge,
        "k": estimator.n_nonzero_coefs,
        "classes": classes,
        "features": [
            {
                "index": int(j),
                "name": names[j] if names else None,
                "label": _label(dataset, int(j)),
                "coef": w.tolist() if len(w) > 1 else float(w[0]),
            }
            for j, w in zip(result.support, coef, strict=True)
        ],
        "intercept": np.ravel(estimator.intercept_).tolist() if np.size(estimator.intercept_) > 1 else _one(estimator),
        **{name: getattr(result, name) for name in (*RESULT, *COURSE)},
        "certificate": asdict(result.certificate),
        **score(estimator, dataset, y, result),
    }


RESULT = ("objective", "null_objective", "dual_gap", "proved_optimal", "swap_optimal", "stop_reason", "converged")
COURSE = ("n_iter", "n_passes", "seconds", "solver", "why")


def _label(dataset: Any, j: int) -> str:
    """What the data call feature j: its name, or its number as the file counts."""
    return str(dataset.feature_names[j]) if dataset.feature_names else str(j + dataset.first_index)


def _auto(classes: list[Any]) -> str:
    return "logistic" if len(classes) == 2 else "multinomial"


def _one(estimator: Any) -> float:
    return float(np.ravel(estimator.intercept_)[0])


def score(estimator: Any, dataset: Any, y: Any, result: Result) -> dict[str, Any]:
    """How well the training rows are fitted, in the usual measure."""
    if hasattr(estimator, "classes_"):
        return {"training_accuracy": float(np.mean(estimator.predict(dataset.X) == y))}
    if estimator.loss == "squared":
        z = estimator.predict(dataset.X)
        spread = float(np.sum((y - np.mean(y)) ** 2))
        return {"training_r2": 1.0 - float(np.sum((y - z) ** 2)) / spread if spread > 0 else None}
    return {}


def print_report(found: dict[str, Any]) -> None:
    """The page."""
    out = console()
    data = found["data"]
    kind = "classes" if found["classes"] else "numbers"
    out.print(f"[bold]{printable(data['path'])}[/]: {data['rows']:,} rows, {data['features']:,} features")
    out.print(f"fitting {kind}: {found['task_reason']}", style="dim", markup=False)
    out.print()
    out.print(features_table(found))
    out.print()
    out.print(facts_table(found))


def features_table(found: dict[str, Any]) -> Table:
    """The features kept with their coefficients, in the order of the data."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("feature", overflow="ellipsis", no_wrap=True, max_width=40)
    several = isinstance(found["intercept"], list)
    heads = [str(name) for name in found["classes"]][:MOST_COLUMNS] if several else [_head(found["classes"])]
    for head in heads:
        table.add_column(printable(head), justify="right", no_wrap=True)
    rows = [(_name(feature), feature["coef"]) for feature in found["features"]]
    for name, coef in [*rows[:MOST_ROWS], ("[dim]intercept[/]", found["intercept"])]:
        values = coef[:MOST_COLUMNS] if isinstance(coef, list) else [coef]
        table.add_row(name, *(f"{value:.5g}" for value in values))
    left = len(rows) - MOST_ROWS
    if left > 0:
        table.caption = f"and {left} more features: --json lists all"
    elif several and len(found["classes"]) > MOST_COLUMNS:
        table.caption = f"and {len(found['classes']) - MOST_COLUMNS} more classes: --json lists all"
    return table


def _head(classes: list[Any] | None) -> str:
    """Two classes: the one that positive coefficients speak for."""
    return f"coefficient, for {classes[1]}" if classes else "coefficient"


def _name(feature: dict[str, Any]) -> str:
    return f"[bold]{printable(feature['label'])}[/]"


def facts_table(found: dict[str, Any]) -> Table:
    """What was reached, what is known of it, and what it took."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    objective = f"{found['objective']:.6g}  (without features {found['null_objective']:.6g})"
    table.add_row("objective", objective)
    if found.get("training_accuracy") is not None:
        table.add_row("fit", f"accuracy {found['training_accuracy']:.1%} of the training rows")
    if found.get("training_r2") is not None:
        table.add_row("fit", f"R² {found['training_r2']:.4f} on the training rows")
    table.add_row("certificate", printable(found["certificate"]["statement"]))
    table.add_row("bound", bound(found))
    if not found["converged"]:
        table.add_row("stopped", f"[yellow]early: {found['stop_reason']}[/]")
    took = f"{found['seconds']:.3g} s, {found['n_passes']:.0f} passes over the data, by {found['solver']}"
    table.add_row("time", took)
    if found["model"]:
        table.add_row("model", printable(", ".join(found["model"])))
    return table


def bound(found: dict[str, Any]) -> str:
    """How far from the best possible the model can be at most."""
    gap = found["dual_gap"]
    if found["proved_optimal"]:
        return "proved the best model of this size"
    if not np.isfinite(gap):
        return "none is known without ridge" if not found["ridge"] else "none is known for this problem"
    return f"no model of this size is below {found['objective'] - gap:.6g}"
