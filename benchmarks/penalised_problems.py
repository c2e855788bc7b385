"""Problems of penalised learning, beside those of problems.py, and registered there."""

import numpy as np
import problems
import scipy.sparse as sp
from problems import Meta, problem


@problem("gaussian")
def gaussian(n=2000, d=20000, s=200, *, seed=0, sigma=1.0):
    """Standard normal rows, s standard normal weights."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, d)))
    w = np.zeros(d)
    w[rng.choice(d, s, replace=False)] = rng.standard_normal(s)
    return X, X @ w + sigma * rng.standard_normal(n), Meta("squared", ())


@problem("grouped")
def grouped(n=1000, d=20000, size=10, s=20, *, seed=0, sigma=1.0, share=0.5):
    """Standard normal rows; s groups of `size` columns count, and of each a share of its columns."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, d)))
    w = np.zeros((d // size, size))
    for g in rng.choice(d // size, s, replace=False):
        w[g, : round(share * size)] = rng.standard_normal(round(share * size))
    return X, X @ w.ravel() + sigma * rng.standard_normal(n), Meta("squared", ())


@problem("bardet")
def bardet():
    """Bardet-Biedl gene expression: 120 x 100, five columns of splines a gene; columns standardised, y centred."""
    X, y, _ = problems._load("bardet")
    (X, _) = problems._standardised(X)
    return X, y - y.mean(), Meta("squared", (), note="columns standardised, y centred")


@problem("newsgroups")
def newsgroups(columns=20000):
    """news20 by its 20 groups: the most frequent columns, rows of unit length."""
    X, _, extra = problems._load("news20_rebuilt_binary")
    X = X[:, np.sort(np.argsort(-X.getnnz(axis=0), kind="stable")[:columns])]
    X = (sp.diags(1 / np.sqrt(np.maximum(X.getnnz(axis=1), 1))) @ X).tocsr()
    _, y = np.unique(extra["group"], return_inverse=True)
    return X, y.astype(np.float64), Meta("multinomial", (), note="20 groups; unit rows")
