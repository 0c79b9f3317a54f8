"""What must hold after any fault and a re-opening, judged without Redraft's own reading of its state.

The disk is compared byte by byte with the trees of `scenes`; the history is read with plain SQL, snapshots are put
together from their blocks and the audit chain is computed anew. Only `check_undo` asks the workspace to do something.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from contextlib import closing
from typing import TYPE_CHECKING

from tests.faults.scenes import leftovers, read_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from redraft.workspace.workspace import Workspace
    from tests.faults.scenes import Scene, Tree


class History:
    """The history as it lies on disk, read only."""

    def __init__(self, database: Path) -> None:
        self._db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)

    def close(self) -> None:
        self._db.close()

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        return self._db.execute(query, values).fetchall()

    def content(self, snapshot: bytes | None) -> bytes | None:
        if snapshot is None:
            return None
        [(manifest,)] = self._db.execute("SELECT manifest FROM snapshots WHERE id = ?", (snapshot,))
        parts: list[bytes] = []
        for at in range(0, len(manifest), 32):
            digest = manifest[at : at + 32]
            [(packed,)] = self._db.execute("SELECT data FROM blocks WHERE digest = ?", (digest,))
            data = zlib.decompress(packed)
            assert hashlib.sha256(data).digest() == digest
            parts.append(data)
        return b"".join(parts)

    def said(self) -> dict[str, bytes | None]:
        """What every file that was ever touched holds, by the last turn that stood when it touched it."""
        rows = self._db.execute(
            "SELECT path, after FROM file_steps JOIN turns ON turns.id = turn"
            " WHERE state IN ('applied', 'undone') ORDER BY turn, seq"
        )
        return {path: self.content(after) for path, after in dict(rows.fetchall()).items()}

    def last_to_undo(self) -> dict[str, bytes | None] | None:
        """What the files of the newest turn that can be undone held before it; None where there is no such turn."""
        row = self._db.execute(
            "SELECT id FROM turns WHERE state IN ('applied', 'proposed') AND kind != 'undo' ORDER BY id DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        steps = self._db.execute("SELECT path, before FROM file_steps WHERE turn = ?", row).fetchall()
        return {path: self.content(before) for path, before in steps}


def check_disk(scene: Scene, allowed: Sequence[Tree]) -> int:
    """Whether the folder is wholly one of the allowed trees; gives which one."""
    found = read_tree(scene.folder)
    assert leftovers(scene.folder) == []
    for number, wanted in enumerate(allowed):
        if found == wanted:
            return number
    raise AssertionError([unlike(found, wanted) for wanted in allowed])


def unlike(found: Tree, wanted: Tree) -> str:
    names = sorted(found.keys() | wanted.keys())
    different = (name for name in names if found.get(name) != wanted.get(name))
    return ", ".join(f"{name} has {glimpse(found.get(name))} for {glimpse(wanted.get(name))}" for name in different)


def glimpse(content: bytes | None) -> str:
    return "nothing" if content is None else f"{len(content)} bytes {content[:24]!r}"


def check_history(scene: Scene, but: Collection[str] = ()) -> None:
    """No turn hangs, every file is what the history says it is (but for these), and the audit chain is whole."""
    with closing(History(scene.state / "history.db")) as history:
        assert history.rows("SELECT id, title FROM turns WHERE state = 'applying'") == []
        disk = read_tree(scene.folder)
        differing = {path for path, content in history.said().items() if disk.get(path) != content}
        assert differing <= set(but)
        check_audit(history)


def check_audit(history: History) -> None:
    last = bytes(32)
    rows = history.rows("SELECT seq, at, author, tool, arguments, result, turn, hash FROM audit ORDER BY seq")
    for number, row in enumerate(rows, 1):
        last = hashlib.sha256(last + json.dumps(row[:7], ensure_ascii=True).encode()).digest()
        assert (row[0], row[7]) == (number, last)
    if rows:
        assert history.rows("SELECT value FROM meta WHERE key = 'audit_head'") == [(f"{len(rows)} {last.hex()}",)]


def check_undo(scene: Scene, workspace: Workspace) -> None:
    """The newest turn can be taken back, and that again, whatever happened to it on its way."""
    with closing(History(scene.state / "history.db")) as history:
        before = history.last_to_undo()
    if before is None:
        return
    disk = read_tree(scene.folder)
    taken = workspace.undo()
    assert taken.conflicts == [], (before, workspace.turns())
    undone = read_tree(scene.folder)
    assert {path: undone.get(path) for path in before} == before
    assert workspace.redo().conflicts == []
    assert read_tree(scene.folder) == disk


def check_all(scene: Scene, workspace: Workspace, allowed: Sequence[Tree]) -> int:
    """Every invariant; gives which of the allowed trees the folder is."""
    number = check_disk(scene, allowed)
    check_history(scene)
    check_undo(scene, workspace)
    check_history(scene)
    assert workspace.verify_audit().intact
    return number
