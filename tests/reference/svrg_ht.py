"""SVRG-HT: w <- H_k(w - c/h (grad_B(w) - grad_B(anchor) + mu)), and its form on the columns that rows touch."""

from __future__ import annotations

import numpy as np


def svrg_ht(F, batches, lengths, w, b, anchor):
    """With nu = mu - ridge anchor, the gradient of the loss at the anchor: ridge (w - anchor) + mu = ridge w + nu."""
    slopes, (nu, nu_b) = F.slopes(np.arange(F.n), *anchor), F.gradient(*anchor)
    for B, c in zip(batches, lengths, strict=True):
        delta = (F.slopes(B, w, b) - slopes[B]) * F.share(B)
        w = F.keep(w - (c / F.h)[:, None] * (nu + F.ridge * w) - (c / F.h)[:, None] * (F.X[B].T @ delta))
        b = b - F.intercept * c / F.h_b * (nu_b + delta.sum(axis=0))
        yield w, b


def svrg_ht_by_rows(F, batches, lengths, w, b, anchor, stored):
    """Each row brings D_j (mu + ridge (w - anchor)) on the columns that it stores; the ridge is taken implicitly."""
    slopes, (nu, nu_b) = F.slopes(np.arange(F.n), *anchor), F.gradient(*anchor)
    often = F.n / np.maximum(stored.sum(axis=0), 1)
    for B, c in zip(batches, lengths, strict=True):
        share = F.share(B)
        delta = (F.slopes(B, w, b) - slopes[B]) * share
        turn, length = (often * (stored[B] * share).sum(axis=0))[:, None], (c / F.h)[:, None]
        w = F.keep((w - length * (F.X[B].T @ delta + turn * nu)) / (1 + length * F.ridge * turn))
        b = b - F.intercept * c / F.h_b * (nu_b + delta.sum(axis=0))
        yield w, b
