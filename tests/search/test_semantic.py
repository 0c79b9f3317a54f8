"""Searching a document by meaning, as an agent does it: through the tool, with the real model."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.config import Settings
from redraft.providers.embeddings import load_embedder
from redraft.search.passages.chunks import document_chunks
from redraft.search.passages.hybrid import PassageIndex, combine_scores
from redraft.search.passages.vector_cache import VectorCache
from redraft.tools.context import ToolContext
from tests.conftest import TORTURE
from tests.tools.calling import Caller
from tests.workspace.folder import AGENT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from redraft.providers.embeddings import Embedder, Vectors
    from tests.workspace.folder import Folder

TALE = """# The Dragon of the Fen

## Market day

Alice bought apples and a loaf of bread, and haggled over the price of a copper kettle.

## The fight

Alice drew her sword as the great winged lizard came down upon her. Flames burst from its jaws; she struck its neck,
was thrown against the rocks, and struck again until the monster lay still.

## The feast

That evening there was music, and the whole village danced until the candles had burnt down.
"""
CONFIG = """name: shop
server:
  listen: 0.0.0.0
  workers: 4
storage:
  engine: postgres
  host: db.internal
  user: shop
  pool: 10
mail:
  sender: shop@example.org
  retries: 3
"""


@pytest.fixture
def agent(folder: Folder) -> Caller:
    folder.put("tale.md", TALE)
    return Caller.at(folder)


@pytest.mark.covers("TK-search-semantic-default", "TK-search-meaning", "TK-search-embedding-status")
def test_a_description_finds_the_scene_that_shares_no_word_with_it(agent: Caller):
    answer = agent.call("search_document", path="tale.md", query="killing a fire-breathing creature")
    best = answer["matches"][0]
    assert TALE.split("\n")[best["line"]] == "## The fight"
    assert best["preview"].startswith("## The fight Alice drew her sword")
    assert best["context"]["start_line"] <= best["line"] <= best["context"]["end_line"]
    assert (answer["embedding_status"], answer["total_matches"]) == ("ready", len(answer["matches"]))
    scores = [match["score"] for match in answer["matches"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


@pytest.mark.covers("TK-flow-expand-scene")
def test_a_scene_is_found_by_description_read_and_expanded(agent: Caller):
    found = agent.call("search_document", path="tale.md", query="Alice fights the dragon")
    line = found["matches"][0]["line"]
    read = agent.call("read_document", path="tale.md", start_line=line, end_line=line + 4)
    assert "struck again until the monster lay still." in read["content"]
    added = "The fen was silent."
    agent.call("insert_lines", path="tale.md", version=read["version"], after_line=line + 3, content=added)
    assert agent.text("tale.md") == TALE.replace("lay still.\n", f"lay still.\n{added}\n")


@pytest.mark.covers("TK-flow-edit-yaml")
def test_a_section_of_a_configuration_is_found_by_meaning_and_replaced(agent: Caller):
    agent.folder.put("shop.yaml", CONFIG)
    found = agent.call("search_document", path="shop.yaml", query="database configuration", match_type="semantic")
    line = found["matches"][0]["line"]
    assert CONFIG.split("\n")[line] == "storage:"
    read = agent.call("read_document", path="shop.yaml", start_line=line, end_line=line + 4)
    assert "host: db.internal" in read["content"]
    new = "storage:\n  engine: sqlite"
    place = {"start_line": line, "end_line": line + 4}
    agent.call("replace_lines", path="shop.yaml", version=read["version"], **place, content=new)
    assert "storage:\n  engine: sqlite\nmail:\n" in agent.text("shop.yaml")


def in_cache(agent: Caller, statement: str) -> list[tuple[int]]:
    """What the file of kept vectors answers, past the class that keeps it."""
    path = os.path.join(agent.workspace.state, "vectors.db")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).fetchall()


def kept(agent: Caller) -> int:
    return in_cache(agent, "SELECT count(*) FROM vectors")[0][0]


@pytest.mark.covers("TK-search-just-in-time")
def test_a_document_is_embedded_when_it_is_first_searched_and_what_changed_anew(agent: Caller):
    new = TALE + "\nNobody has searched this before.\n"
    agent.folder.put("new.md", new)
    call = {"path": "new.md", "query": "dancing"}
    agent.call("search_document", **call, match_type="exact")
    assert not os.path.exists(os.path.join(agent.workspace.state, "vectors.db"))
    first = agent.call("search_document", **call)
    assert kept(agent) == 3
    assert agent.call("search_document", **call) == first
    agent.folder.put("new.md", new.replace("there was music", "there were fiddles and drums"))
    agent.call("search_document", **call)
    assert kept(agent) == 4


def test_a_search_is_answered_where_the_kept_vectors_are_lost_or_wrong(agent: Caller):
    call = {"path": "tale.md", "query": "dancing"}
    first = agent.call("search_document", **call)
    workspace = agent.workspace
    for damage in ("UPDATE vectors SET data = x'00'", "DELETE FROM vectors"):
        in_cache(agent, damage)
        with VectorCache(workspace.state, workspace.now()) as cache:
            found = PassageIndex(document_chunks(TALE, "markdown"), load_embedder("wordllama")).search(
                "dancing", cache, limit=5
            )
        assert [(each.line, round(each.score, 4)) for each in found.passages] == [
            (match["line"], match["score"]) for match in first["matches"]
        ]


@pytest.mark.covers("TK-error-embeddings", "TK-search-unavailable", "TK-search-unavailable-advice")
def test_a_search_by_meaning_without_embeddings_is_refused_with_what_to_do_instead(folder: Folder):
    folder.put("tale.md", TALE)
    workspace = folder.open(Settings(mode="apply", embeddings="off"))
    agent = Caller(folder, workspace, ToolContext(workspace, AGENT))
    told = agent.refused("search_document", path="tale.md", query="killing a fire-breathing creature")
    assert told["error"] == "embeddings_unavailable"
    assert told["suggestion"] == 'Use match_type="exact" or match_type="regex" instead.'
    answer = agent.call("search_document", path="tale.md", query="sword", match_type="exact")
    assert (answer["embedding_status"], answer["total_matches"]) == ("unavailable", 1)


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_description_is_refused(agent: Caller, query: str):
    assert agent.refused("search_document", path="tale.md", query=query)["error"] == "content_required"


@pytest.mark.parametrize("content", ["", "\n\n", " \r\n"])
def test_an_empty_document_holds_no_answer(agent: Caller, content: str):
    agent.folder.put("empty.md", content)
    answer = agent.call("search_document", path="empty.md", query="a battle")
    assert (answer["matches"], answer["total_matches"], answer["embedding_status"]) == ([], 0, "ready")


def test_lines_are_right_with_crlf_and_astral_characters(agent: Caller):
    content = TALE.replace("Alice", "𝒜𝓁𝒾𝒸ℯ 🗡").replace("\n", "\r\n")
    agent.folder.put("crlf.md", content)
    plain = agent.call("search_document", path="tale.md", query="killing a fire-breathing creature")["matches"]
    found = agent.call("search_document", path="crlf.md", query="killing a fire-breathing creature")["matches"]
    assert found[0]["line"] == plain[0]["line"]
    assert found[0]["context"]["content"].count("\r\n") == found[0]["context"]["line_count"]


def test_as_many_matches_come_as_are_asked_for_each_from_a_passage_of_its_own(agent: Caller):
    agent.folder.put("long.md", "# Part\n\nThe river rose again.\n\n" * 30)
    call = {"path": "long.md", "query": "a flood"}
    lines = [match["line"] for match in agent.call("search_document", **call, max_results=7)["matches"]]
    assert len(set(lines)) == 7
    assert lines == sorted(lines), "equal passages come in the order of the document"


class Slow:
    """A model of somebody else's: two dimensions, and in no hurry."""

    name = "slow"
    dimension = 2

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += len(texts)
        time.sleep(0.02 if len(texts) > 1 else 0)
        return np.array([[1, 0] if "flood" in text else [0, 1] for text in texts], np.float32).reshape(-1, 2)


