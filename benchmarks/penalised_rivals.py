"""The packages that are compared on penalised problems, each as one function of the same call:

    fit(X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol) -> [(0, coef, 0.0) of every weight]

for  min (1/n) sum_i loss(x_i.w, y_i) + lam Omega(w)  of gap.py, no ridge, no intercept, lams falling. X is dense
column-major or CSC, as all of these like best; what one needs in another form it converts within its own time. Above
one weight it is a path, by the package's own path function where there is one. This file runs in each rival's own
environment: above NumPy it imports in functions.

`tol` is each package's own tolerance: celer and scikit-learn's coordinate descent a gap relative to the data, skglm the
distance of the gradient from the subdifferential (absolute, so that it must fall with lam), liblinear and saga steps.
"""

import os
from dataclasses import dataclass

import numpy as np
from exchange import Fit
from rivals import Rival

GRID = tuple(float(f"{tol:.1g}") for tol in np.geomspace(1e-2, 1e-10, 17))  # by half decades, loosest first
EVERY = 1_000_000  # of iterations: the tolerance ends a fit, not their number
EPOCHS = 100_000  # of each of their working sets


@dataclass(frozen=True)
class PenalisedRival(Rival):
    penalties: tuple[str, ...] = ("l1",)
    has_path: bool = False  # one call solves many weights
    grid: tuple[float, ...] = GRID
    begin: float = 1e-5  # where the search of the tolerance sets out


def _fits(coefs) -> list[Fit]:
    return [(0, np.asarray(coef, dtype=np.float64).ravel(), 0.0) for coef in coefs]


def paring(X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol) -> list[Fit]:
    """Ours, through the public API."""
    import paring

    groups = np.arange(X.shape[1]) // size
    kinds = {
        "l1": lambda lam: paring.penalties.L1(lam),
        "group": lambda lam: paring.penalties.Group(lam, groups),
        "sparse_group": lambda lam: paring.penalties.SparseGroup(lam, groups, l1_ratio),
    }
    problem = paring.Problem(X, y, loss, penalty=kinds[penalty](lams[0]))
    if len(lams) == 1:
        result = paring.solve(problem, tol=tol, n_jobs=int(os.environ["OMP_NUM_THREADS"]))
        return _fits([result.model.dense(X.shape[1])])
    return _fits(step.model.dense(X.shape[1]) for step in paring.path(problem, lams=lams, tol=tol).steps)


