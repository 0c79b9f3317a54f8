"""`redraft discard`, and the way out of an undo that unsaved text stands in the way of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, run, served

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    with served(tmp_path) as shared:
        yield shared


def type_before(folder: Folder, name: str, before: str, words: str) -> None:
    text, version = folder.text(name)
    assert folder.type(name, text.index(before), "", words, version)


def do(folder: Folder, tool: str, **arguments: str) -> int:
    done, answer = folder.tool(tool, **arguments)
    assert done, answer
    return answer["turn"]


def test_discard_asks_drops_the_typing_of_one_document_and_can_be_undone(folder: Folder):
    for name in ("one.md", "two.md"):
        folder.put(name, "first line\n")
        type_before(folder, name, "line", "typed ")
    asked = run(folder.path, "discard", "one.md")
    assert (asked.returncode != 0, b"--yes" in asked.stderr) == (True, True)
    assert folder.text("one.md")[0] == "first typed line\n"
    done = run(folder.path, "discard", "one.md", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert [folder.text(name)[0] for name in ("one.md", "two.md")] == ["first line\n", "first typed line\n"]
    assert run(folder.path, "undo", str(json.loads(done.stdout)["turn"]["turn"])).returncode == 0
    assert folder.text("one.md")[0] == "first typed line\n"


def test_discard_says_where_there_is_nothing_to_discard(folder: Folder):
    folder.put("one.md", "first line\n")
    done = run(folder.path, "discard", "one.md", "--yes")
    assert (done.returncode, done.stdout) == (0, b"There is no unsaved typing in one.md.\n")


@pytest.mark.covers("P6")
def test_undo_of_a_rename_names_the_command_that_clears_unsaved_text_out_of_its_way(folder: Folder):
    folder.put("old.md", "first line\n")
    renamed = do(folder, "move_document", path="old.md", new_path="new.md")
    made = do(folder, "create_document", path="old.md", content="another one\n")
    type_before(folder, "old.md", "one", "typed ")
    saved = folder.save("old.md")
    assert saved is not None
    type_before(folder, "new.md", "line", "unsaved ")
    for turn in (saved["turn"], made):
        assert run(folder.path, "undo", str(turn)).returncode == 0
    assert folder.text("old.md")[0] == "another typed one\n"
    refused = run(folder.path, "undo", str(renamed))
    assert refused.returncode == 1, refused.stdout
    assert b"unsaved text of yours at old.md" in refused.stdout
    assert b"`redraft discard old.md`" in refused.stdout
    assert run(folder.path, "discard", "old.md", "--yes").returncode == 0
    assert run(folder.path, "undo", str(renamed)).returncode == 0
    assert folder.text("old.md")[0] == "first unsaved line\n"


@pytest.mark.covers("P6")
def test_a_refused_undo_does_not_send_to_the_undo_of_a_later_turn(folder: Folder):
    folder.put("one.md", "price 100\n")
    first = do(folder, "edit_text", path="one.md", old_text="100", new_text="200")
    second = do(folder, "edit_text", path="one.md", old_text="200", new_text="300")
    third = do(folder, "edit_text", path="one.md", old_text="price", new_text="cost")
    assert folder.undo(third)[0]
    refused = run(folder.path, "undo", str(first))
    assert (refused.returncode, f"undo turn {second} first".encode() in refused.stdout) == (1, True), refused.stdout
    for turn in (second, first):
        assert run(folder.path, "undo", str(turn)).returncode == 0
    assert folder.text("one.md")[0] == "price 100\n"
