"""Searching every document by line: where each match is, in the units of an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.search.hits import Hit
from redraft.search.pattern import compile_query
from redraft.server.routes.search import BEFORE, MAX_TEXT, line_hit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server


def lines(server: Server, **asked: Any) -> list[tuple[str, int, int, int]]:
    found = server.get("/api/search/lines", **asked)
    return [(hit["path"], hit["line"], hit["column"], hit["length"]) for hit in found["hits"]]


def test_a_match_isline_hit_by_its_place(server: Server, folder: Path):
    (folder / "story.md").write_text("One.\n🦊 Élan and élan.\n", encoding="utf-8")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text("elan\nélan vital\n", encoding="utf-8")
    assert lines(server, query="élan") == [("story.md", 1, 2, 4), ("sub/b.txt", 1, 0, 4)]
    assert lines(server, query="élan", case_sensitive=True) == [("story.md", 1, 11, 4), ("sub/b.txt", 1, 0, 4)]
    assert lines(server, query=r"\w+ vi\w*", regex=True, glob="sub/**") == [("sub/b.txt", 1, 0, 10)]
    assert lines(server, query="vi", whole_word=True) == []


def test_what_is_not_saved_is_found(server: Server):
    tab = server.post("/api/tabs", {"path": "story.md"})
    server.post(f"/api/tabs/{tab['tab_id']}/type", {"content": "A wholly new xylophone.\n"})
    assert lines(server, query="xylophone") == [("story.md", 0, 13, 9)]


def test_more_than_asked_for_is_said(server: Server, folder: Path):
    (folder / "many.txt").write_text("word\n" * 10, encoding="utf-8")
    found = server.get("/api/search/lines", query="word", glob="many.txt", limit=4)
    assert (len(found["hits"]), found["truncated"]) == (4, True)


def test_a_pattern_that_is_none_is_refused(server: Server):
    assert server.refused("GET", "/api/search/lines?query=(&regex=true", None, 422)["error"] == "invalid_regex"


def test_a_passage_is_found_by_its_meaning_in_whichever_document_it_is_saved_or_not(server: Server, folder: Path):
    (folder / "harbour.md").write_text("# Harbour\n\nThe ferry left the quay at dawn.\n", encoding="utf-8")
    (folder / "kitchen.md").write_text("# Kitchen\n\nShe kneaded the dough for bread.\n", encoding="utf-8")
    tab = server.post("/api/tabs", {"path": "story.md"})
    server.post(f"/api/tabs/{tab['tab_id']}/type", {"content": "# Orchestra\n\nViolins and drums were tuned.\n"})
    for query, path in [("a boat sails", "harbour.md"), ("baking", "kitchen.md"), ("music", "story.md")]:
        found = server.get("/api/search/meaning", query=query)
        best = max(found["hits"], key=lambda hit: hit["score"])
        assert (best["path"], best["line"]) == (path, 0), query
        assert (found["status"], found["truncated"]) == ("ready", False)
    for glob, paths in (("kitchen*", {"kitchen.md"}), ("!kitchen*", set[str]())):
        only = server.get("/api/search/meaning", query="baking bread", glob=glob)
        assert {hit["path"] for hit in only["hits"]} & {"kitchen.md"} == paths


def test_a_search_by_meaning_shows_no_byte_of_a_secret(server: Server, folder: Path):
    key = "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nboats and ferries\n"
    (folder / "note.md").write_text(key, encoding="utf-8")
    (folder / "credentials.json").write_text('{"password": "boats and ferries"}', encoding="utf-8")
    found = server.get("/api/search/meaning", query="boats and ferries")
    assert {hit["path"] for hit in found["hits"]} & {"note.md", "credentials.json"} == set()


@settings(max_examples=50)
@given(st.integers(0, 3 * MAX_TEXT), st.integers(0, 3 * MAX_TEXT))
def test_of_a_long_line_the_part_with_the_match_is_shown(before: int, after: int):
    text = "🦊" * before + "needle" + "x" * after
    told = line_hit(Hit("a.md", 0, before, text), compile_query("needle"))
    shown = told["column"] - told["text_start"]
    assert len(told["text"]) <= MAX_TEXT
    assert told["text"][shown : shown + told["length"]] == "needle"
    assert shown <= max(BEFORE, MAX_TEXT)
