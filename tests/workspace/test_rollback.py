"""Restore and rollback: to the checkpoint, whole or hunk by hunk, as a new turn that can itself be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.history.database import Store
from redraft.history.turns import State
from redraft.text.edits import Change
from tests.conftest import TORTURE
from tests.workspace.folder import (
    AGENT,
    POEM,
    WORDS,
    agent_writes,
    draft_of,
    fresh_folder,
    hunks,
    person_writes,
    replaced,
    turn_of,
    type_at_end,
    type_over,
    working,
)

if TYPE_CHECKING:
    from redraft.workspace.undo.rollback import TurnHunk
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder

THREE = replaced(POEM, Amber="Agate", Ember="Flame", Jetty="Quay")


def hunk_ids(workspace: Workspace, turn: int, *words: str) -> list[str]:
    found: list[TurnHunk] = [
        hunk for hunk in workspace.turn_content(turn).hunks() if any(word in hunk.hunk.new_text for word in words)
    ]
    assert len(found) == len(words)
    return [hunk.id for hunk in found]


@pytest.mark.covers("SB-rb-hard", "SB-rb-all", "SB-cp-before-run", "TK-history-restore-new", "RD-decided-rollback")
@pytest.mark.parametrize("way", ["restore", "hard_all"])
def test_going_back_sets_the_files_to_the_checkpoint_later_edits_included(folder: Folder, way: str) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE, "b.md": "two\n"}, mode="apply"))
    person_writes(workspace, {"a.md": replaced(THREE, Cedar="Cypress")})
    after = folder.tree()
    history = workspace.turns()
    taken = workspace.restore(turn.id) if way == "restore" else workspace.rollback(turn.id, "hard_all")
    assert folder.tree() == {"a.md": POEM.encode(), "b.md": b"one\n"}
    assert taken.turn is not None
    assert workspace.turns() == [workspace.show(taken.turn.id), *history]
    assert workspace.undo().conflicts == []
    assert folder.tree() == after


@pytest.mark.covers("TK-checkpoint-any-point", "TK-history-restore-new")
def test_any_checkpoint_can_be_gone_back_to_and_the_way_forward_stays(folder: Folder) -> None:
    folder.put("a.md", "0\n")
    workspace = folder.open()
    turns = [person_writes(workspace, {"a.md": f"{number}\n"}) for number in range(1, 5)]
    for number in (2, 0, 3, 1):
        workspace.restore(turns[number].id)
        assert folder.text("a.md") == f"{number}\n"
    assert len(workspace.turns()) == 8
    for _ in range(4):
        workspace.undo()
    assert folder.text("a.md") == "4\n"


@pytest.mark.covers("SB-rb-hard-scope")
def test_going_back_touches_the_turns_files_and_no_others(folder: Folder) -> None:
    for name in ("a.md", "b.md", "c.md"):
        folder.put(name, "one\n")
    folder.put(".git/HEAD", "ref: refs/heads/main\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Some", mode="apply") as turn:
        turn.write("a.md", "two\n", turn.read("a.md").version)
        turn.move("b.md", "moved.md", turn.read("b.md").version)
        turn.create("new.md", "new\n")
    folder.put("c.md", "changed outside\n")
    folder.put("d.md", "made outside\n")
    assert turn.outcome is not None
    workspace.restore(turn_of(turn.outcome).id)
    assert folder.tree() == {
        ".git/HEAD": b"ref: refs/heads/main\n",
        "a.md": b"one\n",
        "b.md": b"one\n",
        "c.md": b"changed outside\n",
        "d.md": b"made outside\n",
    }


@pytest.mark.covers("P5", "RD-history-undo-undo")
def test_typing_that_a_restore_took_off_the_screen_comes_back_by_undo(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = person_writes(workspace, {"a.md": THREE})
    type_at_end(workspace, "a.md", "typed and not saved\n")
    workspace.restore(turn.id)
    assert working(workspace, "a.md") == POEM
    assert workspace.undo().conflicts == []
    assert working(workspace, "a.md") == THREE + "typed and not saved\n"
    assert folder.text("a.md") == THREE


def test_restoring_the_state_before_a_proposal_drops_it_and_undo_brings_it_back(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": THREE}))
    workspace.restore(proposal.id)
    assert (working(workspace, "a.md"), workspace.drafts()) == (POEM, [])
    assert workspace.show(proposal.id).state is State.DISCARDED
    workspace.undo()
    assert working(workspace, "a.md") == THREE
    assert workspace.show(proposal.id).state is State.PROPOSED


@pytest.mark.covers("SB-rb-selected", "SB-rb-scoped-keeps", "P5")
def test_a_scoped_rollback_takes_back_the_chosen_hunks_and_keeps_newer_edits(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    person_writes(workspace, {"a.md": replaced(THREE, Cedar="Cypress")})
    type_over(workspace, "a.md", "Grove", "Copse")
    taken = workspace.rollback(turn.id, "scoped_selected", hunk_ids(workspace, turn.id, "Agate", "Quay"))
    assert taken.conflicts == []
    assert folder.text("a.md") == replaced(POEM, Ember="Flame", Cedar="Cypress")
    assert working(workspace, "a.md") == replaced(POEM, Ember="Flame", Cedar="Cypress", Grove="Copse")
    assert workspace.undo().conflicts == []
    assert folder.text("a.md") == replaced(THREE, Cedar="Cypress")


@pytest.mark.covers("SB-rb-scoped-conflict")
def test_a_scoped_rollback_names_the_hunk_that_newer_edits_overlap(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    person_writes(workspace, {"a.md": replaced(THREE, Agate="Opal")})
    agate, quay = hunk_ids(workspace, turn.id, "Agate", "Quay")
    taken = workspace.rollback(turn.id, "scoped_selected", [agate, quay])
    assert [(clash.path, clash.hunk_id) for clash in taken.conflicts] == [("a.md", agate)]
    assert folder.text("a.md") == replaced(POEM, Amber="Opal", Ember="Flame")


@pytest.mark.covers("SB-rb-scoped-conflict")
def test_a_scoped_rollback_of_nothing_but_conflicts_writes_nothing(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    person_writes(workspace, {"a.md": replaced(THREE, Agate="Opal")})
    count = len(workspace.turns())
    taken = workspace.rollback(turn.id, "scoped_selected", hunk_ids(workspace, turn.id, "Agate"))
    assert (taken.turn, len(taken.conflicts)) == (None, 1)
    assert len(workspace.turns()) == count


def test_a_scoped_rollback_over_a_document_that_is_gone_names_its_hunks(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    (folder.path / "a.md").unlink()
    taken = workspace.rollback(turn.id, "scoped_selected", hunk_ids(workspace, turn.id, "Agate"))
    assert taken.turn is None
    assert len(taken.conflicts) == 1
    assert folder.tree() == {}


def test_a_hunk_already_taken_back_is_no_conflict(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    chosen = hunk_ids(workspace, turn.id, "Agate")
    workspace.rollback(turn.id, "scoped_selected", chosen)
    taken = workspace.rollback(turn.id, "scoped_selected", chosen)
    assert (taken.turn, taken.conflicts) == (None, [])
    assert folder.text("a.md") == replaced(POEM, Ember="Flame", Jetty="Quay")


@pytest.mark.covers("SB-rb-modes")
def test_an_unknown_rollback_mode_or_hunk_is_refused(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    chosen = hunk_ids(workspace, turn.id, "Agate")
    wrong: Any = "soft"
    for act in (
        lambda: workspace.rollback(turn.id, wrong, chosen),
        lambda: workspace.rollback(turn.id, "scoped_selected", ["h_nonsense"]),
        lambda: workspace.rollback(turn.id, "scoped_selected", [*chosen, "h_nonsense"]),
        lambda: workspace.rollback(turn.id, "scoped_selected"),
        lambda: workspace.rollback(4711, "hard_all"),
    ):
        with pytest.raises(Refused):
            act()
    assert folder.text("a.md") == THREE


@pytest.mark.covers("SB-rb-selected")
def test_a_scoped_rollback_of_an_accepted_proposal_works_on_what_was_accepted(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": THREE}))
    workspace.accept({"a.md": None})
    taken = workspace.rollback(proposal.id, "scoped_selected", hunk_ids(workspace, proposal.id, "Flame"))
    assert taken.conflicts == []
    assert folder.text("a.md") == replaced(POEM, Amber="Agate", Jetty="Quay")


def test_hunks_of_a_proposal_that_is_still_pending_are_rejected_not_rolled_back(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": THREE}))
    with pytest.raises(Refused) as refused:
        workspace.rollback(proposal.id, "scoped_selected", hunk_ids(workspace, proposal.id, "Flame"))
    assert refused.value.code == "conflict"
    assert len(hunks(workspace, "a.md")) == 3


@pytest.mark.covers("SB-cp-file-fields", "SB-cp-before-run")
def test_a_checkpoint_has_per_file_its_snapshots_hash_the_hunks_and_what_takes_them_back(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE, "b.md": "two\n"}, mode="apply"))
    for step in workspace.show(turn.id).files:
        assert step.before is not None
        assert Store(workspace.database).get(step.before).decode() == {"a.md": POEM, "b.md": "one\n"}[step.path]
        mine = [hunk for hunk in workspace.turn_content(turn.id).hunks() if hunk.path == step.path]
        assert all(hunk.id.startswith("h_") for hunk in mine)
        back = Change(tuple(hunk.hunk.edit for hunk in mine)).invert()
        assert back.apply(folder.text(step.path)) == {"a.md": POEM, "b.md": "one\n"}[step.path]


@pytest.mark.covers("SB-cp-diff3", "SB-cp-reopen")
def test_the_three_way_view_shows_the_present_the_checkpoint_and_the_agents_text(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    person_writes(workspace, {"a.md": replaced(THREE, Agate="Opal")})
    workspace.close()
    view = folder.open().three_way(turn.id, "a.md")
    assert (view.current, view.checkpoint_base, view.agent_proposed) == (replaced(THREE, Agate="Opal"), POEM, THREE)


@pytest.mark.covers("SB-cp-diff3")
def test_the_three_way_view_of_a_proposal_and_of_a_moved_document(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": THREE}))
    view = workspace.three_way(proposal.id, "a.md")
    assert (view.current, view.checkpoint_base, view.agent_proposed) == (THREE, POEM, THREE)
    with workspace.turn(AGENT, "Move", mode="apply") as turn:
        turn.move("b.md", "c.md", turn.write("b.md", "two\n", turn.read("b.md").version).version)
    assert turn.outcome is not None
    view = workspace.three_way(turn_of(turn.outcome).id, "c.md")
    assert (view.current, view.checkpoint_base, view.agent_proposed) == ("two\n", "one\n", "two\n")
    with pytest.raises(Refused):
        workspace.three_way(proposal.id, "b.md")


def test_restoring_a_turn_keeps_what_other_turns_left_pending_elsewhere(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    agent_writes(workspace, {"b.md": THREE})
    workspace.restore(turn.id)
    assert len(draft_of(workspace, "b.md").review.hunks) == 3
    assert folder.tree() == {"a.md": POEM.encode(), "b.md": POEM.encode()}


def test_restoring_what_is_so_already_changes_no_file(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    workspace.undo()
    workspace.restore(turn.id)
    assert folder.text("a.md") == POEM


@given(st.sets(st.sampled_from(WORDS), min_size=1), st.data())
@settings(max_examples=1000 if TORTURE else 25)
@pytest.mark.slow
@pytest.mark.covers("SB-rb-selected", "SB-rb-scoped-keeps", "P5")
def test_a_scoped_rollback_takes_back_just_what_was_chosen(changed: set[str], data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from(sorted(changed)), min_size=1))
    later = data.draw(st.sets(st.sampled_from(WORDS)).map(lambda words: words - changed))
    with fresh_folder() as folder:
        folder.put("a.md", POEM)
        workspace = folder.open()
        new = replaced(POEM, **{word: f"{word}-agent" for word in changed})
        turn = turn_of(agent_writes(workspace, {"a.md": new}, mode="apply"))
        if later:
            person_writes(workspace, {"a.md": replaced(new, **{word: f"{word}-mine" for word in later})})
        wanted = [
            hunk.id
            for hunk in workspace.turn_content(turn.id).hunks()
            if any(f"{word}-agent" in hunk.hunk.new_text for word in chosen)
        ]
        taken_words = {
            word
            for hunk in workspace.turn_content(turn.id).hunks()
            if hunk.id in wanted
            for word in changed
            if f"{word}-agent" in hunk.hunk.new_text
        }
        taken = workspace.rollback(turn.id, "scoped_selected", wanted)
        kept = {word: f"{word}-agent" for word in changed - taken_words} | {word: f"{word}-mine" for word in later}
        assert taken.conflicts == []
        assert folder.text("a.md") == replaced(POEM, **kept)


@pytest.mark.covers("P5")
def test_a_scoped_rollback_loses_and_doubles_no_words_that_the_turn_left_standing(folder: Folder) -> None:
    before = "# Title\n\nfirst\nsecond TYPED and so on\n\n- a\n"
    after = before.replace("TYPED", "TYPED key: one\nkey: two\n# Heading\nkey: three")
    folder.put("a.md", before)
    workspace = folder.open()
    number = turn_of(agent_writes(workspace, {"a.md": after}, mode="apply")).id
    for hunk in workspace.turn_content(number).hunks():
        assert not workspace.rollback(number, "scoped_selected", [hunk.id]).conflicts
        assert folder.text("a.md").count("TYPED") == folder.text("a.md").count("and so on") == 1
    assert folder.text("a.md") == before


@pytest.mark.covers("P5")
@pytest.mark.parametrize("to_be_deleted", [True, False])
def test_a_creation_that_is_rolled_back_under_typing_leaves_the_typing(folder: Folder, to_be_deleted: bool) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "Make it", mode="apply") as making:
        making.create("a.md", POEM)
    assert making.outcome is not None
    number = turn_of(making.outcome).id
    type_at_end(workspace, "a.md", "TYPED\n")
    if to_be_deleted:
        with workspace.turn(AGENT, "Delete it", mode="propose") as turn:
            turn.delete("a.md", turn.read("a.md").version)
    ids = [hunk.id for hunk in workspace.turn_content(number).hunks()]
    assert workspace.rollback(number, "scoped_selected", ids).conflicts == []
    assert "TYPED" in draft_of(workspace, "a.md").review.to_save
    assert folder.tree() == {}


@pytest.mark.covers("P6")
@pytest.mark.parametrize("typed", ["inside and saved", "elsewhere and not saved", "nothing"])
def test_undo_after_a_rollback_takes_back_only_what_is_left(folder: Folder, typed: str) -> None:
    folder.put("a.md", "one two three four\n")
    workspace = folder.open()
    if typed == "elsewhere and not saved":
        type_over(workspace, "a.md", "one", "o7ne")
    text = working(workspace, "a.md")
    turn = turn_of(agent_writes(workspace, {"a.md": text.replace("two three ", "")}, mode="apply"))
    ids = [hunk.id for hunk in workspace.turn_content(turn.id).hunks()]
    assert workspace.rollback(turn.id, "scoped_selected", ids).conflicts == []
    if typed == "inside and saved":
        type_over(workspace, "a.md", "two", "tw7o")
        workspace.save("a.md")
    before = working(workspace, "a.md")
    workspace.undo(turn.id)
    assert working(workspace, "a.md") == before


@pytest.mark.covers("P6")
def test_undo_takes_back_the_hunk_that_a_rollback_left(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": THREE}, mode="apply"))
    workspace.rollback(turn.id, "scoped_selected", hunk_ids(workspace, turn.id, "Agate"))
    assert workspace.undo(turn.id).conflicts == []
    assert folder.text("a.md") == POEM


@pytest.mark.covers("P5", "P6")
def test_undo_of_a_written_turn_beside_unsaved_typing_doubles_nothing(folder: Folder) -> None:
    text = "The price is 5 EUR.\nWe meet on Monday.\n"
    folder.put("a.md", text)
    workspace = folder.open()
    turn = turn_of(agent_writes(workspace, {"a.md": text.replace("price is 5 EUR", "COST\nWAS")}, mode="apply"))
    type_over(workspace, "a.md", "We", "9We")
    assert workspace.undo(turn.id).conflicts == []
    assert working(workspace, "a.md") == text.replace("We", "9We")
    assert folder.text("a.md") == text
