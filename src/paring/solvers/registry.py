"""Solvers by name, with where they come from. Loaded on first use."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A line of ``paring solvers``: name, class (module.Class under paring.solvers), problem family and source."""

    name: str
    home: str
    family: str
    source: str
    summary: str

    def load(self) -> Any:
        module, cls = self.home.split(".")
        return getattr(import_module(f"paring.solvers.{module}"), cls)


ENTRIES = (
    Entry(
        "pursuit",
        "pursuit.Pursuit",
        "exact k",
        "paring",
        "staged growth with exchanges; ends swap-optimal (default)",
    ),
    Entry(
        "iht",
        "iht.IHT",
        "exact k",
        "Blumensath & Davies 2009; FG-HT of svrg-ht (Li et al. 2016)",
        "gradient step, keep the k largest",
    ),
    Entry(
        "htp",
        "htp.HTP",
        "exact k",
        "Foucart 2011; GraHTP: Yuan, Li & Zhang 2014",
        "gradient step, keep the k largest, minimise on them",
    ),
    Entry(
        "grasp",
        "grasp.GraSP",
        "exact k",
        "Bahmani, Raj & Boufounos 2013; CoSaMP: Needell & Tropp 2009",
        "join the 2k largest of the gradient, minimise, prune",
    ),
    Entry(
        "omp",
        "omp.OMP",
        "exact k",
        "Pati, Rezaiifar & Krishnaprasad 1993; Blumensath & Davies 2008",
        "add the best feature, minimise, repeat",
    ),
    Entry(
        "fnhtp",
        "fnhtp.FNHTP",
        "exact k",
        "Chen & Gu 2017",
        "stochastic Newton step, keep the k largest, minimise on them",
    ),
    Entry(
        "cd",
        "cd.CD",
        "penalised",
        "paring; working sets of Massias, Gramfort & Salmon 2018, screening of Ndiaye et al. 2017",
        "coordinate descent on working sets, Newton steps on the face (default)",
    ),
)

ALIASES = {"fg-ht": "iht", "grahtp": "htp", "cosamp": "grasp"}


def entry(name: str) -> Entry:
    """The entry of that name or alias. Raises ValueError that lists the names."""
    wanted = ALIASES.get(name, name)
    for known in ENTRIES:
        if known.name == wanted:
            return known
    raise ValueError(f"unknown solver {name!r}; known: auto, {', '.join([e.name for e in ENTRIES] + list(ALIASES))}")
