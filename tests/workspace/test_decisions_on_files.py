"""Created, moved and deleted documents are decided like hunks: the hunk `file`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Refused
from redraft.history.turns import State
from redraft.review.review import Review
from redraft.review.runs import USER, Run
from redraft.workspace.document import FILE_HUNK, Draft
from redraft.workspace.turns.plan import Plan
from tests.workspace.folder import (
    AGENT,
    PERSON,
    agent_writes,
    draft_of,
    hunks,
    turn_of,
    type_at_end,
    type_over,
    working,
    yes,
)

if TYPE_CHECKING:
    from redraft.history.turns import TurnRecord
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder

pytestmark = pytest.mark.covers("RD-review-files")


def propose(workspace: Workspace, what: str, content: str = "new\n") -> TurnRecord:
    with workspace.turn(AGENT, what) as turn:
        if what == "create":
            turn.create("deep/new.md", content)
        elif what == "delete":
            turn.delete("a.md", turn.read("a.md").version)
        elif what == "move":
            turn.move("a.md", "moved/b.md", turn.read("a.md").version)
        else:
            changed = turn.write("a.md", content, turn.read("a.md").version)
            turn.move("a.md", "moved/b.md", changed.version)
    assert turn.outcome is not None
    return turn_of(turn.outcome)


WHERE = {"create": "deep/new.md", "delete": "a.md", "move": "moved/b.md", "edit and move": "moved/b.md"}
AFTER = {
    "create": {"a.md": b"one\n", "deep/new.md": b"new\n"},
    "delete": {},
    "move": {"moved/b.md": b"one\n"},
    "edit and move": {"moved/b.md": b"new\n"},
}


@pytest.mark.parametrize("what", list(WHERE))
def test_a_proposal_about_a_file_waits(folder: Folder, what: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    before = folder.tree()
    propose(workspace, what)
    assert folder.tree() == before
    draft = draft_of(workspace, WHERE[what])
    assert draft.kind == {"create": "created", "delete": "deleted"}.get(what, "moved")
    assert draft.hunk_ids()[0] == "file"


@pytest.mark.parametrize("what", list(WHERE))
def test_a_proposal_about_a_file_is_accepted(folder: Folder, what: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    proposal = propose(workspace, what)
    workspace.accept({WHERE[what]: None})
    assert folder.tree() == AFTER[what]
    assert workspace.drafts() == []
    assert workspace.show(proposal.id).state is State.APPLIED


@pytest.mark.parametrize("what", list(WHERE))
def test_accepting_a_proposal_about_a_file_is_undone_and_redone(folder: Folder, what: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    before = folder.tree()
    propose(workspace, what)
    draft = draft_of(workspace, WHERE[what])
    workspace.accept({WHERE[what]: None})
    assert workspace.undo().conflicts == []
    assert (folder.tree(), draft_of(workspace, WHERE[what])) == (before, draft)
    assert workspace.redo().conflicts == []
    assert (folder.tree(), workspace.drafts()) == (AFTER[what], [])


@pytest.mark.parametrize("what", list(WHERE))
def test_a_proposal_about_a_file_is_rejected_and_the_reject_undone(folder: Folder, what: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    before = folder.tree()
    proposal = propose(workspace, what)
    draft = draft_of(workspace, WHERE[what])
    workspace.reject({WHERE[what]: None})
    assert folder.tree() == before
    assert workspace.drafts() == []
    assert working(workspace, "a.md") == "one\n"
    assert workspace.show(proposal.id).state is State.DISCARDED
    assert workspace.undo().conflicts == []
    assert draft_of(workspace, WHERE[what]) == draft
    assert workspace.show(proposal.id).state is State.PROPOSED


@pytest.mark.covers("ML-record-status")
@pytest.mark.parametrize("what", list(WHERE))
def test_a_proposal_about_a_file_can_be_undone_as_a_whole_and_redone(folder: Folder, what: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    before = folder.tree()
    proposal = propose(workspace, what)
    assert workspace.undo().conflicts == []
    assert (folder.tree(), workspace.drafts()) == (before, [])
    assert workspace.show(proposal.id).state is State.UNDONE
    assert workspace.redo().conflicts == []
    assert draft_of(workspace, WHERE[what]).kind != "modified"
    assert workspace.show(proposal.id).state is State.PROPOSED


@pytest.mark.parametrize("what", list(WHERE))
def test_a_proposal_about_a_file_survives_a_restart(folder: Folder, what: str) -> None:
    folder.put("a.md", "one\n")
    first = folder.open()
    propose(first, what)
    draft = draft_of(first, WHERE[what])
    first.close()
    again = folder.open()
    assert draft_of(again, WHERE[what]) == draft
    again.accept({WHERE[what]: ["file"]})
    assert set(folder.tree()) == set(AFTER[what])


def test_a_created_empty_document_is_a_decision_too(folder: Folder) -> None:
    workspace = folder.open()
    proposal = propose(workspace, "create", "")
    assert draft_of(workspace, "deep/new.md").hunk_ids() == ["file"]
    workspace.accept({"deep/new.md": None})
    assert folder.tree() == {"deep/new.md": b""}
    assert workspace.show(proposal.id).state is State.APPLIED
    assert workspace.drafts() == []


def test_deleting_an_empty_document_is_a_decision_too(folder: Folder) -> None:
    folder.put("a.md", "")
    workspace = folder.open()
    proposal = propose(workspace, "delete")
    assert draft_of(workspace, "a.md").kind == "deleted"
    workspace.accept({"a.md": None})
    assert folder.tree() == {}
    assert workspace.show(proposal.id).state is State.APPLIED


def test_a_move_and_an_edit_of_one_document_are_decided_apart(folder: Folder) -> None:
    folder.put("a.md", "one\n\ntwo\n")
    workspace = folder.open()
    propose(workspace, "edit and move", "one\n\nTWO\n")
    workspace.reject({"moved/b.md": ["file"]})
    assert draft_of(workspace, "a.md").kind == "modified"
    assert working(workspace, "a.md") == "one\n\nTWO\n"
    workspace.accept({"a.md": None})
    assert folder.tree() == {"a.md": b"one\n\nTWO\n"}


def test_the_edit_of_a_moved_document_can_be_accepted_before_the_move(folder: Folder) -> None:
    folder.put("a.md", "one\n\ntwo\n")
    workspace = folder.open()
    propose(workspace, "edit and move", "one\n\nTWO\n")
    workspace.accept({"moved/b.md": [hunks(workspace, "moved/b.md")[0].id]})
    assert folder.tree() == {"a.md": b"one\n\nTWO\n"}
    workspace.accept({"moved/b.md": ["file"]})
    assert folder.tree() == {"moved/b.md": b"one\n\nTWO\n"}


@pytest.mark.covers("P5")
def test_rejecting_a_created_document_keeps_what_the_person_typed_into_it(folder: Folder) -> None:
    workspace = folder.open()
    propose(workspace, "create", "An agent's line.\n")
    type_at_end(workspace, "deep/new.md", "My own line.\n")
    workspace.reject({"deep/new.md": None})
    assert working(workspace, "deep/new.md") == "My own line.\n"
    assert folder.tree() == {}
    workspace.save("deep/new.md")
    assert folder.tree() == {"deep/new.md": b"My own line.\n"}


@pytest.mark.covers("P5")
def test_a_persons_turn_in_a_proposed_document_survives_its_rejection(folder: Folder) -> None:
    workspace = folder.open()
    propose(workspace, "create", "An agent's line.\n")
    with workspace.turn(PERSON, "Mine") as turn:
        turn.write("deep/new.md", "An agent's line.\nMy own line.\n", turn.read("deep/new.md").version)
    workspace.reject({"deep/new.md": None})
    assert "My own line." in working(workspace, "deep/new.md")


def test_saving_a_proposed_document_writes_only_what_the_person_typed(folder: Folder) -> None:
    workspace = folder.open()
    propose(workspace, "create", "An agent's line.\n")
    type_at_end(workspace, "deep/new.md", "My own line.\n")
    workspace.save("deep/new.md")
    assert folder.tree() == {"deep/new.md": b"My own line.\n"}
    workspace.accept({"deep/new.md": None})
    assert folder.tree() == {"deep/new.md": b"An agent's line.\nMy own line.\n"}


def test_a_document_that_is_to_be_deleted_is_typed_into_and_saved_and_is_gone_for_agents(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    propose(workspace, "delete")
    type_at_end(workspace, "a.md", "x\n")
    assert working(workspace, "a.md") == "one\nx\n"
    workspace.save("a.md")
    assert folder.tree() == {"a.md": b"one\nx\n"}
    assert draft_of(workspace, "a.md").kind == "deleted"
    with pytest.raises(Refused) as refused:
        workspace.read("a.md", author=AGENT)
    assert refused.value.code == "not_found"


def test_the_hunks_of_a_document_that_is_to_be_deleted_are_decided_apart_from_that(folder: Folder) -> None:
    folder.put("a.md", "one\n\ntwo\n\nthree\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "ONE\n\ntwo\n\nTHREE\n"})
    proposal = propose(workspace, "delete")
    workspace.accept({"a.md": [hunks(workspace, "a.md")[0].id]})
    assert folder.tree() == {"a.md": b"ONE\n\ntwo\n\nthree\n"}
    workspace.reject({"a.md": ["file"]})
    assert draft_of(workspace, "a.md").kind == "modified"
    assert [hunk.working for hunk in hunks(workspace, "a.md")] == ["THREE"]
    assert workspace.show(proposal.id).state is State.DISCARDED


def test_a_person_moves_a_document_that_is_to_be_deleted_and_the_proposal_goes_along(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed\n")
    propose(workspace, "delete")
    with workspace.turn(PERSON, "Elsewhere") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    assert (draft_of(workspace, "b.md").kind, working(workspace, "b.md")) == ("deleted", "one\ntyped\n")
    assert folder.tree() == {"b.md": b"one\n"}


@pytest.mark.covers("P5")
def test_a_proposed_deletion_of_a_typed_document_gives_the_typing_back_when_rejected(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed and not saved\n")
    propose(workspace, "delete")
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == "one\ntyped and not saved\n"
    assert draft_of(workspace, "a.md").dirty


@pytest.mark.covers("P5")
def test_an_accepted_deletion_of_a_typed_document_can_be_undone_with_the_typing(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed and not saved\n")
    propose(workspace, "delete")
    workspace.accept({"a.md": None})
    assert folder.tree() == {}
    workspace.undo()
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == "one\ntyped and not saved\n"


def test_a_proposed_document_can_be_changed_moved_and_dropped_by_later_turns(folder: Folder) -> None:
    workspace = folder.open()
    propose(workspace, "create", "first\n")
    agent_writes(workspace, {"deep/new.md": "second\n"})
    with workspace.turn(AGENT, "Elsewhere") as turn:
        turn.move("deep/new.md", "other.md", turn.read("deep/new.md").version)
    assert draft_of(workspace, "other.md").kind == "created"
    assert working(workspace, "other.md") == "second\n"
    with workspace.turn(AGENT, "No") as turn:
        turn.delete("other.md", turn.read("other.md").version)
    assert workspace.drafts() == []
    assert folder.tree() == {}


@pytest.mark.parametrize("mode", ["apply", "propose"])
@pytest.mark.parametrize("author", [AGENT, PERSON])
def test_the_old_place_of_a_document_that_is_to_move_is_not_free_yet(folder: Folder, author: object, mode: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    propose(workspace, "move")
    turn = workspace.turn(AGENT if author is AGENT else PERSON, "Squat", mode=mode)
    with pytest.raises(Refused) as refused:
        turn.create("a.md", "mine\n")
    assert refused.value.code == "already_exists"
    turn.commit()
    workspace.accept({"moved/b.md": None})
    assert folder.tree() == {"moved/b.md": b"one\n"}


def test_a_new_document_may_be_proposed_in_the_place_of_one_that_is_to_be_deleted(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    propose(workspace, "delete")
    with workspace.turn(AGENT, "Anew") as turn:
        turn.create("a.md", "anew\n")
    assert working(workspace, "a.md") == "anew\n"
    workspace.accept({"a.md": None})
    assert folder.tree() == {"a.md": b"anew\n"}


def test_another_document_cannot_be_moved_to_where_a_deletion_is_pending(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("z.md", "two\n")
    workspace = folder.open()
    propose(workspace, "delete")
    with pytest.raises(Refused), workspace.turn(AGENT, "Over") as turn:
        turn.move("z.md", "a.md", turn.read("z.md").version)
    assert draft_of(workspace, "a.md").kind == "deleted"
    workspace.reject({"a.md": None})
    assert folder.tree() == {"a.md": b"one\n", "z.md": b"two\n"}


@pytest.mark.parametrize("act", ["move", "delete"])
def test_a_person_may_overrule_a_proposed_move(folder: Folder, act: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    propose(workspace, "move")
    with workspace.turn(PERSON, "Otherwise", confirm=yes) as turn:
        if act == "move":
            turn.move("moved/b.md", "mine.md", turn.read("moved/b.md").version)
        else:
            turn.delete("moved/b.md", turn.read("moved/b.md").version)
    if act == "move":
        assert working(workspace, "mine.md") == "one\n"
        assert sum(data == b"one\n" for data in folder.tree().values()) == 1
        for draft in workspace.drafts():
            workspace.accept({draft.key: None})
        assert folder.tree() == {"mine.md": b"one\n"}
    else:
        assert folder.tree() == {}
        assert workspace.drafts() == []
    while workspace.turns()[0].kind != "propose" and any(turn.state is State.APPLIED for turn in workspace.turns()):
        if workspace.undo().turn is None or folder.tree() == {"a.md": b"one\n"}:
            break
    assert folder.tree() == {"a.md": b"one\n"}


def test_a_person_may_move_and_delete_documents_with_pending_hunks(folder: Folder) -> None:
    folder.put("a.md", "one\n\ntwo\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "one\n\nTWO\n"})
    with workspace.turn(PERSON, "Tidy up") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    assert folder.tree() == {"b.md": b"one\n\ntwo\n"}
    assert [hunk.author for hunk in hunks(workspace, "b.md")] == ["agent"]
    workspace.undo()
    assert folder.tree() == {"a.md": b"one\n\ntwo\n"}
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["agent"]
    type_over(workspace, "a.md", "one", "1")
    with workspace.turn(PERSON, "Enough") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    assert (folder.tree(), workspace.drafts()) == ({}, [])
    workspace.undo()
    assert working(workspace, "a.md") == "1\n\nTWO\n"
    assert folder.tree() == {"a.md": b"one\n\ntwo\n"}


def test_an_agent_in_apply_cannot_delete_a_document_with_unsaved_typing(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed\n")
    with pytest.raises(Refused) as refused, workspace.turn(AGENT, "Gone", mode="apply", confirm=yes) as turn:
        turn.delete("a.md", turn.read("a.md").version)
    assert refused.value.code == "conflict"
    assert working(workspace, "a.md") == "one\ntyped\n"


def test_accepting_a_creation_never_overwrites_what_somebody_put_there(folder: Folder) -> None:
    workspace = folder.open()
    propose(workspace, "create", "An agent's line.\n")
    folder.put("deep/new.md", "Somebody's line.\n")
    with pytest.raises(Refused) as refused:
        workspace.accept({"deep/new.md": ["file"]})
    assert refused.value.code == "hunk_not_found"
    assert folder.tree() == {"deep/new.md": b"Somebody's line.\n"}
    (hunk,) = hunks(workspace, "deep/new.md")
    assert hunk.conflict
    assert "Somebody's line.\n" in hunk.base
    assert "An agent's line.\n" in hunk.proposed
    workspace.settle("deep/new.md", hunk.id)
    workspace.accept({"deep/new.md": [hunk.id]})
    assert folder.tree() == {"deep/new.md": b"An agent's line.\n"}
    workspace.undo()
    assert folder.tree() == {"deep/new.md": b"Somebody's line.\n"}


def test_accepting_a_move_never_overwrites_what_somebody_put_there(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    propose(workspace, "move")
    folder.put("moved/b.md", "Somebody's.\n")
    with pytest.raises(Refused):
        workspace.accept({"moved/b.md": None})
    assert folder.tree() == {"a.md": b"one\n", "moved/b.md": b"Somebody's.\n"}
    assert draft_of(workspace, "moved/b.md").kind == "moved"


def test_a_creation_that_is_refused_leaves_nothing_where_the_person_left_nothing():
    """What stood under the proposal was never on the disk, and the person has deleted it since."""
    review = Review.of_runs([Run("words\n", USER, (USER, "t1#1.0")), Run("proposed\n", "t1#1.0")])
    plan = Plan()
    plan.put_draft(Draft("new.md", None, review, None, turn="t1").reject_hunks({FILE_HUNK}))
    assert plan.drafts == {"new.md": None}
