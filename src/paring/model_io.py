"""Fitted models in files: ``save_model`` and ``load_model``.

    NAME.json    what the model is: format and version, estimator, parameters, classes, feature names, what was shown
    NAME.npz     its numbers: support, weights, intercept; the path and history of the fit where they are small; the
                 weights of the penalty that cross-validation tried, and their errors

The two belong together: the JSON holds the checksum of the other. Loading runs nothing that the files hold, and
believes no size before the bytes are there; what does not fit raises ModelFileError.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paring import __version__, _model_json
from paring._model_json import ModelFileError, need
from paring.data.npy import Npz
from paring.data.streams import check_regular
from paring.result import Certificate, Model, PathPoint, Record, Result

__all__ = ["ModelFileError", "load_model", "model_files", "save_model"]

FORMAT, VERSION = "paring-model", 1
MOST_PATH_ENTRIES = 1 << 20  # a longer path is left out: 16 MB
MOST_ROUNDS = 1 << 16  # of the history; a longer one is left out
LARGEST_JSON = 1 << 30  # bytes of JSON that are read
PENALISED = ("PenalizedRegressor", "PenalizedClassifier", "Lasso", "ElasticNet", "GroupLasso", "MultiTaskLasso")
CHOOSING = tuple(f"{name}CV" for name in PENALISED)
JOINT = ("MultiTaskLasso", "MultiTaskLassoCV")  # of several targets
ESTIMATORS = ("SparseRegressor", "SparseClassifier", *PENALISED, *CHOOSING)
# What of a Result is a number, a text or a truth value, with its type.
FACTS = {f.name: str(f.type) for f in fields(Result) if f.type in ("float", "int", "str", "bool", "str | None")}


def model_files(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The two files of a model: ``path`` is their common name, or either of them."""
    stem = Path(path)
    if stem.suffix in (".json", ".npz"):
        stem = stem.with_suffix("")
    return stem.with_name(stem.name + ".json"), stem.with_name(stem.name + ".npz")


def save_model(path: str | os.PathLike[str], estimator: Any, *, first_index: int | None = None) -> tuple[Path, Path]:
    """Write a fitted estimator of this library as ``path``.json and ``path``.npz; returns their names.

    first_index : what the svmlight file of the fit calls its first feature (0 or 1): `paring predict` reads others so.
    Existing files are replaced, each at once. Left out: callbacks, and with a warning settings of a solver given as an
    object (its name is kept), generators given as random_state, folds given as an object. Cost: the model's size.
    """
    from sklearn.utils.validation import check_is_fitted

    from paring import estimators

    name = type(estimator).__name__
    if name not in ESTIMATORS or type(estimator) is not getattr(estimators, name):
        wanted = f"{', '.join(ESTIMATORS[:-1])} or {ESTIMATORS[-1]}"
        raise TypeError(f"save_model takes a fitted {wanted} of paring, got {type(estimator)}")
    check_is_fitted(estimator, "result_")
    result: Result = estimator.result_
    names = getattr(estimator, "feature_names_in_", None)
    classes = getattr(estimator, "classes_", None)
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "paring": __version__,
        "estimator": name,
        "parameters": _model_json.encode_parameters(estimator.get_params(deep=False), type(estimator)().get_params()),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "first_index": first_index,
        "classes": None if classes is None else _model_json.encode_classes(classes),
        "targets": len(estimator.coef_) if name in JOINT else None,
        "fit": {key: _model_json.encode(getattr(result, key)) for key in FACTS},
        "certificate": {key: _model_json.encode(value) for key, value in asdict(result.certificate).items()},
    }
    head_file, array_file = model_files(path)
    arrays = io.BytesIO()
    chosen = _selection(estimator) if name in CHOOSING else {}
    np.savez_compressed(arrays, **_arrays(result), **chosen)  # type: ignore[arg-type]
    head["sha256"] = hashlib.sha256(arrays.getbuffer()).hexdigest()
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False)
    head_file.parent.mkdir(parents=True, exist_ok=True)
    _replace(array_file, arrays.getvalue())
    _replace(head_file, text.encode("utf-8", "surrogatepass"))
    return head_file, array_file


def load_model(path: str | os.PathLike[str]) -> Any:
    """The estimator that ``save_model`` wrote, fitted; it predicts what it predicted before.

    ``path`` : the common name of the two files, or either of them. Files that are damaged, hostile, of another version
    or not of one model raise ModelFileError, a ValueError. Cost: the coefficients, n_features numbers an output.
    """
    head_file, array_file = model_files(path)
    head = _read_head(head_file)
    with need(head_file):
        outputs = _outputs(head)
        estimator = _bare(head, outputs)
    with need(array_file):
        if _sha256(array_file) != head["sha256"]:
            raise ValueError("the checksum is not that of the .json file: damaged, or of another model")
        with Npz(array_file) as arrays:
            estimator._set(_result(arrays, head, outputs))
            if head["estimator"] in CHOOSING:
                _set_selection(estimator, arrays)
    return estimator


