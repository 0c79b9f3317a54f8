"""Outline, search and replacement in one document; search across the folder."""

from __future__ import annotations

import contextlib
import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import RedraftError
from redraft.text.text import Text
from redraft.tools.edits.find_and_replace import FindAndReplace, find_matches
from redraft.workspace.document import Document
from tests.tools.calling import STORY, Caller

if TYPE_CHECKING:
    from pathlib import Path


def test_the_outline_comes_with_the_version_it_holds_for(agent: Caller):
    tab = agent.workspace.open_tab("story.md").tab_id
    answer = agent.call("get_outline", tab_id=tab, max_depth=2, detect_chapters=True)
    assert (answer["tab_id"], answer["version"]) == (tab, agent.version("story.md"))
    assert (answer["file_type"], answer["detection_method"]) == ("markdown", "headings")
    assert [child["line_start"] for child in answer["outline"][0]["children"]] == [4, 8]
    assert len(agent.call("get_outline", path="story.md", max_depth=1)["outline"][0].get("children", [])) == 0


@pytest.mark.covers("TK-search-params", "TK-search-fields", "TK-search-match-fields", "TK-search-context-fields")
def test_a_match_comes_with_its_line_and_the_lines_around_it(reader: Caller):
    answer = reader.call("search_document", path="story.md", query="letter twice", match_type="exact", max_results=3)
    assert set(answer) == {"tab_id", "path", "version", "embedding_status", "matches", "total_matches"}
    assert answer["matches"] == [
        {
            "line": 6,
            "score": 1.0,
            "preview": "She read the letter twice.",
            "context": {
                "start_line": 1,
                "end_line": 10,
                "line_count": 10,
                "content": "".join(STORY.splitlines(keepends=True)[1:11]),
            },
        }
    ]


@pytest.mark.covers("TK-search-exact", "TK-search-context-default")
def test_exact_search_takes_the_text_as_it_is(reader: Caller):
    call = {"path": "story.md", "match_type": "exact"}
    assert reader.call("search_document", **call, query="years.")["total_matches"] == 1
    assert reader.call("search_document", **call, query="year..")["total_matches"] == 0
    assert "context" not in reader.call("search_document", **call, query="years", include_context=False)["matches"][0]
    assert "context" in reader.call("search_document", **call, query="years")["matches"][0]


@pytest.mark.covers("TK-search-regex")
def test_regex_search_finds_a_pattern_and_refuses_a_bad_one(reader: Caller):
    call = {"path": "story.md", "match_type": "regex"}
    found = reader.call("search_document", **call, query=r"^## The (\w+)$")
    assert [match["line"] for match in found["matches"]] == [4, 8]
    assert reader.refused("search_document", **call, query="(")["error"] == "invalid_regex"


def test_five_matches_come_back_and_all_are_counted(agent: Caller):
    agent.folder.put("a.txt", "word\n" * 40)
    call = {"path": "a.txt", "query": "word", "match_type": "exact"}
    answer = agent.call("search_document", **call)
    assert (len(answer["matches"]), answer["total_matches"]) == (5, 40)
    assert len(agent.call("search_document", **call, max_results=7)["matches"]) == 7
    assert agent.refused("search_document", path="a.txt")["details"]["field"] == "query"


def test_a_match_can_be_edited_at_once(agent: Caller):
    found = agent.call("search_document", path="story.md", query="twice", match_type="exact")
    line = found["matches"][0]["line"]
    agent.call(
        "replace_lines", path="story.md", version=found["version"], start_line=line, end_line=line, content="Gone."
    )
    assert agent.text("story.md") == STORY.replace("She read the letter twice.", "Gone.")


# Find and replace


def test_every_occurrence_is_replaced_and_shown(agent: Caller):
    call = {"path": "story.md", "version": agent.version("story.md"), "find": "letter", "replace": "note"}
    answer = agent.call("find_and_replace", **call)
    assert agent.text("story.md") == STORY.replace("letter", "note")
    assert (answer["status"], answer["matches_found"], answer["replacements_made"]) == ("success", 2, 2)
    tab = agent.workspace.open_tab("story.md").tab_id
    again = {"tab_id": tab, "version": answer["version"], "find": "note", "replace": "letter"}
    assert agent.call("find_and_replace", **again, preview=True)["tab_id"] == tab
    assert answer["preview"][0] == {"line": 4, "before": "## The letter", "after": "## The note"}
    assert answer["version"] == agent.version("story.md")


