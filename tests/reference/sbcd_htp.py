"""SBCD-HTP's round: the SVRG step on the anchor's support and one block of columns; H_k comes after the round."""

from __future__ import annotations

import numpy as np


def sbcd_htp(F, batches, lengths, chosen, group_of, w, b, anchor):
    """Group 0 moves in every step, group g > 0 when it is chosen, -1 never."""
    slopes, (nu, nu_b) = F.slopes(np.arange(F.n), *anchor), F.gradient(*anchor)
    for B, c, g in zip(batches, lengths, chosen, strict=True):
        delta = (F.slopes(B, w, b) - slopes[B]) * F.share(B)
        length = (c / F.h * ((group_of == g) | (group_of == 0)))[:, None]
        w = w - length * (nu + F.ridge * w) - length * (F.X[B].T @ delta)
        b = b - F.intercept * c / F.h_b * (nu_b + delta.sum(axis=0))
        yield w, b