def first_index(path: str | os.PathLike[str]) -> int | None:
    """What the svmlight file of the fit called its first feature; None where that is not known."""
    found = _read_head(model_files(path)[0]).get("first_index")
    return found if found in (0, 1) else None


# -- arrays ----------------------------------------------------------------------------------------------------------


def _arrays(result: Result) -> dict[str, NDArray[Any]]:
    arrays = _packed("", [result.model])
    points = [result.path[size] for size in sorted(result.path)]
    if points and len(points) + sum(point.model.weights.size for point in points) <= MOST_PATH_ENTRIES:
        arrays |= _packed("path_", [point.model for point in points])
        arrays["path_sizes"] = np.array([point.size for point in points], np.int64)
        arrays["path_objectives"] = np.array([point.objective for point in points])
    if 0 < len(result.history) <= MOST_ROUNDS:
        arrays["history"] = np.array([tuple(asdict(record).values()) for record in result.history], np.float64)
    return arrays


def _packed(prefix: str, models: list[Model]) -> dict[str, NDArray[Any]]:
    return {
        f"{prefix}lengths": np.array([len(model.support) for model in models], np.int64),
        f"{prefix}support": np.concatenate([model.support for model in models]).astype(np.int64),
        f"{prefix}weights": np.concatenate([model.weights for model in models]).astype(np.float64),
        f"{prefix}intercepts": np.array([model.intercept for model in models], np.float64),
    }


def _unpacked(arrays: Npz, prefix: str, d: int, outputs: int) -> list[Model]:
    """The models of one set of arrays, each checked."""
    lengths, support, weights, intercepts = (
        arrays[prefix + name] for name in ("lengths", "support", "weights", "intercepts")
    )
    wide = () if outputs == 1 else (outputs,)
    for name, array, kind, shape in (
        ("lengths", lengths, np.int64, (len(lengths) if lengths.ndim else -1,)),
        ("support", support, np.int64, (support.size,)),
        ("weights", weights, np.float64, (support.size, *wide)),
    ):
        if array.dtype != kind or array.shape != shape:
            raise ValueError(f"{prefix}{name} holds {array.dtype} {array.shape}, which does not fit the rest")
    # The intercepts of a multinomial problem without intercept may be the number 0.
    if intercepts.dtype != np.float64 or intercepts.shape not in ((len(lengths), *wide), (len(lengths),)):
        raise ValueError(f"{prefix}intercepts holds {intercepts.dtype} {intercepts.shape}, which does not fit the rest")
    if len(lengths) and (lengths.min() < 0 or lengths.max() > d):
        raise ValueError(f"{prefix}lengths: a model has a negative number of features, or more than {d}")
    if sum(lengths.tolist()) != support.size:
        raise ValueError(f"{prefix}support holds {support.size} features, {prefix}lengths says otherwise")
    if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
        raise ValueError(f"{prefix}weights or {prefix}intercepts hold NaN or infinity")
    ends = np.cumsum(lengths)[:-1]
    models = []
    for features, w, b in zip(np.split(support, ends), np.split(weights, ends), intercepts, strict=True):
        if len(features) and (features[0] < 0 or features[-1] >= d or np.any(np.diff(features) <= 0)):
            raise ValueError(f"{prefix}support: not ascending feature indices below {d}")
        models.append(Model(features, w, b if np.ndim(b) else float(b)))
    return models


def _result(arrays: Npz, head: dict[str, Any], outputs: int) -> Result:
    d = head["n_features"]
    if arrays["lengths"].shape != (1,):
        raise ValueError("lengths: expected one model")
    models = _unpacked(arrays, "", d, outputs)
    return Result(
        coef=models[0].dense(d),
        intercept=models[0].intercept,
        support=models[0].support,
        certificate=Certificate(**head["certificate"]),
        history=_history(arrays),
        path=_path(arrays, d, outputs),
        **head["fit"],
    )


def _path(arrays: Npz, d: int, outputs: int) -> dict[int, PathPoint]:
    if "path_sizes" not in arrays.names:
        return {}
    if arrays["path_lengths"].size + arrays["path_weights"].size > MOST_PATH_ENTRIES:
        raise ValueError("path_weights is longer than any path that is saved")
    models = _unpacked(arrays, "path_", d, outputs)
    sizes, objectives = arrays["path_sizes"], arrays["path_objectives"]
    if sizes.shape != (len(models),) or objectives.shape != sizes.shape or sizes.dtype != np.int64:
        raise ValueError("path_sizes and path_objectives do not fit the models of the path")
    points = zip(sizes.tolist(), models, objectives.astype(float).tolist(), strict=True)
    return {size: PathPoint(size, model, objective) for size, model, objective in points}


