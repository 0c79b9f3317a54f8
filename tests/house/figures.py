"""How the sources are cut and named, in figures: `python -m tests.house.figures [COMMIT]`.

With a commit, its figures stand beside those of this checkout, measured by the same rules.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SMALL_MODULE_LINES = 110
ACTS = ("edit_text", "edit_text, proposed", "accept", "ask")
# Participles that do not end in "ed".
IRREGULAR = re.compile(
    r"begun|bound|bought|broken|brought|built|chosen|dealt|done|drawn|driven|fallen|felt|found|given|gone|grown|heard|held"
    r"|hidden|kept|known|laid|led|lost|made|meant|met|paid|said|seen|sent|shown|sought|spent|spoken|taken|taught|thought"
    r"|told|understood|undone|withdrawn|won|worn|woven|written"
)
VERBS_IN_ED = {"embed", "need", "proceed", "exceed", "feed", "speed", "seed", "shed"}


class Package:
    """The modules of a package, as syntax trees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts = {
            ".".join(path.relative_to(folder.parent).with_suffix("").parts): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*.py"))
        }

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {name: ast.parse(text, name) for name, text in self.texts.items()}

    @property
    def sizes(self) -> dict[str, int]:
        return {name: text.count("\n") for name, text in self.texts.items()}

    def lonely_modules(self) -> set[str]:
        """Small modules with one importer, which is in the same package."""
        users: dict[str, set[str]] = {}
        for name, tree in self.trees.items():
            for imported in imported_modules(tree):
                users.setdefault(imported, set()).add(name)
        return {
            name
            for name, size in self.sizes.items()
            if size < SMALL_MODULE_LINES
            and [user.rpartition(".")[0] for user in users.get(name, ())] == [name.rpartition(".")[0]]
        }

    def gerunds(self) -> set[str]:
        return {name for name in self.texts if name.endswith("ing")}

    def participles(self) -> list[str]:
        return [
            f"{name}:{node.name}"
            for name, tree in self.trees.items()
            for node in functions(tree)
            if is_named_by_participle(node)
        ]

    def repeated_class_names(self) -> set[str]:
        names = Counter(
            node.name for tree in self.trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
        )
        return {name for name, count in names.items() if count > 1}

    def passed_by(self, act: str) -> dict[str, int]:
        """How often an act calls functions of each module that it passes through."""
        program = [sys.executable, str(Path(__file__).with_name("passed_modules.py")), act]
        environment = {**os.environ, "PYTHONPATH": str(self.folder.parent)}
        done = subprocess.run(program, capture_output=True, check=True, encoding="utf-8", env=environment, timeout=120)
        return json.loads(done.stdout)


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """The dotted names that an import may mean: what it imports from, and what it imports out of that."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
            yield node.module


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def is_named_by_participle(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function, and no property, is named by what was done instead of by what it does."""
    if any(re.search(r"property|setter", ast.unparse(decorator)) for decorator in node.decorator_list):
        return False
    first = node.name.strip("_").partition("_")[0]
    return IRREGULAR.fullmatch(first) is not None or (first.endswith("ed") and first not in VERBS_IN_ED)


def figures(package: Package) -> Iterator[tuple[str, str]]:
    sizes = package.sizes
    yield "modules", f"{len(sizes)}"
    yield "lines", f"{sum(sizes.values())}"
    yield "median of lines", f"{statistics.median(sizes.values()):.0f}"
    yield f"single importer beside it, under {SMALL_MODULE_LINES} lines", f"{len(package.lonely_modules())}"
    yield "modules named by a gerund", f"{len(package.gerunds())}"
    yield "functions named by a participle", f"{len(package.participles())}"
    yield "class names used twice", f"{len(package.repeated_class_names())}"
    for act in ACTS:
        passed = package.passed_by(act)
        yield f"passed by {act}", f"{len(passed)} modules, {sum(passed.values())} calls"


def package_at(commit: str, place: Path) -> Package:
    """The package as it was at a commit, unpacked in `place`."""
    archive = ["git", "-C", str(ROOT), "archive", commit, "src/redraft"]
    with tarfile.open(fileobj=io.BytesIO(subprocess.run(archive, capture_output=True, check=True).stdout)) as sources:
        sources.extractall(place, filter="data")
    return Package(place / "src" / "redraft")


def show(commit: str | None) -> None:
    with tempfile.TemporaryDirectory() as place:
        columns = [figures(Package(ROOT / "src" / "redraft"))]
        if commit is not None:
            columns.insert(0, figures(package_at(commit, Path(place))))
            sys.stdout.write(f"{'':48}{commit[:20]:28}now\n")
        for row in zip(*columns, strict=True):
            sys.stdout.write(f"{row[0][0]:48}{''.join(f'{figure:28}' for _, figure in row).rstrip()}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    show(*(sys.argv[1:] or [None]))
