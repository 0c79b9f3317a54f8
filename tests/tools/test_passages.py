"""Edits by words: a quoted passage that is there once, a section under its headings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.text.text import Text
from redraft.tools.target import find_once
from redraft.workspace.document import Document
from tests.tools.calling import STORY, Caller
from tests.workspace.folder import person_writes


def test_a_quoted_passage_is_replaced(agent: Caller):
    answer = agent.call("edit_text", path="story.md", old_text="eleven years", new_text="twelve years")
    assert agent.text("story.md") == STORY.replace("eleven", "twelve")
    assert answer["lines"] == {"start": 2, "end": 2}


def test_an_edit_that_changes_nothing_makes_no_turn(agent: Caller):
    answer = agent.call("edit_text", path="story.md", old_text="eleven", new_text="eleven")
    assert (answer["state"], answer["turn"], agent.call("list_turns")["turns"]) == ("unchanged", None, [])


def test_occurrences_that_overlap_are_counted_each(agent: Caller):
    agent.call("create_document", path="row.md", content="ab ab ab\n")
    told = agent.refused("edit_text", path="row.md", old_text="ab ab", new_text="x")
    assert told["message"] == "The quoted passage occurs 2 times in row.md."


def test_a_passage_over_several_lines_is_found_whatever_ends_them(agent: Caller):
    agent.folder.put("a.md", "one\r\ntwo\r\nthree\r\n")
    agent.call("edit_text", path="a.md", old_string="one\ntwo", new_string="1\n2")
    assert agent.folder.bytes("a.md") == b"1\r\n2\r\nthree\r\n"


@pytest.mark.covers("RD-decided-refuse")
def test_what_would_have_to_be_guessed_is_refused_with_advice(reader: Caller):
    told = reader.refused("edit_text", path="story.md", old_text="letter", new_text="x")
    assert (told["error"], [place["line"] for place in told["details"]["places"]]) == ("anchor_ambiguous", [4, 6])
    assert told["suggestion"] == "Quote a longer passage, one that occurs once."
    told = reader.refused("edit_text", path="story.md", old_text="She red the letter", new_text="x")
    assert (told["error"], told["details"]["near_misses"][0]["line"]) == ("anchor_not_found", 6)
    assert told["suggestion"] == "Read the document and quote a passage that is there."
    edit = {"path": "story.md", "version": "0" * 16, "start_line": 2, "end_line": 2, "content": "x"}
    told = reader.refused("replace_lines", **edit)
    assert (told["error"], told["details"]["current_version"]) == ("version_mismatch", reader.version("story.md"))
    assert told["suggestion"] == "Read the document again and repeat the edit with its new version."
    reader.folder.path.joinpath("latin.md").write_bytes(b"caf\xe9\n")
    told = reader.refused("edit_text", path="latin.md", old_text="caf", new_text="x")
    assert (told["error"], told["suggestion"]) == (
        "unsupported_file_type",
        "Only UTF-8 text can be read and edited.",
    )


@pytest.mark.parametrize(
    "quoted",
    ["She read  the letter\ntwice.", "She red the letter twice.", "She read the letter “twice.”"],
)
def test_a_passage_that_is_missing_is_refused_with_what_comes_near(agent: Caller, quoted: str):
    told = agent.refused("edit_text", path="story.md", old_text=quoted, new_text="x")
    assert told["error"] == "anchor_not_found"
    assert told["details"]["near_misses"][0] == {"line": 6, "text": "She read the letter twice."}


def test_an_edit_by_a_quoted_passage_stands_whatever_changed_elsewhere(agent: Caller):
    agent.version("story.md")
    person_writes(agent.workspace, {"story.md": "mine\n" + STORY})
    agent.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    assert agent.text("story.md") == "mine\n" + STORY.replace("eleven", "twelve")


@pytest.mark.parametrize("named", [True, False])
def test_an_edit_by_a_quoted_passage_is_about_the_passage_that_was_read(agent: Caller, named: bool):
    version = agent.version("story.md")
    person_writes(agent.workspace, {"story.md": "eleven of mine\n" + STORY})
    call: dict[str, Any] = {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}
    answer = agent.call("edit_text", **call, **({"version": version} if named else {}))
    assert answer["lines"] == {"start": 3, "end": 3}
    assert agent.text("story.md") == "eleven of mine\n" + STORY.replace("eleven", "twelve")


@pytest.mark.parametrize("named", [True, False])
def test_a_passage_that_was_taken_away_and_written_elsewhere_is_not_the_one_that_was_read(agent: Caller, named: bool):
    version = agent.version("story.md")
    person_writes(agent.workspace, {"story.md": "eleven\n" + STORY.replace("eleven", "twelve")})
    call: dict[str, Any] = {"path": "story.md", "old_text": "eleven", "new_text": "x"}
    told = agent.refused("edit_text", **call, **({"version": version} if named else {}))
    assert (told["error"], told["your_version"]) == ("version_mismatch", version)


@given(st.text(st.sampled_from("ab\n "), max_size=30), st.text(st.sampled_from("ab\n "), min_size=1, max_size=4))
def test_a_passage_is_found_exactly_when_it_is_there_once(content: str, quoted: str):
    places = [at for at in range(len(content)) if content.startswith(quoted, at)]
    expected = places[0] if len(places) == 1 else "anchor_ambiguous" if places else "anchor_not_found"
    assert place_or_code(Document("a.md", Text(content)), quoted) == expected


def place_or_code(document: Document, quoted: str) -> int | str:
    try:
        return find_once(document, quoted)
    except Refused as error:
        return error.code


# Sections

SECTIONS = "# One\n\nfirst\n\n## Deep\n\nbelow\n\n# Two\n\nsecond\n\n## Deep\n\nbeneath\n"


@pytest.mark.parametrize(
    ("heading", "operation", "after"),
    [
        ("Two", "replace", "# One\n\nfirst\n\n## Deep\n\nbelow\n\n# Two\n\nNEW\n"),
        (["One", "Deep"], "replace", "# One\n\nfirst\n\n## Deep\n\nNEW\n\n# Two\n\nsecond\n\n## Deep\n\nbeneath\n"),
        (["One"], "append", "# One\n\nfirst\n\n## Deep\n\nbelow\n\nNEW\n\n# Two\n\nsecond\n\n## Deep\n\nbeneath\n"),
        ("# One", "prepend", "# One\n\nNEW\n\nfirst\n\n## Deep\n\nbelow\n\n# Two\n\nsecond\n\n## Deep\n\nbeneath\n"),
        (["two", "deep"], "append", SECTIONS + "\nNEW\n"),
    ],
)
def test_a_section_is_found_by_its_headings_and_changed(
    agent: Caller, heading: str | list[str], operation: str, after: str
):
    agent.folder.put("a.md", SECTIONS)
    agent.call("edit_section", path="a.md", heading=heading, operation=operation, content="NEW")
    assert agent.text("a.md") == after


def test_a_section_that_is_missing_or_there_twice_is_refused(agent: Caller):
    agent.folder.put("a.md", SECTIONS)
    told = agent.refused("edit_section", path="a.md", heading="Deep", content="x")
    assert (told["error"], told["details"]["places"][1]) == (
        "anchor_ambiguous",
        {"line": 12, "headings": ["Two", "Deep"]},
    )
    told = agent.refused("edit_section", path="a.md", heading="Deap", content="x")
    assert (told["error"], told["details"]["near_misses"]) == ("anchor_not_found", ["Deep", "Deep"])


def test_an_empty_section_can_be_filled_and_a_full_one_emptied(agent: Caller):
    agent.folder.put("a.md", "# A\n# B\n\nb\n")
    agent.call("edit_section", path="a.md", heading="A", content="filled")
    assert agent.text("a.md") == "# A\n\nfilled\n\n# B\n\nb\n"
    agent.call("edit_section", path="a.md", heading="B", content="")
    assert agent.text("a.md") == "# A\n\nfilled\n\n# B\n\n"


def test_a_document_without_headings_has_no_sections(agent: Caller):
    agent.folder.put("a.json", '{"a": 1}\n')
    assert agent.refused("edit_section", path="a.json", heading="a", content="x")["error"] == "unsupported_file_type"
