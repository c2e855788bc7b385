"""SG-HT: w <- H_k(w - c/h (ridge w + mean of v_i slope_i x_i over a batch))."""

from __future__ import annotations


def sg_ht(F, batches, lengths, w, b):
    """The iterates; HSG-HT has batches that grow."""
    for B, c in zip(batches, lengths, strict=True):
        delta = F.slopes(B, w, b) * F.share(B)
        w = F.keep(w - (c / F.h)[:, None] * (F.ridge * w) - (c / F.h)[:, None] * (F.X[B].T @ delta))
        b = b - F.intercept * c / F.h_b * delta.sum(axis=0)
        yield w, b
