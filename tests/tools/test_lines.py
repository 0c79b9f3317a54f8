"""Edits by lines: whatever they do, no other byte changes, and a slow naive twin does the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.text.lines import split_lines
from tests.conftest import TORTURE
from tests.tools.calling import STORY, Caller
from tests.workspace.folder import fresh_folder, person_writes

if TYPE_CHECKING:
    from pathlib import Path

LINES = STORY.splitlines(keepends=True)


def test_insert_puts_lines_after_the_one_named_and_says_where(agent: Caller):
    answer = agent.call(
        "insert_lines", path="story.md", version=agent.version("story.md"), after_line=2, content="a\nb"
    )
    assert agent.text("story.md") == "".join([*LINES[:3], "a\n", "b\n", *LINES[3:]])
    assert answer["inserted_at"] == {"after_line": 2, "lines_added": 2, "new_lines": {"start": 3, "end": 4}}
    assert (answer["tab_id"], answer["status"], answer["state"]) == (None, "success", "applied")
    assert answer["version"] == agent.version("story.md")


def test_insert_after_line_minus_one_comes_first(agent: Caller):
    agent.call("insert_lines", path="story.md", version=agent.version("story.md"), after_line=-1, content="first")
    assert agent.text("story.md") == "first\n" + STORY


def test_insert_after_the_last_line_appends(agent: Caller):
    read = agent.call("read_document", path="story.md")
    last = read["lines"]["total"] - 1
    agent.call("insert_lines", path="story.md", version=read["version"], after_line=last, content="last")
    assert agent.text("story.md") == STORY + "last\n"


def test_insert_after_an_unended_last_line_ends_it_first(agent: Caller):
    agent.folder.put("a.md", "one\ntwo")
    agent.call("insert_lines", path="a.md", version=agent.version("a.md"), after_line=1, content="three")
    assert agent.text("a.md") == "one\ntwo\nthree"


def test_insert_fills_an_empty_document(agent: Caller):
    agent.folder.put("a.md", "")
    agent.call("insert_lines", path="a.md", version=agent.version("a.md"), after_line=-1, content="one\n")
    assert agent.text("a.md") == "one\n"


@pytest.mark.covers("TK-insert-content-required")
def test_insert_of_nothing_is_refused(reader: Caller):
    version = reader.version("story.md")
    assert reader.refused("insert_lines", path="story.md", version=version, after_line=0, content="")["error"] == (
        "content_required"
    )


@pytest.mark.parametrize("line", [-2, 11, 1000])
def test_insert_after_a_line_that_is_not_there_is_refused(agent: Caller, line: int):
    version = agent.version("story.md")
    told = agent.refused("insert_lines", path="story.md", version=version, after_line=line, content="x")
    assert (told["error"], told["details"]["document_lines"]) == ("invalid_line_range", 11)


def test_a_dry_run_inserts_nothing_and_leaves_the_version_good(agent: Caller):
    call = {"path": "story.md", "version": agent.version("story.md"), "after_line": 0, "content": "x"}
    told = agent.call("insert_lines", **call, dry_run=True)
    assert (agent.text("story.md"), told["state"], told["version"]) == (STORY, "dry_run", call["version"])
    assert agent.call("insert_lines", **call)["inserted_at"] == told["inserted_at"]


def test_replace_takes_both_ends_and_counts_lines(agent: Caller):
    version = agent.version("story.md")
    answer = agent.call(
        "replace_lines", path="story.md", version=version, start_line=2, end_line=4, content="a\nb\nc\nd"
    )
    assert agent.text("story.md") == "".join([*LINES[:2], "a\nb\nc\nd\n", *LINES[5:]])
    assert answer["lines_affected"] == {"removed": 3, "added": 4, "net_change": 1}
    assert (answer["status"], answer["version"]) == ("success", agent.version("story.md"))


@pytest.mark.covers("TK-replace-required", "TK-summary-version-needed")
@pytest.mark.parametrize("left_out", ["version", "start_line", "end_line", "content"])
def test_replace_needs_its_four_arguments(reader: Caller, left_out: str):
    call: dict[str, Any] = {"version": reader.version("story.md"), "start_line": 0, "end_line": 0, "content": "x"}
    del call[left_out]
    assert reader.refused("replace_lines", path="story.md", **call)["details"]["field"] == left_out


@pytest.mark.covers("TK-replace-order")
@pytest.mark.parametrize(("start", "end"), [(3, 2), (-1, 0), (0, 11), (500, 600)])
def test_a_range_that_is_not_there_is_refused(reader: Caller, start: int, end: int):
    version = reader.version("story.md")
    for tool, more in (("replace_lines", {"content": "x"}), ("delete_lines", {})):
        told = reader.refused(tool, path="story.md", version=version, start_line=start, end_line=end, **more)
        assert told["error"] == "invalid_line_range"
        assert told["details"] == {"requested_start": start, "requested_end": end, "document_lines": 11}


def test_replace_in_an_empty_document_is_refused(agent: Caller):
    agent.folder.put("a.md", "")
    version = agent.version("a.md")
    told = agent.refused("replace_lines", path="a.md", version=version, start_line=0, end_line=0, content="x")
    assert told["error"] == "invalid_line_range"


@pytest.mark.parametrize(("tool", "more"), [("replace_lines", {"content": "x"}), ("delete_lines", {})])
def test_a_dry_run_replaces_and_deletes_nothing(agent: Caller, tool: str, more: dict[str, Any]):
    call = {"path": "story.md", "version": agent.version("story.md"), "start_line": 0, "end_line": 1, **more}
    agent.call(tool, **call, dry_run=True)
    assert agent.text("story.md") == STORY
    assert agent.call(tool, **call)["status"] == "success"


def test_deleting_equals_replacing_with_nothing(agent: Caller):
    agent.folder.put("other.md", STORY)
    call = {"version": agent.version("story.md"), "start_line": 2, "end_line": 4}
    deleted = agent.call("delete_lines", path="story.md", **call)
    replaced = agent.call("replace_lines", path="other.md", **call, content="")
    assert agent.text("story.md") == agent.text("other.md") == "".join(LINES[:2] + LINES[5:])
    assert (deleted["lines_deleted"], deleted["status"], deleted["version"]) == (3, "success", replaced["version"])


def test_the_history_names_a_deletion_of_lines(agent: Caller):
    turn = agent.call(
        "delete_lines", path="story.md", version=agent.version("story.md"), start_line=2, end_line=4, dry_run=False
    )["turn"]
    assert agent.workspace.show(turn).title == "Delete lines 2 to 4 of story.md"


# Anchors


def shifted(agent: Caller) -> str:
    """The version that the agent read, before the person put two lines on top."""
    version = agent.version("story.md")
    person_writes(agent.workspace, {"story.md": "new\ntop\n" + STORY})
    return version


def test_an_anchor_takes_an_insertion_to_its_line(agent: Caller):
    version = shifted(agent)
    agent.call(
        "insert_lines", path="story.md", version=version, after_line=0, content="x", match_text="She read the letter"
    )
    assert agent.text("story.md") == "new\ntop\n" + "".join([*LINES[:7], "x\n", *LINES[7:]])


def test_an_anchor_takes_a_replacement_to_where_its_text_now_stands(agent: Caller):
    version = shifted(agent)
    agent.call(
        "replace_lines",
        path="story.md",
        version=version,
        start_line=6,
        end_line=6,
        content="She burned it.",
        match_text="She read the letter twice.",
    )
    assert agent.text("story.md") == "new\ntop\n" + STORY.replace("She read the letter twice.", "She burned it.")


def test_an_anchor_within_the_range_moves_all_of_it(agent: Caller):
    version = shifted(agent)
    agent.call(
        "replace_lines",
        path="story.md",
        version=version,
        start_line=4,
        end_line=8,
        content="x",
        match_text="She read the letter twice.",
    )
    assert agent.text("story.md") == "new\ntop\n" + "".join([*LINES[:4], "x\n", *LINES[9:]])


def test_an_anchor_does_not_replace_lines_that_changed_since_they_were_read(agent: Caller):
    version = agent.version("story.md")
    person_writes(agent.workspace, {"story.md": STORY.replace("## The letter", "## The sealed letter")})
    told = agent.refused(
        "replace_lines",
        path="story.md",
        version=version,
        start_line=4,
        end_line=6,
        content="x",
        match_text="She read the letter twice.",
    )
    assert (told["error"], told["details"]["changed_lines"][0]["new"]) == ("version_mismatch", "## The sealed letter\n")


def test_without_the_old_text_a_quotation_is_no_warrant(agent: Caller):
    shifted(agent)
    call = {"path": "story.md", "version": "0" * 16, "start_line": 6, "end_line": 6, "content": "x"}
    told = agent.refused("replace_lines", **call, match_text="She read the letter twice.")
    assert (told["error"], told["your_version"]) == ("version_mismatch", "0" * 16)


@pytest.mark.parametrize(("start", "end"), [(4, 0), (-1, 2)])
def test_an_anchor_mends_no_range_that_is_none(agent: Caller, start: int, end: int):
    call = {"path": "story.md", "version": agent.version("story.md"), "start_line": start, "end_line": end}
    told = agent.refused("replace_lines", **call, content="x", match_text="eleven years")
    assert told["error"] == "invalid_line_range"


@pytest.mark.covers("TK-insert-match-unique", "TK-replace-match-unique")
@pytest.mark.parametrize(("quoted", "code"), [("no such text", "anchor_not_found"), ("The l", "anchor_ambiguous")])
def test_an_anchor_that_is_missing_or_there_twice_is_refused(reader: Caller, quoted: str, code: str):
    call = {"path": "story.md", "version": reader.version("story.md"), "match_text": quoted, "content": "x"}
    assert reader.refused("insert_lines", **call, after_line=0)["error"] == code
    assert reader.refused("replace_lines", **call, start_line=0, end_line=0)["error"] == code


TWICE = "# A\nto be mended\nintro\n# B\nx\nto be mended\nend\n"


@pytest.mark.parametrize(
    ("tool", "more"), [("replace_lines", {"start_line": 5, "end_line": 5}), ("insert_lines", {"after_line": 5})]
)
def test_an_anchor_that_stood_twice_in_what_was_read_leads_nowhere(agent: Caller, tool: str, more: dict[str, int]):
    agent.folder.put("twice.md", TWICE)
    version = agent.version("twice.md")
    agent.folder.put("twice.md", TWICE.replace("x\nto be mended\n", "x\n"))
    call = {"path": "twice.md", "version": version, "content": "DONE", "match_text": "to be mended"}
    assert agent.refused(tool, **call, **more)["error"] == "anchor_ambiguous"


def test_an_anchor_outside_the_range_that_was_read_is_refused(agent: Caller):
    version = shifted(agent)
    call = {"path": "story.md", "version": version, "start_line": 8, "end_line": 8, "content": "x"}
    told = agent.refused("replace_lines", **call, match_text="She read the letter twice.")
    assert (told["error"], told["details"]["line"]) == ("invalid_argument", 6)


def test_an_anchor_that_contradicts_the_range_is_refused_with_its_line(agent: Caller):
    call = {"path": "story.md", "version": agent.version("story.md"), "start_line": 8, "end_line": 8, "content": "x"}
    told = agent.refused("replace_lines", **call, match_text="She read the letter twice.")
    assert (told["error"], told["details"]["line"]) == ("invalid_argument", 6)


@pytest.mark.parametrize("version", ["nonsense", "0" * 16])
def test_an_insertion_by_an_anchor_needs_a_version_that_was_given_out(agent: Caller, version: str):
    call = {"path": "story.md", "version": version, "after_line": 0, "content": "x"}
    assert agent.refused("insert_lines", **call, match_text="She read the letter")["error"] == "version_mismatch"


def test_in_a_batch_an_anchor_is_looked_for_in_what_was_read(agent: Caller):
    common = {"path": "story.md", "version": agent.version("story.md"), "content": "x"}
    quoted = "She read the letter twice."
    calls = [
        {"tool": "insert_lines", "arguments": {**common, "after_line": -1}},
        {"tool": "replace_lines", "arguments": {**common, "start_line": 6, "end_line": 6, "match_text": quoted}},
        {"tool": "insert_lines", "arguments": {**common, "after_line": 0, "match_text": "## The keys"}},
    ]
    agent.call("batch", calls=calls)
    assert agent.text("story.md") == "x\n" + STORY.replace(quoted, "x").replace("## The keys\n", "## The keys\nx\n")


# The laws

TEXTS = st.lists(st.sampled_from(["a", "bb", "", "ü ß", "\U0001f600", "x\ty"]), max_size=6)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])
CONTENT = st.lists(st.sampled_from(["new", "", "two words"]), min_size=1, max_size=3).map("\n".join)


def naive(lines: list[str], start: int, end: int, content: str, newline: str) -> str:
    """Lines replaced as anybody would do it by hand: cut, put in, join."""
    new = content.replace("\n", newline)
    before, after = "".join(lines[:start]), "".join(lines[end:])
    unended = bool(lines) and not lines[-1].endswith(("\r", "\n"))
    if new and not new.endswith(("\r", "\n")) and (after or (lines and not unended)):
        new += newline
    if new and before and not before.endswith(("\r", "\n")):
        new = newline + new
    return before + new + after


@pytest.mark.slow
@given(st.data(), TEXTS, NEWLINES, st.booleans(), CONTENT)
@settings(max_examples=1000 if TORTURE else 40)
def test_line_edits_do_what_the_naive_twin_does(
    data: st.DataObject, texts: list[str], newline: str, ended: bool, content: str
):
    text = newline.join(texts) + (newline if ended and texts else "")
    lines = split_lines(text)
    has_breaks = any(line.endswith(("\r", "\n")) for line in lines)
    style = newline if has_breaks else "\n"
    with fresh_folder() as folder:
        folder.put("a.txt", text)
        agent = Caller.at(folder)
        version = agent.version("a.txt")
        after = data.draw(st.integers(-1, len(lines) - 1))
        if content:
            agent.call("insert_lines", path="a.txt", version=version, after_line=after, content=content)
            if lines:
                assert folder.bytes("a.txt").decode() == naive(lines, after + 1, after + 1, content, style)
            else:
                assert folder.bytes("a.txt").decode() == content
            agent.call("undo_turn")
        if lines:
            start = data.draw(st.integers(0, len(lines) - 1))
            end = data.draw(st.integers(start, len(lines) - 1))
            agent.call("replace_lines", path="a.txt", version=version, start_line=start, end_line=end, content=content)
            assert folder.bytes("a.txt").decode() == naive(lines, start, end + 1, content, style)


def test_a_window_of_a_real_book_is_edited_and_nothing_else_changes(agent: Caller, material: Path):
    book = next((material / "novel-outlines-dev").glob("alice*.txt")).read_bytes()
    agent.folder.put("book.txt", book)
    read = agent.call("read_document", path="book.txt", start_line=100)
    agent.call(
        "replace_lines", path="book.txt", version=read["version"], start_line=100, end_line=101, content="changed"
    )
    lines = split_lines(book.decode().removeprefix("\ufeff"))
    newline = "\r\n" if b"\r\n" in book else "\n"
    expected = "".join([*lines[:100], f"changed{newline}", *lines[102:]])
    assert agent.text("book.txt").removeprefix("\ufeff") == expected
