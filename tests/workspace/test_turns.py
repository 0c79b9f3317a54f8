"""A turn: staged, seen by itself alone, and then on disk whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import ConfirmationRequired, Refused, Stale
from redraft.history.turns import State
from redraft.text.edits import Change, Edit
from tests.workspace.folder import AGENT, PERSON, agent_writes, person_writes, turn_of, working, yes

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


@pytest.mark.covers("ML-err-rollback", "TK-turn-staged", "TK-turn-failed")
@pytest.mark.parametrize("mode", ["apply", "propose", "merge"])
def test_one_failing_call_discards_the_whole_turn(folder: Folder, mode: str) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "two\n")
    workspace = folder.open()
    before = folder.tree()
    turn = workspace.turn(AGENT, "Both", mode=mode)

    def act() -> None:
        with turn:
            turn.write("a.md", "ONE\n", turn.read("a.md").version)
            turn.create("c.md", "three\n")
            turn.write("b.md", "TWO\n", "0000000000000000")

    with pytest.raises(Stale):
        act()
    assert folder.tree() == before
    assert workspace.drafts() == []
    assert workspace.turns() == []
    assert not turn.open


@pytest.mark.covers("RD-turn-own-writes")
def test_a_turn_reads_what_it_wrote(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    with folder.open().turn(AGENT, "Step by step") as turn:
        first = turn.write("a.md", "two\n", turn.read("a.md").version)
        assert str(turn.read("a.md").text) == "two\n"
        turn.write("a.md", "three\n", first.version)
        made = turn.create("b.md", "new\n")
        turn.edit("b.md", [Edit(0, "new", "newer")], made.version)
        assert str(turn.read("b.md").text) == "newer\n"
        moved = turn.move("b.md", "c.md", turn.read("b.md").version)
        assert (moved.path, str(turn.read("c.md").text)) == ("c.md", "newer\n")
        with pytest.raises(Refused, match="no document"):
            turn.read("b.md")


@pytest.mark.covers("TK-turn-staged")
@pytest.mark.parametrize("mode", ["apply", "propose"])
def test_what_is_staged_is_seen_by_nobody_else(folder: Folder, mode: str) -> None:
    folder.put("a.md", "one\n")
    workspace, other = folder.open(), folder.open()
    turn = workspace.turn(AGENT, "Quietly", mode=mode)
    turn.write("a.md", "two\n", turn.read("a.md").version)
    turn.create("b.md", "new\n")
    for witness in (workspace, other):
        assert working(witness, "a.md") == "one\n"
        assert witness.drafts() == []
        with pytest.raises(Refused):
            witness.read("b.md")
    assert folder.tree() == {"a.md": b"one\n"}
    turn.commit()
    assert [working(witness, "a.md") for witness in (workspace, other)] == ["two\n", "two\n"]


@pytest.mark.covers("TK-turn-many-calls", "ML-cp-all-files", "ML-adv-batch-undo", "ML-optimistic-undo")
def test_many_calls_are_one_turn_with_one_checkpoint_and_one_undo(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "two\n")
    folder.put("old.md", "to be moved\n")
    folder.put("gone.md", "to be deleted\n")
    workspace = folder.open()
    before = folder.tree()
    with workspace.turn(AGENT, "Much", mode="apply", confirm=yes) as turn:
        for path in ("a.md", "b.md"):
            turn.write(path, "changed\n", turn.read(path).version)
        turn.create("deep/er/c.md", "three\n")
        turn.move("old.md", "new.md", turn.read("old.md").version)
        turn.delete("gone.md", turn.read("gone.md").version)
    (record,) = workspace.turns()
    assert {step.path: step.action for step in record.files} == {
        "a.md": "modified",
        "b.md": "modified",
        "deep/er/c.md": "created",
        "new.md": "moved",
        "old.md": "deleted",
        "gone.md": "deleted",
    }
    assert folder.tree() == {
        "a.md": b"changed\n",
        "b.md": b"changed\n",
        "deep/er/c.md": b"three\n",
        "new.md": b"to be moved\n",
    }
    assert workspace.undo().conflicts == []
    assert folder.tree() == before


@pytest.mark.parametrize("mode", ["apply", "propose", "merge"])
def test_an_empty_turn_leaves_no_trace(folder: Folder, mode: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Nothing", mode=mode) as turn:
        turn.read("a.md")
        turn.write("a.md", "one\n", turn.read("a.md").version)
        made = turn.create("b.md", "")
        turn.move("b.md", "c.md", made.version)
        turn.move("a.md", "x.md", turn.read("a.md").version)
        turn.move("x.md", "a.md", turn.read("x.md").version)
        turn.move("c.md", "b.md", turn.read("c.md").version)
        if mode == "propose":
            turn.delete("b.md", turn.read("b.md").version)
        else:
            turn.confirm = yes
            turn.delete("b.md", turn.read("b.md").version)
    assert turn.outcome is not None
    assert turn.outcome.turn is None
    assert workspace.turns() == []
    assert folder.tree() == {"a.md": b"one\n"}
    assert workspace.audit() == []


@pytest.mark.parametrize("end", ["commit", "discard"])
def test_a_closed_turn_refuses_every_call(folder: Folder, end: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    turn = workspace.turn(PERSON, "Short")
    version = turn.read("a.md").version
    (turn.commit if end == "commit" else turn.discard)()
    calls = [
        lambda: turn.read("a.md"),
        lambda: turn.edit("a.md", [Edit(0, "", "x")], version),
        lambda: turn.write("a.md", "x", version),
        lambda: turn.create("b.md", "x"),
        lambda: turn.move("a.md", "b.md", version),
        lambda: turn.delete("a.md", version),
        turn.commit,
    ]
    for call in calls:
        with pytest.raises(Refused) as refused:
            call()
        assert refused.value.code == "turn_closed"
    assert folder.tree() == {"a.md": b"one\n"}


def test_an_error_of_the_caller_discards_the_turn_as_well(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()

    def act() -> None:
        with workspace.turn(PERSON, "Unlucky") as turn:
            turn.write("a.md", "two\n", turn.read("a.md").version)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        act()
    assert folder.tree() == {"a.md": b"one\n"}
    assert workspace.turns() == []


@pytest.mark.covers("ML-cp-read-none")
def test_reading_makes_no_turn(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    workspace.read("a.md", author=AGENT)
    with workspace.turn(AGENT, "Look", mode="read") as turn:
        turn.read("a.md")
    assert workspace.turns() == []


@pytest.mark.covers("ML-cp-new-file", "TK-checkpoint-every-turn", "SB-cp-every-run", "ML-optimistic-checkpoint")
def test_a_created_document_has_a_checkpoint_in_which_it_is_not_there(folder: Folder) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "New", mode="apply") as turn:
        turn.create("notes/a.md", "hello\n")
    assert turn.outcome is not None
    record = turn_of(turn.outcome)
    assert record.files[0].before is None
    assert workspace.turn_texts(record.id) == [("notes/a.md", "", "hello\n")]


@pytest.mark.parametrize("mode", ["apply", "propose", "merge"])
def test_a_document_that_vanished_during_the_turn_stops_all_of_it(folder: Folder, mode: str) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "two\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Late", mode=mode)
    for path in ("a.md", "b.md"):
        turn.write(path, "changed\n", turn.read(path).version)
    (folder.path / "b.md").unlink()
    with pytest.raises(Stale):
        turn.commit()
    assert folder.tree() == {"a.md": b"one\n"}
    assert workspace.drafts() == []


def test_in_apply_a_file_changed_outside_during_the_turn_stops_all_of_it(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "two\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Late", mode="apply")
    for path in ("a.md", "b.md"):
        turn.write(path, "changed\n", turn.read(path).version)
    folder.put("b.md", "somebody else\n")
    with pytest.raises(Stale):
        turn.commit()
    assert folder.tree() == {"a.md": b"one\n", "b.md": b"somebody else\n"}


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b"])
def test_text_that_a_file_cannot_hold_as_text_is_refused(folder: Folder, text: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    for act in (
        lambda: agent_writes(workspace, {"a.md": text}, mode="apply"),
        lambda: person_writes(workspace, {"a.md": text}),
        lambda: agent_writes(workspace, {"a.md": text}, mode="propose"),
        lambda: workspace.turn(PERSON, "New").create("b.md", text),
        lambda: workspace.type("a.md", Change((Edit(0, "", text),))),
    ):
        with pytest.raises(Refused) as refused:
            act()
        assert refused.value.code == "invalid_text"
    assert folder.tree() == {"a.md": b"one\n"}
    assert working(workspace, "a.md") == "one\n"


def test_consent_asked_for_at_the_end_can_be_given_late(folder: Folder) -> None:
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Many", mode="apply")
    for number in range(11):
        turn.create(f"n{number}.md", "x\n")
    with pytest.raises(ConfirmationRequired):
        turn.commit()
    assert folder.tree() == {}
    turn.confirm = yes
    outcome = turn.commit()
    assert len(outcome.applied) == len(folder.tree()) == 11
    assert turn_of(outcome).state is State.APPLIED
