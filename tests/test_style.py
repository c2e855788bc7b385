"""The rules of the code that a program can see (CONTRIBUTING.md says why)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
CODE = SOURCE + [path for folder in ("core", "bindings") for path in sorted((ROOT / folder).rglob("*.[ch]pp"))]

MAX_FILE, MAX_FUNCTION, MAX_POSITIONAL = 350, 55, 7
STORAGE = re.compile(r"\b(issparse|isspmatrix\w*)\b")
UNSAFE = re.compile(r"\bpickle\b|\beval\(|\bexec\(|\bos\.system\b|shell\s*=\s*True")


def matches(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in SOURCE:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    first = node.body[0] if ast.get_docstring(node) is not None else None
    return _lines(node) - (_lines(first) if first else 0)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_storage_is_asked_about_only_at_the_door() -> None:
    assert matches(STORAGE, [path for path in SOURCE if "data" not in path.relative_to(ROOT).parts]) == []


def test_nothing_unsafe() -> None:
    assert matches(UNSAFE, SOURCE) == []


def test_the_limits_of_sizes_have_one_home() -> None:
    homes = {path.name for path in SOURCE for node in ast.walk(ast.parse(path.read_text("utf-8"))) if _limit(node)}
    assert homes == {"limits.py"}


def _limit(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in (1e70, 1e-70)


def test_files_are_short() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in CODE}
    assert {name: n for name, n in lines.items() if n > MAX_FILE} == {}


def test_functions_are_short() -> None:
    assert [f"{name}: {n}" for name, node in functions() if (n := code_lines(node)) > MAX_FUNCTION] == []


def test_functions_have_few_positional_parameters() -> None:
    count = {
        name: len(node.args.posonlyargs) + len(node.args.args) for name, node in functions() if node.name != "__init__"
    }
    assert {name: n for name, n in count.items() if n > MAX_POSITIONAL} == {}
