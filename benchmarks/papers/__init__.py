"""The tables and figures of the exact-k papers, reproduced: see ``python -m benchmarks.papers --help``."""
