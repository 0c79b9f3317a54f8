"""Rolling a turn back, over random trees: only its own documents change, and `.git` not by a byte or a time stamp."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import TORTURE
from tests.faults.driver import AGENT
from tests.faults.oracle import check_history
from tests.faults.scenes import Scene, Tree, leftovers, read_tree
from tests.faults.stage import open_scene

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace

Stamps = dict[str, tuple[int, int, int, int]]
GIT = {
    ".git/HEAD": b"ref: refs/heads/main\n",
    ".git/index": bytes(range(256)),
    ".git/objects/ab/cdef": b"\x78\x9c\x00",
    ".git/hooks/pre-commit": b"#!/bin/sh\nexit 1\n",
}


def random_tree(choose: random.Random) -> Tree:
    """Some texts in some folders, files that are no text, and a repository."""
    folders = ["", "a/", "a/b/", "c d/", "ü/"]
    files = {f"{choose.choice(folders)}{number}.md": random_text(choose) for number in range(choose.randint(3, 12))}
    return files | {"picture.png": choose.randbytes(100), "a/empty": b""} | GIT


def random_text(choose: random.Random) -> bytes:
    end = choose.choice(["\n", "\r\n"])
    lines = (f"line {choose.randint(0, 99)} of {number}{end}" for number in range(choose.randint(0, 20)))
    return choose.choice([b"", b"\xef\xbb\xbf"]) + "".join(lines).encode()


def stamps(folder: Path) -> Stamps:
    """What tells that a file was touched, even if its content is as before."""
    found: Stamps = {}
    for where, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(where, name))
            path = Path(where, name).relative_to(folder).as_posix()
            found[path] = (status.st_ino, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
    return found


def random_turn(workspace: Workspace, choose: random.Random) -> set[str]:
    """Edit, create, delete and move some documents; gives the paths that were touched."""
    touched: set[str] = set()
    texts = [entry.path for entry in workspace.list() if entry.kind == "file" and entry.path.endswith(".md")]
    choose.shuffle(texts)
    with workspace.turn(AGENT, "random", mode="apply", confirm=lambda _what, _paths: True) as turn:
        for path in texts[: choose.randint(1, 4)]:
            version = turn.read(path).version
            act = choose.choice(["write", "write", "delete", "move"])
            touched.add(path)
            if act == "write":
                turn.write(path, random_text(choose).decode("utf-8-sig") + f"{choose.random()}\n", version)
            elif act == "delete":
                turn.delete(path, version)
            else:
                to = f"moved/{choose.randint(0, 10**9)}.md"
                turn.move(path, to, version)
                touched.add(to)
        new = f"new/{choose.randint(0, 10**9)}.md"
        turn.create(new, "new\n")
        touched.add(new)
    return touched


@pytest.mark.covers("SB-rb-hard-scope", "RD-history-git-untouched")
@pytest.mark.slow
@settings(max_examples=1000 if TORTURE else 15)
@given(seed=st.integers(0, 2**32))
def test_a_rollback_changes_the_documents_of_its_turn_and_no_other_path(seed: int) -> None:
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        scene = Scene(Path(name))
        scene.begin(random_tree(choose))
        with open_scene(scene) as workspace:
            befores = [read_tree(scene.folder)]
            touched: list[set[str]] = []
            for _ in range(choose.randint(1, 4)):
                touched.append(random_turn(workspace, choose))
                befores.append(read_tree(scene.folder))
            turns = [turn.id for turn in reversed(workspace.turns())]
            chosen = choose.randrange(len(turns))
            stamps_before = stamps(scene.folder)
            workspace.rollback(turns[chosen], "hard_all")
            check_only(scene, stamps_before, touched[chosen], befores[chosen], befores[-1])
            workspace.undo()
            assert read_tree(scene.folder) == befores[-1]
            check_history(scene)


def check_only(scene: Scene, stamps_before: Stamps, touched: set[str], checkpoint: Tree, present: Tree) -> None:
    after = read_tree(scene.folder)
    assert {path: after.get(path) for path in touched} == {path: checkpoint.get(path) for path in touched}
    others = after.keys() | present.keys()
    assert [path for path in others - touched if after.get(path) != present.get(path)] == []
    now = stamps(scene.folder)
    assert [path for path, stamp in stamps_before.items() if path not in touched and now.get(path) != stamp] == []
    assert leftovers(scene.folder) == []
