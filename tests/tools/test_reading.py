"""Reading tabs, documents and files: windows that fit a model, and line numbers as each specification counts them."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.lines import split_lines
from redraft.text.text import Text
from redraft.tools.queries.read_document import estimate_tokens, window
from tests.tools.calling import STORY, Caller
from tests.workspace.folder import PERSON, type_at_end

if TYPE_CHECKING:
    from pathlib import Path


def test_every_open_tab_is_listed_with_its_fields(agent: Caller):
    agent.folder.put("b.txt", "x")
    tab = agent.workspace.open_tab("story.md").tab_id
    agent.workspace.open_tab("b.txt")
    agent.context.active_tab = tab
    answer = agent.call("list_tabs")
    assert answer["active_tab_id"] == tab
    assert answer["tabs"][0] == {
        "tab_id": tab,
        "title": "story.md",
        "path": "story.md",
        "file_type": "markdown",
        "version": agent.version("story.md"),
        "is_active": True,
        "is_dirty": False,
        "size_chars": len(STORY),
        "line_count": 11,
    }
    assert [each["is_active"] for each in answer["tabs"]] == [True, False]
    assert agent.refused("list_tabs", path="x")["error"] == "invalid_argument"


def test_a_tab_is_dirty_exactly_while_it_holds_unsaved_text(agent: Caller):
    agent.workspace.open_tab("story.md")
    type_at_end(agent.workspace, "story.md", "more")
    assert agent.call("list_tabs")["tabs"][0]["is_dirty"] is True
    agent.workspace.save("story.md")
    assert agent.call("list_tabs")["tabs"][0]["is_dirty"] is False


def test_the_active_tab_is_meant_where_a_call_names_none(agent: Caller):
    agent.folder.put("b.md", "b\n")
    agent.workspace.open_tab("story.md")
    agent.context.active_tab = agent.workspace.open_tab("b.md").tab_id
    assert agent.call("read_document")["content"] == "b\n"


def test_with_several_tabs_and_none_active_nothing_is_guessed(agent: Caller):
    agent.folder.put("b.md", "b\n")
    tabs = [agent.workspace.open_tab(path).tab_id for path in ("story.md", "b.md")]
    told = agent.refused("read_document")
    assert (told["error"], told["details"]["open_tabs"]) == ("invalid_tab_id", tabs)


def test_a_tab_that_is_not_open_is_refused(agent: Caller):
    assert agent.refused("read_document", tab_id="tab_9")["error"] == "invalid_tab_id"


@pytest.mark.covers("ML-read-result")
def test_a_document_is_read_with_the_fields_of_both_specifications(agent: Caller):
    tab = agent.workspace.open_tab("story.md").tab_id
    answer = agent.call("read_document", tab_id=tab)
    assert answer == {**agent.call("read_document", path="story.md")}
    assert (answer["tab_id"], answer["path"], answer["content"]) == (tab, "story.md", STORY)
    assert answer["lines"] == {"start": 0, "end": 10, "total": 11}
    assert answer["tokens"] == {"returned": -(-len(STORY) // 4), "total_estimate": -(-len(STORY) // 4)}


@pytest.mark.covers("ML-read-params", "ML-read-missing")
def test_a_path_that_is_not_there_is_refused(reader: Caller):
    assert reader.refused("read_document", path="none.md")["error"] == "not_found"


@pytest.mark.covers("TK-read-inclusive")
def test_both_ends_of_a_range_are_read(reader: Caller):
    assert reader.call("read_document", path="story.md", start_line=4, end_line=6)["content"] == (
        "## The letter\n\nShe read the letter twice.\n"
    )


def test_an_empty_document_has_no_lines_and_no_more(agent: Caller):
    agent.folder.put("a.md", "")
    answer = agent.call("read_document", path="a.md")
    assert (answer["content"], answer["lines"]["total"], answer["has_more"]) == ("", 0, False)
    assert "continuation_hint" not in answer


@pytest.mark.parametrize(("start", "end"), [(11, None), (0, 11), (5, 4), (-1, 2)])
def test_lines_that_are_not_there_are_refused(agent: Caller, start: int, end: int | None):
    assert agent.refused("read_document", path="story.md", start_line=start, end_line=end)["error"] == (
        "invalid_line_range"
    )


def test_a_book_is_read_window_by_window_until_its_end(agent: Caller, material: Path):
    book = next((material / "novel-outlines-dev").glob("dubliners*.txt")).read_bytes()
    agent.folder.put("book.txt", book)
    read, start = "", 0
    while True:
        answer = agent.call("read_document", path="book.txt", start_line=start)
        read += answer["content"]
        assert answer["tokens"]["returned"] <= 6000
        assert answer["has_more"] == (answer["lines"]["end"] + 1 < answer["lines"]["total"])
        if not answer["has_more"]:
            break
        start = answer["lines"]["end"] + 1
        assert answer["continuation_hint"] == f"Call read_document with start_line={start} to continue"
        assert answer["tokens"]["returned"] > 5900
    assert read == book.decode().removeprefix("\ufeff")


def test_the_version_of_any_window_is_good_for_an_edit(agent: Caller):
    version = agent.call("read_document", path="story.md", start_line=2, end_line=2)["version"]
    assert agent.call("delete_lines", path="story.md", version=version, start_line=0, end_line=0)["status"] == "success"


@pytest.mark.covers("TK-read-query-elsewhere")
def test_reading_goes_by_lines_only(reader: Caller):
    assert reader.refused("read_document", path="story.md", query="the keys")["details"]["field"] == "query"


TEXT = st.text(st.sampled_from("ab ü€\U0001f600\n\r"), max_size=60)


@given(TEXT, st.data())
def test_a_window_is_as_many_whole_lines_as_fit_and_at_least_one(content: str, data: st.DataObject):
    lines = split_lines(content)
    text = Text(content)
    start = data.draw(st.integers(0, max(len(lines) - 1, 0)))
    stop = data.draw(st.integers(min(start, len(lines)), len(lines)))
    room = data.draw(st.integers(4, 80))
    found, count = window(text, start, stop, room)
    fitting = 0
    while start + fitting < stop and len("".join(lines[start : start + fitting + 1]).encode()) <= room:
        fitting += 1
    if fitting or start >= stop:
        assert (found, count) == ("".join(lines[start : start + fitting]), fitting)
    else:
        assert (lines[start].startswith(found), count) == (True, 1)
        assert room - 4 < len(found.encode()) <= room


def test_a_line_that_is_longer_than_the_window_is_cut_and_said_to_be(agent: Caller):
    agent.folder.put("a.txt", "x" * 100_000 + "\nshort\n")
    answer = agent.call("read_document", path="a.txt", max_tokens=10)
    assert (answer["content"], answer["line_truncated"], answer["has_more"]) == ("x" * 40, True, True)


@given(st.text(max_size=200))
def test_the_estimate_of_a_short_text_is_that_of_its_bytes(content: str):
    assert estimate_tokens(Text(content)) == -(-len(content.encode()) // 4)


# agent-sidebar's way


@pytest.mark.covers("SB-tool-read-input", "SB-tool-read-output", "SB-tool-read-one-based")
def test_read_file_counts_from_one_and_includes_both_ends(reader: Caller):
    answer = reader.call("read_file", file_path="story.md", start_line=5, end_line=7, max_bytes=1000)
    assert (answer["file_path"], answer["start_line"], answer["end_line"]) == ("story.md", 5, 7)
    assert answer["content"] == "## The letter\n\nShe read the letter twice.\n"
    assert answer["content_hash"] == "sha256:" + sha256(answer["content"].encode()).hexdigest()
    short = reader.call("read_file", file_path="story.md", start_line=1, end_line=3, max_bytes=20)
    assert (short["content"], short["start_line"], short["end_line"]) == ("# The Lamp\n\n", 1, 2)


@pytest.mark.covers("SB-retrieve-full-read")
def test_read_file_gives_a_whole_file_however_long(reader: Caller):
    whole = "".join(f"{number:048}\n" for number in range(3000))
    reader.folder.put("whole.txt", whole)
    answer = reader.call("read_file", file_path="whole.txt", end_line=5000, max_bytes=1_000_000)
    assert (answer["content"], answer["end_line"], answer["truncated"]) == (whole, 3000, False)


@pytest.mark.covers("SB-limit-read-lines")
def test_read_file_gives_800_lines_unless_told_otherwise(agent: Caller):
    agent.folder.put("a.txt", "x\n" * 2000)
    assert agent.call("read_file", file_path="a.txt")["end_line"] == 800
    assert agent.call("read_file", file_path="a.txt", end_line=1500)["end_line"] == 1500


@pytest.mark.covers("SB-limit-read-bytes")
def test_read_file_gives_65536_bytes_unless_told_otherwise(agent: Caller):
    agent.folder.put("a.txt", ("x" * 99 + "\n") * 800)
    answer = agent.call("read_file", file_path="a.txt")
    assert (answer["end_line"], len(answer["content"]), answer["truncated"]) == (655, 65500, True)
    assert agent.call("read_file", file_path="a.txt", max_bytes=100_000)["end_line"] == 800


@pytest.mark.parametrize("call", [{"start_line": 12}, {"start_line": 3, "end_line": 2}])
def test_read_file_refuses_lines_that_are_not_there(agent: Caller, call: dict[str, int]):
    assert agent.refused("read_file", file_path="story.md", **call)["error"] == "invalid_line_range"


# What is not to be read


@pytest.mark.covers("ML-sens-mask")
@pytest.mark.parametrize("name", [".env", "id_rsa", "keys/server.pem", "notes.md"])
def test_no_tool_gives_a_byte_of_a_secret(agent: Caller, name: str):
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"
    agent.folder.put(name, key)
    for tool, more in {
        "read_document": {"path": name},
        "read_file": {"file_path": name},
        "search_document": {"path": name, "query": "c2V", "match_type": "exact"},
        "get_outline": {"path": name},
        "get_changes_since": {"path": name, "version": "0" * 16},
    }.items():
        told = agent.refused(tool, **more)
        assert (told["error"], told["details"]["path"]) == ("secret", name), "its name, and not a byte"
        assert name in told["message"]
        assert "c2VjcmV0" not in str(told)
    if not name.startswith("."):
        assert name in agent.call("list_files")["files"]
    found = agent.call("search_documents", query="c2VjcmV0"), agent.call("search_project", query="c2VjcmV0")
    assert (found[0]["results"], found[1]["results"]) == ([], [])


def test_a_secret_in_the_history_is_withheld(agent: Caller):
    with agent.workspace.turn(PERSON, "Keep a key") as turn:
        turn.create("id_rsa", "c2VjcmV0\n")
    number = agent.call("list_turns")["turns"][0]["turn"]
    assert agent.call("show_turn", turn=number)["documents"] == [{"path": "id_rsa", "patch": "", "withheld": True}]


def test_a_file_that_is_no_text_is_refused(agent: Caller):
    agent.folder.put("a.png", b"\x89PNG\x00\xff")
    assert agent.refused("read_document", path="a.png")["error"] == "unsupported_file_type"
