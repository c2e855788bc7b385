"""The examples run, the Python of the pages gives what they print, and their links lead somewhere."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = {
    "genes": "k by cross-validation: 6",
    "text": "copied of X: 0 bytes",
    "constraints": "age, sex",
    "custom_function": "Cauchy        [ 4 17 30]",
    "mapped_folder": "(20000, 400) float32 memmap",
}
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def test_every_example_is_here() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "examples" / f"{name}.py"
    assert len(path.read_text("utf-8").splitlines()) < 40
    runpy.run_path(str(path), run_name="__main__")
    assert EXAMPLES[name] in capsys.readouterr().out


@pages
def test_python_of_the_page(page: Path) -> None:
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


@pages
def test_links(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert broken == []
