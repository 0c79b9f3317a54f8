"""Which requirement ids a test file names, found by reading its syntax tree and never by running it.

A marker counts where pytest would attach it to a test: on a test function or class, in `pytestmark`, in a
`pytest.param`, or around a state machine's `TestCase`. Anywhere else it is `stray`: it looks like proof and is none.
A test that is skipped or expected to fail proves nothing either, so its markers are stray too.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROVES_NOTHING = {"pytest.mark.skip", "pytest.mark.xfail"}


@dataclass(slots=True)
class Covers:
    """The ids that one file's tests name, and the lines of markers that belong to no test or hold no literal id."""

    ids: set[str] = field(default_factory=set[str])
    stray: list[int] = field(default_factory=list[int])


def find_covers(source: str) -> Covers:
    """Read the markers of one test file."""
    tree = ast.parse(source)
    attached = {call for expression in _attachments(tree) for call in _markers(expression)}
    found = Covers()
    for call in _markers(tree):
        ids = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if call not in attached or not ids or len(ids) != len(call.args):
            found.stray.append(call.lineno)
        else:
            found.ids.update(ids)
    return found


def _attachments(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions whose markers pytest would see."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith(("test_", "Test")) and not any(map(_proves_nothing, node.decorator_list)):
                yield from node.decorator_list
        elif isinstance(node, ast.Assign):
            if any(map(_is_test_target, node.targets)):
                yield node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.param":
            yield node


def _is_test_target(target: ast.expr) -> bool:
    name = target.attr if isinstance(target, ast.Attribute) else ast.unparse(target)
    return name == "pytestmark" or name.startswith("Test")


def _proves_nothing(decorator: ast.expr) -> bool:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator) in _PROVES_NOTHING


def _markers(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and ast.unparse(child.func).endswith("mark.covers"):
            yield child
