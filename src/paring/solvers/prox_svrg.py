"""Proximal stochastic gradients with the variance reduced by an anchor (Prox-SVRG, ProxASVRG) or by a table of slopes
(Prox-SAGA, ProxASAGA), serial and by ``n_jobs`` workers on one iterate.

    min F(w, b) + Omega(w)

The steps, and what workers see of each other: ``proximal.py``. On dense rows D = 1, and a step moves every feature, as
the papers print them; on sparse rows they are the sparse form of Leblond, Pedregosa & Lacoste-Julien.

Sources: Xiao & Zhang 2014 (Prox-SVRG); Meng, Chen, Yu, Wang, Ma & Liu 2017 (ProxASVRG, whose steps move sampled blocks
of coordinates; here those of the row); Defazio, Bach & Lacoste-Julien 2014 (Prox-SAGA); Pedregosa, Leblond &
Lacoste-Julien 2017 (ProxASAGA). Cost of a round: a pass for the gap and mu, and 2 n steps (of a table n) of O(nonzeros
of a row).
"""

from __future__ import annotations

from typing import Any, ClassVar

from paring.solvers.proximal import Proximal, Remembered


class ProxSVRG(Proximal):
    """Settings: those of ``Proximal``."""

    name: ClassVar[str] = "prox-svrg"
    parallel: ClassVar[bool] = False


class ProxASVRG(Proximal):
    """The same by ``n_jobs`` workers at once."""

    name: ClassVar[str] = "prox-asvrg"


class ProxSAGA(Proximal):
    """Settings: those of ``Proximal``."""

    name: ClassVar[str] = "prox-saga"
    parallel: ClassVar[bool] = False
    reduced: ClassVar[Any] = Remembered()
    share: ClassVar[float] = 1 / 3
    rounds_of_rows: ClassVar[int] = 1


class ProxASAGA(ProxSAGA):
    """The same by ``n_jobs`` workers at once; the table and its mean are shared too."""

    name: ClassVar[str] = "prox-asaga"
    parallel: ClassVar[bool] = True
