"""The command that reproduces the papers' figures, on tiny problems; and what turns numbers into statements."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import __main__ as command
from benchmarks.papers import page, race, tuning, views
from benchmarks.papers.figures import FIGURES, diht_duality
from benchmarks.papers.outcome import Check, Outcome, Unavailable

ROOT = Path(__file__).resolve().parents[1]
