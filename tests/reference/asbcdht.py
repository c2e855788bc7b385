"""ASBCDHT: the SVRG-HT step on one block of columns, then H_k on all of w."""

from __future__ import annotations

import numpy as np


def asbcdht(F, batches, lengths, chosen, block_of, w, b, anchor):
    slopes, (nu, nu_b) = F.slopes(np.arange(F.n), *anchor), F.gradient(*anchor)
    for B, c, g in zip(batches, lengths, chosen, strict=True):
        delta = (F.slopes(B, w, b) - slopes[B]) * F.share(B)
        length = (c / F.h * (block_of == g))[:, None]
        w = F.keep(w - length * (nu + F.ridge * w) - length * (F.X[B].T @ delta))
        b = b - F.intercept * c / F.h_b * (nu_b + delta.sum(axis=0))
        yield w, b
