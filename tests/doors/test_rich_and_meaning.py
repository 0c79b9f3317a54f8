"""Replacements in rich text, search by meaning, and conversations in a document, by the programs that people run."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.speaking.lines import PATIENCE, Lines, answer_of, environment

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "| a | b |\n|---|---|\n| c | d |\n"
WRAPPED = "One two three four five six seven eight nine ten\neleven twelve and on until the end of it.\n"
TALE = (
    "# A tale\n\n## The feast\n\nThere was music, and everybody danced until morning.\n\n"
    "## The fight\n\nAlice drew her sword and struck again until the monster lay still.\n"
)


def call(tools: Lines, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = tools.call(tool, **arguments)
    assert not result["isError"], result
    return answer_of(result)


@pytest.mark.parametrize(
    ("source", "words", "new", "after"),
    [
        pytest.param("a **bold** z\n", "bold", "brave", "a **brave** z\n", marks=pytest.mark.covers("RT-adv-formats")),
        ("a [link](x.md) z\n", "link", "way", "a [way](x.md) z\n"),
        ("a **bold** z\n", "bold z", "calm", "a calm\n"),
        ("### 27) The new rule\n", "new", "old", "### 27) The old rule\n"),
        (WRAPPED, "nine", "nineteenth", WRAPPED.replace("nine", "nineteenth")),
        (WRAPPED, "nine", "something longer", WRAPPED.replace("nine", "something\nlonger")),
        ("|a|b|\n|-|-|\n|lengthy|d|\n| e | f |\n", "lengthy", "x", "|a|b|\n|-|-|\n|x|d|\n| e | f |\n"),
        ("\xa0word\nand on\n", "word", "way", "\xa0way\nand on\n"),
        pytest.param("one two\n", " ", "\n", "one\n\ntwo\n", marks=pytest.mark.covers("RT-prod-newlines")),
        pytest.param(
            "a b\n", "b", "**bold** and `code`", "a **bold** and `code`\n", marks=pytest.mark.covers("RT-prod-markdown")
        ),
        pytest.param(
            TABLE,
            "c",
            "x | y",
            "| a | b |\n|---|---|\n| x \\| y | d |\n",
            marks=pytest.mark.covers("RT-prod-tables"),
        ),
        pytest.param("a ![i](i.png)b\n", "a ", "x ", "x ![i](i.png)b\n", marks=pytest.mark.covers("RT-prod-images")),
    ],
)
def test_a_replacement_keeps_what_is_around_it(
    tools: Lines, shelf: Path, source: str, words: str, new: str, after: str
):
    (shelf / "rich.md").write_text(source, encoding="utf-8")
    start = call(tools, "getEditorText", path="rich.md")["text"].index(words)
    asked = {"path": "rich.md", "from": start, "to": start + len(words), "newText": new}
    assert call(tools, "replaceText", **asked)["success"] is True
    assert (shelf / "rich.md").read_text(encoding="utf-8") == after


@pytest.mark.covers("RT-app-structure", "RT-exec-failed-command")
@pytest.mark.parametrize(("source", "why"), [("one\n\n<div>kept</div>\n\ntwo\n", "not in the text"), (TABLE, "cell")])
def test_what_would_break_the_document_is_refused_in_the_answer(tools: Lines, shelf: Path, source: str, why: str):
    (shelf / "broken.md").write_text(source, encoding="utf-8")
    text = call(tools, "getEditorText", path="broken.md")["text"]
    answer = call(tools, "replaceText", **{"path": "broken.md", "from": 0, "to": len(text) - 1, "newText": "x"})
    assert set(answer) == {"success", "message", "error"}
    assert (answer["success"], answer["message"]) == (False, "TipTap command execution failed")
    assert why in answer["error"]
    assert (shelf / "broken.md").read_text(encoding="utf-8") == source


@pytest.mark.covers("TK-search-semantic-default", "TK-search-meaning", "TK-search-embedding-status",
                    "TK-search-just-in-time")  # fmt: skip
def test_a_description_finds_the_scene_that_shares_no_word_with_it(tools: Lines, shelf: Path):
    (shelf / "tale.md").write_text(TALE, encoding="utf-8")
    answer = call(tools, "search_document", path="tale.md", query="killing a fire-breathing creature")
    best = answer["matches"][0]
    assert TALE.split("\n")[best["line"]] == "## The fight"
    assert answer["embedding_status"] == "ready"


@pytest.mark.covers("TK-error-embeddings", "TK-search-unavailable", "TK-search-unavailable-advice")
def test_without_embeddings_a_search_by_meaning_says_what_to_do_instead(tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tale.md").write_text(TALE, encoding="utf-8")
    config = tmp_path / "config" / "redraft"
    config.mkdir(parents=True)
    (config / "settings.toml").write_text('embeddings = "off"\n', encoding="utf-8")
    tools = Lines.to(folder)
    tools.start()
    told = tools.call("search_document", path="tale.md", query="killing a creature")
    found = answer_of(told)
    assert (told["isError"], found["error"]) == (True, "embeddings_unavailable")
    assert all(f'match_type="{other}"' in found["suggestion"] for other in ("exact", "regex"))
    exact = call(tools, "search_document", path="tale.md", query="sword", match_type="exact")
    assert (exact["embedding_status"], exact["total_matches"]) == ("unavailable", 1)
    assert tools.close() == ""


# Conversations in a document


def agent_doc(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "redraft.cli.agent_doc", *words]
    return subprocess.run(
        command,
        input=given,
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env=environment(folder),
        timeout=PATIENCE,
    )


@pytest.mark.covers("AD-patch-replace", "AD-patch-append", "AD-patch-prepend", "AD-comp-markers", "AD-comp-attribute")
@pytest.mark.parametrize(
    ("mode", "after"), [("replace", "\nnew\n"), ("append", "\nold\nnew\n"), ("prepend", "\nnew\nold\n")]
)
def test_a_component_is_filled_as_its_marker_says(tmp_path: Path, mode: str, after: str):
    folder = tmp_path / "notes"
    folder.mkdir()
    place = "Before.\n<!-- agent:log mode={mode} -->{inner}<!-- /agent:log -->\nAfter.\n"
    (folder / "a.md").write_text(place.format(mode=mode, inner="\nold\n"), encoding="utf-8")
    done = agent_doc(folder, "patch", "a.md", "log", "new")
    assert done.returncode == 0, done.stderr
    assert (folder / "a.md").read_text(encoding="utf-8") == place.format(mode=mode, inner=after)


@pytest.mark.covers("AD-comp-code", "AD-comp-name")
@pytest.mark.parametrize(
    "text", ["```\n<!-- agent:log -->\nold\n<!-- /agent:log -->\n```\n", "<!-- agent:a_b -->\nx\n"]
)
def test_markers_in_code_and_names_that_are_none_are_text(tmp_path: Path, text: str):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(text, encoding="utf-8")
    assert agent_doc(folder, "patch", "a.md", "log", "new").returncode != 0
    assert agent_doc(folder, "patch", "a.md", "a_b", "new").returncode != 0
    assert (folder / "a.md").read_text(encoding="utf-8") == text


@pytest.mark.covers("AD-write-blocks")
def test_an_answer_is_written_block_by_block(tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    text = (
        "<!-- agent:status -->\nold\n<!-- /agent:status -->\n<!-- agent:log mode=append -->\none\n<!-- /agent:log -->\n"
    )
    (folder / "a.md").write_text(text, encoding="utf-8")
    answer = "<!-- patch:status -->\nnew\n<!-- /patch:status -->\n<!-- patch:log -->\ntwo\n<!-- /patch:log -->\n"
    done = agent_doc(folder, "write", "a.md", given=answer)
    assert done.returncode == 0, done.stderr
    found = (folder / "a.md").read_text(encoding="utf-8")
    assert "<!-- agent:status -->\nnew\n<!-- /agent:status -->" in found
    assert "one\ntwo\n<!-- /agent:log -->" in found