def test_a_preview_changes_nothing_and_leaves_the_version_good(agent: Caller):
    call = {"path": "story.md", "version": agent.version("story.md"), "find": "letter", "replace": "note"}
    shown = agent.call("find_and_replace", **call, preview=True)
    assert (agent.text("story.md"), shown["version"], shown["replacements_made"]) == (STORY, call["version"], 0)
    assert agent.call("find_and_replace", **call)["preview"] == shown["preview"]


def test_a_preview_is_cut_at_twenty_and_the_count_is_true(agent: Caller):
    agent.folder.put("a.txt", "word\n" * 21_000)
    call = {"path": "a.txt", "version": agent.version("a.txt"), "find": "word", "replace": "deed"}
    answer = agent.call("find_and_replace", **call)
    assert (len(answer["preview"]), answer["preview_truncated"], answer["matches_found"]) == (20, True, 21_000)
    assert agent.text("a.txt") == "deed\n" * 21_000
    agent.folder.put("b.txt", "word\n" * 20)
    assert "preview_truncated" not in agent.call(
        "find_and_replace", path="b.txt", version=agent.version("b.txt"), find="word", replace="deed", preview=True
    )


@pytest.mark.parametrize(
    ("more", "after"),
    [
        ({"find": "cat"}, "dog Cat condog\ndog\n"),
        ({"find": "cat", "case_sensitive": False}, "dog dog condog\ndog\n"),
        ({"find": "cat", "whole_word": True}, "dog Cat concat\ndog\n"),
        ({"find": "c.t"}, "cat Cat concat\ncat\n"),
        ({"find": "[cC].t\\b", "is_regex": True}, "dog dog condog\ndog\n"),
        ({"find": "cat", "max_replacements": 1}, "dog Cat concat\ncat\n"),
        ({"find": "cat", "scope": {"start_line": 1, "end_line": 1}}, "cat Cat concat\ndog\n"),
        ({"find": "^", "is_regex": True, "scope": {"start_line": 0, "end_line": 0}}, "dogcat Cat concat\ncat\n"),
    ],
)
def test_what_is_replaced_follows_the_options(agent: Caller, more: dict[str, Any], after: str):
    agent.folder.put("a.md", "cat Cat concat\ncat\n")
    agent.call("find_and_replace", path="a.md", version=agent.version("a.md"), replace="dog", **more)
    assert agent.text("a.md") == after


def test_a_group_in_the_replacement_is_refused_rather_than_written_out(agent: Caller):
    call = {"path": "story.md", "version": agent.version("story.md"), "find": r"(\w+) (\w+)", "replace": r"\2 \1"}
    assert agent.refused("find_and_replace", **call, is_regex=True)["details"]["field"] == "replace"


WORDS = st.text(st.sampled_from("ab \n\r"), max_size=30)


@given(WORDS, st.text(st.sampled_from("ab\n"), min_size=1, max_size=3))
def test_literal_matches_are_those_that_python_finds(content: str, query: str):
    flat = content.replace("\r\n", "\n").replace("\r", "\n")
    document = Document("a.txt", Text(content))
    found = find_matches(FindAndReplace(version="", find=query, replace=""), document)
    assert len(found) == len(re.findall(re.escape(query), flat))
    for start, end in found:
        assert content[start:end].replace("\r\n", "\n").replace("\r", "\n") == query


@pytest.mark.slow
def test_no_pattern_keeps_anybody_waiting(agent: Caller, material: Path):
    cases = json.loads((material / "security" / "redos_python_re.json").read_text(encoding="utf-8"))
    agent.folder.put("a.txt", "1" * 20_000 + "!\n" + "<a href" * 2000 + "\n")
    call: dict[str, Any] = {"path": "a.txt", "version": agent.version("a.txt"), "replace": "", "preview": True}
    for case in cases:
        began = time.monotonic()
        with contextlib.suppress(RedraftError):
            agent.call("find_and_replace", **call, find=case["pattern"], is_regex=True)
        assert time.monotonic() - began < 60


# Across the folder


@pytest.mark.covers("ML-search-params", "ML-search-names", "ML-search-result")
def test_documents_are_found_by_name_and_by_content(agent: Caller):
    agent.folder.put("notes/Keys.md", "nothing\n")
    answer = agent.call("search_documents", query="KEYS", search_content=True)
    assert (answer["query"], answer["count"]) == ("KEYS", 2)
    assert answer["results"] == [
        {"path": "notes/Keys.md", "name": "Keys.md", "matches": []},
        {
            "path": "story.md",
            "name": "story.md",
            "matches": ["## The keys", "Then she went to look for the keys."],
            "line": 8,
        },
    ]


