"""Which definitions of the sources nobody uses but the tests, found by their names alone.

A function, class or method counts as used when its name stands anywhere in the sources outside of itself and of what is
itself unused. What a decorator registers, and what overrides a method of somebody else's class, is called by others.
Names that several things share hide one another, so what is found here is certain and not complete.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# What these are told in a string is a name.
_BY_NAME = ("getattr", "hasattr", "attrgetter", "methodcaller", "cast")
# These decorators make nothing known to anybody.
_PLAIN = {
    "property",
    "cached_property",
    "staticmethod",
    "classmethod",
    "override",
    "contextmanager",
    "cache",
    "lru_cache",
}


@dataclass(frozen=True, slots=True)
class Definition:
    """One of them: where it is, its name, what it uses, and whether somebody else calls it."""

    place: str
    name: str
    uses: frozenset[str]
    is_called_by_others: bool


def find_unused(sources: Mapping[str, str]) -> list[str]:
    """The places of all that is unused, such as `redraft.text.edits:Span.contains`; `sources` are by module."""
    trees = {name: ast.parse(source) for name, source in sources.items()}
    classes = {node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found = [each for name, tree in trees.items() for each in _definitions(tree, name, classes)]
    outside = Counter(use for tree in trees.values() for use in set(_uses(tree)))
    unused: set[str] = set()
    while True:
        uses = outside + Counter(use for each in found if each.place not in unused for use in each.uses)
        more = {each.place for each in found if not each.is_called_by_others and not uses[each.name] - _own(each)}
        if more <= unused:
            return sorted(unused)
        unused |= more


def _own(definition: Definition) -> int:
    """What calls only itself is not used."""
    return definition.name in definition.uses


def _definitions(tree: ast.Module, module: str, classes: set[str]) -> Iterator[Definition]:
    waiting: list[tuple[ast.AST, str, bool]] = [(tree, f"{module}:", False)]
    while waiting:
        node, prefix, overrides = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, _DEFINITIONS):
                waiting.append((child, prefix, overrides))
                continue
            registered = any(_name(decorator) not in _PLAIN for decorator in child.decorator_list)
            registered = registered and not isinstance(child, ast.ClassDef)
            special = child.name.startswith("__")
            uses = frozenset(_uses(child))
            yield Definition(prefix + child.name, child.name, uses, registered or special or overrides)
            foreign = isinstance(child, ast.ClassDef) and any(_name(base) not in classes for base in child.bases)
            waiting.append((child, f"{prefix}{child.name}.", foreign))


def _name(node: ast.expr) -> str:
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _uses(node: ast.AST) -> Iterator[str]:
    """The names that stand in a definition and not in those inside of it."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        child = waiting.pop()
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr
        elif isinstance(child, ast.Call) and _name(child.func) in _BY_NAME:
            words = (arg.value for arg in child.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
            yield from (name for each in words for name in re.findall(r"\w+", each))
        if not isinstance(child, _DEFINITIONS):
            waiting += ast.iter_child_nodes(child)
        else:
            waiting += [*child.decorator_list, *_heads(child)]


def _heads(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.AST]:
    """What of a definition is evaluated where it stands."""
    return (
        [*node.bases, *node.keywords] if isinstance(node, ast.ClassDef) else [node.args, *filter(None, [node.returns])]
    )
