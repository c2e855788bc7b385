"""The package itself: what `import paring` loads, and that every public name is there."""

import json
import pkgutil
import subprocess
import sys
from importlib.metadata import version

import pytest

import paring
from paring import _core

HEAVY = ["sklearn", "scipy.sparse.linalg", "pandas", "pyarrow", "matplotlib", "torch", "jax", "dask"]


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_nothing_heavy() -> None:
    loaded = json.loads(run_python("import json, sys, paring; print(json.dumps(sorted(sys.modules)))"))
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize("name", paring.__all__)
def test_public_name_loads(name: str) -> None:
    assert getattr(paring, name) is not None
    assert name in dir(paring)


def test_no_module_hides_a_public_name() -> None:
    # Importing `paring.path` as a module would replace a function paring.path that was loaded before it.
    for name in {module.name for module in pkgutil.iter_modules(paring.__path__)} & set(paring.__all__):
        assert paring._HOME[name] == name, f"{name} is a module and a public name of {paring._HOME[name]}"


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = paring.nothing


def test_one_version() -> None:
    assert paring.__version__ == _core.version == version("paring")
