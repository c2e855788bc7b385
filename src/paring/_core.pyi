"""The compiled sweeps of paring."""

from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


version: str = '0.1.0'

class Stop:
    """
    A deadline in seconds from now, or a request to stop, that every sweep heeds.
    """

    def __init__(self, seconds: float = float('inf')) -> None: ...

    def request(self) -> None: ...

    def set_deadline(self, seconds: float) -> None: ...

    @property
    def over(self) -> bool: ...

    def check(self) -> None:
        """Raises Stopped when it is over."""

class Stopped(Exception):
    pass

def install_blas(lapack: dict) -> None:
    """Lends the core SciPy's LAPACK (__pyx_capi__ of its Cython module)."""

class Loss:
    @property
    def outputs(self) -> int: ...

    @property
    def curvature_bound(self) -> float: ...

    def value(self, z: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def slope(self, z: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def curvature(self, z: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def majorant(self, z: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def model_curvature(self, z: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def conjugate(self, a: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

    def prox_conjugate(self, u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], step: float) -> NDArray[numpy.float64]: ...

    def domain(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple: ...

    def total(self, z: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float: ...

def make_squared_rows(table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Loss: ...

def make_loss(name: str, parameter: float = 1.0) -> Loss: ...

class Rows:
    """A matrix by its stored lines, in NumPy's own memory."""

    @overload
    @staticmethod
    def dense(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], by_rows: bool = False) -> Rows: ...

    @overload
    @staticmethod
    def dense(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], by_rows: bool = False) -> Rows: ...

    @property
    def lines_are_columns(self) -> bool: ...

    def product(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], transposed: bool, threads: int = 1, stop: Stop | None = None) -> NDArray[numpy.float64]: ...

    def product_of_lines(self, lines: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int = 1, stop: Stop | None = None) -> NDArray[numpy.float64]: ...

    def column_moments(self, r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1, stop: Stop | None = None) -> tuple: ...

    def few_products(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int = 1, stop: Stop | None = None) -> object:
        """v X of a dense X with unit inner step; None for other layouts."""

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, lines_are_columns: bool) -> Rows: ...

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, lines_are_columns: bool) -> Rows: ...

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, lines_are_columns: bool) -> Rows: ...

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, lines_are_columns: bool) -> Rows: ...

def product(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], threads: int = 1) -> NDArray[numpy.float64]:
    """a b, on so many threads."""

class Block:
    """A few columns of X, copied out in float64."""

    @property
    def shape(self) -> tuple: ...

    @property
    def shifts(self) -> NDArray[numpy.float64]: ...

    def scores(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, threads: int = 1) -> NDArray[numpy.float64]: ...

    def cross(self, others: Block, c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> NDArray[numpy.float64]:
        """others' diag(c) this, shifts included"""

    def gram_rows(self, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> NDArray[numpy.float64]:
        """Rows of X' diag(c) X, shifts included"""

    def adjoint(self, r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> NDArray[numpy.float64]:
        """X'r, shifts included"""

    def hessian(self, c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple:
        """X' diag(c) X and X'c for c >= 0, shifts included"""

    def cross_all(self, x: Rows, c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1, stop: Stop | None = None) -> NDArray[numpy.float64]:
        """X' diag(c) this, for every column of X"""

def make_block(x: Rows, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, by_rows: bool = True, threads: int = 1, stop: Stop | None = None) -> Block: ...

class Target:
    """A loss with its targets, weights, ridge and intercept."""

    def __init__(self, loss: Loss, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridge: float, intercept: bool, kept: object) -> None: ...

def minimise_block(target: Target, block: Block, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, tolerance: float = 1e-12, max_rounds: int = 100, sharpness: float = float('inf'), want_inverse: bool = False, threads: int = 1, stop: Stop | None = None) -> tuple: ...

def try_exchanges(target: Target, support: Block, candidates: Block, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], objective: float, inverse: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], t: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], schur: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], exchanges: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], goal: float, threads: int = 1, stop: Stop | None = None) -> tuple: ...

def best_exchanges(t: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], floor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fixed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, correction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, count: int = 1, below: float = 0.0, alike: int = 0, most: int = 0, threads: int = 1) -> NDArray[numpy.float64]: ...

class SavedTableau:
    """The state of a tableau: Q, w, g, s and F on a support."""

    def __init__(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], closed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], objective: float) -> None: ...

class Tableau:
    """
    Least squares on a support: exact gains and exchanges (core/include/paring/tableau.hpp).
    """

    def __init__(self, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], objective: float, always: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], never: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], gram: object, tolerance: float, batch: float, cache_bytes: float, at_once: int, resolution: float = 1e-10, least: float = 0.0) -> None: ...

    @property
    def size(self) -> int: ...

    @property
    def objective(self) -> float: ...

    @property
    def features(self) -> NDArray[numpy.int64]: ...

    @property
    def weights(self) -> NDArray[numpy.float64]: ...

    def grow(self, size: int, threads: int, stop: Stop) -> None: ...

    def shrink(self, size: int, threads: int, stop: Stop) -> None: ...

    def polish(self, threads: int, stop: Stop) -> bool: ...

    def refresh(self, threads: int, stop: Stop) -> None: ...

    def doubtful(self, rounding: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], hidden: float, most: int, threads: int, stop: Stop) -> NDArray[numpy.int64]: ...

    def regressions(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, stop: Stop) -> NDArray[numpy.float64]: ...

    @property
    def inverse(self) -> NDArray[numpy.float64]: ...

    @property
    def inflation(self) -> NDArray[numpy.float64]: ...

    def enter(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, stop: Stop) -> None: ...

    def saved(self) -> SavedTableau: ...

    def restore(self, saved: SavedTableau) -> None: ...

