"""Small stories in which something the person typed, saw or agreed to could get lost between two acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.config import Settings
from redraft.errors import Forbidden, Refused
from redraft.history.turns import State
from redraft.review.operations import save
from redraft.search.index import Index
from redraft.text.merge.three_way import merge
from redraft.workspace.document import Draft
from tests.conftest import TORTURE
from tests.review.drafting import documents, reviews
from tests.workspace.folder import AGENT, agent_writes, draft_of, fresh_folder, hunks, type_at_end, type_over, working

if TYPE_CHECKING:
    from redraft.review.review import Review
    from tests.review.drafting import Typist
    from tests.workspace.folder import Folder

LINES = "one\ntwo\nthree\n"


@pytest.mark.covers("P5")
def test_redo_keeps_what_was_typed_after_the_undo(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    type_over(workspace, "a.md", "one", "one FIRST")
    workspace.save("a.md")
    workspace.undo()
    type_over(workspace, "a.md", "three", "three SECOND")
    workspace.redo()
    assert working(workspace, "a.md") == "one FIRST\ntwo\nthree SECOND\n"
    workspace.save("a.md")
    assert folder.text("a.md") == "one FIRST\ntwo\nthree SECOND\n"


def test_undo_of_an_accepted_move_takes_the_typing_back_to_the_old_place(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    with workspace.turn(AGENT, "move", mode="propose") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    workspace.accept({"b.md": None})
    type_over(workspace, "b.md", "two", "two TYPED")
    assert not workspace.undo().conflicts
    assert sorted(folder.tree()) == ["a.md"]
    assert [(draft.path, draft.base_path) for draft in workspace.drafts()] == [("b.md", "a.md")]
    assert working(workspace, "b.md") == "one\ntwo TYPED\nthree\n"


@pytest.mark.parametrize("pending", ["typing", "proposal"])
def test_a_file_emptied_outside_leaves_every_command_working(folder: Folder, pending: str) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    if pending == "typing":
        type_over(workspace, "a.md", "two\n", "")
    else:
        agent_writes(workspace, {"a.md": "one\nthree\n"}, mode="propose")
    folder.put("a.md", "")
    assert workspace.drafts() is not None
    workspace.reject({"a.md": None}) if workspace.draft("a.md") else None
    assert folder.text("a.md") == ""


@pytest.mark.covers("P4")
def test_accepting_a_hunk_takes_that_hunk_and_leaves_typing_beside_it_unsaved(folder: Folder) -> None:
    folder.put("a.md", "one two\n\nlast\n")
    workspace = folder.open()
    type_over(workspace, "a.md", "one two", "one TYPED two")
    type_over(workspace, "a.md", "last", "last, typed elsewhere")
    agent_writes(workspace, {"a.md": "one TYPED 2\n\nlast, typed elsewhere\n"}, mode="propose")
    (hunk,) = [hunk for hunk in hunks(workspace, "a.md") if hunk.author == "agent"]
    workspace.accept({"a.md": [hunk.id]})
    assert folder.text("a.md") == "one 2\n\nlast\n"  # what was typed beside it is not saved by that
    assert working(workspace, "a.md") == "one TYPED 2\n\nlast, typed elsewhere\n"
    workspace.accept({"a.md": None})
    assert folder.text("a.md") == "one TYPED 2\n\nlast, typed elsewhere\n"
    assert workspace.draft("a.md") is None


def test_a_pending_hunk_keeps_its_turn_when_another_turn_is_undone(folder: Folder) -> None:
    folder.put("a.md", "first\n\nmiddle\n\nlast\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "FIRST\n\nmiddle\n\nlast\n"}, mode="propose")
    agent_writes(workspace, {"a.md": "FIRST\n\nmiddle\n\nLAST\n"}, mode="propose")
    workspace.undo(1)
    assert workspace.show(2).state is State.PROPOSED
    assert list(workspace.hunks_of_turn(2)) == ["a.md"]
    workspace.accept({"a.md": None})
    assert workspace.show(2).state is State.APPLIED
    assert folder.text("a.md") == "first\n\nmiddle\n\nLAST\n"


def test_a_file_deleted_outside_does_not_make_the_agents_words_the_persons(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": LINES.replace("one", "ONE by the agent")}, mode="propose")
    (folder.path / "a.md").unlink()
    assert draft_of(workspace, "a.md").pending
    workspace.reject({"a.md": None})
    assert workspace.drafts() == []
    assert "a.md" not in folder.tree()


def test_an_outside_edit_beside_a_pending_hunk_is_not_the_agents_deletion(folder: Folder) -> None:
    folder.put("a.md", "First para, by me.\n\nSecond para.\n\nThird.\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "First, by me.\nmore\n\nThird.\n"}, mode="propose")
    folder.put("a.md", "First para, by me.\n\nSecond two\nthree.\n\nThird.\n")
    assert "Second two\nthree." in working(workspace, "a.md")
    assert any(hunk.conflict for hunk in hunks(workspace, "a.md"))
    workspace.reject({"a.md": None})
    assert folder.text("a.md") == "First para, by me.\n\nSecond two\nthree.\n\nThird.\n"


def test_discarding_unsaved_typing_keeps_what_was_saved(folder: Folder) -> None:
    folder.put("a.md", "one\n\ntwo\n\nthree\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "one\n\nTWO\n\nthree\n"}, mode="propose")
    type_over(workspace, "a.md", "one", "one A")
    workspace.save("a.md")
    type_over(workspace, "a.md", "three", "three B")
    workspace.discard_typing("a.md")
    assert working(workspace, "a.md") == "one A\n\nTWO\n\nthree\n"
    assert folder.text("a.md") == "one A\n\ntwo\n\nthree\n"


@pytest.mark.covers("P7")
def test_a_key_stays_secret_below_a_line_that_was_typed_above_it(folder: Folder) -> None:
    key = (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAA\n" * 3
    )
    folder.put("n.md", key)
    workspace = folder.open()
    type_over(workspace, "n.md", "-----BEGIN", "note\n-----BEGIN")
    with pytest.raises(Forbidden):
        workspace.read("n.md", author=AGENT)


def test_undoing_a_redo_by_its_number_is_told_of_the_first_turn_too(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": LINES.upper()}, mode="apply")
    workspace.undo()
    redone = workspace.redo().turn
    assert redone is not None
    assert workspace.show(1).state is State.APPLIED
    workspace.undo(redone.id)
    assert workspace.show(1).state is State.UNDONE
    assert folder.text("a.md") == LINES


def test_where_turns_are_decided_whole_one_hunk_of_two_documents_is_refused(folder: Folder) -> None:
    folder.put("a.md", LINES)
    folder.put("b.md", LINES)
    workspace = folder.open(Settings(review="turn"))
    agent_writes(workspace, {"a.md": LINES.upper(), "b.md": LINES.upper()}, mode="propose")
    with pytest.raises(Forbidden):
        workspace.accept({"a.md": None})
    workspace.accept(workspace.hunks_of_turn(1))
    assert folder.text("b.md") == LINES.upper()


def test_taking_back_all_hunks_of_a_creation_takes_the_file_away(folder: Folder) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "create", mode="apply") as turn:
        turn.create("new.md", LINES)
    ids = [hunk.id for hunk in workspace.turn_content(1).hunks()]
    assert not workspace.rollback(1, "scoped_selected", ids).conflicts
    assert "new.md" not in folder.tree()


@pytest.mark.covers("P5")
def test_a_merging_turn_does_not_write_unsaved_typing_as_its_own(folder: Folder) -> None:
    folder.put("a.md", "")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "TYPED")
    with pytest.raises(Refused, match="unsaved or undecided"):
        agent_writes(workspace, {"a.md": "by the agent\nTYPED"}, mode="merge")
    assert folder.text("a.md") == ""
    workspace.save("a.md")
    agent_writes(workspace, {"a.md": "by the agent\nTYPED"}, mode="merge")
    workspace.rollback(2, "scoped_selected", [hunk.id for hunk in workspace.turn_content(2).hunks()])
    assert folder.text("a.md") == "TYPED"


@pytest.mark.covers("P5")
def test_a_document_moved_where_a_deletion_waits_does_not_take_the_typing_with_it(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    type_over(workspace, "a.md", "one", "one, typed")
    with workspace.turn(AGENT, "delete", mode="propose") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    with workspace.turn(AGENT, "create", mode="propose") as turn:
        turn.create("b.md", "new\n")
    with pytest.raises(Refused) as caught, workspace.turn(AGENT, "move", mode="apply") as turn:
        turn.move("b.md", "a.md", turn.read("b.md").version)
    assert caught.value.code == "conflict"
    workspace.reject({"a.md": None})
    assert "one, typed" in working(workspace, "a.md")


@pytest.mark.covers("P7")
def test_a_search_shows_no_key_below_what_was_typed_above_it(folder: Folder) -> None:
    folder.put("age.txt", "AGE-SECRET-KEY-1QQQQQQQQQQSECRETLINE\n")
    workspace = folder.open()
    type_over(workspace, "age.txt", "AGE", "my note about it\n" * 400 + "AGE")
    with Index.open(workspace) as index:
        assert index.search("SECRETLINE") == []


@pytest.mark.covers("P5")
@pytest.mark.parametrize("saved", [True, False])
def test_undoing_a_proposed_move_keeps_what_was_typed_before_and_after_it(folder: Folder, saved: bool) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    type_over(workspace, "a.md", "one", "one, typed before")
    with workspace.turn(AGENT, "move", mode="propose") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    type_at_end(workspace, "b.md", "typed after")
    if saved:
        workspace.save("b.md")
    workspace.undo(1)
    assert "one, typed before" in working(workspace, "a.md")
    assert working(workspace, "a.md").endswith("typed after")


@pytest.mark.covers("P5")
def test_typing_saved_beside_a_clashing_proposal_outlives_what_somebody_else_appends(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Clash", mode="propose")
    turn.write("a.md", "zero\n", turn.read("a.md").version)
    type_over(workspace, "a.md", "one", "one PERSON")
    turn.commit()
    type_over(workspace, "a.md", "three", "three TYPED")
    workspace.save("a.md")
    appended = folder.text("a.md") + "somebody else\n"
    folder.put("a.md", appended)
    assert draft_of(workspace, "a.md").review.to_save == appended
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == appended


@given(reviews(), st.data())
@settings(max_examples=2000 if TORTURE else 40)
@pytest.mark.slow
@pytest.mark.covers("P5")
def test_a_merging_turn_over_any_review_keeps_what_the_person_has(
    made: tuple[Review, Typist], data: st.DataObject
) -> None:
    review = save(made[0])  # what the disk holds is what the review calls saved
    start = data.draw(st.integers(0, len(review.working)))
    end = data.draw(st.integers(start, min(len(review.working), start + 40)))
    result = review.working[:start] + data.draw(documents()) + review.working[end:]
    with fresh_folder() as folder:
        folder.put("a.md", review.to_save)
        workspace = folder.open()
        engine = workspace._engine  # pyright: ignore[reportPrivateUsage]  # no door puts any review there
        draft = Draft("a.md", "a.md", review, review.to_save.encode())
        with engine.database.transaction(durable=False):
            engine.reviews.set("a.md", engine.documents.to_image(draft))
        try:
            agent_writes(workspace, {"a.md": result}, mode="merge")
        except Refused:
            assert draft_of(workspace, "a.md").review.to_save == folder.text("a.md") == review.to_save
            return
        wanted = merge(review.working, review.to_save, result)
        left = workspace.draft("a.md")
        if wanted.clean:
            assert (folder.text("a.md") if left is None else left.review.to_save) == wanted.text
