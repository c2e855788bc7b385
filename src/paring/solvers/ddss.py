"""Dynamic safe screening on shared memory (Sha-DDSS, Sha-DDSS-Naive), and static screening beside it (PSE).

    min F(w, b) + Omega(w)

A round: the gradient over the active features, by all cores; a dual point, and the features that the gap discards; then
steps by ``n_jobs`` workers on the active ones, with the variance reduced by the round's anchor (DDSS) or by nothing and
falling step lengths (naive). PSE screens once, before the first round: by the static safe rule, or by the strong rule,
whose features are all looked at in the end (the paper has no such check, and may lose some).

The sphere is the corrected one of ``screening.py``; the dual with a ridge has no scaling (``penalised_dual.py``); the
anchor is the untruncated one. The naive steps are printed as a dense proximal step on all active coordinates; here they
touch those of the row, with the prox weighted by D: the same in the mean, at the cost of a row.

Source: Bao, Wu, Xian & Huang 2022, Algorithms 4 and 1; PSE: Li, Qiu, Ji, Liu, Ye & Wang 2016. Cost of a round: a pass
over the active features, and 2 n steps (naive: n) of O(active nonzeros of a row).
"""

from __future__ import annotations

from typing import Any, ClassVar

from paring.screening import GapSafe, StaticSafe, Strong
from paring.solvers.proximal import NotReduced, Proximal
from paring.solvers.rules import Decreasing


class DDSS(Proximal):
    """Settings: those of ``Proximal``; ``screening`` is ``GapSafe()``."""

    name: ClassVar[str] = "ddss"
    screens: ClassVar[Any] = GapSafe()


class DDSSNaive(Proximal):
    """The same without an anchor; step : ``Decreasing()`` by default."""

    name: ClassVar[str] = "ddss-naive"
    screens: ClassVar[Any] = GapSafe()
    reduced: ClassVar[Any] = NotReduced()
    rounds_of_rows: ClassVar[int] = 1

    def __init__(self, step: Any = None, **settings: Any) -> None:
        super().__init__(Decreasing() if step is None else step, **settings)


class PSESafe(Proximal):
    """Static safe screening, then the steps of ``DDSS``."""

    name: ClassVar[str] = "pse-safe"
    screens: ClassVar[Any] = StaticSafe()


class PSEStrong(Proximal):
    """The strong rule, then the steps of ``DDSS``, then a look at all features."""

    name: ClassVar[str] = "pse-strong"
    screens: ClassVar[Any] = Strong()