class Descent:
    """
    Block coordinate descent over working sets; keeps the columns it has used.
    """

    def __init__(self, target: object, dense: bool) -> None: ...

    def missing(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[int]: ...

    def append(self, x: Rows, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1, stop: Stop | None = None) -> None: ...

    def minimise(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], omega: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], goal: float, max_rounds: int = 100, threads: int = 1, stop: Stop | None = None) -> tuple:
        """
        (w, b, z, objective, violation, rounds, sweeps, newton_steps, extrapolations, stopped)
        """

def balanced_prox(loss: Loss, u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], step: float, total: float) -> NDArray[numpy.float64]:
    """prox_{step loss*}(u - t), t such that its v-weighted sum is total."""

def sweep_sdiht(rows: Rows, loss: Loss, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ridge: float, intercept: bool, k: int, always: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], never: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], acc: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: float, stop: Stop | None = None) -> tuple:
    """(a, acc, w = H_k(acc)) after SDIHT's blocks."""

class SvmlightError(ValueError):
    pass

class SvmlightReader:
    """Reads svmlight text pushed in pieces that may end anywhere."""

    def __init__(self, *, dtype: str = 'float64', base: str = 'auto', n_features: int = 0, query_ids: bool = False, refuse_nonfinite: bool = False, max_line: int = 1073741824) -> None: ...

    def feed(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Read the next bytes of the file."""

    def finish(self) -> None:
        """End the file."""

    def take(self) -> tuple[Any, ...]:
        """
        The whole rows read since the last call, as arrays: labels, indptr, indices (as written in the file), values, query_ids.
        """

    @property
    def n_rows(self) -> int:
        """Rows so far."""

    @property
    def n_entries(self) -> int:
        """Entries so far."""

    @property
    def n_features(self) -> int:
        """One more than the largest index, counted from zero; after finish()."""

    @property
    def first_index(self) -> int:
        """0 or 1, to be subtracted from every index; after finish()."""

    @property
    def unsorted(self) -> bool:
        """True once a row had unsorted or repeated indices."""

class Units:
    """Features in groups: the group of each, and the members of each."""

    def __init__(self, of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def sweep_proximal(rows: Rows, target: Target, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: float, penalty: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], omega: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Units | None, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slopes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, pull: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, store: str = 'plain', workers: int = 1, stop: Stop | None = None) -> NDArray[numpy.float64]:
    """
    w after sparse proximal steps; of a longer w, with its mean and slopes, after those of a table.
    """

class Moving:
    """Which features the steps of a sweep move."""

    @staticmethod
    def everywhere() -> Moving: ...

    @staticmethod
    def in_blocks(of_features: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], of_steps: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Moving: ...

    @staticmethod
    def in_windows(circle: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, of_steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Moving: ...

class Largest:
    """
    What a sweep keeps after each of its steps, beside the features always kept.
    """

    def __init__(self, d: int, k: int, support: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], always: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

def sweep_s2bcd(rows: Rows, target: Target, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch: int, anchor: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], moves: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], moving: Moving, largest: Largest | None = None, store: str = 'plain', workers: int = 1, stop: Stop | None = None) -> tuple:
    """
    (w, b) after sparse semi-stochastic steps of one worker, or of several on one iterate.
    """

class Limits:
    """What an iterate keeps to that is thresholded after every step."""

    def __init__(self, d: int, k: int, always: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], never: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], radius: float = float('inf'), h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, h_b: float = 1.0) -> None: ...

def sweep_frozen(rows: Rows, target: Target, limits: Limits, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], importance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, nu: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None = None, nu_b: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None = None, slopes: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None = None, block_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, blocks: int = 1, chosen: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, stop: Stop | None = None) -> tuple:
    """(w, b) after SG-HT, SVRG-HT or, with blocks, ASBCDHT steps."""

def sweep_by_rows(rows: Rows, target: Target, limits: Limits, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], importance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, nu: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], nu_b: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], slopes: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], often: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], stop: Stop | None = None) -> tuple:
    """(w, b) after SVRG-HT steps on the columns that rows touch."""

def sweep_moving(rows: Rows, target: Target, limits: Limits, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], importance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], mean_b: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], stop: Stop | None = None) -> tuple:
    """(w, b, table, mean, mean_b) after SAGA-HT steps."""

def sweep_blocks(rows: Rows, target: Target, limits: Limits, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], importance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, nu: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], nu_b: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], slopes: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: int, chosen: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], stop: Stop | None = None) -> tuple:
    """(w, b) after SBCD-HTP steps, not thresholded."""
