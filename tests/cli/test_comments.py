"""Comments and CriticMarkup in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.running import Program

MARKED = """# The Lamp

The lighthouse had been {~~dark~>unlit~~}{>>@anna<<} for {++almost ++}{>>@ben<<}eleven years.

She read {==the letter==}{>>@anna Which one?<<} twice{-- or more--}.
"""
ACCEPTED = """# The Lamp

The lighthouse had been unlit for almost eleven years.

She read the letter twice.
"""
REJECTED = """# The Lamp

The lighthouse had been dark for eleven years.

She read the letter twice or more.
"""


def comments(redraft: Program, *words: str) -> list[dict[str, Any]]:
    return redraft.json("comments", "list", *words)["comments"]


@pytest.mark.covers("RD-comments", "RD-comments-follow", "RD-comments-orphaned")
def test_a_comment_is_made_answered_followed_and_resolved(redraft: Program):
    before = redraft.read("story.md")
    redraft.ok("comments", "add", "story.md", "Which one?", "--quote", "the letter")
    (comment,) = comments(redraft)
    assert (comment["line"], comment["quote"]) == (5, "the letter")
    assert redraft.read("story.md") == before
    redraft.ok("comments", "reply", comment["id"], "The first.\nFrom May.")
    shown = redraft.ok("comments", "list", "story.md")
    assert "story.md, line 5" in shown
    assert "you: Which one?" in shown

    redraft.write("story.md", "A new line.\n" + before)
    (moved,) = comments(redraft)
    assert (moved["line"], moved["quote"]) == (6, "the letter")
    redraft.write("story.md", "Nothing is left.\n")
    (orphan,) = comments(redraft, "--orphaned")
    assert (orphan["line"], orphan["quote"]) == (None, "the letter")
    redraft.write("story.md", before)
    assert comments(redraft)[0]["line"] == 5

    redraft.ok("comments", "resolve", comment["id"])
    assert comments(redraft) == []
    assert "1 resolved comment not shown" in redraft.ok("comments", "list")
    redraft.ok("comments", "resolve", comment["id"], "--reopen")
    assert [message["says"] for message in comments(redraft)[0]["messages"]] == ["Which one?", "The first.\nFrom May."]


def test_a_passage_that_is_not_there_or_twice_gets_no_comment(redraft: Program):
    assert "not in todo.md" in redraft.run("comments", "add", "todo.md", "x", "--quote", "treasure").err
    assert "occurs 2 times" in redraft.run("comments", "add", "todo.md", "x", "--quote", "the ").err
    assert comments(redraft) == []


@pytest.mark.covers("RD-critic-import", "RD-critic-export")
@pytest.mark.parametrize(("act", "text"), [("accept", ACCEPTED), ("reject", REJECTED)])
def test_criticmarkup_is_imported_decided_and_exported(redraft: Program, act: str, text: str):
    (redraft.home / "lamp.md").write_text(MARKED, encoding="utf-8")
    redraft.ok("import", "../lamp.md", "--criticmarkup", "--as", "in/lamp.md")
    assert redraft.read("in/lamp.md") == REJECTED
    turns = redraft.json("turns")["turns"]
    assert {turn["author"]["name"] for turn in turns if turn["state"] == "proposed"} == {"anna", "ben", "unsigned"}
    assert [comment["quote"] for comment in comments(redraft)] == ["the letter"]
    assert redraft.ok("export", "in/lamp.md", "--to", "criticmarkup", "--out", "-") == MARKED
    redraft.ok(act, "--all")
    assert redraft.read("in/lamp.md") == text
    exported = redraft.ok("export", "in/lamp.md", "--to", "criticmarkup", "--out", "-")
    assert exported == text.replace("the letter", "{==the letter==}{>>@anna Which one?<<}")


def test_a_document_with_marks_is_imported_where_it_is_and_undone(redraft: Program):
    redraft.write("lamp.md", MARKED)
    redraft.ok("import", "lamp.md", "--criticmarkup")
    assert redraft.read("lamp.md") == REJECTED
    redraft.ok("reject", "--all")
    redraft.ok("undo", "1")
    assert redraft.read("lamp.md") == MARKED
