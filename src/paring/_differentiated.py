"""A function and its gradient in one, however the gradient is given to ``minimize``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Both = Callable[[Array], tuple[Any, Any]]


def value_and_gradient(fun: Callable[..., Any], jac: Any) -> Both:
    """x -> (value, gradient)."""
    if jac is True:
        return fun
    if callable(jac):
        return lambda x: (fun(x), jac(x))
    if jac == "jax":
        return _in_jax(fun)
    if jac == "torch":
        return _in_torch(fun)
    raise ValueError(f"jac must be a callable, True (fun returns value and gradient), 'jax' or 'torch', got {jac!r}")


def _in_jax(fun: Callable[..., Any]) -> Both:
    try:
        import jax  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("jac='jax' needs JAX: pip install jax") from None
    return cast(Both, jax.value_and_grad(fun))


def _in_torch(fun: Callable[..., Any]) -> Both:
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("jac='torch' needs PyTorch: pip install torch") from None

    def both(x: Array) -> tuple[Any, Any]:
        point = torch.tensor(x, requires_grad=True)
        value = fun(point)
        (gradient,) = torch.autograd.grad(value, point)
        return value.detach().cpu().numpy(), gradient.cpu().numpy()

    return both
