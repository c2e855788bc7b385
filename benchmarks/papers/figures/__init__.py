"""The figures, in the order of the page."""

from benchmarks.papers.figures import asbcdht, diht_duality, diht_text, sbcd_async, sbcd_dense, svrg_table
from benchmarks.papers.outcome import Figure

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for module in (svrg_table, asbcdht, sbcd_dense, sbcd_async, diht_duality, diht_text)
    for figure in module.FIGURES
}
