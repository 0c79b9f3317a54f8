"""What an agent finds over MCP: documents by questions, as well as the app's own search, and headings in quotations."""

from __future__ import annotations

import json
import math
import random
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.search.fairytales import stories
from tests.server.serving import serving
from tests.speaking.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

QUESTIONS = 60
TALES = 6


def called(client: Lines, tool: str, **arguments: Any) -> Any:
    answer = client.call(tool, **arguments)
    assert not answer.get("isError"), answer
    return answer.get("structuredContent") or json.loads(answer["content"][0]["text"])


def paths(client: Lines, query: str, **more: Any) -> list[str]:
    return [each["path"] for each in called(client, "search_documents", query=query, **more)["results"]]


def ndcg(found: Sequence[str], answers: set[str]) -> float:
    """How near the top the answers are among the first ten: 1 where nothing else is above them."""
    gained = sum(1 / math.log2(place + 2) for place, path in enumerate(found[:10]) if path in answers)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(10, len(answers))))


@pytest.mark.slow
@pytest.mark.covers("RD-search-questions")
def test_an_agents_questions_are_answered_as_well_as_by_the_search_of_the_app(material: Path, folder: Path):
    asked: list[tuple[str, set[str]]] = []
    for story in stories(material)[:TALES]:
        names = [f"{len(asked):04}-{at:02}.md" for at in range(len(story.sections))]
        for name, text in zip(names, story.sections, strict=True):
            (folder / name).write_text(text, encoding="utf-8")
        asked += [(question.text, {names[at] for at in question.answers}) for question in story.questions]
    asked = random.Random(1).sample(asked, QUESTIONS)
    with serving(folder) as server:
        client = Lines.to(folder)
        client.start()
        first = called(client, "search_documents", query="the first search reads the folder")
        assert first["results"]
        tool = app = 0.0
        seconds: list[float] = []
        for question, answers in asked:
            began = time.monotonic()
            found = paths(client, question)
            seconds.append(time.monotonic() - began)
            assert found, question
            hits = server.get("/api/search/meaning", query=question)["hits"]
            tool += ndcg(found, answers) / QUESTIONS
            app += ndcg(list(dict.fromkeys(hit["path"] for hit in hits)), answers) / QUESTIONS
        assert client.close() == ""
    median = sorted(seconds)[QUESTIONS // 2]
    print(f"nDCG@10 of the tool {tool:.3f}, of the app {app:.3f}; {1000 * median:.0f} ms")  # noqa: T201 - the point
    assert tool >= app - 0.01
    assert tool > 0.7


# Nothing of this is in any fairy tale, neither the words nor anything like them.
FOREIGN = (
    "kubernetes ingress timeout", "blockchain consensus protocol", "CSS flexbox alignment", "GDPR compliance audit",
    "spreadsheet macros", "antibiotic resistance", "semiconductor lithography", "insulin dosage", "sushi",
    "parliamentary turnout", "unemployment statistics", "hexadecimal checksum", "dependency injection",
    "JavaScript", "photosynthesis chlorophyll", "qwzrtplk", "vbnmjuiop xcvbnm", "zzyzx frobnicate",
    "gluon chromodynamics", "basketball playoffs",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.covers("RD-search-nothing")
def test_a_question_about_what_no_document_speaks_of_finds_nothing(material: Path, folder: Path):
    for number, story in enumerate(stories(material)[:TALES]):
        for at, text in enumerate(story.sections):
            (folder / f"{number}-{at:02}.md").write_text(text, encoding="utf-8")
    with serving(folder) as server:
        client = Lines.to(folder)
        client.start()
        found = {query: called(client, "search_documents", query=query) for query in FOREIGN}
        wrong = {query: answer["results"][:1] for query, answer in found.items() if answer["results"]}
        assert len(wrong) <= 1, wrong  # of twenty one may come close by chance
        assert all(each["by_meaning"] for results in wrong.values() for each in results)
        assert sum(bool(server.get("/api/search/meaning", query=query)["hits"]) for query in FOREIGN) <= 1
        assert client.close() == ""


@pytest.mark.covers("RD-search-nothing")
def test_a_result_that_shares_no_word_with_the_question_says_so(folder: Path):
    (folder / "port.md").write_text("The old harbour wall.\nShips and boats lie there.\n", encoding="utf-8")
    (folder / "farm.md").write_text("The farmer ploughed his field.\n", encoding="utf-8")
    client = Lines.to(folder, "--profile", "all")
    client.start()
    by_words = called(client, "search_documents", query="Who ploughs the field?")["results"]
    assert [each["path"] for each in by_words if "by_meaning" not in each] == ["farm.md"]
    by_meaning = called(client, "search_documents", query="Where do vessels moor?")["results"]
    assert [(each["path"], each["by_meaning"]) for each in by_meaning] == [("port.md", True)]
    for nonsense in ("qwzrtplk", "quantum chromodynamics"):
        assert called(client, "search_documents", query=nonsense)["results"] == []
        assert called(client, "search_project", query=nonsense)["results"] == []
    assert client.close() == ""


@pytest.mark.covers("RD-search-phrases")
def test_a_phrase_in_quotation_marks_is_found_as_it_stands_and_nothing_else_is(folder: Path, client: Lines):
    (folder / "port.md").write_text("The old harbour wall.\nBoats lie there.\n", encoding="utf-8")
    (folder / "sea.md").write_text("A wall, old as the harbour: ships and boats.\n", encoding="utf-8")
    client.start()
    assert paths(client, '"old harbour wall"') == ["port.md"]
    assert paths(client, "“OLD HARBOUR WALL”") == ["port.md"]
    assert paths(client, '"no such phrase"') == []
    assert paths(client, '"boats" "ships"') == ["sea.md"]
    assert set(paths(client, 'where do ships lie "boats"')) == {"port.md", "sea.md"}
    assert paths(client, "old harbour wall")[0] == "port.md", "the very words come first"
    assert set(paths(client, "Where do vessels moor?")) >= {"port.md"}
    found = called(client, "search_documents", query="Which boats lie where?")["results"][0]
    assert found["matches"]
    assert (folder / found["path"]).read_text(encoding="utf-8").splitlines()[found["line"]]


HARBOUR = """# The harbour

Twelve boats lie here in winter. Most of them leak.

## Sales

Nobody wanted them at first.
In spring the harbour master sold all of the boats to a brewer from the next valley.
The brewer paid in barrels. They were empty.
"""


@pytest.mark.covers("RD-search-line")
def test_the_line_of_a_result_is_where_its_excerpt_stands(folder: Path):
    port = folder / "port"
    port.mkdir()
    (port / "harbour.md").write_text(HARBOUR, encoding="utf-8")
    (port / "crlf.md").write_bytes(b"# Garden\r\n\r\nRoses.\r\nThe gardener waters the pumpkins at noon.\r\n")
    (port / "notes.md").write_text(
        "# Notes\n\nThe window is broken.\nShe kneaded the dough for bread.\n", encoding="utf-8"
    )
    (port / "brewer paid.md").write_text("# Bill\n\nIt was paid late by the brewer.\n", encoding="utf-8")
    asked = {
        "Who sold the boats?": ("harbour.md", 7, "In spring the harbour master sold all of the boats"),
        "baking": ("notes.md", 3, "She kneaded the dough for bread."),  # by meaning alone
        "How many boats lie there when it is winter?": ("harbour.md", 2, "Twelve boats lie here in winter."),
        "Which plants does the gardener water?": ("crlf.md", 3, "The gardener waters the pumpkins"),
        "brewer paid": ("brewer paid.md", 2, "It was paid late by the brewer."),
    }
    with serving(folder) as server:
        client = Lines.to(folder)
        client.start()
        for question, (name, line, excerpt) in asked.items():
            over_mcp = called(client, "search_documents", query=question, folder="port")["results"][0]
            over_http = server.get("/api/search", query=question, folder="port")["results"][0]
            assert over_mcp == over_http
            assert (over_mcp["name"], over_mcp.get("line")) == (name, line), question
            assert over_mcp["matches"][0].startswith(excerpt), question
            assert excerpt in (port / name).read_text(encoding="utf-8").splitlines()[line]
        assert client.close() == ""


@pytest.mark.covers("RD-search-questions")
def test_without_embeddings_a_question_is_answered_by_its_words(folder: Path):
    settings = folder.parent / "config" / "redraft" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('embeddings = "off"\n', encoding="utf-8")
    (folder / "port.md").write_text("The harbour master sold the boats.\n", encoding="utf-8")
    (folder / "farm.md").write_text("The farmer ploughed his field.\n", encoding="utf-8")
    client = Lines.to(folder, "--profile", "all")
    client.start()
    assert paths(client, "Who was selling a boat in the harbour?") == ["port.md"]
    assert [each["file_path"] for each in called(client, "search_project", query="Who sold a boat?")["results"]] == [
        "port.md"
    ]
    assert client.close() == ""


@pytest.mark.covers("RD-outline-quoted")
def test_headings_inside_quotations_are_in_the_outline(folder: Path, client: Lines):
    (folder / "letter.md").write_text(
        "# Letter\n\n> ## Terms\n> pay\n> ### Fees\n> more\n\nYours\n\n# Answer\n", encoding="utf-8"
    )
    client.start()
    answer = called(client, "get_outline", path="letter.md")
    assert answer["outline"] == [
        {
            "title": "Letter",
            "level": 1,
            "line_start": 0,
            "line_end": 8,
            "children": [
                {
                    "title": "Terms",
                    "level": 2,
                    "line_start": 2,
                    "line_end": 5,
                    "quoted": True,
                    "children": [{"title": "Fees", "level": 3, "line_start": 4, "line_end": 5, "quoted": True}],
                }
            ],
        },
        {"title": "Answer", "level": 1, "line_start": 9, "line_end": None},
    ]
