"""The solvers that are compared, each as one function of the same call:

    fit(X, y, k, loss, ridge, *, fit_intercept, **options) -> [(k, coef, intercept), ...]

for the problem stated in problems.py (X dense column-major or CSR, float64; loss "squared" or "logistic", labels -1,
+1). What a rival needs in another form (labels, CSC, an array of JAX) it converts within its own time, as its user
must. A list of several entries is a path. This file runs in each rival's own environment: above NumPy it imports in
functions.

Quirks, all seen by running them:

scikit-learn OMP: dense X, squared loss, no ridge. Exactly k.

abess 0.4.11: alpha = n ridge for LinearRegression and n ridge / 2 for LogisticRegression give our objective, on
columns as they are (is_normal=False; by default it normalises, and alpha then weighs the normalised weights). With
alpha > 0 its least squares chooses poor columns (9.8 against 0.21 on a 200 x 60 toy), without it does not. CSR goes
through a list of triplets. `thread` is for cross-validation only. Of a list of sizes it keeps the one a criterion likes
best: so one call for each k.

skscope 0.1.8: minimises any function; JAX in float32 unless JAX_ENABLE_X64 is set (processes.py sets it). It compiles
anew in every solve, 0.5 s; so small and sparse problems use NumPy/SciPy callbacks, as it also allows. HTP's default
step 0.005 never moves a mean loss (objective 6.4 against .0036 on a 1,000 x 2,000 toy): the step here is 1 over the
mean column curvature; step="spectral" is 1 over the largest eigenvalue. Its intercept is one more coordinate that is
always selected, hence sparsity k+1. ScopeSolver aborts its process at 100,000 columns.

fastsparsegams 0.2 (L0Learn): cannot be asked for k. A path of penalties ends once its size reaches max_support_size;
sizes are skipped, and the last one may exceed it. The lambda grid adapts to the data. algorithm="CD" has no swaps,
"CDPSI" swaps (at most max_swaps a grid point) and takes 3-10 times longer. Ridge: it normalises columns, so penalty
"L0L2" with gamma = ridge / 2 is our objective where columns have mean 0 and variance 1; elsewhere gamma is divided by
the mean of x_ij^2 and `refitted` is what to compare. "L0" logistic silently adds gamma 1e-7. Takes only np.ndarray and
csc_matrix of float64; of two labels the lower is -1.

l1-refit: the l1 path is bisected to the most features within k, then refitted without l1. liblinear penalises its own
intercept; the refit does not.

liblinear-l1: one plain l1 fit, C found beforehand and not counted. Compare its seconds; its objective is another.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from exchange import Fit

SMALL = 2_000_000  # entries of X below which compiling for a solve takes longer than solving


@dataclass(frozen=True)
class Rival:
    fit: Callable[..., list[Fit]]
    package: str
    losses: tuple[str, ...] = ("squared", "logistic")
    sparse: bool = True
    path: bool = False  # one call returns all sizes up to k
    environment: str = "rivals"
    prepare: Callable[..., dict[str, Any]] | None = None  # what is found before the clock starts
    other_objective: bool = False  # it minimises something else: only its time and its held-out error compare
    options: dict[str, Any] = field(default_factory=dict)


def _mean_square(X) -> float:
    """The mean of x_ij^2 over the columns that are not empty."""
    squares = np.asarray((X.multiply(X) if hasattr(X, "multiply") else np.square(X)).sum(0)).ravel() / X.shape[0]
    return float(squares[squares > 0].mean())


def paring(X, y, k, loss, ridge, *, fit_intercept, solver="pursuit") -> list[Fit]:
    """Ours, through the public API."""
    import paring

    problem = paring.Problem(
        X, y, loss=loss, constraint=paring.constraints.TopK(k), ridge=ridge, fit_intercept=fit_intercept
    )
    result = paring.solve(problem, solver=solver, n_jobs=int(os.environ["OMP_NUM_THREADS"]))
    return [(k, np.asarray(result.coef), float(result.intercept))]


def omp(X, y, k, loss, ridge, *, fit_intercept) -> list[Fit]:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    model = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=fit_intercept).fit(X, y)
    return [(k, model.coef_, model.intercept_)]


def abess(X, y, k, loss, ridge, *, fit_intercept) -> list[Fit]:
    from abess import LinearRegression, LogisticRegression

    estimator, scale = (LinearRegression, 1.0) if loss == "squared" else (LogisticRegression, 0.5)
    model = estimator(support_size=k, alpha=X.shape[0] * ridge * scale, fit_intercept=fit_intercept)
    model.fit(X, y, is_normal=ridge == 0)
    return [(k, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))]


def fastsparsegams(X, y, k, loss, ridge, *, fit_intercept, algorithm) -> list[Fit]:
    import fastsparsegams
    from scipy.sparse import csc_matrix, issparse

    gamma = ridge / 2 / _mean_square(X)
    penalty = {"penalty": "L0L2", "num_gamma": 1, "gamma_min": gamma, "gamma_max": gamma}
    path = fastsparsegams.fit(
        csc_matrix(X) if issparse(X) else X,
        y,
        loss={"squared": "SquaredError", "logistic": "Logistic"}[loss],
        algorithm=algorithm,
        max_support_size=k,
        intercept=fit_intercept,
        **(penalty if ridge else {"penalty": "L0"}),
    )
    coefs, intercepts = path.coeffs[0].toarray(), path.intercepts[0]
    return [(size, coefs[:, i], intercepts[i]) for i, size in enumerate(path.support_size[0]) if 0 < size <= k]


# -- skscope -------------------------------------------------------------------------------------------------


def _step(X, loss, ridge, rule) -> float:
    """1 over a bound of the loss's curvature times the mean or the largest curvature of X'X/n."""
    n, d = X.shape
    bound = 1.0 if loss == "squared" else 0.25
    if rule == "columns":
        return 1 / (bound * _mean_square(X) + ridge)
    v = np.random.default_rng(0).standard_normal(d)
    for _ in range(20):  # power iteration
        v = X.T @ (X @ (v / np.linalg.norm(v))) / n
    return 1 / (1.05 * bound * float(np.linalg.norm(v)) + ridge)


def _numpy_objective(X, y, loss, ridge, fit_intercept):
    n, d = X.shape

    def scores(p):
        return X @ p[:d] + (p[d] if fit_intercept else 0.0)

    def value(p):
        z = scores(p)
        values = (z - y) ** 2 / 2 if loss == "squared" else np.logaddexp(0, -y * z)
        return float(np.mean(values) + ridge / 2 * (p[:d] @ p[:d]))

    def gradient(p):
        z = scores(p)
        slope = (z - y if loss == "squared" else -y / (1 + np.exp(np.minimum(y * z, 700)))) / n
        g = X.T @ slope + ridge * p[:d]
        return np.append(g, slope.sum()) if fit_intercept else g

    return {"objective": value, "gradient": gradient}


def _jax_objective(X, y, loss, ridge, fit_intercept):
    import jax.numpy as jnp

    d = X.shape[1]

    def value(p, data):
        z = data[0] @ p[:d] + (p[d] if fit_intercept else 0.0)
        values = (z - data[1]) ** 2 / 2 if loss == "squared" else jnp.logaddexp(0, -data[1] * z)
        return jnp.mean(values) + ridge / 2 * jnp.sum(p[:d] ** 2)

    return {"objective": value, "data": (jnp.asarray(X), jnp.asarray(y)), "jit": True}


def skscope(X, y, k, loss, ridge, *, fit_intercept, solver, step=None) -> list[Fit]:
    import skscope
    from scipy.sparse import issparse

    (_, d), extra = X.shape, int(fit_intercept)
    always = {"preselect": np.array([d])} if fit_intercept else {}
    if step is not None:
        always["step_size"] = _step(X, loss, ridge, step)
    search = getattr(skscope, solver)(d + extra, k + extra, **always)
    plain = issparse(X) or X.size < SMALL
    target = (_numpy_objective if plain else _jax_objective)(X, y, loss, ridge, fit_intercept)
    p = np.asarray(search.solve(**target), dtype=np.float64)
    return [(k, p[:d], float(p[d]) if fit_intercept else 0.0)]


# -- l1 ------------------------------------------------------------------------------------------------------


def _bisect_to_k(fit, strength, k, steps=14):
    """(strength, coef) of the most features within k; fit(strength) has more of them the larger the strength."""
    low, high, best = strength, None, (strength, None, -1)
    for _ in range(60):
        strength = 1.5 * low if high is None else np.sqrt(low * high)
        coef = fit(strength)
        size = np.count_nonzero(coef)
        if size > k:
            high = strength
        else:
            low, best = strength, max(best, (strength, coef, size), key=lambda found: found[2])
        steps -= high is not None
        if size == k or steps == 0:
            break
    return best[:2]


def _liblinear(X, y, C, fit_intercept):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(l1_ratio=1, solver="liblinear", C=C, fit_intercept=fit_intercept, random_state=0)
    model.fit(X, y)
    return model.coef_.ravel(), float(np.ravel(model.intercept_)[0])


def _least_C(X, y, fit_intercept):
    from sklearn.svm import l1_min_c

    return float(l1_min_c(X, y, loss="log", fit_intercept=fit_intercept))


def l1_refit(X, y, k, loss, ridge, *, fit_intercept) -> list[Fit]:
    from evaluate import refit
    from sklearn.linear_model import Lasso

    if loss == "squared":
        n = X.shape[0]
        centred = y - y.mean() if fit_intercept else y
        model = Lasso(fit_intercept=fit_intercept, warm_start=True)
        start = n / float(np.max(np.abs(X.T @ centred)))
        _, coef = _bisect_to_k(lambda s: model.set_params(alpha=1 / s).fit(X, y).coef_.copy(), start, k)
    else:
        start = _least_C(X, y, fit_intercept)
        _, coef = _bisect_to_k(lambda C: _liblinear(X, y, C, fit_intercept)[0], start, k)
    support = np.array([], dtype=int) if coef is None else np.flatnonzero(coef)
    return [refit(X, y, support, loss, ridge, fit_intercept)]


def liblinear_strength(X, y, k, loss, ridge, *, fit_intercept) -> dict[str, Any]:
    start = _least_C(X, y, fit_intercept)
    C, _ = _bisect_to_k(lambda C: _liblinear(X, y, C, fit_intercept)[0], start, k)
    return {"C": C}


def liblinear_l1(X, y, k, loss, ridge, *, fit_intercept, C) -> list[Fit]:
    return [(k, *_liblinear(X, y, C, fit_intercept))]


RIVALS = {
    "paring": Rival(paring, "paring", environment="ours"),
    "omp": Rival(omp, "scikit-learn", losses=("squared",), sparse=False),
    "abess": Rival(abess, "abess"),
    "skscope-htp": Rival(skscope, "skscope", options={"solver": "HTPSolver", "step": "columns"}),
    "skscope-htp-spectral": Rival(skscope, "skscope", options={"solver": "HTPSolver", "step": "spectral"}),
    "skscope-scope": Rival(skscope, "skscope", options={"solver": "ScopeSolver"}),
    "skscope-grasp": Rival(skscope, "skscope", options={"solver": "GraspSolver"}),
    "fastsparsegams": Rival(fastsparsegams, "fastsparsegams", path=True, options={"algorithm": "CD"}),
    "fastsparsegams-swaps": Rival(fastsparsegams, "fastsparsegams", path=True, options={"algorithm": "CDPSI"}),
    "l1-refit": Rival(l1_refit, "scikit-learn"),
    "liblinear-l1": Rival(
        liblinear_l1, "scikit-learn", losses=("logistic",), prepare=liblinear_strength, other_objective=True
    ),
}
