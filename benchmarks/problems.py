"""Named problems: `make(name, **options)` returns (X, y, meta).

Synthetic ones are drawn by NumPy's default_rng from their seed alone. Real ones are read from the folder PARING_DATA
(default: ../shared/data beside the project); one that is absent raises Unavailable with the reason. All have the form

    min  (1/n) sum_i loss(x_i.w + b, y_i) + (ridge/2) |w|^2    subject to |w|_0 <= k

with labels -1, +1, and b only where meta.fit_intercept. X is dense float64 (column-major) or CSR float64. What `meta`
suggests (k, ridge, fit_intercept) a run may override.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]


class Unavailable(Exception):
    """The problem's file is not there; the message says which."""


@dataclass(frozen=True)
class Meta:
    """What belongs to a problem beside X and y."""

    loss: str
    k: tuple[int, ...]
    X_test: Any = None
    y_test: Any = None
    truth: Any = None  # the planted weights
    ridge: float = 0.0
    fit_intercept: bool = False
    note: str = ""

    @property
    def task(self) -> str:
        return "regression" if self.loss == "squared" else "classification"


PROBLEMS: dict[str, Callable[..., tuple[Any, np.ndarray, Meta]]] = {}


def problem(name: str):
    def register(function):
        PROBLEMS[name] = function
        return function

    return register


def make(name: str, **options: Any) -> tuple[Any, np.ndarray, Meta]:
    if name not in PROBLEMS:
        raise KeyError(f"no problem {name!r}; there are {', '.join(sorted(PROBLEMS))}")
    return PROBLEMS[name](**options)


# -- synthetic -----------------------------------------------------------------------------------------------


def _autoregressive(rng, n, d, rho):
    """Rows N(0, rho^|i-j|), drawn column by column."""
    X = np.empty((n, d))
    X[:, 0] = rng.standard_normal(n)
    innovation = np.sqrt(1 - rho * rho)
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + innovation * rng.standard_normal(n)
    return np.asfortranarray(X)


def _held_out(seed):
    """A second stream for held-out rows, so that they do not move the training rows."""
    return np.random.default_rng([seed, 1])


@problem("ar")
def ar(n=5000, d=10000, s=500, *, n_test=1000, seed=0, sigma=0.1, rho=0.6):
    """Chen and Gu 2016 (ASBCDHT), section 6.2.1: correlation 0.6^|i-j|, noise variance 0.01, k = 1.2 s."""
    rng = np.random.default_rng(seed)
    X = _autoregressive(rng, n, d, rho)
    support = rng.choice(d, s, replace=False)
    w = np.zeros(d)
    w[support] = rng.standard_normal(s)
    y = X @ w + sigma * rng.standard_normal(n)

    rng = _held_out(seed)
    X_test = _autoregressive(rng, n_test, d, rho)
    y_test = X_test @ w + sigma * rng.standard_normal(n_test)
    return X, y, Meta("squared", (round(1.2 * s),), X_test, y_test, w)


def _equicorrelated(rng, n, d, c):
    """Rows N(0, (1-c) I + c 11'): one shared factor and independent parts, column by column."""
    shared = np.sqrt(c) * rng.standard_normal(n)
    X = np.empty((n, d), order="F")
    for j in range(d):
        X[:, j] = shared + np.sqrt(1 - c) * rng.standard_normal(n)
    return X


@problem("equicorrelated")
def equicorrelated(n=10000, d=25000, s=200, k=500, *, n_test=1000, seed=0, sigma=1.0, c=0.5):
    """Li et al. (SVRG-HT), section V.A and Table I: all correlations c (0.1 or 0.5), sigma 0 or 1.

    2 GB at full size.
    """
    rng = np.random.default_rng(seed)
    X = _equicorrelated(rng, n, d, c)
    w = np.zeros(d)
    w[rng.choice(d, s, replace=False)] = rng.uniform(-2, 2, s)
    y = X @ w + sigma * rng.standard_normal(n)

    rng = _held_out(seed)
    X_test = _equicorrelated(rng, n_test, d, c)
    y_test = X_test @ w + sigma * rng.standard_normal(n_test)
    return X, y, Meta("squared", (k,), X_test, y_test, w)


