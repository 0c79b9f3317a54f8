"""Which history belongs to which folder: moved, copied, lied about, or not writable at all."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redraft.errors import RedraftError
from redraft.workspace.folder import identity
from redraft.workspace.workspace import Workspace
from tests.workspace.folder import POEM, agent_writes, person_writes, replaced, type_at_end, working

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


def id_file(folder: Folder) -> Path:
    return folder.path / ".redraft" / "id"


def states(folder: Folder) -> list[str]:
    home = os.path.join(folder.state_home, "redraft")
    return sorted(name for name in os.listdir(home) if os.path.isdir(os.path.join(home, name)))


@pytest.mark.covers("RD-history-state-outside")
def test_only_the_id_lies_in_the_folder_and_the_state_is_private(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    person_writes(workspace, {"a.md": "two\n"})
    inside = [path.relative_to(folder.path).as_posix() for path in folder.path.rglob("*") if path.is_file()]
    assert sorted(inside) == [".redraft/id", "a.md"]
    assert id_file(folder).read_text(encoding="ascii").strip() == workspace.id
    state = Path(folder.state_home) / "redraft" / workspace.id
    assert (state / "history.db").exists()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / "history.db").stat().st_mode) == 0o600


def test_a_folder_opened_again_has_its_history(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    first = folder.open()
    person_writes(first, {"a.md": "two\n"})
    first.close()
    again = folder.open()
    assert (again.id, again.notices) == (first.id, [])
    again.undo()
    assert folder.text("a.md") == "one\n"


def test_a_moved_folder_keeps_its_history(folder: Folder) -> None:
    folder.put("a.md", POEM)
    first = folder.open()
    agent_writes(first, {"a.md": replaced(POEM, Amber="Agate")})
    first.close()
    folder.path = folder.path.rename(folder.path.parent / "elsewhere")
    moved = folder.open()
    assert (moved.id, moved.notices) == (first.id, [])
    assert working(moved, "a.md") == replaced(POEM, Amber="Agate")


def test_a_copied_folder_gets_a_history_of_its_own_while_the_first_is_there(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    first = folder.open()
    person_writes(first, {"a.md": "two\n"})
    original = folder.path
    folder.path = Path(shutil.copytree(original, original.parent / "copy"))
    copy = folder.open()
    assert copy.id != first.id
    assert copy.turns() == []
    assert any("copy" in notice for notice in copy.notices)
    assert id_file(folder).read_text(encoding="ascii").strip() == copy.id
    copy.close()
    assert folder.open().id == copy.id
    folder.path = original
    assert folder.open().id == first.id


def test_a_folder_found_again_by_its_place_when_its_id_is_lost(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    first = folder.open()
    person_writes(first, {"a.md": "two\n"})
    first.close()
    shutil.rmtree(folder.path / ".redraft")
    again = folder.open()
    assert again.id == first.id
    assert again.notices
    assert id_file(folder).read_text(encoding="ascii").strip() == first.id


@pytest.mark.parametrize(
    "content",
    [b"", b"../../../etc", b"\xff\xfe\x00", b"x" * 1000, b"0" * 31, b"A" * 32, b"0" * 32 + b"\n0", b"deadbeef/../../x"],
)
def test_a_garbage_id_is_not_believed(folder: Folder, content: bytes) -> None:
    folder.put(".redraft/id", content)
    workspace = folder.open()
    assert states(folder) == [workspace.id]
    assert id_file(folder).read_text(encoding="ascii").strip() == workspace.id
    assert os.listdir(folder.state_home) == ["redraft"]


def test_an_id_too_large_to_be_one_is_left_alone_and_the_history_found_by_place(folder: Folder) -> None:
    folder.put(".redraft/id", b"x" * 100_000)
    workspace = folder.open()
    assert workspace.notices
    assert folder.open().id == workspace.id
    assert len(states(folder)) == 1


def test_a_folder_that_claims_anothers_id_does_not_get_its_history(folder: Folder) -> None:
    folder.put("a.md", "private\n")
    victim = folder.open()
    person_writes(victim, {"a.md": "more private\n"})
    hostile = folder.path.parent / "hostile"
    (hostile / ".redraft").mkdir(parents=True)
    (hostile / ".redraft" / "id").write_text(victim.id, encoding="ascii")
    with Workspace.open(hostile, state_home=folder.state_home) as other:
        assert other.id != victim.id
        assert other.turns() == []


def test_a_history_brought_along_in_the_folder_is_ignored(folder: Folder) -> None:
    other = folder.path.parent / "evil-state"
    shutil.copytree(os.path.dirname(folder.open().database.path), other)
    folder.put(".redraft/workspace.json", json.dumps({"id": "0" * 32, "folder": str(folder.path)}))
    shutil.copytree(other, folder.path / ".redraft" / "state")
    assert folder.open().turns() == []


@pytest.mark.parametrize("kind", ["link to a folder", "link to a file", "a file", "id is a folder", "id is a link"])
def test_a_strange_redraft_folder_is_left_alone_and_the_history_works(folder: Folder, kind: str) -> None:
    outside = folder.path.parent / "outside"
    outside.mkdir()
    (outside / "id").write_text("f" * 32, encoding="ascii")
    mine = folder.path / ".redraft"
    if kind == "link to a folder":
        mine.symlink_to(outside)
    elif kind == "link to a file":
        mine.symlink_to(outside / "id")
    elif kind == "a file":
        mine.write_text("hello", encoding="ascii")
    else:
        mine.mkdir()
        if kind == "id is a folder":
            (mine / "id").mkdir()
        else:
            (mine / "id").symlink_to(outside / "id")
    folder.put("a.md", "one\n")
    workspace = folder.open()
    assert any("could not be written" in notice for notice in workspace.notices)
    assert workspace.id != "f" * 32
    person_writes(workspace, {"a.md": "two\n"})
    workspace.close()
    again = folder.open()
    assert again.id == workspace.id
    assert len(again.turns()) == 1
    assert os.listdir(outside) == ["id"]
    assert (outside / "id").read_text(encoding="ascii") == "f" * 32


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_can_be_read_and_keeps_its_history_by_place(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.path.chmod(0o555)
    try:
        workspace = folder.open()
        assert working(workspace, "a.md") == "one\n"
        assert workspace.notices
        assert folder.open().id == workspace.id
    finally:
        folder.path.chmod(0o755)


def test_a_folder_on_a_read_only_disk_keeps_its_history_by_place(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise RedraftError("Cannot write .redraft/id: the disk is read-only.")

    monkeypatch.setattr(identity, "write_file", refuse)
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed\n")
    assert any("read-only" in notice for notice in workspace.notices)
    workspace.close()
    again = folder.open()
    assert again.id == workspace.id
    assert working(again, "a.md") == "one\ntyped\n"
