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
        "sg-ht",
        "sg_ht.SGHT",
        "exact k, stochastic",
        "StoIHT: Nguyen, Needell & Woolf 2017; SG-HT of svrg-ht (Li et al. 2016)",
        "step along single rows' gradients, keep the k largest each time",
    ),
    Entry(
        "svrg-ht",
        "svrg_ht.SVRGHT",
        "exact k, stochastic",
        "Li, Zhao, Arora, Liu & Haupt 2016",
        "the same with the variance reduced by a full gradient a round",
    ),
    Entry(
        "saga-ht",
        "saga_ht.SAGAHT",
        "exact k, stochastic",
        "Li, Zhao, Arora, Liu & Haupt 2016",
        "the same with the variance reduced by a table of slopes",
    ),
    Entry(
        "hsg-ht",
        "hsg_ht.HSGHT",
        "exact k, stochastic",
        "Zhou, Yuan & Feng 2018",
        "steps along batches that grow to all rows, keep the k largest each time",
    ),
    Entry(
        "asbcdht",
        "asbcdht.ASBCDHT",
        "exact k, stochastic",
        "Chen & Gu 2016",
        "variance-reduced steps on blocks of columns, keep the k largest each time",
    ),
    Entry(
        "sbcd-htp",
        "sbcd_htp.SBCDHTP",
        "exact k, stochastic",
        "semi-stochastic block coordinate descent, ICLR 2023 submission",
        "the same on blocks and the support, keep the k largest once a round",
    ),
    Entry(
        "s2bcd-htp",
        "s2bcd_htp.S2BCDHTP",
        "exact k, stochastic",
        "semi-stochastic block coordinate descent, ICLR 2023 submission, Algorithm 3",
        "sparse variance-reduced block steps, keep the k largest once a round",
    ),
    Entry(
        "asbcd-htp",
        "s2bcd_htp.ASBCDHTP",
        "exact k, asynchronous",
        "semi-stochastic block coordinate descent, ICLR 2023 submission, Algorithm 2",
        "s2bcd-htp by n_jobs workers on one iterate",
    ),
    Entry(
        "asg-ht",
        "asg_ht.ASGHT",
        "exact k, asynchronous",
        "SG-HT (Nguyen, Needell & Woolf 2017) as in the experiments of asbcd-htp",
        "stochastic gradient steps by n_jobs workers, each keeps the k largest",
    ),
    Entry(
        "asvrg-ht",
        "asvrg_ht.ASVRGHT",
        "exact k, asynchronous",
        "Li, Arora, Liu, Haupt & Zhao 2016, Algorithm 3",
        "variance-reduced steps by n_jobs workers, each keeps the k largest",
    ),
    Entry(
        "a2sbcd-ht",
        "a2sbcd_ht.A2SBCDHT",
        "exact k, asynchronous",
        "ASBCDHT (Chen & Gu 2016) as in the experiments of asbcd-htp",
        "variance-reduced block steps by n_jobs workers, each keeps the k largest",
    ),
    Entry(
        "diht",
        "diht.DIHT",
        "exact k, dual",
        "Yuan, Liu, Wang, Liu & Metaxas 2020, algorithm 1",
        "super-gradient ascent of the dual; ends with a gap; takes the hinge",
    ),
    Entry(
        "sdiht",
        "sdiht.SDIHT",
        "exact k, dual",
        "Yuan, Liu, Wang, Liu & Metaxas 2020, algorithm 2",
        "dual ascent over blocks of rows; ends with a gap; takes the hinge",
    ),
    Entry(
        "cd",
        "cd.CD",
        "penalised",
        "paring; working sets of Massias, Gramfort & Salmon 2018, screening of Ndiaye et al. 2017",
        "coordinate descent on working sets, Newton steps on the face (default)",
    ),
    Entry(
        "prox-svrg",
        "prox_svrg.ProxSVRG",
        "penalised, stochastic",
        "Xiao & Zhang 2014",
        "proximal steps, variance reduced by a full gradient a round",
    ),
    Entry(
        "prox-saga",
        "prox_svrg.ProxSAGA",
        "penalised, stochastic",
        "Defazio, Bach & Lacoste-Julien 2014",
        "proximal steps, variance reduced by a table of slopes",
    ),
    Entry(
        "prox-asvrg",
        "prox_svrg.ProxASVRG",
        "penalised, asynchronous",
        "Meng, Chen, Yu, Wang, Ma & Liu 2017",
        "prox-svrg by n_jobs workers on one iterate",
    ),
    Entry(
        "prox-asaga",
        "prox_svrg.ProxASAGA",
        "penalised, asynchronous",
        "Pedregosa, Leblond & Lacoste-Julien 2017",
        "prox-saga by n_jobs workers on one iterate",
    ),
    Entry(
        "ddss",
        "ddss.DDSS",
        "penalised, asynchronous",
        "Bao, Wu, Xian & Huang 2022, Algorithm 4",
        "dynamic safe screening, variance-reduced steps on what is left",
    ),
    Entry(
        "ddss-naive",
        "ddss.DDSSNaive",
        "penalised, asynchronous",
        "Bao, Wu, Xian & Huang 2022, Algorithm 1",
        "dynamic safe screening, plain steps of falling length",
    ),
    Entry(
        "pse-safe",
        "ddss.PSESafe",
        "penalised, asynchronous",
        "Li, Qiu, Ji, Liu, Ye & Wang 2016",
        "static safe screening, then the steps of ddss",
    ),
    Entry(
        "pse-strong",
        "ddss.PSEStrong",
        "penalised, asynchronous",
        "Li, Qiu, Ji, Liu, Ye & Wang 2016; Tibshirani et al. 2012",
        "the strong rule, then the steps of ddss, then a check",
    ),
)

ALIASES = {"fg-ht": "iht", "grahtp": "htp", "cosamp": "grasp", "stoiht": "sg-ht"}


def entry(name: str) -> Entry:
    """The entry of that name or alias. Raises ValueError that lists the names."""
    wanted = ALIASES.get(name, name)
    for known in ENTRIES:
        if known.name == wanted:
            return known
    raise ValueError(f"unknown solver {name!r}; known: auto, {', '.join([e.name for e in ENTRIES] + list(ALIASES))}")