def _labels(rng, scores):
    """-1, +1 with P(+1) = 1 / (1 + exp(-score))."""
    return np.where(rng.random(len(scores)) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)


@problem("logistic")
def logistic(n=5000, d=10000, s=500, *, n_test=1000, seed=0, ridge=1e-4):
    """Chen and Gu 2016 (ASBCDHT), section 6.3.1: rows N(0, I), s standard normal weights; k = 1.2 s.

    The paper prints P(y=1) = 1/(1+exp(x.w)), against its own loss: the minus is put back. A little ridge, not the
    paper's: |x.w| is near sqrt(s), so n rows and k features come close to separable data, which have no minimiser.
    """
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, d)))
    w = np.zeros(d)
    w[rng.choice(d, s, replace=False)] = rng.standard_normal(s)
    y = _labels(rng, X @ w)

    rng = _held_out(seed)
    X_test = np.asfortranarray(rng.standard_normal((n_test, d)))
    return X, y, Meta("logistic", (round(1.2 * s),), X_test, _labels(rng, X_test @ w), w, ridge)


def _word_counts(rng, n, d, words):
    p = 1 / np.arange(5, d + 5) ** 0.9
    p /= p.sum()
    rows, cols = np.repeat(np.arange(n), words), rng.choice(d, size=n * words, p=p)
    counts = sp.csr_matrix((np.ones(n * words), (rows, cols)), shape=(n, d))
    counts.sum_duplicates()
    return counts


def _log_tfidf(counts, idf):
    """(1 + log tf) max(idf, 0.1), rows of unit length."""
    X = counts.copy()
    X.data = 1 + np.log(X.data)
    X = X.multiply(np.maximum(idf, 0.1)).tocsr()
    return (sp.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(1)).ravel())) @ X).tocsr()


@problem("zipf")
def zipf(n=20000, d=47000, words=74, s=200, *, n_test=5000, seed=0, task="classification"):
    """Text-like: Zipf columns, log tf-idf, unit rows, about 71 nonzeros a row; s weights on the 2,000 most frequent."""
    rng = np.random.default_rng(seed)
    counts = _word_counts(rng, n, d, words)
    idf = np.log(n / (1 + np.asarray((counts > 0).sum(0)).ravel()))
    X = _log_tfidf(counts, idf)
    w = np.zeros(d)
    support = rng.choice(2000, s, replace=False)
    w[support] = rng.standard_normal(s) * 8
    scores = X @ w

    held_out = _held_out(seed)
    X_test = _log_tfidf(_word_counts(held_out, n_test, d, words), idf)
    if task == "regression":
        y = scores + 0.3 * rng.standard_normal(n)
        y_test = X_test @ w + 0.3 * held_out.standard_normal(n_test)
        return X, y, Meta("squared", (s,), X_test, y_test, w)
    return X, _labels(rng, scores), Meta("logistic", (206, 232), X_test, _labels(held_out, X_test @ w), w)


# -- real ----------------------------------------------------------------------------------------------------


