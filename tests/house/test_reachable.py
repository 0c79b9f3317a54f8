"""Nothing stands in the sources that only tests use. The list of what still does only shrinks.

What only the evals use belongs to them, so the package is looked at without them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.reachable import find_unused

ROOT = Path(__file__).resolve().parents[2]
ONLY_TESTS = frozenset(
    {
        "redraft.text.diff.hunks:Hunk.reflow_only",
        "redraft.text.diff.hunks:Hunk.reworded",
        "redraft.text.edits:Span.contains",
    }
)


def sources(folder: Path, top: str) -> dict[str, str]:
    """The text of each module of a package, by its dotted name."""
    paths = {path.relative_to(folder).with_suffix(""): path for path in sorted((folder / top).rglob("*.py"))}
    return {".".join(name.parts): path.read_text(encoding="utf-8") for name, path in paths.items()}


def test_nothing_is_used_by_tests_alone():
    found = find_unused(sources(ROOT / "src", "redraft"))
    assert sorted(set(found) - ONLY_TESTS) == [], "used by tests or evals alone, or by nobody: delete or move it"
    assert sorted(ONLY_TESTS - set(found)) == [], "used by now, or gone: take it out of the list"


def test_nothing_of_the_evals_is_used_by_tests_alone():
    found = find_unused({**sources(ROOT / "src", "redraft"), **sources(ROOT, "evals")})
    assert [place for place in found if place.startswith("evals")] == []


@pytest.mark.parametrize(
    ("source", "unused"),
    [
        ("def a(): ...\na()", []),
        ("def a(): ...", ["m:a"]),
        ("def a(): a()", ["m:a"]),
        ("def a(): b()\ndef b(): ...", ["m:a", "m:b"]),
        ("class A:\n    def go(self): ...\nA()", ["m:A.go"]),
        ("class A:\n    def go(self): ...\nA().go()", []),
        ("class A(Foreign):\n    def go(self): ...\nA()", []),
        ("class A: ...\nclass B(A):\n    def go(self): ...\nB()", ["m:B.go"]),
        ("@registered('x')\ndef a(): ...", []),
        ("class A:\n    @property\n    def a(self): ...\nA()", ["m:A.a"]),
        ("def a(): ...\ngetattr(thing, 'a')", []),
        ("class A: ...\ncast('list[A]', thing)", []),
        ("def a(): ...\n__all__ = ['a']", ["m:a"]),
        ("class A:\n    def __len__(self): ...\nA()", []),
    ],
)
def test_what_nobody_uses_is_found(source: str, unused: list[str]):
    assert find_unused({"m": source}) == unused
