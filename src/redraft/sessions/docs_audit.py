"""Check the files that instruct agents: their trees, their length, their age, and whether they say what to do.

Checks CLAUDE.md, AGENTS.md, README.md and SKILL.md, at the project's root and anywhere else; it changes nothing. The
age of a file is that of its last commit, since a checkout gives every file the same date.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from redraft.formats.markdown_headings import headings
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import split_lines
from redraft.text.markdown_blocks import fences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NAMES = ("AGENTS.md", "CLAUDE.md", "README.md", "SKILL.md")
BUDGET = 1000
# This many lines of prose without a step, a command or an example are an essay, which gives an agent nothing to do.
ESSAY_LINES = 40
MARKERS = ("Cargo.toml", "package.json", "pyproject.toml", "setup.py", "go.mod", "Gemfile", "pom.xml", "build.gradle",
           "CMakeLists.txt", "Makefile")  # fmt: skip
_SKIPPED = {
    ".git",
    ".hg",
    ".venv",
    "venv",
    "node_modules",
    "target",
    "dist",
    "build",
    "__pycache__",
    ".tox",
    ".redraft",
}
_TREE = re.compile(r"(?P<lead>(?:[│|]?[ \t\u00a0]+)*)(?:├|└|\+|`)(?:─|-){1,3}[ \t\u00a0]*(?P<name>\S.*)")
# What a tree may begin with: the folder that it is of.
_HEAD = re.compile(r"(?P<name>(?!\.+/?[ \t]*$)[\w.@+-]+(?:/[\w.@+-]+)*)/?[ \t]*(?:#.*)?\s*\Z")
_ACTIONABLE = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s|`[^`]+`|^\s*\|.*\||^\s*(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class DocsIssue:
    """A problem, with its file and, if there is one, its line."""

    file: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class DocsAudit:
    """What was checked, and what was found."""

    root: str
    files: tuple[str, ...]
    lines: int
    issues: tuple[DocsIssue, ...]


def project_root(here: str) -> str:
    """The nearest folder that looks like a project, else the nearest with `.git`, else this one."""
    for marks in (MARKERS, (".git",)):
        folder = os.path.realpath(here)
        while True:
            if any(os.path.exists(os.path.join(folder, mark)) for mark in marks):
                return folder
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
    return os.path.realpath(here)


def audit(root: str) -> DocsAudit:
    """Check every instruction file in a folder."""
    found = sorted(_instruction_files(root))
    issues: list[DocsIssue] = []
    total = 0
    for name in found:
        with open(os.path.join(root, name), encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
        total += len(split_lines(text))
        entries = list(_tree_entries(text, root))
        issues += [
            DocsIssue(name, line, f"{path} is in the tree but not in the project")
            for line, path in entries
            if not os.path.lexists(os.path.join(root, path))
        ]
        issues += _stale_issues(root, name, [path for _, path in entries])
        issues += _essay_issues(name, text)
    if total > BUDGET:
        issues.append(
            DocsIssue(found[0], 0, f"the instruction files have {total} lines in total; the budget is {BUDGET}")
        )
    return DocsAudit(root, tuple(found), total, tuple(issues))


def _instruction_files(root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if each not in _SKIPPED)
        for name in names:
            path = os.path.join(folder, name)
            if name in NAMES and os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, root)


def _tree_entries(text: str, root: str) -> Iterator[tuple[int, str]]:
    """The paths that drawn trees name, each with its line."""
    for block in fences(text, frontmatter_end(text)):
        lines = list(enumerate(split_lines(text[block.start : block.end]), text.count("\n", 0, block.start) + 1))
        starts = [at for at, (_, line) in enumerate(lines) if _HEAD.match(line)]
        for start, end in pairwise([0, *(at for at in starts if at), len(lines)]):
            head = _HEAD.match(lines[start][1])
            entries = list(_branches(lines[start:end]))
            below = head["name"] if head is not None and _is_folder_of(head["name"], entries, root) else ""
            yield from ((number, os.path.join(below, path)) for number, path in entries)


def _is_folder_of(name: str, entries: list[tuple[int, str]], root: str) -> bool:
    """Whether a tree that begins with this name is the one of that folder, and not of the whole project: by where more
    of it is."""
    inside, beside = (
        sum(os.path.lexists(os.path.join(root, below, path)) for _, path in entries) for below in (name, "")
    )
    return inside > beside or (inside == beside and os.path.isdir(os.path.join(root, name)))


def _branches(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The paths of one tree, from its beginning."""
    parents: list[tuple[int, str]] = []
    for number, line in lines:
        match = _TREE.match(line.rstrip())
        if match is not None:
            name = re.split(r"\s+(?:#|//|—|–|-|←|<-)\s|\s{2,}", match["name"])[0].strip().rstrip("/")
            depth = len(match["lead"])
            while parents and parents[-1][0] >= depth:
                parents.pop()
            if name and "..." not in name and "…" not in name and "*" not in name:
                path = "/".join([*(parent for _, parent in parents), name])
                parents.append((depth, name))
                yield number, path


def _stale_issues(root: str, name: str, named: list[str]) -> Iterator[DocsIssue]:
    """A file is stale if something in its tree was changed after it."""
    own = _change_time(root, name)
    newer = [path for path in named if os.path.isfile(os.path.join(root, path)) and _change_time(root, path) > own]
    if newer:
        more = f" and {len(newer) - 1} more" if len(newer) > 1 else ""
        yield DocsIssue(name, 0, f"stale: {newer[0]}{more} changed after it")


def _change_time(root: str, path: str) -> float:
    """When a file last changed: by its last commit, or by the disk if it has uncommitted changes."""
    words = ["git", "-C", root, "log", "-1", "--format=%ct", "--", path]
    dirty = ["git", "-C", root, "status", "--porcelain", "--", path]
    try:
        committed, open_changes = (
            subprocess.run(each, capture_output=True, check=False, stdin=subprocess.DEVNULL).stdout.strip()  # noqa: S603
            for each in (words, dirty)
        )
    except FileNotFoundError:
        committed = open_changes = b""
    if committed and not open_changes:
        return float(committed)
    return os.stat(os.path.join(root, path)).st_mtime


def _essay_issues(name: str, text: str) -> Iterator[DocsIssue]:
    """Long sections without anything to act on. A README is for people, so it may have them."""
    if os.path.basename(name) == "README.md":
        return
    lines = split_lines(text)
    begins = [(0, "The beginning"), *((mark.line, mark.title) for mark in headings(text))]
    ends = [line for line, _ in begins[1:]] + [len(lines)]
    for (start, title), end in zip(begins, ends, strict=True):
        written = [line for line in lines[start:end] if line.strip() and not line.startswith("#")]
        if len(written) >= ESSAY_LINES and not any(_ACTIONABLE.search(line) for line in written):
            yield DocsIssue(name, start + 1, f"{title!r} has {len(written)} lines but nothing to act on")
