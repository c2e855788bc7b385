"""``paring fit``."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from paring.cli.options import AsJson, Data, Format, Target, ZeroBased
from paring.cli.say import Refused, print_json, remark

STOPPED_EARLY, INTERRUPTED = 3, 130
CLASS_LOSSES = ("logistic", "multinomial", "squared_hinge", "smoothed_hinge", "hinge")
LOSSES = ("squared", "huber", "poisson", *CLASS_LOSSES)


def fit(
    data: Data,
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="The most features (with --groups: groups) to keep.")],
    target: Target = None,
    loss: Annotated[str | None, typer.Option(help=f"One of {', '.join(LOSSES)}.")] = None,
    classify: Annotated[
        bool | None, typer.Option("--classify/--regress", help="The target is classes, or numbers; default: seen.")
    ] = None,
    ridge: Annotated[str, typer.Option(help="Weight of the l2 term: a number; auto: 0, for classes 1/rows.")] = "auto",
    always: Annotated[list[str] | None, typer.Option(help="Features always kept: names or 0-based indices.")] = None,
    groups: Annotated[Path | None, typer.Option(help="File of labels, one a feature: kept together or not.")] = None,
    lower: Annotated[str | None, typer.Option(help="Lower bound of the coefficients (<= 0), or a file.")] = None,
    upper: Annotated[str | None, typer.Option(help="Upper bound of the coefficients (>= 0), or a file.")] = None,
    intercept: Annotated[bool, typer.Option("--intercept/--no-intercept", help="Fit an intercept.")] = True,
    solver: Annotated[str, typer.Option(help="auto, or a name that `paring solvers` lists.")] = "auto",
    tol: Annotated[float, typer.Option(help="Tolerance, relative to the objective without features.")] = 1e-6,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the model so far is kept then.")] = None,
    out: Annotated[Path | None, typer.Option(help="Save the model as OUT.json and OUT.npz.")] = None,
    format: Format = None,
    zero_based: ZeroBased = None,
    as_json: AsJson = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the progress on stderr.")] = False,
) -> int:
    """Fit the best linear model of at most k features to DATA."""
    _check_usage(loss, classify, ridge, tol, time_limit)
    _check_out(out)
    from paring.cli.inputs import bounds, columns, load
    from paring.cli.inputs import groups as read_groups

    dataset = load(data, target, format, zero_based)
    d = dataset.X.shape[1]
    labels = read_groups(groups, d)
    units, what = (d, "features") if labels is None else (len(set(labels)), "groups")
    if k > units:
        raise Refused(f"{data}: --k {k} is more than its {units} {what}")
    job = _job(
        dataset,
        loss,
        classify,
        ridge,
        n_nonzero_coefs=k,
        always_select=columns(always or [], dataset.feature_names, d),
        groups=labels,
        lower_bounds=bounds(lower, d, "--lower"),
        upper_bounds=bounds(upper, d, "--upper"),
        fit_intercept=intercept,
        solver=solver,
        tol=tol,
        time_limit=time_limit,
        verbose=int(verbose),
    )
    return _ended(job, data, dataset, out, as_json)


def _check_usage(loss: str | None, classify: bool | None, ridge: str, tol: float, time_limit: float | None) -> None:
    if loss is not None and loss not in LOSSES:
        raise typer.BadParameter(f"--loss is one of {', '.join(LOSSES)}, not {loss}")
    if loss is not None and classify is not None and classify != (loss in CLASS_LOSSES):
        raise typer.BadParameter(f"--loss {loss} is for {'classes' if loss in CLASS_LOSSES else 'numbers'}")
    if ridge != "auto":
        try:
            sensible = 0 <= float(ridge) < float("inf")
        except ValueError:
            sensible = False
        if not sensible:
            raise typer.BadParameter(f"--ridge is a number of at least 0, or auto, not {ridge}")
    if not tol > 0 or (time_limit is not None and not time_limit > 0):
        raise typer.BadParameter("--tol and --time-limit must be positive")


def _check_out(out: Path | None) -> None:
    """Refuse, before the work, a place where the model could not be written."""
    if out is None:
        return
    folder = out.absolute().parent
    if not folder.is_dir():
        raise Refused(f"--out: {folder}: no such folder")
    if not os.access(folder, os.W_OK):
        raise Refused(f"--out: {folder}: not writable")


@dataclass
class Job:
    """An estimator with its targets, and why it is this one."""

    estimator: Any
    y: Any
    why: str


def _job(dataset: Any, loss: str | None, classify: bool | None, ridge: str, **settings: Any) -> Job:
    from paring import SparseClassifier, SparseRegressor
    from paring.cli.inputs import as_labels, task_of

    if loss is not None:
        classify = loss in CLASS_LOSSES
    classes, why = task_of(dataset.y, classify)
    if classes:
        weight: Any = "auto" if ridge == "auto" else float(ridge)
        return Job(SparseClassifier(loss=loss or "auto", ridge=weight, **settings), as_labels(dataset.y), why)
    if dataset.y.dtype.kind not in "biuf":
        raise Refused(f"{dataset.path}: the target is text; numbers are needed for a regression")
    number = 0.0 if ridge == "auto" else float(ridge)
    return Job(SparseRegressor(loss=loss or "squared", ridge=number, **settings), dataset.y, why)


def _ended(job: Job, data: Path, dataset: Any, out: Path | None, as_json: bool) -> int:
    """Fit, save, show; returns the exit code."""
    estimator, interrupted = job.estimator, False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(dataset.X, job.y)
        except KeyboardInterrupt:
            if not hasattr(estimator, "result_"):
                raise
            interrupted = True
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        remark(text)
    files = () if out is None else _saved(estimator, dataset, out)
    if interrupted:
        if files:
            remark(f"the model so far is in {' and '.join(map(str, files))}")
        return INTERRUPTED
    _show(job, data, dataset, files, as_json)
    return 0 if estimator.result_.converged else STOPPED_EARLY


def _saved(estimator: Any, dataset: Any, out: Path) -> tuple[Path, ...]:
    """Save the model with the names of its features, which a bare X did not tell it, or how its file counts them."""
    import numpy as np

    from paring.model_io import save_model

    estimator.verbose = 0
    if dataset.feature_names is None:
        return save_model(out, estimator, first_index=dataset.first_index)
    estimator.feature_names_in_ = np.array(dataset.feature_names, dtype=object)
    try:
        return save_model(out, estimator)
    finally:
        del estimator.feature_names_in_


def _show(job: Job, data: Path, dataset: Any, files: tuple[Path, ...], as_json: bool) -> None:
    from paring.cli.report import facts, print_report

    found = facts(job.estimator, dataset, job.y, job.why)
    found["data"] = {"path": str(data), "rows": dataset.X.shape[0], "features": dataset.X.shape[1]}
    found["model"] = [str(file) for file in files] or None
    if as_json:
        print_json(found)
    else:
        print_report(found)
