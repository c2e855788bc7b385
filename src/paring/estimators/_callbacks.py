"""``set_callbacks``: scikit-learn's mixin where it has one (1.9 on), else ours of the same name.

Two kinds are taken. A plain callable ``f(progress) -> stop or None`` goes to ``paring.solve``. A callback of
scikit-learn's own protocol (``ProgressBar()``, ..) is told of the fit as a task and of each round as a task within it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sklearn.base import clone

from paring.solvers._loop import Progress

Watch = Callable[[Progress], Any]
Method = TypeVar("Method", bound=Callable[..., Any])


class Watcher:
    """A plain callable in the shape of scikit-learn's protocol, so that clones carry it along."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> None: ...


try:
    from sklearn.callback import CallbackSupportMixin, FitCallback
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9
    FitCallback = Watcher

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """What is used here of scikit-learn's mixin."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            self.__dict__.pop("_skl_callbacks", None)
            if callbacks:
                self._skl_callbacks = list(callbacks)
            return self

        def __sklearn_clone__(self: Any) -> Any:
            bare = type(self)(**{name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()})
            kept = ("_skl_callbacks", "_metadata_request")
            vars(bare).update({name: vars(self)[name] for name in kept if name in vars(self)})
            return bare

    def _with_callbacks(method: Any) -> Any:
        @wraps(method)  # as scikit-learn's does, so that warnings point to the same line
        def wrapped(*args: Any, **options: Any) -> Any:
            return method(*args, **options)

        return wrapped


def with_callbacks(fit: Method) -> Method:
    """Decorates ``fit``: scikit-learn's callbacks are torn down however it ends."""
    return _with_callbacks(fit)


class TakesCallbacks(CallbackSupportMixin):
    """Gives an estimator ``set_callbacks``."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set what is called after each round of ``fit``; without arguments, nothing is.

        Parameters
        ----------
        *callbacks : callables or scikit-learn callbacks
            ``f(progress)``, where ``progress`` has ``rounds``, ``objective``, ``certificate``, ``passes``, ``seconds``,
            ``n_selected`` and ``model``; a true answer ends the fit with the model so far. From scikit-learn 1.9
            on also instances of its own callbacks, such as ``sklearn.callback.ProgressBar()``.

        Returns
        -------
        self : the estimator itself.
        """
        return super().set_callbacks(*map(_as_callback, callbacks))

    def _watchers(self, attributes: Callable[[Any], dict[str, Any]], **data: Any) -> tuple[list[Watch], Rounds | None]:
        """What ``solve`` shall call, and the one among them that speaks scikit-learn's protocol, to be closed."""
        callbacks = vars(self).get("_skl_callbacks", [])
        plain: list[Watch] = [callback.watch for callback in callbacks if isinstance(callback, Watcher)]
        if len(plain) == len(callbacks) and "_parent_callback_ctx" not in vars(self):
            return plain, None
        rounds = Rounds(self, attributes, data)
        return [*plain, rounds], rounds


class Rounds:
    """Tells scikit-learn's callbacks of each round. ``attributes``: model -> what an estimator predicts with."""

    def __init__(self, estimator: Any, attributes: Callable[[Any], dict[str, Any]], data: dict[str, Any]) -> None:
        self.attributes = attributes
        self.data = {"estimator": estimator, **data}
        self.fit = estimator._init_callback_context(max_subtasks=None).call_on_fit_task_begin(**self.data)
        self.round = self._begin()

    def _begin(self) -> Any:
        return self.fit.subcontext(task_name="round").call_on_fit_task_begin(**self.data)

    def __call__(self, progress: Progress) -> bool:
        stop = self.round.call_on_fit_task_end(
            **self.data, reconstruction_attributes=lambda: self.attributes(progress.model)
        )
        self.round = None if stop else self._begin()
        return bool(stop)

    def close(self) -> None:
        """The end of fit; the estimator has its fitted attributes by now."""
        if self.round is not None:  # begun and not gone through: ended as an empty task
            self.round.call_on_fit_task_end(estimator=self.data["estimator"])
        self.fit.call_on_fit_task_end(**self.data, reconstruction_attributes={})


def _as_callback(callback: Any) -> Any:
    if isinstance(callback, FitCallback) and not isinstance(callback, type):
        return callback
    if callable(callback) and not isinstance(callback, type):
        return Watcher(callback)
    raise TypeError(
        f"callbacks must be callables f(progress) or instances of scikit-learn's callbacks, got {callback!r}"
    )
