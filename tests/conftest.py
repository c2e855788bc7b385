"""Fixtures for every test: the real data sets, where they are to be had."""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets, ``$PARING_DATA``; tests that ask for it skip where it is absent."""
    folder = Path(os.environ.get("PARING_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "load.py").is_file():
        pytest.skip(f"no data sets in {folder}; set PARING_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def data_loader(data_dir: Path) -> ModuleType:
    """The data folder's own ``load.py``."""
    spec = importlib.util.spec_from_file_location("paring_data_load", data_dir / "load.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def load_dataset(data_dir: Path, data_loader: ModuleType) -> Callable[[str], tuple]:
    """``load_dataset(name) -> X, y, extra``, or a skip that names the missing file."""

    def load(name: str) -> tuple:
        if not (data_dir / f"{name}.npz").is_file():
            pytest.skip(f"no {name}.npz in {data_dir}")
        return data_loader.load(name)

    return load


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