def test_where_time_runs_out_the_promising_passages_come_first_and_the_rest_later(tmp_path: Path):
    parts = [f"# Part {number}\n\nNothing happened. Nothing at all.\n\n" for number in range(100)]
    parts[90] = "# Part 90\n\nThe flood came.\n\n"
    document = PassageIndex(document_chunks("".join(parts), "markdown"), Slow())
    heard: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        heard.append((done, of))

    with VectorCache(str(tmp_path), 0.0) as cache:
        first = document.search("flood", cache, limit=3, seconds=0, progress=hear)
        assert (first.status, first.passages[0].score, heard) == ("indexing", 1.0, [(32, 100)])
        while document.search("flood", cache, limit=3, seconds=0).status == "indexing":
            pass
        assert document.search("flood", cache, limit=3).passages[0] == first.passages[0]


def test_a_surface_may_bring_a_model_of_its_own(agent: Caller):
    model: Embedder = Slow()
    agent.context.embedder = model
    agent.folder.put("a.md", "# One\n\nA dry year.\n\n# Two\n\nThe flooding of the vale.\n")
    answer = agent.call("search_document", path="a.md", query="floods")
    assert answer["matches"][0]["line"] == 4


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(-1, 1)), max_size=8))
def test_a_score_lies_between_nothing_and_one_and_never_falls_with_its_parts(parts: list[tuple[float, float]]):
    scores = combine_scores(np.array([word for word, _ in parts]), np.array([close for _, close in parts])).tolist()
    assert all(0 <= score <= 1 for score in scores)
    for (word, close), score in zip(parts, scores, strict=True):
        for (other_word, other_close), other in zip(parts, scores, strict=True):
            assert score >= other or word < other_word or close < other_close


WORDS = st.sampled_from(["dragon", "music", "# Head", "bread.", "\n", "\n\n", "\r\n", "🗡", "", "  "])


@settings(max_examples=500 if TORTURE else 40)
@given(st.lists(WORDS, max_size=40).map(" ".join), st.sampled_from(["dragon", "a feast", "🗡", "?", "\udc80"]))
def test_any_document_can_be_searched_and_its_places_exist(
    tmp_path_factory: pytest.TempPathFactory, text: str, query: str
):
    from redraft.text.lines import split_lines

    lines = split_lines(text)
    with VectorCache(str(tmp_path_factory.getbasetemp()), 0.0) as cache:
        found: Any = PassageIndex(document_chunks(text, "markdown"), load_embedder("wordllama")).search(
            query, cache, limit=3
        )
    assert bool(found.passages) <= bool(text.strip())
    for passage in found.passages:
        assert split_lines(passage.text)[0].strip() in lines[passage.line]
