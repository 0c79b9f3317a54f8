"""Listing trees: against a naive twin, wide ones, deep ones, and ones with hostile names."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.files.paths import is_internal, parse_path
from redraft.files.root import Root
from redraft.files.tree import walk

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.sampled_from(["a", "b.md", "ab", "Z", "é.md", ".hidden", ".git", ".redraft", ".redraft-tmp-1", "a b", "a-"])
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=12)


def naive_walk(folder: Path, below: str = "") -> list[str]:
    """The slow twin: recursive, by full paths."""
    found: list[str] = []
    for name in sorted(os.listdir(folder / below)):
        path = f"{below}/{name}" if below else name
        if is_internal(path):
            continue
        found.append(path)
        if (folder / path).is_dir() and not (folder / path).is_symlink():
            found += naive_walk(folder, path)
    return found


def build(folder: Path, files: list[str]) -> None:
    for name in files:
        file = folder / name
        if any(parent.is_file() for parent in file.parents) or file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, encoding="utf-8")


@given(TREES, st.integers(0, 20))
def test_a_walk_agrees_with_its_naive_twin(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], limit: int
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    build(folder, files)
    with Root.open(folder) as root:
        everything = list(walk(root, skip_hidden=False))
        visible = [entry.path for entry in walk(root)]
        first = list(walk(root, skip_hidden=False, limit=limit))
    expected = naive_walk(folder)
    assert [entry.path for entry in everything] == expected
    assert visible == [path for path in expected if not any(name.startswith(".") for name in path.split("/"))]
    assert first == everything[:limit]
    for entry in everything:
        found = (folder / entry.path).lstat()
        assert (entry.size, entry.mtime_ns) == (found.st_size, found.st_mtime_ns)
        assert parse_path(entry.path) == entry.path


def test_a_prefix_lists_one_folder_and_a_missing_one_is_reported(tmp_path: Path) -> None:
    build(tmp_path, ["a/b/c.md", "a/d.md", "e.md"])
    told: list[tuple[str, str]] = []
    with Root.open(tmp_path) as root:
        assert [entry.path for entry in walk(root, prefix="a")] == ["a/b", "a/b/c.md", "a/d.md"]
        assert list(walk(root, prefix="no", skipped=lambda path, why: told.append((path, why)))) == []
    assert [path for path, _ in told] == ["no"]


def test_no_prefix_opens_an_internal_place(tmp_path: Path) -> None:
    build(tmp_path, ["a/.git/config"])
    with Root.open(tmp_path) as root:
        assert list(walk(root, prefix="a/.git", skip_hidden=False)) == []


def test_a_path_too_long_to_be_used_is_reported(tmp_path: Path) -> None:
    name = "d" * 220
    _make_deep(tmp_path, name, 20)
    told: list[str] = []
    try:
        with Root.open(tmp_path) as root:
            listed = [entry.path for entry in walk(root, skipped=lambda path, why: told.append(why))]
    finally:
        _remove_deep(tmp_path, name)
    assert [parse_path(path) for path in listed] == listed
    assert told == ["it is longer than 4096 bytes"]


def test_links_are_named_and_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    build(outside, ["secret.md"])
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "dir").symlink_to(outside)
    (folder / "file").symlink_to(outside / "secret.md")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    with Root.open(folder) as root:
        kinds = {entry.path: entry.kind for entry in walk(root)}
    assert kinds == {"dir": "link", "file": "link", "loop": "link", "pipe": "other"}


def test_hostile_names_are_left_out_and_reported(tmp_path: Path) -> None:
    for name in (
        b"caf\xe9.md",
        b"new\nline",
        b"esc\x1b[31m",
        "bidi\u202etxt".encode(),
        b"back\\slash",
        b"dot.",
        b"~home",
        b"C:x",
        b"ok.md",
    ):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb"):
            pass
    told: list[str] = []
    with Root.open(tmp_path) as root:
        listed = [entry.path for entry in walk(root, skipped=lambda path, why: told.append(path))]
    assert listed == ["ok.md"]
    assert len(told) == 8


@pytest.mark.slow
def test_a_deep_tree_costs_neither_descriptors_nor_the_stack(tmp_path: Path) -> None:
    depth = 2000
    _make_deep(tmp_path, "d", depth)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Far fewer than the folders, besides those that this process has open for other tests.
    mine = max(int(number) for number in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (mine + 64, hard))
    try:
        with Root.open(tmp_path) as root:
            listed = sum(1 for _ in walk(root))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        _remove_deep(tmp_path, "d")
    assert listed == depth


def _make_deep(folder: Path, name: str, depth: int) -> None:
    fd = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)


def _remove_deep(folder: Path, name: str) -> None:
    """The tree's full path is too long for any tool that takes one: the outermost folder goes, until none is left."""
    while (folder / name).exists():
        (folder / name).rename(folder / "old")
        if (folder / "old" / name).exists():
            (folder / "old" / name).rename(folder / name)
        (folder / "old").rmdir()


def test_the_real_tree_is_listed_whole(material: Path) -> None:
    folder = material / "workspace-tree"
    with Root.open(folder) as root:
        assert [entry.path for entry in walk(root, skip_hidden=False)] == naive_walk(folder)
