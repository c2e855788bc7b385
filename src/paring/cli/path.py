"""``paring path``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from paring.cli.options import AsJson, Data, Format, Target, ZeroBased
from paring.cli.say import Refused, print_json

PENALTIES = ("l1", "elastic-net", "group", "sparse-group", "multi-task")
CLASS_LOSSES = ("logistic", "multinomial", "squared_hinge", "smoothed_hinge")
LOSSES = ("squared", "huber", "poisson", *CLASS_LOSSES)
SHOWN = ("lam", "features", "fit", "dual_gap", "passes")


def path(
    data: Data,
    *,
    target: Target = None,
    loss: Annotated[str | None, typer.Option(help=f"One of {', '.join(LOSSES)}; default: seen.")] = None,
    penalty: Annotated[str, typer.Option(help=f"One of {', '.join(PENALTIES)}.")] = "l1",
    l1_ratio: Annotated[float, typer.Option(help="The part of l1 in elastic-net and sparse-group.")] = 0.5,
    groups: Annotated[Path | None, typer.Option(help="File of labels, one a feature, for group, sparse-group.")] = None,
    ridge: Annotated[float, typer.Option(help="Weight of a further l2 term.")] = 0.0,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many weights.")] = 20,
    eps: Annotated[float, typer.Option(help="The least weight, as a part of the largest.")] = 0.01,
    most_features: Annotated[int | None, typer.Option(help="End at more features than this.")] = None,
    intercept: Annotated[bool, typer.Option("--intercept/--no-intercept", help="Fit an intercept.")] = True,
    tol: Annotated[float, typer.Option(help="Dual gap, relative to the loss without features.")] = 1e-6,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the weights so far are shown then.")] = None,
    format: Format = None,
    zero_based: ZeroBased = None,
    as_json: AsJson = False,
) -> int:
    """Fit penalised models to DATA at falling weights, and show what enters and what it gains."""
    if penalty not in PENALTIES:
        raise typer.BadParameter(f"--penalty is one of {', '.join(PENALTIES)}, not {penalty}")
    if loss is not None and loss not in LOSSES:
        raise typer.BadParameter(f"--loss is one of {', '.join(LOSSES)}, not {loss}")
    if penalty in ("group", "sparse-group") and groups is None:
        raise typer.BadParameter(f"--penalty {penalty} needs --groups")
    if not (tol > 0 and 0 < eps < 1 and 0 <= l1_ratio <= 1):
        raise typer.BadParameter("--tol must be positive, --eps between 0 and 1, --l1-ratio from 0 to 1")
    import paring
    from paring.cli.inputs import groups as read_groups
    from paring.cli.inputs import load

    dataset = load(data, target, format, zero_based)
    labels = read_groups(groups, dataset.X.shape[1])
    name, y = _posed(dataset, loss)
    found = paring.path(
        dataset.X,
        y,
        name,
        penalty=_penalty(penalty, l1_ratio, labels),
        lams=count,
        eps=eps,
        ridge=ridge,
        fit_intercept=intercept,
        tol=tol,
        time_limit=time_limit,
        most_features=most_features,
    )
    _show(found, data, dataset, name, as_json)
    return {"interrupted": 130, "time_limit": 3}.get(found.stop_reason, 0)


def _posed(dataset: Any, loss: str | None) -> tuple[str, Any]:
    """The name of the loss, and the targets as it takes them."""
    import numpy as np

    from paring.cli.inputs import as_labels, task_of

    classes, _ = task_of(dataset.y, None if loss is None else loss in CLASS_LOSSES)
    if not classes:
        if dataset.y.dtype.kind not in "biuf":
            raise Refused(f"{dataset.path}: the target is text; numbers are needed for a regression")
        return loss or "squared", dataset.y
    labels, codes = np.unique(as_labels(dataset.y), return_inverse=True)
    if len(labels) < 2:
        raise Refused(f"{dataset.path}: the target holds one class")
    name = loss or ("logistic" if len(labels) == 2 else "multinomial")
    if name != "multinomial" and len(labels) > 2:
        raise Refused(f"{dataset.path}: --loss {name} is for two classes, the target holds {len(labels)}")
    return name, codes if name == "multinomial" else 2.0 * codes - 1.0


def _penalty(name: str, l1_ratio: float, labels: Any) -> Any:
    from paring import penalties

    if name == "l1":
        return penalties.L1(1.0)
    if name == "elastic-net":
        return penalties.L1L2(1.0, l1_ratio)
    if name == "group":
        return penalties.Group(1.0, labels)
    if name == "sparse-group":
        return penalties.SparseGroup(1.0, labels, l1_ratio)
    return penalties.MultiTask(1.0)


def _show(found: Any, data: Path, dataset: Any, loss: str, as_json: bool) -> None:
    names = dataset.feature_names
    table, seen = found.table(), set[int]()
    rows: list[dict[str, Any]] = []
    for at, step in enumerate(found.steps):
        support = step.model.support.tolist()
        entered = [str(names[j]) if names is not None else j for j in support if j not in seen]
        seen |= set(support)
        rows.append({**{key: float(table[key][at]) for key in SHOWN}, "entered": entered})
    if as_json:
        print_json({"data": str(data), "loss": loss, "stop_reason": found.stop_reason, "steps": rows})
        return
    typer.echo(f"{data}: {dataset.X.shape[0]} rows x {dataset.X.shape[1]} features, {loss}")
    typer.echo(f"{'weight':>11} {'features':>8} {'mean loss':>11} {'gap':>9}  entered")
    for row in rows:
        first = ", ".join(map(str, row["entered"][:6])) + (" .." if len(row["entered"]) > 6 else "")
        typer.echo(
            f"{row['lam']:11.4g} {row['features']:8.0f} {row['fit']:11.5g} {row['dual_gap']:9.1e}  {first}".rstrip()
        )
    typer.echo(f"ended: {found.stop_reason}")
