"""Cleaning up and the trash: what is old loses its images, what is pending or deleted lately does not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from redraft.config import Settings
from redraft.errors import Refused
from redraft.history.turns import State
from tests.workspace.folder import (
    AGENT,
    DAY,
    PERSON,
    POEM,
    agent_writes,
    hunks,
    person_writes,
    replaced,
    turn_of,
    type_at_end,
    type_over,
    working,
)

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


def stored(workspace: Workspace) -> int:
    row = workspace.database.row("SELECT count(*) FROM blocks")
    assert row is not None
    return int(row[0])


def delete(workspace: Workspace, path: str) -> None:
    with workspace.turn(PERSON, f"Delete {path}") as turn:
        turn.delete(path, turn.read(path).version)


@pytest.mark.covers("RD-history-retention")
def test_gc_drops_images_by_age_and_keeps_the_line_in_the_history(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open(Settings(retention_days=30))
    old = [person_writes(workspace, {"a.md": f"{number}\n" * 500}) for number in range(1, 4)]
    folder.clock.now += 31 * DAY
    young = person_writes(workspace, {"a.md": "young\n"})
    before = stored(workspace)
    collected = workspace.gc()
    assert collected.turns == 3
    assert stored(workspace) < before
    assert collected.blocks == before - stored(workspace)
    assert [turn.title for turn in workspace.turns()] == ["Rewrite"] * 4
    for turn in old:
        assert workspace.show(turn.id).pruned
        for act in (workspace.undo, workspace.restore):
            with pytest.raises(Refused) as refused:
                act(turn.id)
            assert refused.value.code == "nothing_to_undo"
        with pytest.raises(Refused):
            workspace.rollback(turn.id, "scoped_selected", ["h_0"])
    assert workspace.undo(young.id).conflicts == []
    assert folder.text("a.md") == "3\n" * 500


@pytest.mark.covers("RD-history-retention")
def test_gc_keeps_the_newest_turns_by_number(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open(Settings(retention_turns=2))
    turns = [person_writes(workspace, {"a.md": f"{number}\n"}) for number in range(1, 6)]
    assert workspace.gc().turns == 3
    assert [workspace.show(turn.id).pruned for turn in turns] == [True, True, True, False, False]
    workspace.undo()
    workspace.undo()
    assert folder.text("a.md") == "3\n"
    with pytest.raises(Refused):
        workspace.undo()


@pytest.mark.covers("RD-history-retention")
def test_gc_twice_finds_nothing_more_and_a_young_history_stays_whole(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    person_writes(workspace, {"a.md": "1\n"})
    collected = workspace.gc()
    assert (collected.turns, collected.snapshots) == (0, 0)
    folder.clock.now += 1000 * DAY
    assert workspace.gc().turns == 1
    collected = workspace.gc()
    assert (collected.turns, collected.snapshots, collected.blocks) == (0, 0, 0)


@pytest.mark.covers("P5", "RD-history-retention")
def test_nothing_pending_and_nothing_typed_is_ever_collected(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", POEM)
    workspace = folder.open(Settings(retention_days=1, retention_turns=1))
    proposal = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}))
    with workspace.turn(AGENT, "New") as turn:
        turn.create("new.md", "proposed\n")
    type_at_end(workspace, "b.md", "typed\n")
    shown = hunks(workspace, "a.md")
    for number in range(4):
        folder.put("c.md", f"{number}\n")
        person_writes(workspace, {"c.md": f"changed {number}\n"})
    folder.clock.now += 1000 * DAY
    workspace.gc()
    for view in (workspace, folder.open()):
        assert hunks(view, "a.md") == shown
        assert working(view, "b.md") == POEM + "typed\n"
        assert working(view, "new.md") == "proposed\n"
    assert not workspace.show(proposal.id).pruned
    workspace.accept({"a.md": None, "new.md": None})
    workspace.save("b.md")
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")
    assert folder.text("b.md") == POEM + "typed\n"


def test_gc_gives_space_back_to_the_disk(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    for number in range(3):
        noise = os.urandom(300_000).hex()
        person_writes(
            workspace, {"a.md": f"{number}\n" + "\n".join(noise[i : i + 80] for i in range(0, len(noise), 80))}
        )
    path = workspace.database.path
    workspace.close()
    before = os.path.getsize(path)
    folder.clock.now += 1000 * DAY
    again = folder.open()
    again.gc()
    again.close()
    assert before > 800_000
    assert os.path.getsize(path) < before / 2


def test_the_audit_log_stays_whole_through_a_cleaning(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    for number in range(3):
        person_writes(workspace, {"a.md": f"{number + 1}\n"})
    folder.clock.now += 1000 * DAY
    workspace.gc()
    verdict = workspace.verify_audit()
    assert (verdict.intact, verdict.entries) == (True, 3)


@pytest.mark.covers("ML-delete-trash", "ML-delete-trash-name", "RD-files-trash")
def test_deleted_documents_of_one_name_lie_side_by_side_and_each_comes_back(folder: Folder) -> None:
    workspace = folder.open()
    for number in range(3):
        folder.put("notes/a.md", f"number {number}\n")
        delete(workspace, "notes/a.md")
        folder.clock.now += 60
    entries = workspace.list_trash()
    assert [(entry.path, entry.size, entry.author) for entry in entries] == [("notes/a.md", 9, "you")] * 3
    assert [entry.deleted for entry in entries] == sorted((entry.deleted for entry in entries), reverse=True)
    workspace.untrash("notes/a.md", turn=entries[2].turn)
    assert folder.text("notes/a.md") == "number 0\n"
    workspace.untrash("notes/a.md", to="b.md")
    assert folder.text("b.md") == "number 2\n"
    assert [entry.turn for entry in workspace.list_trash()] == [entries[1].turn]


@pytest.mark.covers("RD-files-trash", "RD-files-no-replace")
def test_nothing_is_brought_back_over_another_document(folder: Folder) -> None:
    folder.put("a.md", "old\n")
    workspace = folder.open()
    delete(workspace, "a.md")
    folder.put("a.md", "new\n")
    with pytest.raises(Refused) as refused:
        workspace.untrash("a.md")
    assert refused.value.code == "already_exists"
    (folder.path / "sub").mkdir()
    with pytest.raises(Refused):
        workspace.untrash("a.md", to="sub")
    assert folder.tree() == {"a.md": b"new\n"}
    with pytest.raises(Refused) as refused:
        workspace.untrash("never-there.md")
    assert refused.value.code == "not_found"


def test_a_deletion_that_was_undone_and_a_moved_document_are_not_in_the_trash(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    delete(workspace, "a.md")
    assert len(workspace.list_trash()) == 1
    workspace.undo()
    assert workspace.list_trash() == []
    with workspace.turn(PERSON, "Move") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    number = workspace.turns()[0].id
    assert workspace.list_trash() == []
    workspace.restore(number)
    assert folder.tree() == {"a.md": b"one\n"}
    assert workspace.list_trash() == []


@pytest.mark.covers("P5")
@pytest.mark.parametrize("by", ["the person", "an agent, accepted"])
@pytest.mark.parametrize("to", [None, "b.md"])
def test_a_document_comes_back_from_the_trash_with_what_was_typed_and_proposed_in_it(
    folder: Folder, by: str, to: str | None
) -> None:
    folder.put("a.md", "one\n\ntwo\n")
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": "one\n\nTWO\n"}, mode="propose"))
    type_over(workspace, "a.md", "one", "one, typed")
    author, mode = (PERSON, None) if by == "the person" else (AGENT, "propose")
    with workspace.turn(author, "Delete", mode=mode, confirm=lambda _what, _paths: True) as turn:
        turn.delete("a.md", turn.read("a.md").version)
    if by != "the person":
        workspace.accept({"a.md": ["file"]})
    assert folder.tree() == {}
    workspace.untrash("a.md", to=to)
    path = to or "a.md"
    assert folder.tree() == {path: b"one\n\ntwo\n"}
    assert working(workspace, path) == "one, typed\n\nTWO\n"
    assert workspace.show(proposal.id).state is State.PROPOSED
    workspace.reject({path: None})
    workspace.save(path)
    assert folder.tree() == {path: b"one, typed\n\ntwo\n"}


def test_an_accepted_deletion_is_in_the_trash(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Away") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    assert workspace.list_trash() == []
    workspace.accept({"a.md": None})
    assert [entry.path for entry in workspace.list_trash()] == ["a.md"]
    workspace.untrash("a.md")
    assert folder.tree() == {"a.md": b"one\n"}
    assert workspace.list_trash() == []


def test_what_was_cleaned_up_is_no_longer_in_the_trash(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    delete(workspace, "a.md")
    folder.clock.now += 1000 * DAY
    workspace.gc()
    assert workspace.list_trash() == []
    with pytest.raises(Refused):
        workspace.untrash("a.md")


def test_a_byte_order_mark_and_line_ends_come_back_from_the_trash(folder: Folder) -> None:
    content = b"\xef\xbb\xbfone\r\ntwo\r"
    folder.put("a.md", content)
    workspace = folder.open()
    delete(workspace, "a.md")
    workspace.untrash("a.md")
    assert folder.bytes("a.md") == content