def _load(name: str) -> tuple[Any, np.ndarray, dict[str, np.ndarray]]:
    folder = Path(os.environ.get("PARING_DATA", ROOT / ".." / "shared" / "data"))
    path = folder / f"{name}.npz"
    if not path.exists():
        raise Unavailable(f"{name}.npz is not in the data folder: set PARING_DATA")
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    if "format" in arrays:
        csr = (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"])
        X = sp.csr_matrix(csr, shape=tuple(arrays["shape"]))
    else:
        X = np.asfortranarray(arrays["X"], dtype=np.float64)
    return X, arrays["y"].astype(np.float64), arrays


def _standardised(X, X_test=None):
    """Columns centred and scaled by the training rows; a column that is constant there becomes zero."""
    mean, scale = X.mean(0), X.std(0)
    scale[scale == 0] = np.inf
    return (np.asfortranarray((M - mean) / scale) if M is not None else None for M in (X, X_test))


def _split(n, seed=0, share=0.7):
    """A fixed 70/30 split, for files that have none: True marks a training row."""
    train = np.zeros(n, dtype=bool)
    train[np.random.default_rng(seed).permutation(n)[: round(share * n)]] = True
    return train


def _classes(X, y, train, note, *, k=(5, 10, 20), standardise=True, fit_intercept=True):
    """A two-class problem; ridge 1/n (scikit-learn's C=1), for n << d is separable and has no minimiser without."""
    y = np.where(y > 0, 1.0, -1.0)
    X_train, X_test = X[train], X[~train] if not train.all() else None
    if standardise:
        X_train, X_test = _standardised(X_train, X_test)
    y_test = y[~train] if X_test is not None else None
    meta = Meta(
        "logistic",
        k,
        X_test,
        y_test,
        ridge=1 / len(X_train) if not sp.issparse(X) else 1 / X_train.shape[0],
        fit_intercept=fit_intercept,
        note=note,
    )
    return X_train, y[train], meta


@problem("rcv1")
def rcv1(ridge=0.0, rows="half"):
    """RCV1 (CCAT/ECAT against GCAT/MCAT); unit rows as stored; no intercept.

    rows="half": half 0 trains, half 1 tests; "all": all train, none is held out.
    """
    X, y, extra = _load("rcv1_topics_subsets_binary")
    if rows == "all":
        return X, y, Meta("logistic", (200, 500), ridge=ridge, note="all rows; unit rows")
    train = extra["half"] == 0
    note = "trained on half 0, tested on half 1; unit rows"
    return X[train], y[train], Meta("logistic", (200, 500), X[~train], y[~train], ridge=ridge, note=note)


@problem("news20")
def news20(ridge=0.0, n_train=None, columns=None, seed=0):
    """news20, two classes: unit rows of word and phrase indicators; no intercept.

    n_train: so many rows, drawn from the seed, train and the others test (None: all train). columns: the most frequent.
    """
    X, y, _ = _load("news20_rebuilt_binary")
    X = (sp.diags(1 / np.sqrt(np.maximum(X.getnnz(axis=1), 1))) @ X).tocsr()
    if columns is not None:
        X = X[:, np.sort(np.argsort(-X.getnnz(axis=0), kind="stable")[:columns])]
    meta = {"loss": "logistic", "k": (200,), "ridge": ridge, "note": "unit rows"}
    if n_train is None:
        return X, y, Meta(**meta)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.sort(order[:n_train]), np.sort(order[n_train:])
    return X[train], y[train], Meta(X_test=X[test], y_test=y[test], **meta)


@problem("leukemia")
def leukemia(rows="train"):
    """Golub leukemia, 38 training and 34 test rows (rows="all": 72, none held out)."""
    X, y, extra = _load("sis_leukemia")
    train = extra["part"] == 0 if rows == "train" else np.ones(len(y), dtype=bool)
    return _classes(X, y, train, "columns standardised by the training rows")


@problem("colon")
def colon():
    """Alon colon: 62 rows, too few to hold any out."""
    X, y, _ = _load("colon_cancer_libsvm")
    return _classes(X, y, np.ones(len(y), dtype=bool), "all rows; columns standardised")


@problem("dorothea")
def dorothea():
    """NIPS 2003 dorothea: 100,000 binary columns (some empty), 78 of 800 positive."""
    X, y, _ = _load("dorothea")
    return _classes(X, y, _split(len(y)), "fixed 70/30 split; 0/1 columns as they are", standardise=False)


@problem("arcene")
def arcene():
    X, y, _ = _load("skfeature_arcene")
    return _classes(X, y, _split(len(y)), "fixed 70/30 split; columns standardised by the training rows")


@problem("madelon")
def madelon():
    X, y, _ = _load("skfeature_madelon")
    return _classes(X, y, _split(len(y)), "fixed 70/30 split; columns standardised by the training rows")


def _small_regression(name, note):
    X, y, _ = _load(name)
    (X, _) = _standardised(X)
    return X, y - y.mean(), Meta("squared", (5, 10, 20), note=note)


@problem("riboflavin")
def riboflavin():
    """Riboflavin production: 71 x 4,088."""
    return _small_regression("riboflavin", "all rows; columns standardised, y centred")


@problem("mice")
def mice():
    """Heterogeneous-stock mice, body mass index on 10,346 genotypes: 1,814 rows."""
    return _small_regression("bglr_mice_snp", "all rows; columns standardised, y centred")
