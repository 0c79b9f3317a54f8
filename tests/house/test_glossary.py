"""One word for one thing: class names end in a word of docs/glossary.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "redraft", ROOT / "evals")
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
# Third parties' names, and what a tool is called by its specification.
NAMES = {"inotify", "ripgrep", "llama", "m", "compaction"}


def glossary() -> set[str]:
    rows = re.findall(r"^\| (\*\*.+?) \|", PAGE, re.MULTILINE)
    terms = {term.split()[-1] for row in rows for term in re.findall(r"\*\*(.+?)\*\*", row)}
    plain = PAGE.partition("what they mean everywhere: ")[2].rstrip().rstrip(".")
    return terms | {word.strip() for word in plain.split(",")}


def singulars(word: str) -> set[str]:
    found = {word}
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    if word.endswith("es"):
        found.add(word[:-2])
    if word.endswith("s"):
        found.add(word[:-1])
    return found


def is_error(node: ast.ClassDef, errors: set[str]) -> bool:
    return any(ast.unparse(base) in errors for base in node.bases)


def classes() -> list[tuple[str, str]]:
    """Public classes with their modules. Errors are named for what went wrong; what a tool takes, after its tool."""
    found: list[tuple[str, ast.ClassDef]] = []
    tools: set[str] = set()
    for path in sorted(path for folder in SOURCES for path in folder.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name[0].isupper():
                found.append((str(path.relative_to(ROOT)), node))
            if isinstance(node, ast.FunctionDef) and any("tool(" in ast.unparse(each) for each in node.decorator_list):
                tools.add(node.name.replace("_", "").lower())
    errors = {"Exception"}
    while more := {node.name for _, node in found if is_error(node, errors)} - errors:
        errors |= more
    return [
        (module, node.name)
        for module, node in found
        if node.name not in errors and node.name.lower() not in tools and "Protocol" not in node.name
    ]


@pytest.mark.parametrize(("module", "name"), classes(), ids=str)
def test_a_class_ends_in_a_word_of_the_glossary(module: str, name: str):
    last = re.findall(r"[A-Z][a-z0-9]*", name)[-1].lower()
    assert singulars(last) & (glossary() | NAMES), f"{module}: {name}"


def test_a_word_has_one_meaning():
    rows = re.findall(r"^\| (\*\*.+?) \|", PAGE, re.MULTILINE)
    terms = [term for row in rows for term in re.findall(r"\*\*(.+?)\*\*", row)]
    assert sorted(terms) == sorted(set(terms))
