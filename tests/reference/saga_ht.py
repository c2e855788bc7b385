"""SAGA-HT: w <- H_k(w - c/h ((new - table_i) x_i + mean + ridge w)), then the table and its mean."""

from __future__ import annotations


def saga_ht(F, batches, lengths, w, b, table, mean, mean_b):
    """The iterates with table (n, outputs), mean of table_i x_i and mean of table_i."""
    table, mean, mean_b = table.copy(), mean.copy(), mean_b.copy()
    for B, c in zip(batches, lengths, strict=True):
        new = F.slopes(B, w, b)
        delta = (new - table[B]) * F.share(B)
        w = F.keep(w - (c / F.h)[:, None] * (mean + F.ridge * w) - (c / F.h)[:, None] * (F.X[B].T @ delta))
        b = b - F.intercept * c / F.h_b * (mean_b + delta.sum(axis=0))
        for i, slope in zip(B, new, strict=True):
            mean += F.X[i][:, None] * (slope - table[i]) / F.n
            mean_b += (slope - table[i]) / F.n
            table[i] = slope
        yield w, b, table.copy(), mean.copy(), mean_b.copy()