@pytest.mark.covers("ML-search-content", "ML-search-folder", "ML-search-hidden", "SB-rule-search-hidden")
def test_a_search_can_leave_out_content_and_other_folders_and_never_sees_hidden_names(agent: Caller):
    hidden = (".hidden/keys.md", ".git/keys.md", "a/.git/keys.md", ".keys.md", "a/.DS_Store")
    for path in ("a/keys.md", "a[1]/x.md", *hidden):
        agent.folder.put(path, "the keys\n")
    assert [each["path"] for each in agent.call("search_documents", query="keys", search_content=False)["results"]] == [
        "a/keys.md"
    ]
    assert [each["path"] for each in agent.call("search_documents", query="keys", folder="a")["results"]] == [
        "a/keys.md"
    ]
    assert [each["path"] for each in agent.call("search_documents", query="keys", folder="a[1]")["results"]] == [
        "a[1]/x.md"
    ]
    assert {each["file_path"] for each in agent.call("search_project", query="the keys")["results"]} == {
        "a/keys.md",
        "a[1]/x.md",
        "story.md",
    }


@pytest.mark.covers("ML-search-snippets")
def test_a_result_shows_three_lines_of_a_hundred_characters(agent: Caller):
    agent.folder.put("a.md", ("needle " + "x" * 200 + "\n") * 5)
    [found] = agent.call("search_documents", query="needle")["results"]
    assert (len(found["matches"]), {len(line) for line in found["matches"]}) == (3, {100})


@pytest.mark.covers("SB-tool-search-input", "SB-tool-search-output", "SB-retrieve-snippets", "SB-rule-search-all")
def test_a_project_search_gives_snippets_with_their_lines_counted_from_one(agent: Caller):
    others = ("Makefile", "a/b/c.yaml", "a/b/c/d/e/f.py", "data.csv", "notes.txt", "page.html")
    for path in others:
        agent.folder.put(path, "key: letter twice\n")
    answer = agent.call("search_project", query="letter twice", glob="**/*", limit=20)
    found = {each["file_path"]: each for each in answer["results"]}
    assert found.pop("story.md") == {
        "file_path": "story.md",
        "start_line": 3,
        "end_line": 11,
        "snippet": "\n".join(STORY.splitlines()[2:11]),
    }
    assert set(found) == set(others)
    assert len(answer["results"]) == len(others) + 1
    assert len(agent.call("search_project", query="letter twice", limit=3)["results"]) == 3
    assert [each["file_path"] for each in agent.call("search_project", query="letter", glob="*.yaml")["results"]] == [
        "a/b/c.yaml"
    ]


@pytest.mark.covers("SB-limit-search-default", "SB-limit-search-cap", "SB-limit-snippet-lines")
def test_a_project_search_has_its_limits(agent: Caller):
    for number in range(60):
        agent.folder.put(f"n/{number:02}.md", "needle\n" * 30)
    answer = agent.call("search_project", query="needle")
    assert (len(answer["results"]), answer["truncated"]) == (20, True)
    capped = agent.call("search_project", query="needle", limit=1000)["results"]
    assert len(capped) == 50
    assert max(each["end_line"] - each["start_line"] + 1 for each in capped) == 20
    assert max(len(each["snippet"].split("\n")) for each in capped) == 20


@pytest.mark.covers("SB-retrieve-lexical-first")
def test_words_are_searched_first_as_they_stand_then_apart_then_by_meaning(agent: Caller):
    agent.folder.put("b.md", "keys and letters and a lamp\n")
    agent.folder.put("c.md", "Alice drew her sword and struck until the monster lay still.\n")
    agent.folder.put("d.md", "There was music, and everybody danced until morning.\n")

    def found(query: str) -> list[str]:
        return [each["file_path"] for each in agent.call("search_project", query=query)["results"]]

    assert found("letter twice") == ["story.md"]
    apart = found("lamp keys letter")
    assert (apart[0], "story.md" in apart) == ("b.md", True)
    assert found("slaying a dragon with a blade")[0] == "c.md"
    assert agent.call("read_file", file_path="c.md")["content"].startswith("Alice drew")


def test_a_proposal_is_searched_as_it_would_be(proposer: Caller):
    proposer.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    assert proposer.call("search_documents", query="twelve")["count"] == 1
    assert proposer.call("search_documents", query='"eleven"')["count"] == 0
