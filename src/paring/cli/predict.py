"""``paring predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from paring.cli.options import AsJson, Data, Format, ZeroBased
from paring.cli.say import Refused, print_json, remark


def predict(
    model: Annotated[Path, typer.Argument(help="A model written by `paring fit --out`: its name, .json or .npz.")],
    data: Data,
    *,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of the classes, as csv.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write there (text; .npy: an array) instead of stdout.")] = None,
    format: Format = None,
    zero_based: ZeroBased = None,
    as_json: AsJson = False,
) -> None:
    """Predict with a saved model: one line for each row of DATA."""
    from sklearn.base import is_classifier

    from paring.cli.inputs import load_for
    from paring.model_io import first_index, load_model

    fitted: Any = load_model(model)
    if proba and not is_classifier(fitted):
        raise Refused(f"{model}: --proba is for classes; this is a {type(fitted).__name__}")
    if proba and not hasattr(fitted, "predict_proba"):
        raise Refused(f"{model}: its loss {fitted.loss} gives no probabilities; fit with --loss logistic")
    counted_from = first_index(model)
    if zero_based is None and counted_from is not None:
        zero_based = counted_from == 0
    X = load_for(fitted, data, format, zero_based)
    if hasattr(fitted, "feature_names_in_"):
        del fitted.feature_names_in_  # compared already; X is a bare array now
    values = fitted.predict_proba(X) if proba else fitted.predict(X)
    classes = fitted.classes_ if is_classifier(fitted) else None
    if out is not None:
        write(out, values, classes)
    if as_json:
        facts: dict[str, Any] = {"model": str(model), "rows": len(values), "classes": classes}
        found = {"out": str(out)} if out is not None else {"probabilities" if proba else "predictions": values}
        return print_json({**facts, **found})
    if out is None:
        sys.stdout.writelines(lines(values, classes))
    else:
        remark(f"{len(values):,} predictions in {out}")


def write(out: Path, values: NDArray[Any], classes: Any) -> None:
    if out.suffix == ".npy":
        np.save(out, values.astype(np.str_) if values.dtype.hasobject else values, allow_pickle=False)
    else:
        with open(out, "w", encoding="utf-8") as stream:
            stream.writelines(lines(values, classes))


def lines(values: NDArray[Any], classes: Any) -> Any:
    """Predictions one a line; several targets, and probabilities, as csv under a line of their numbers or classes."""
    if values.ndim == 1:
        return (f"{value}\n" for value in values.tolist())
    names = range(values.shape[1]) if classes is None else classes.tolist()
    head = ",".join(f'"{name}"' if "," in str(name) else str(name) for name in names)
    return (f"{line}\n" for line in [head, *(",".join(map(str, row)) for row in values.tolist())])
