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

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PROVES_NOTHING = {"pytest.mark.skip", "pytest.mark.xfail"}


@dataclass(slots=True)
class Covers:
    """The ids that one file's tests name, with the tests that do; and the lines of markers that belong to no test or
    hold no literal id. A test is known by the name that stands for it in its module."""

    tests: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    stray: list[int] = field(default_factory=list[int])

    @property
    def ids(self) -> set[str]:
        return set(self.tests)


def find_covers(source: str) -> Covers:
    """Read the markers of one test file."""
    tree = ast.parse(source)
    attached = {call: names for names, expression in _attachments(tree) for call in _markers(expression)}
    found = Covers()
    for call in _markers(tree):
        ids = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if call not in attached or not ids or len(ids) != len(call.args):
            found.stray.append(call.lineno)
        else:
            for ref in ids:
                found.tests.setdefault(ref, set()).update(attached[call])
    return found


def _attachments(tree: ast.Module) -> Iterator[tuple[set[str], ast.expr]]:
    """The expressions whose markers pytest would see, each with the names of its tests."""
    everything = {node.name for node in tree.body if isinstance(node, _DEFINITIONS) and _is_test(node.name)}
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, _DEFINITIONS):
                if _is_test(node.name) and not any(map(_proves_nothing, node.decorator_list)):
                    yield from (({_name_of(statement)}, each) for each in node.decorator_list)
            elif isinstance(node, ast.Assign):
                if any(map(_is_test_target, node.targets)):
                    yield everything if isinstance(statement, ast.Assign) else {_name_of(statement)}, node.value
            elif isinstance(node, ast.Call) and _calls(node, "param") and ast.unparse(node.func) == "pytest.param":
                named = {_name_of(statement)}
                yield (_users(tree, named) if isinstance(statement, ast.Assign) else named), node


def _name_of(statement: ast.stmt) -> str:
    if isinstance(statement, _DEFINITIONS):
        return statement.name
    return ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""


def _users(tree: ast.Module, names: set[str]) -> set[str]:
    """The tests that use one of these names."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, _DEFINITIONS) and _is_test(node.name)
        if any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))
    }


def _is_test(name: str) -> bool:
    return name.startswith(("test_", "Test"))


def _is_test_target(target: ast.expr) -> bool:
    name = target.attr if isinstance(target, ast.Attribute) else ast.unparse(target)
    return name == "pytestmark" or name.startswith("Test")


def _proves_nothing(decorator: ast.expr) -> bool:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator) in _PROVES_NOTHING


def _markers(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and _calls(child, "covers") and ast.unparse(child.func).endswith("mark.covers"):
            yield child


def _calls(call: ast.Call, attribute: str) -> bool:
    """Whether this attribute of anything is called. To write every call out as text would take seconds."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == attribute
