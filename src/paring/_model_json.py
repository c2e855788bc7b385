"""What a model's JSON holds: parameters, classes and facts, written and read back with every type checked."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import losses, penalties
from paring.data.dataset import FormatError

HIDDEN = ("solver", "random_state", "cv", "precompute")  # parameters that may be objects
PENALTIES = {
    known.__name__: known
    for known in (penalties.L1, penalties.L1L2, penalties.Group, penalties.SparseGroup, penalties.MultiTask)
}
CLASS_TYPES = ("str", "object", "bool", "float32", "float64", *(f"{u}int{8 << i}" for u in ("", "u") for i in range(4)))


class ModelFileError(FormatError):
    """A model file is damaged, hostile, of another version, or not a model. The message begins with its name."""


@contextmanager
def need(path: Path) -> Iterator[None]:
    """Turn what damaged content raises into a ModelFileError that names the file."""
    try:
        yield
    except FormatError as error:
        raise ModelFileError(str(error)) from error
    except FileNotFoundError as error:
        raise ModelFileError(f"{path}: no such file; a model is two files, NAME.json and NAME.npz") from error
    except RecursionError as error:
        raise ModelFileError(f"{path}: not a model: nested too deeply") from error
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{path}: {str(error)[:200] or type(error).__name__}") from error


def no_constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which is no JSON")


# -- values ----------------------------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """Numbers, texts, truth values, None, losses, penalties, and lists of these; infinities as {"float": "inf"}."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("NaN cannot be saved")
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, losses.Loss):
        return {"loss": value.name, "parameter": value.parameter}
    if PENALTIES.get(type(value).__name__) is type(value):
        parts = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
        return {"penalty": type(value).__name__, "fields": parts}
    if isinstance(value, dict | set | penalties.Penalty):
        raise TypeError(f"a {type(value).__name__} cannot be saved")
    return [encode(part) for part in (value if isinstance(value, list | tuple) else np.asarray(value).tolist())]


def decode(value: Any) -> Any:
    if isinstance(value, list):
        return [decode(part) for part in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"float"} and value["float"] in ("inf", "-inf"):
        return float(value["float"])
    if set(value) == {"loss", "parameter"} and isinstance(value["loss"], str):
        loss = losses.get(value["loss"])
        return loss(value["parameter"]) if value["parameter"] else loss
    if set(value) == {"penalty", "fields"} and value["penalty"] in tuple(PENALTIES):
        known, given = PENALTIES[value["penalty"]], value["fields"]
        if isinstance(given, dict) and set(given) == {f.name for f in fields(known)}:
            return known(**{name: decode(part) for name, part in given.items()})
    raise ValueError(f"unknown entry {str(value)[:60]}")


def encode_parameters(parameters: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    saved = dict(parameters)
    for name in filter(saved.__contains__, HIDDEN):
        value = saved[name]
        if value is None or isinstance(value, str | int | np.integer):
            continue
        said = getattr(value, "name", None) if name == "solver" else None
        saved[name] = said if isinstance(said, str) else defaults[name]
        warnings.warn(f"{name}={value!r} is not saved with the model; {saved[name]!r} is", UserWarning, stacklevel=3)
    return {name: encode(value) for name, value in saved.items()}


def decode_parameters(saved: Any, defaults: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(saved, dict) or set(saved) != set(defaults):
        raise ValueError("parameters: not those of the estimator")
    return {name: decode(value) for name, value in saved.items()}


# -- classes ---------------------------------------------------------------------------------------------------------


def encode_classes(classes: NDArray[Any]) -> dict[str, Any]:
    kind = {"U": "str", "T": "str", "O": "object"}.get(classes.dtype.kind, classes.dtype.name)
    values = [encode(value) for value in classes.tolist()] if kind in CLASS_TYPES else []
    if kind not in CLASS_TYPES or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError(f"classes of type {classes.dtype} cannot be saved: use texts, numbers or truth values")
    return {"type": kind, "values": values}


def decode_classes(saved: Any) -> NDArray[Any]:
    if not isinstance(saved, dict) or set(saved) != {"type", "values"} or saved["type"] not in CLASS_TYPES:
        raise ValueError("classes: unknown type")
    values, kind = saved["values"], saved["type"]
    if not isinstance(values, list) or len(values) < 2:
        raise ValueError("classes: fewer than two")
    allowed: Any = {"str": str, "bool": bool, "object": str | bool | int | float}.get(
        kind, float | int if kind.startswith("float") else int
    )
    truth = kind in ("bool", "object")
    if not all(isinstance(value, allowed) and (truth or not isinstance(value, bool)) for value in values):
        raise ValueError(f"classes: not all of type {kind}")
    if len(set(values)) < len(values):
        raise ValueError("classes: one occurs twice")
    return np.array(values, dtype=np.str_ if kind == "str" else kind)


# -- the whole -------------------------------------------------------------------------------------------------------


def check_head(head: dict[str, Any], known: tuple[str, ...], joint: tuple[str, ...], kinds: dict[str, str]) -> None:
    """Is every entry there, and of its type? Decodes "fit" and "certificate" in place.

    known: names of estimators; joint: of them those of several targets.
    """

    def require(holds: bool, name: str) -> None:
        if not holds:
            raise ValueError(f"{name} is {str(head.get(name))[:60]!r}, which cannot be")

    require(head.get("estimator") in known, "estimator")
    d, names, fit, certificate = (head.get(name) for name in ("n_features", "feature_names", "fit", "certificate"))
    require(isinstance(d, int) and not isinstance(d, bool) and 1 <= d < 2**62, "n_features")
    require(names is None or (isinstance(names, list) and len(names) == d), "feature_names")
    require(names is None or all(isinstance(name, str) for name in names), "feature_names")
    require(isinstance(head.get("sha256"), str), "sha256")
    require((head.get("classes") is None) == ("Classifier" not in head["estimator"]), "classes")
    targets = head.get("targets")
    require((targets is None) == (head["estimator"] not in joint), "targets")
    require(targets is None or (_is(targets, "int") and 1 <= targets < 2**31), "targets")
    require(isinstance(fit, dict) and set(fit) == set(kinds), "fit")
    require(isinstance(certificate, dict) and set(certificate) == {"kind", "value", "statement"}, "certificate")
    assert isinstance(fit, dict) and isinstance(certificate, dict)
    kinds = {**kinds, "kind": "str", "value": "float", "statement": "str"}
    for name, part in (("fit", fit), ("certificate", certificate)):
        for key, value in part.items():
            part[key] = decode(value)
            require(_is(part[key], kinds[key]), name)


def _is(value: Any, kind: str) -> bool:
    if kind == "str | None":
        return value is None or isinstance(value, str)
    if kind in ("str", "bool"):
        return isinstance(value, {"str": str, "bool": bool}[kind])
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole or (kind == "float" and isinstance(value, float))
