"""Writing a document anew, and adding to it at its ends, under a heading or at a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.edits import Change
from redraft.text.text import Text
from redraft.tools.edits.write_document import paragraph_insertion
from redraft.workspace.document import Document
from tests.tools.calling import STORY, Caller
from tests.workspace.folder import person_writes

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


def test_write_replaces_the_whole_text_and_counts_lines(agent: Caller):
    new = STORY + "\nThe end.\n"
    answer = agent.call("write_document", path="story.md", version=agent.version("story.md"), content=new)
    assert agent.text("story.md") == new
    assert (answer["status"], answer["version"]) == ("success", agent.version("story.md"))
    assert answer["lines_affected"] == {"previous": 11, "current": 13}


def test_a_write_that_would_drop_more_than_half_is_refused_unless_it_says_so(agent: Caller):
    call = {"path": "story.md", "version": agent.version("story.md")}
    half = STORY[: len(STORY) // 2]
    told = agent.refused("write_document", **call, content=half[:-1])
    assert (told["error"], told["details"]["beforeLength"]) == ("drops_text", len(STORY))
    assert agent.refused("edit_document", path="story.md", operation="replace", content="")["error"] == "drops_text"
    agent.call("write_document", **call, content="gone", allow_shrink=True)
    assert agent.text("story.md") == "gone"


def test_a_write_keeps_the_newlines_that_the_document_has(agent: Caller):
    agent.folder.put("a.md", "one\r\ntwo\r\n")
    agent.call("write_document", path="a.md", version=agent.version("a.md"), content="one\ntwo\nthree\n")
    assert agent.folder.bytes("a.md") == b"one\r\ntwo\r\nthree\r\n"


@pytest.mark.covers("ML-edit-params", "ML-edit-replace", "ML-edit-result")
def test_edit_document_replaces_and_tells_the_lengths(agent: Caller):
    answer = agent.call("edit_document", path="story.md", operation="replace", content=STORY * 2)
    assert agent.text("story.md") == STORY * 2
    assert (answer["path"], answer["operation"]) == ("story.md", "replace")
    assert (answer["beforeLength"], answer["afterLength"]) == (len(STORY), 2 * len(STORY))


@pytest.mark.parametrize("operation", ["replace", "append", "prepend"])
def test_a_dry_run_tells_the_lengths_and_changes_nothing(agent: Caller, operation: str):
    call: dict[str, Any] = {"path": "story.md", "operation": operation, "content": STORY}
    told = agent.call("edit_document", **call, dry_run=True)
    assert agent.text("story.md") == STORY
    assert agent.call("edit_document", **call)["afterLength"] == told["afterLength"] == len(agent.text("story.md"))


@pytest.mark.covers("ML-edit-append")
@pytest.mark.parametrize(
    ("before", "after"),
    [("", "x"), ("a", "a\n\nx"), ("a\n", "a\n\nx\n"), ("a\n\n", "a\n\nx\n"), ("a\r\n", "a\r\n\r\nx\r\n")],
)
def test_append_comes_after_a_blank_line(agent: Caller, before: str, after: str):
    agent.folder.put("a.md", before)
    agent.call("edit_document", path="a.md", operation="append", content="x")
    assert agent.folder.bytes("a.md").decode() == after


@pytest.mark.covers("ML-edit-prepend")
@pytest.mark.parametrize(("before", "after"), [("", "x"), ("a", "x\n\na"), ("a\n", "x\n\na\n"), ("\na\n", "x\n\na\n")])
def test_prepend_comes_before_a_blank_line(agent: Caller, before: str, after: str):
    agent.folder.put("a.md", before)
    agent.call("edit_document", path="a.md", operation="prepend", content="x")
    assert agent.text("a.md") == after


@pytest.mark.covers("ML-edit-insert-heading")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# A\n\nold\n", "# A\n\nx\n\nold\n"),
        ("# A\nold\n", "# A\n\nx\n\nold\n"),
        ("A\n===\nold\n", "A\n===\n\nx\n\nold\n"),
        ("# A", "# A\n\nx"),
    ],
)
def test_insert_comes_under_its_heading(agent: Caller, before: str, after: str):
    agent.folder.put("a.md", before)
    agent.call("edit_document", path="a.md", operation="insert", content="x", position={"after_heading": "A"})
    assert agent.text("a.md") == after


def test_a_heading_in_a_fence_is_none(agent: Caller):
    agent.folder.put("a.md", "```\n# A\n```\n")
    call: dict[str, Any] = {"path": "a.md", "operation": "insert", "content": "x", "position": {"after_heading": "A"}}
    assert agent.refused("edit_document", **call)["error"] == "anchor_not_found"


def test_a_heading_that_is_there_twice_is_refused_with_its_places(agent: Caller):
    agent.folder.put("a.md", "# A\n\n# A\n")
    call: dict[str, Any] = {"path": "a.md", "operation": "insert", "content": "x", "position": {"after_heading": "A"}}
    told = agent.refused("edit_document", **call)
    assert (told["error"], [place["line"] for place in told["details"]["places"]]) == ("anchor_ambiguous", [0, 2])


@pytest.mark.covers("ML-edit-insert-line")
def test_insert_begins_on_the_line_named_counted_from_one(agent: Caller):
    agent.folder.put("a.md", "one\ntwo\n")
    agent.call("edit_document", path="a.md", operation="insert", content="x", position={"line_number": 2})
    assert agent.text("a.md") == "one\nx\ntwo\n"


@pytest.mark.covers("ML-edit-unknown-operation")
def test_an_unknown_operation_is_refused(reader: Caller):
    told = reader.refused("edit_document", path="story.md", operation="rotate", content="x")
    assert (told["error"], told["details"]["field"]) == ("invalid_argument", "operation")


@pytest.mark.parametrize("position", [None, {}, {"after_heading": "The keys", "line_number": 1}])
def test_insert_needs_exactly_one_position(agent: Caller, position: dict[str, Any] | None):
    call: dict[str, Any] = {"path": "story.md", "operation": "insert", "content": "x", "position": position}
    assert agent.refused("edit_document", **call)["details"]["field"] == "position"


def test_an_edit_without_a_version_is_refused_if_the_document_is_not_what_was_last_read(agent: Caller):
    agent.version("story.md")
    person_writes(agent.workspace, {"story.md": STORY + "mine\n"})
    told = agent.refused("edit_document", path="story.md", operation="replace", content=STORY * 2)
    assert (told["error"], told["details"]["changed_lines"][0]["new"]) == ("version_mismatch", "mine\n")


TEXT = st.lists(st.sampled_from(["a", "", "b c"]), max_size=5).map("\n".join)


@given(TEXT, st.booleans(), st.data())
def test_what_is_set_off_keeps_every_line_and_has_blank_lines_around_it(text: str, ended: bool, data: st.DataObject):
    document = Document("a.md", Text(text + "\n" * ended))
    line = data.draw(st.integers(0, document.text.line_count))
    after = str(Change((paragraph_insertion(document, line, "NEW"),)).apply_to(document.text))
    lines = after.splitlines()
    at = lines.index("NEW")
    assert [each for each in lines if each not in ("NEW", "")] == [each for each in text.splitlines() if each]
    assert lines[at - 1 : at] in ([""], []) or at == 0
    assert lines[at + 1 : at + 2] in ([""], [])


@pytest.mark.covers("ML-future-restore")
def test_an_earlier_version_is_brought_back_as_a_turn_of_its_own(agent: Caller):
    first = agent.version("story.md")
    changed = agent.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    restored = agent.call("write_document", path="story.md", version=changed["version"], restore_version=first)
    assert (restored["version"], agent.text("story.md")) == (first, STORY)
    agent.call("undo_turn", turn=restored["turn"])
    assert agent.text("story.md") == STORY.replace("eleven", "twelve")


def test_the_versions_to_bring_back_are_told_by_the_history(folder: Folder):
    changed = Caller.at(folder).call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    later = Caller.at(folder)
    (document,) = later.call("show_turn", turn=changed["turn"])["documents"]
    assert document["version_after"] == changed["version"] == later.version("story.md")
    edit = {"path": "story.md", "version": changed["version"], "restore_version": document["version_before"]}
    later.call("write_document", **edit)
    assert later.text("story.md") == STORY


def test_what_is_brought_back_has_the_newlines_that_it_had(agent: Caller):
    agent.folder.put("a.txt", "one\r\ntwo\r\n")
    first = agent.version("a.txt")
    person_writes(agent.workspace, {"a.txt": "one\ntwo\nthree\n"})
    agent.call("write_document", path="a.txt", version=agent.version("a.txt"), restore_version=first)
    assert agent.folder.bytes("a.txt") == b"one\r\ntwo\r\n"


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, "content_required"),
        ({"content": "x", "restore_version": "0" * 16}, "content_required"),
        ({"restore_version": "0" * 16}, "not_found"),
        ({"restore_version": ""}, "not_found"),
    ],
)
def test_a_write_of_nothing_of_two_things_or_of_an_unknown_version_is_refused(
    agent: Caller, more: dict[str, str], code: str
):
    version = agent.version("story.md")
    assert agent.refused("write_document", path="story.md", version=version, **more)["error"] == code


def test_a_version_of_another_document_is_not_brought_back(agent: Caller):
    agent.call("create_document", title="other.md", content="another text\n")
    other = agent.version("other.md")
    call = {"path": "story.md", "version": agent.version("story.md"), "restore_version": other, "allow_shrink": True}
    assert agent.refused("write_document", **call)["error"] == "not_found"
