"""Somebody else writes: an editor, a sync program. What is clean follows, what was typed is merged or marked."""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from pathlib import Path

import pytest

from redraft.errors import Refused, Stale
from redraft.files.file_image import file_system
from redraft.text.edits import Change, Edit
from redraft.text.text import Text
from redraft.workspace import documents
from tests.workspace.folder import (
    AGENT,
    PERSON,
    POEM,
    Folder,
    agent_writes,
    draft_of,
    hunk_with,
    hunks,
    person_writes,
    replaced,
    type_at_end,
    type_over,
    working,
)


@pytest.mark.covers("RD-tabs-external")
def test_a_clean_document_reloads(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    tab = workspace.open_tab("a.md")
    folder.put("a.md", "two\n")
    assert working(workspace, "a.md") == "two\n"
    assert [(found.tab_id, found.dirty) for found in workspace.tabs()] == [(tab.tab_id, False)]


@pytest.mark.covers("RD-tabs-external", "P5")
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("half", [0, 40])
def test_a_file_that_is_being_written_is_not_taken_for_a_shorter_one(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, typed: bool, half: int
) -> None:
    """A program empties it, and is still writing when the person types on."""
    folder.put("a.md", POEM)
    workspace = folder.open()
    assert working(workspace, "a.md") == POEM
    if typed:
        type_over(workspace, "a.md", "Ember", "Emerald")
    wanted = replaced(POEM, Jetty="Quay")

    def goes_on(_: float) -> None:
        folder.put("a.md", wanted)

    monkeypatch.setattr(documents, "SETTLE_NS", 10**12)  # however slow this machine is just now
    monkeypatch.setattr(time, "sleep", goes_on)
    folder.put("a.md", POEM[:half])
    type_at_end(workspace, "a.md", "The end.\n")
    assert working(workspace, "a.md") == (replaced(wanted, Ember="Emerald") if typed else wanted) + "The end.\n"
    assert not any(hunk.conflict for hunk in hunks(workspace, "a.md"))


@pytest.mark.parametrize("typed", [False, True])
def test_a_file_that_stays_empty_is_soon_taken_for_empty(folder: Folder, typed: bool) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    if typed:
        type_at_end(workspace, "a.md", "The end.\n")
    folder.put("a.md", "")
    began = time.monotonic()
    if typed:
        assert working(workspace, "a.md").endswith("The end.\n")
        assert draft_of(workspace, "a.md").saved_text == ""
    else:
        assert working(workspace, "a.md") == ""
    assert time.monotonic() - began < 30


@pytest.mark.covers("RD-tabs-external", "P5")
def test_a_dirty_document_is_merged_with_a_change_elsewhere(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    folder.put("a.md", replaced(POEM, Amber="Agate"))
    assert working(workspace, "a.md") == replaced(POEM, Amber="Agate", Ember="Emerald")
    (hunk,) = hunks(workspace, "a.md")
    assert (hunk.author, hunk.conflict) == ("user", False)
    workspace.save("a.md")
    assert folder.text("a.md") == replaced(POEM, Amber="Agate", Ember="Emerald")


@pytest.mark.covers("RD-tabs-external", "P5")
def test_a_dirty_document_shows_a_conflict_where_both_changed_the_same_words(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    folder.put("a.md", replaced(POEM, Ember="Ashes"))
    (hunk,) = hunks(workspace, "a.md")
    assert hunk.conflict
    assert "Emerald" in working(workspace, "a.md")
    assert "Ashes" in hunk.base + hunk.working
    assert folder.text("a.md") == replaced(POEM, Ember="Ashes")


@pytest.mark.covers("RD-tabs-external", "P3")
def test_an_edit_against_the_text_before_an_outside_change_is_refused(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    old = workspace.read("a.md").version
    folder.put("a.md", replaced(POEM, Amber="Agate"))
    before = folder.tree()
    with pytest.raises(Stale):
        workspace.turn(AGENT, "Late").edit("a.md", [Edit(0, "", "x")], old)
    assert folder.tree() == before


def test_a_pending_review_follows_an_outside_change(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")})
    name = hunk_with(workspace, "a.md", "Agate").id
    folder.put("a.md", replaced(POEM, Jetty="Quay"))
    assert working(workspace, "a.md") == replaced(POEM, Amber="Agate", Jetty="Quay")
    assert [(hunk.id, hunk.author) for hunk in hunks(workspace, "a.md")] == [(name, "agent")]
    workspace.accept({"a.md": None})
    assert folder.text("a.md") == replaced(POEM, Amber="Agate", Jetty="Quay")


def test_an_outside_change_that_does_what_the_agent_proposed_leaves_nothing_to_decide(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")})
    folder.put("a.md", replaced(POEM, Amber="Agate"))
    workspace.refresh()
    assert not any(draft.pending for draft in workspace.drafts())
    assert working(workspace, "a.md") == replaced(POEM, Amber="Agate")


@pytest.mark.covers("P5")
def test_a_document_deleted_outside_keeps_what_was_typed_and_can_be_saved_again(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed\n")
    (folder.path / "a.md").unlink()
    assert working(workspace, "a.md") == "one\ntyped\n"
    assert draft_of(workspace, "a.md").dirty
    workspace.save("a.md")
    assert folder.text("a.md") == "one\ntyped\n"
    assert workspace.drafts() == []


def test_a_clean_document_deleted_outside_is_gone_and_may_come_back(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    workspace.open_tab("a.md")
    assert working(workspace, "a.md") == "one\n"
    (folder.path / "a.md").unlink()
    with pytest.raises(Refused) as refused:
        workspace.read("a.md")
    assert refused.value.code == "not_found"
    assert workspace.tabs()[0].document is None
    folder.put("a.md", "again\n")
    assert working(workspace, "a.md") == "again\n"


def test_a_proposal_on_a_document_deleted_outside_can_still_be_rejected_or_kept(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "two\n"})
    (folder.path / "a.md").unlink()
    draft_of(workspace, "a.md")
    workspace.discard_typing("a.md")
    assert folder.tree() == {}


def test_a_proposed_deletion_that_somebody_else_carried_out_is_no_longer_pending(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "one\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Away") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    agent_writes(workspace, {"b.md": "two\n"})
    (folder.path / "a.md").unlink()
    assert [draft.key for draft in workspace.drafts()] == ["b.md"]
    workspace.refresh()
    workspace.accept({"b.md": None})
    assert folder.tree() == {"b.md": b"two\n"}
    assert {turn.state for turn in workspace.turns() if turn.kind == "propose"} <= {"applied", "discarded"}
    folder.put("a.md", "a new one\n")
    assert working(workspace, "a.md") == "a new one\n"


def test_a_document_created_outside_where_a_creation_is_pending_is_a_conflict(folder: Folder) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "New") as turn:
        turn.create("a.md", "An agent's text.\n")
    folder.put("a.md", "Somebody else's.\n")
    draft = draft_of(workspace, "a.md")
    assert draft.kind == "modified"
    assert draft.review.hunks[0].conflict
    workspace.reject({"a.md": None})
    assert folder.text("a.md") == "Somebody else's.\n"


def test_the_very_document_that_an_agent_proposed_made_outside_is_no_conflict(folder: Folder) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "New") as turn:
        turn.create("a.md", "The text.\n")
    folder.put("a.md", "The text.\n")
    assert working(workspace, "a.md") == "The text.\n"
    assert workspace.drafts() == []


@pytest.mark.parametrize("what", ["binary", "folder", "link"])
def test_a_file_that_turned_into_something_else_blocks_only_itself(folder: Folder, what: str) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "one\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "two\n", "b.md": "two\n"})
    type_at_end(workspace, "a.md", "typed\n")
    (folder.path / "a.md").unlink()
    if what == "binary":
        folder.put("a.md", b"\x00\xff")
    elif what == "folder":
        (folder.path / "a.md").mkdir()
    else:
        (folder.path / "a.md").symlink_to("b.md")
    assert {draft.key for draft in workspace.drafts()} == {"a.md", "b.md"}
    workspace.refresh()
    assert [tab.path for tab in workspace.tabs()] == []
    workspace.accept({"b.md": None})
    assert folder.text("b.md") == "two\n"
    person_writes(workspace, {"b.md": "three\n"})
    with pytest.raises(Refused):
        workspace.accept({"a.md": None})
    with pytest.raises(Refused):
        workspace.save("a.md")
    if what == "folder":
        (folder.path / "a.md").rmdir()
    else:
        (folder.path / "a.md").unlink()
    folder.put("a.md", "one\n")
    assert working(workspace, "a.md") == "two\ntyped\n"


def test_refresh_tells_which_documents_changed_and_keeps_what_it_found(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", POEM)
    workspace = folder.open()
    for path in ("a.md", "b.md"):
        type_over(workspace, path, "Ember", "Emerald")
    folder.put("a.md", replaced(POEM, Amber="Agate"))
    assert workspace.refresh() == ["a.md"]
    assert workspace.refresh() == []
    assert working(folder.open(), "a.md") == replaced(POEM, Amber="Agate", Ember="Emerald")


def test_a_byte_order_mark_added_outside_during_a_review_stays(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    folder.put("a.md", b"\xef\xbb\xbf" + POEM.encode())
    workspace.save("a.md")
    assert folder.bytes("a.md") == b"\xef\xbb\xbf" + replaced(POEM, Ember="Emerald").encode()


def test_an_editor_that_changes_all_line_ends_meets_typing(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    folder.put("a.md", POEM.replace("\n", "\r\n"))
    assert working(workspace, "a.md").count("Emerald") == 1
    workspace.save("a.md")
    assert folder.text("a.md").count("Emerald") == 1
    for word in ("Amber", "Jetty"):
        assert folder.text("a.md").count(word) == 1


@pytest.mark.covers("RD-files-no-replace")
def test_saving_never_writes_over_a_file_that_appeared_since_the_last_look(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed\n")
    folder.clock.meanwhile = lambda: folder.put("a.md", "an outsider's last word\n")
    with pytest.raises(Stale):
        workspace.save("a.md")
    assert folder.tree() == {"a.md": b"an outsider's last word\n"}
    assert "typed" in working(workspace, "a.md")


@pytest.mark.covers("P3")
def test_an_outsider_at_the_last_moment_stops_a_turn_over_several_files(folder: Folder) -> None:
    for name in ("a.md", "b.md", "c.md"):
        folder.put(name, "one\n")
    workspace = folder.open()
    folder.clock.meanwhile = lambda: folder.put("c.md", "an outsider's\n")
    with pytest.raises(Stale):
        agent_writes(workspace, dict.fromkeys(("a.md", "b.md", "c.md"), "two\n"), mode="apply")
    assert folder.tree() == {"a.md": b"one\n", "b.md": b"one\n", "c.md": b"an outsider's\n"}
    assert workspace.undo if workspace.turns() else True
    assert [turn.state for turn in workspace.turns()] in ([], ["discarded"])
    with pytest.raises(Refused):
        workspace.undo()


def test_a_person_may_not_create_over_a_pending_creation_unseen(folder: Folder) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "New") as turn:
        turn.create("a.md", "An agent's text.\n")
    with pytest.raises(Refused) as refused, workspace.turn(PERSON, "New") as own:
        own.create("a.md", "mine\n")
    assert refused.value.code == "already_exists"


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 0.0005, 0.15])
def test_a_write_of_the_same_length_with_its_time_kept_is_seen_however_soon_it_comes(
    folder: Folder, pause: float
) -> None:
    folder.put("a.md", "00000\n")
    workspace = folder.open()
    for number in range(4 if pause > 0.1 else 150):
        agent_writes(workspace, {"a.md": f"a{number:04}\n"}, mode="apply")
        assert working(workspace, "a.md") == f"a{number:04}\n"
        time.sleep(pause)
        assert working(workspace, "a.md") == f"a{number:04}\n"
        found = os.stat(folder.path / "a.md")
        with open(folder.path / "a.md", "r+b") as file:
            file.write(b"b")
        os.utime(folder.path / "a.md", ns=(found.st_atime_ns, found.st_mtime_ns))
        assert working(workspace, "a.md") == f"b{number:04}\n"


def test_a_large_document_changed_outside_reads_as_it_stands(folder: Folder) -> None:
    content = "".join(f"Line {number} of a long document, ünïcödé.\r\n" for number in range(3000))
    folder.put("a.md", content)
    workspace = folder.open()
    for changed in (content.replace("Line 1500", "Another"), "new\n" + content, content[:50_000], "x", content):
        assert working(workspace, "a.md") != changed
        folder.put("a.md", changed)
        document = workspace.read("a.md")
        assert str(document.text) == changed
        assert document.text.digest == Text(changed).digest


@pytest.mark.covers("P5")
@pytest.mark.parametrize("with_agent", [False, True])
@pytest.mark.parametrize(
    ("before", "typed", "outside"),
    [
        ("The end.", 'The end. "Yes," he said.', 'The end. "No," she said.'),
        ("x\n", "x\n\nAnna loves Bert.\n", "x\n\nBert hates Anna.\n"),
    ],
)
def test_where_both_added_at_one_place_each_has_its_sentence_whole(
    folder: Folder, before: str, typed: str, outside: str, with_agent: bool
) -> None:
    folder.put("a.md", f"# T\n\n{before}\n")
    workspace = folder.open()
    workspace.type("a.md", Change.between(f"# T\n\n{before}\n", f"# T\n\n{typed}\n"))
    if with_agent:
        agent_writes(workspace, {"a.md": working(workspace, "a.md").replace("# T", "# Title")})
    folder.put("a.md", f"# T\n\n{outside}\n")
    text = working(workspace, "a.md")
    for sentence in (typed.removeprefix(before), outside.removeprefix(before)):
        assert text.count(sentence.strip()) == 1
    [hunk] = [hunk for hunk in hunks(workspace, "a.md") if hunk.conflict]
    with pytest.raises(Refused) as refusal:
        workspace.save("a.md")
    assert (refusal.value.code, folder.text("a.md")) == ("conflict", f"# T\n\n{outside}\n")
    workspace.settle("a.md", hunk.id, hunk.working)
    workspace.save("a.md")
    assert folder.text("a.md") == text.replace("# Title", "# T")


@pytest.mark.covers("P5")
@pytest.mark.parametrize("with_agent", [False, True])
@pytest.mark.parametrize("mine", [False, True])
def test_where_both_changed_the_same_words_neither_is_written_over_before_somebody_chose(
    folder: Folder, with_agent: bool, mine: bool
) -> None:
    folder.put("a.md", "# T\n\nA cat sat.\n")
    workspace = folder.open()
    type_over(workspace, "a.md", "cat", "dog")
    if with_agent:
        agent_writes(workspace, {"a.md": working(workspace, "a.md").replace("# T", "# Title")})
    folder.put("a.md", "# T\n\nA fish sat.\n")
    assert working(workspace, "a.md").endswith("A dog sat.\n")
    (hunk,) = [hunk for hunk in hunks(workspace, "a.md") if hunk.author == "user"]
    assert (hunk.conflict, hunk.base, hunk.working) == (True, "fish", "dog")
    for act in (lambda: workspace.save("a.md"), lambda: workspace.accept({"a.md": [hunk.id]})):
        with pytest.raises(Refused) as refusal:
            act()
        assert refusal.value.code == "conflict"
    if with_agent:
        workspace.accept({"a.md": None})
    assert folder.text("a.md").endswith("A fish sat.\n")
    assert working(workspace, "a.md").endswith("A dog sat.\n")
    workspace.settle("a.md", hunk.id, hunk.working if mine else None)
    assert folder.text("a.md") == working(workspace, "a.md")
    assert folder.text("a.md").endswith("A dog sat.\n" if mine else "A fish sat.\n")
    assert workspace.drafts() == []


def test_a_file_that_is_no_text_any_more_hides_no_other_tab(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", POEM)
    workspace = folder.open()
    for name in ("a.md", "b.md"):
        workspace.open_tab(name)
    type_at_end(workspace, "a.md", "typed")
    folder.put("a.md", b"caf\xe9\n")
    assert [(tab.path, tab.dirty) for tab in workspace.tabs()] == [("a.md", True), ("b.md", False)]
    assert workspace.open_tab("b.md").tab_id == "tab_2"


def test_what_was_written_behind_the_stamps_back_is_kept_and_then_seen() -> None:
    memory = Path("/dev/shm")
    if file_system(memory.stat().st_dev) != "tmpfs":
        pytest.skip("there is no tmpfs at /dev/shm")
    with tempfile.TemporaryDirectory(dir=memory) as place:
        folder = Folder(Path(place))
        folder.put("a.md", "First.\n")
        workspace = folder.open()
        agent_writes(workspace, {"a.md": "Ours.\n"}, mode="apply")
        with open(folder.path / "a.md", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            assert mapped[:] == b"Ours.\n"  # what is read first and then written is not noticed by the kernel
            mapped[:] = b"Their\n"
        with pytest.raises(Stale):
            agent_writes(workspace, {"a.md": "More.\n"}, mode="apply")
        assert folder.tree() == {"a.md": b"Their\n"}
        assert str(workspace.read("a.md").text) == "Their\n"
        folder.close()


@pytest.mark.covers("RD-outside-turn")
@pytest.mark.parametrize("by", ["agent", "person"])
@pytest.mark.parametrize("decided", ["not", "refused", "taken"])
def test_another_programs_turn_is_undone_whatever_became_of_the_conflict(folder: Folder, by: str, decided: str) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    workspace.read("a.md")
    if by == "person":
        type_over(workspace, "a.md", "Ember", "Emerald")
    else:
        agent_writes(workspace, {"a.md": replaced(POEM, Ember="Emerald")})
    folder.put("a.md", replaced(POEM, Ember="Ashes"))
    (hunk,) = hunks(workspace, "a.md")
    (number,) = [turn.id for turn in workspace.turns() if turn.author.kind == "outside"]
    if decided == "refused":
        workspace.reject({"a.md": [hunk.id]})
    elif decided == "taken":
        workspace.settle("a.md", hunk.id, "Emerald")
    conflicts = workspace.undo(number).conflicts
    if decided == "taken":
        newest = workspace.newest_turn()
        reason = f"the same words have been changed or decided since: undo turn {newest} first"
        assert [clash.reason for clash in conflicts] == [reason]
        assert folder.text("a.md") == replaced(POEM, Ember="Emerald")
        assert not workspace.undo(newest).conflicts
        assert not workspace.undo(number).conflicts
    else:
        assert not conflicts
    assert folder.text("a.md") == POEM
    assert working(workspace, "a.md") == (POEM if decided == "refused" else replaced(POEM, Ember="Emerald"))
