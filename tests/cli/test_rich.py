"""`redraft rich`: positions and replacements from the command line, of markdown and of an editor's JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.running import Program

HELLO = {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Hi 😀!"}]}]}


def test_positions_of_markdown_and_of_json_count_code_points_and_utf16_positions(redraft: Program):
    redraft.write("note.md", "Hi 😀!\n")
    redraft.write("note.json", json.dumps(HELLO))
    for name in ("note.md", "note.json"):
        answer = redraft.run("rich", "positions", str(redraft.folder / name))
        assert answer.json == {"text": "Hi 😀!", "positions": [1, 2, 3, 4, 6, 7]}


def test_replace_prints_the_text_after_and_leaves_the_file(redraft: Program):
    redraft.write("note.md", "Hello *world*\n")
    file = str(redraft.folder / "note.md")
    assert redraft.run("rich", "replace", file, "--from", "6", "--to", "11", "--text", "all 😀").out == "Hello all 😀\n"
    told = redraft.run("rich", "replace", file, "--from", "6", "--to", "11", "--text", "all", "--json").json
    assert (told["text"], told["markdown"]) == ("Hello all", "Hello *all*\n")
    assert (redraft.folder / "note.md").read_text(encoding="utf-8") == "Hello *world*\n"


def test_wrong_positions_and_an_unexpected_text_have_their_exit_statuses(redraft: Program):
    redraft.write("note.md", "Hello\n")
    file = str(redraft.folder / "note.md")
    beyond = redraft.run("rich", "replace", file, "--from", "0", "--to", "99", "--text", "x")
    assert (beyond.status, beyond.out) == (2, "")
    assert "exceeds document length 5" in beyond.err
    other = redraft.run("rich", "replace", file, "--from", "0", "--to", "5", "--text", "x", "--expected", "Hallo")
    assert (other.status, other.out) == (1, "")


def test_json_that_is_no_document_is_refused(redraft: Program):
    redraft.write("note.json", '{"type": "text"}')
    redraft.write("broken.json", "{")
    for name in ("note.json", "broken.json"):
        assert redraft.run("rich", "positions", str(redraft.folder / name)).status == 2