def celer(X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol) -> list[Fit]:
    import celer

    terms = {"tol": tol, "max_iter": 200, "max_epochs": EPOCHS}
    if loss == "logistic":
        return _fits([celer.LogisticRegression(C=1 / (len(y) * lams[0]), **terms).fit(X, y).coef_])
    if penalty == "group":
        weights = np.full(X.shape[1] // size, np.sqrt(size))
        model = celer.GroupLasso(size, lams[0], weights=weights, fit_intercept=False, **terms)
        return _fits([model.fit(X, y).coef_])
    model = celer.Lasso(lams[0], fit_intercept=False, **terms)
    if len(lams) == 1:
        return _fits([model.fit(X, y).coef_])
    return _fits(model.path(X, y, np.array(lams))[1].T)


def skglm(X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol) -> list[Fit]:
    import skglm

    terms = {"tol": tol, "max_iter": 200, "max_epochs": EPOCHS, "fit_intercept": False}
    if loss == "logistic":
        return _fits([skglm.SparseLogisticRegression(lams[0], **terms).fit(X, y).coef_])
    if penalty == "group":
        from skglm.estimators import GroupLasso

        weights = np.full(X.shape[1] // size, np.sqrt(size))
        return _fits([GroupLasso(size, lams[0], weights, **terms).fit(X, y).coef_])
    if penalty == "sparse_group":
        return _fits([_skglm_sparse_group(X, y, lams[0], size, l1_ratio, tol)])
    model = skglm.Lasso(lams[0], **terms)
    if len(lams) == 1:
        return _fits([model.fit(X, y).coef_])
    return _fits(model.path(X, y, np.array(lams))[1].T)


def _skglm_sparse_group(X, y, lam, size, l1_ratio, tol):
    """No estimator: its parts, put together as its documentation does. Its penalty takes the step's weight of features
    by the number of the group, so all are equal here."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import QuadraticGroup
    from skglm.penalties import WeightedL1GroupL2
    from skglm.solvers import GroupBCD
    from skglm.utils.data import grp_converter

    d = X.shape[1]
    indices, ends = grp_converter(size, d)
    weights = np.full(d // size, (1 - l1_ratio) * np.sqrt(size))
    model = GeneralizedLinearEstimator(
        QuadraticGroup(ends, indices),
        WeightedL1GroupL2(lam, weights, np.full(d, l1_ratio), ends, indices),
        GroupBCD(tol=tol, max_iter=200, max_epochs=EPOCHS, ws_strategy="fixpoint"),
    )
    return model.fit(X, y).coef_


def sklearn(X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol) -> list[Fit]:
    """Coordinate descent of scikit-learn (from 1.8 on with gap safe screening)."""
    from sklearn.linear_model import Lasso, lasso_path

    if len(lams) == 1:
        return _fits([Lasso(lams[0], fit_intercept=False, tol=tol, max_iter=EVERY).fit(X, y).coef_])
    return _fits(lasso_path(X, y, alphas=np.array(lams), tol=tol, max_iter=EVERY)[1].T)


def sklearn_logistic(
    X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol, solver="saga"
) -> list[Fit]:
    """saga of scikit-learn, or liblinear as it ships it (random_state: the order of columns)."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        l1_ratio=1.0, C=1 / (len(y) * lams[0]), solver=solver, fit_intercept=False, tol=tol, max_iter=EVERY
    )
    return _fits([model.set_params(random_state=0).fit(X, y).coef_.T])


def adelie(X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol) -> list[Fit]:
    """Group elastic net by pathwise coordinate descent. Its multinomial groups are of a feature's classes, never less,
    so that it has no l1 there."""
    import adelie as ad

    d, threads = X.shape[1], int(os.environ["OMP_NUM_THREADS"])
    terms = {"intercept": False, "tol": tol, "n_threads": threads, "progress_bar": False, "early_exit": False}
    if penalty == "group":
        terms["groups"] = np.arange(0, d, size)
    glm = ad.glm.gaussian(y) if loss == "squared" else ad.glm.binomial((y + 1) / 2)
    matrix = ad.matrix.sparse(X, n_threads=threads) if hasattr(X, "tocsc") else X
    state = ad.grpnet(matrix, glm, lmda_path=np.array(lams), lmda_path_size=len(lams), **terms)
    return _fits(coef.toarray() if hasattr(coef, "toarray") else coef for coef in state.betas)


def copt(X, y, lams, loss, ridge, *, fit_intercept, penalty, size, l1_ratio, tol) -> list[Fit]:
    """Proximal gradient with line search: accelerated it takes longer."""
    import copt.loss
    import copt.penalty
    from scipy.sparse import csr_matrix, issparse

    X = csr_matrix(X) if issparse(X) else X
    smooth, norm = copt.loss.LogLoss(X, (y + 1) / 2), copt.penalty.L1Norm(lams[0])
    terms = {"jac": True, "step": "backtracking", "tol": tol, "max_iter": EVERY}
    return _fits([copt.minimize_proximal_gradient(smooth.f_grad, np.zeros(X.shape[1]), norm.prox, **terms).x])


RIVALS = {
    "paring": PenalisedRival(
        paring,
        "paring",
        losses=("squared", "logistic", "multinomial"),
        environment="ours",
        penalties=("l1", "group", "sparse_group"),
        has_path=True,
        grid=(1e-6,),
        begin=1e-6,
    ),
    "celer": PenalisedRival(celer, "celer", penalties=("l1", "group"), has_path=True, begin=1e-6),
    "skglm": PenalisedRival(skglm, "skglm", penalties=("l1", "group", "sparse_group"), has_path=True, begin=3e-3),
    "scikit-learn": PenalisedRival(sklearn, "scikit-learn", losses=("squared",), has_path=True, begin=1e-6),
    "liblinear": PenalisedRival(
        sklearn_logistic, "scikit-learn", losses=("logistic",), begin=1e-3, options={"solver": "liblinear"}
    ),
    "saga": PenalisedRival(sklearn_logistic, "scikit-learn", losses=("logistic", "multinomial"), begin=1e-4),
    "copt": PenalisedRival(copt, "copt", losses=("logistic",), environment="copt"),
    "adelie": PenalisedRival(
        adelie,
        "adelie",
        penalties=("l1", "group"),
        has_path=True,
        environment="adelie",
        begin=1e-8,
        grid=tuple(float(f"{tol:.1g}") for tol in np.geomspace(1e-4, 1e-16, 25)),
    ),
}