def _history(arrays: Npz) -> tuple[Record, ...]:
    if "history" not in arrays.names:
        return ()
    rows = arrays["history"]
    whole = rows.ndim == 2 and rows.shape[1] in (len(fields(Record)) - 1, len(fields(Record)))  # `active` came later
    if not whole or len(rows) > MOST_ROUNDS or np.isnan(rows).any():
        raise ValueError(f"history holds {rows.dtype} {rows.shape}, or NaN")
    return tuple(Record(f, c, p, int(t), s, *map(int, rest)) for f, c, p, t, s, *rest in rows.tolist())


def _selection(estimator: Any) -> dict[str, NDArray[Any]]:
    """What the choice of alpha left: its table, the errors of each fold, and where in it the choice is."""
    return {
        "selection": np.column_stack(list(estimator.path_.values())),
        "selection_errors": estimator.error_path_,
        "selection_chosen": np.flatnonzero(estimator.alphas_ == estimator.alpha_)[:1].astype(np.int64),
    }


def _set_selection(estimator: Any, arrays: Npz) -> None:
    from paring.estimators.selection import COLUMNS

    table, errors, chosen = (arrays[f"selection{part}"] for part in ("", "_errors", "_chosen"))
    for name, array, shape in (
        ("", table, (len(table) if table.ndim else -1, len(COLUMNS))),
        ("_errors", errors, (len(table) if table.ndim else -1, errors.shape[-1] if errors.ndim else -1)),
    ):
        if array.dtype != np.float64 or array.shape != shape:
            raise ValueError(f"selection{name} holds {array.dtype} {array.shape}, which does not fit the rest")
    alphas = table[:, 0].copy()
    if not (np.isfinite(alphas).all() and (alphas > 0).all() and (np.diff(alphas) <= 0).all()):
        raise ValueError("selection: the weights are not positive and falling")
    if chosen.dtype != np.int64 or chosen.shape != (1,) or not 0 <= chosen[0] < len(alphas):
        raise ValueError(f"selection_chosen is not a row of the {len(alphas)} of the selection")
    estimator.alphas_, estimator.alpha_ = alphas, float(alphas[chosen[0]])
    estimator.path_, estimator.error_path_ = dict(zip(COLUMNS, table.T.copy(), strict=True)), errors


# -- the JSON --------------------------------------------------------------------------------------------------------


def _read_head(path: Path) -> dict[str, Any]:
    with need(path):
        if check_regular(path) > LARGEST_JSON:
            raise ValueError(f"is larger than {LARGEST_JSON >> 30} GiB")
        head = json.loads(path.read_text("utf-8", "surrogatepass"), parse_constant=_model_json.no_constant)
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ValueError(f"is not a model of this library (format is not {FORMAT!r})")
        if head.get("version") != VERSION:
            found = str(head.get("version"))[:9]
            raise ValueError(f"is of version {found}, this paring reads version {VERSION}")
        _model_json.check_head(head, ESTIMATORS, JOINT, FACTS)
    return head


def _outputs(head: dict[str, Any]) -> int:
    """Weights a feature."""
    if head["classes"] is None:
        return int(head.get("targets") or 1)
    classes = len(_model_json.decode_classes(head["classes"]))
    return 1 if classes == 2 else classes


def _bare(head: dict[str, Any], outputs: int) -> Any:
    """The estimator with its parameters, names and classes, not yet its coefficients."""
    from paring import estimators

    known = getattr(estimators, head["estimator"])
    parameters = _model_json.decode_parameters(head["parameters"], known().get_params())
    estimator = known(**parameters)
    _require_memory(head["n_features"] * outputs)
    if head["classes"] is not None:
        estimator.classes_ = _model_json.decode_classes(head["classes"])
    estimator.n_features_in_ = head["n_features"]
    if head["feature_names"] is not None:
        estimator.feature_names_in_ = np.array(head["feature_names"], dtype=object)
    return estimator


def _require_memory(numbers: int) -> None:
    """Refuse coefficients that cannot be held: three numbers of 8 bytes each while they are put together."""
    try:
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 24
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        most = 1 << 31
    if numbers > most:
        raise ValueError(f"declares {numbers:.3g} coefficients, more than memory can hold")


def _sha256(path: Path) -> str:
    check_regular(path)
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _replace(path: Path, content: bytes) -> None:
    """The file appears whole, or not at all."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
