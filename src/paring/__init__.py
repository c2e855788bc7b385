"""Sparse learning that keeps only what matters: exactly k features, with a certificate on the answer."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> module that defines it; a name equal to its module is the module itself. Loaded on first use.
# A function must not share the name of a module beside it: importing the module would hide the function.
_HOME: dict[str, str] = {
    "ElasticNet": "estimators",
    "ElasticNetCV": "estimators",
    "GroupLasso": "estimators",
    "GroupLassoCV": "estimators",
    "Lasso": "estimators",
    "LassoCV": "estimators",
    "MultiTaskLasso": "estimators",
    "MultiTaskLassoCV": "estimators",
    "PenalizedClassifier": "estimators",
    "PenalizedClassifierCV": "estimators",
    "PenalizedRegressor": "estimators",
    "PenalizedRegressorCV": "estimators",
    "Problem": "problem",
    "Result": "result",
    "SparseClassifier": "estimators",
    "SparseRegressor": "estimators",
    "constraints": "constraints",
    "load_model": "model_io",
    "losses": "losses",
    "minimize": "_minimize",
    "open_dataset": "data.folder",
    "path": "_path",
    "penalties": "penalties",
    "save_model": "model_io",
    "screening": "screening",
    "solve": "solvers",
    "solvers": "solvers",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_HOME[name]}")
    value = module if _HOME[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
