"""Through which door each test goes, found by reading the tests and never by running them.

A door is a way by which a user comes in: the `redraft` or `agent-doc` program, or `python -m evals` of the project
(`cli`), the Model Context Protocol (`mcp`), the HTTP API (`http`), a live document's websocket (`websocket`) or the app
in a browser (`app`). A test goes through one when what it uses (fixtures, helpers, constants, over any number of steps)
starts the real thing: a command line with `-m` and one of `PROGRAMS` in it, or one of `STARTS`. Names in annotations do
not count, nor does a test that is marked as `engine`.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from tests.requirements.markers import find_covers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Door = Literal["cli", "mcp", "http", "websocket", "app"]
DOORS: tuple[Door, ...] = get_args(Door)
Place = tuple[str, str]  # a module of the tests, and a name in it

# What starts the real thing, or speaks with it, where the command line alone does not say what it is.
STARTS: dict[Place, Door] = {
    ("tests.server.serving", "command"): "http",
    ("tests.server.live.people", "Person"): "websocket",
    ("tests.web.conftest", "chromium"): "app",
    ("tests.speaking.lines", "program"): "mcp",
    ("tests.speaking.posts", "serving"): "mcp",
    ("tests.speaking.mounted", "Mounted"): "mcp",
    # The program's own entry, with a person's arguments, in the folder that is the current one.
    ("tests.sessions.conftest", "AgentDoc"): "cli",
}
PROGRAMS = ("redraft", "redraft.cli.agent_doc", "evals")


@dataclass(slots=True)
class _Module:
    name: str
    nodes: dict[str, ast.stmt] = field(default_factory=dict[str, ast.stmt])
    imported: dict[str, Place] = field(default_factory=dict[str, Place])
    fixtures: set[str] = field(default_factory=set[str])


class Suite:
    """The tests of a folder, as a graph of names."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        """`sources` holds each module's text by its dotted name, such as `tests.server.test_tools`."""
        self._sources = sources
        self._modules = {name: _read(name, source) for name, source in sources.items()}
        self._known: dict[Place, frozenset[Door]] = {}
        self._starting: dict[Place, Door | None] = {}
        self._used: dict[Place, tuple[Place, ...]] = {}

    @staticmethod
    def of(folder: Path) -> Suite:
        paths = {path.relative_to(folder.parent).with_suffix(""): path for path in sorted(folder.rglob("*.py"))}
        return Suite({".".join(name.parts): path.read_text(encoding="utf-8") for name, path in paths.items()})

    @cached_property
    def covering(self) -> dict[str, list[Place]]:
        """The tests that name each id."""
        found: dict[str, list[Place]] = {}
        for name, source in self._sources.items():
            if not name.rpartition(".")[2].startswith("test_"):
                continue
            for ref, tests in find_covers(source).tests.items():
                found.setdefault(ref, []).extend((name, test) for test in sorted(tests))
        return found

    def doors_of(self, ref: str) -> frozenset[Door]:
        """The doors by which the tests of a requirement go."""
        return frozenset(door for place in self.covering.get(ref, ()) for door in self.doors(place))

    def doors(self, place: Place) -> frozenset[Door]:
        """The doors that are reached from one name."""
        if place not in self._known:
            seen: set[Place] = set()
            waiting = [place]
            while waiting:
                at = waiting.pop()
                if at not in seen:
                    seen.add(at)
                    waiting += self._uses(at)
            self._known[place] = frozenset(door for at in seen if (door := self._starts(at)) is not None)
        return self._known[place]

    def _starts(self, place: Place) -> Door | None:
        if place not in self._starting:
            node = self._node(place)
            self._starting[place] = STARTS.get(place) or (None if node is None else _program_in(node))
        return self._starting[place]

    def _node(self, place: Place) -> ast.stmt | None:
        module = self._modules.get(place[0])
        return None if module is None else module.nodes.get(place[1])

    def _uses(self, place: Place) -> tuple[Place, ...]:
        if place not in self._used:
            self._used[place] = tuple(self._used_by(place))
        return self._used[place]

    def _used_by(self, place: Place) -> Iterator[Place]:
        node = self._node(place)
        if node is None:
            return
        module = self._modules[place[0]]
        if _stays_inside(node):
            return
        for name, attribute in _names(node):
            if name in module.nodes:
                yield (module.name, name)
            elif name in module.imported:
                where, what = module.imported[name]
                yield (where, what)
                yield (f"{where}.{what}", attribute)  # a module that was imported whole
        for name in _fixtures_asked_for(node):
            yield from self._fixture(module, name)

    def _fixture(self, module: _Module, name: str) -> Iterator[Place]:
        """The nearest fixture of a name: of the module, or of a `conftest` above it."""
        parts = module.name.split(".")[:-1]
        nearest = [module.name, *(".".join((*parts[:depth], "conftest")) for depth in range(len(parts), -1, -1))]
        for where in nearest:
            found = self._modules.get(where)
            # One of the same name that a fixture asks for is the next one above it.
            if found is not None and name in found.fixtures:
                yield (where, name)
                if where != module.name:
                    return


def _stays_inside(node: ast.stmt) -> bool:
    """Whether a test says that it calls the engine, whatever its fixtures could do."""
    marks = node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else []
    return any(ast.unparse(mark) == "pytest.mark.engine" for mark in marks)


def _read(name: str, source: str) -> _Module:
    module = _Module(name)
    for node in ast.parse(source).body:
        for statement in node.body if isinstance(node, ast.If) else (node,):
            _take(module, statement)
    return module


def _take(module: _Module, node: ast.stmt) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        module.nodes[node.name] = node
        if any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list):
            module.fixtures.add(node.name)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for each in ast.walk(target):
                if isinstance(each, ast.Name):
                    module.nodes.setdefault(each.id, node)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        for alias in node.names:
            module.imported[alias.asname or alias.name] = (node.module, alias.name)


def _names(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that are used, each with the attribute that is asked of it; not those of annotations."""
    waiting = [node]
    while waiting:
        for child in _children(waiting.pop()):
            if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name):
                yield child.value.id, child.attr
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                yield child.id, ""
            waiting.append(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for each in value if isinstance(value, list) else [value]:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(each, ast.AST):
                yield each


def _fixtures_asked_for(node: ast.stmt) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (argument.arg for argument in (*each.args.args, *each.args.kwonlyargs))
        elif (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr in ("getfixturevalue", "usefixtures")
        ):
            yield from (arg.value for arg in each.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def _program_in(node: ast.stmt) -> Door | None:
    """The door of a command line that is written here, such as `-m redraft ...`."""
    for each in ast.walk(node):
        if isinstance(each, ast.List | ast.Tuple):
            words = [word.value if isinstance(word, ast.Constant) else None for word in each.elts]
            for first, second in itertools.pairwise(words):
                if first == "-m" and second in PROGRAMS:
                    return "mcp" if "mcp" in words else "http" if "serve" in words or "open" in words else "cli"
    return None
