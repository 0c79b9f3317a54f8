"""Documents that another program lets trade places: what a person typed into each goes with it, and back with it."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, number_of, served

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
RENAME_EXCHANGE = 2
LAMP, SEA = "The lamp was lit.\n\nNobody saw it.\n", "All day the sea was grey.\n\nGulls cried above the bay.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    with served(tmp_path) as found:
        found.put("lamp.md", LAMP)
        found.put("sea.md", SEA)
        assert texts(found) == (LAMP, SEA)
        yield found


def exchange(folder: Folder, *pair: str) -> None:
    """Both files at once, so that nobody sees the folder with one of them away."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = [os.fsencode(folder.path / name) for name in pair]
    assert libc.renameat2(-100, names[0], -100, names[1], RENAME_EXCHANGE) == 0, os.strerror(ctypes.get_errno())


def type_in_front(folder: Folder, name: str, words: str) -> None:
    assert folder.type(name, 0, "", words, folder.text(name)[1])


def texts(folder: Folder) -> tuple[str, str]:
    return folder.text("lamp.md")[0], folder.text("sea.md")[0]


@pytest.mark.covers("P1", "P6")
def test_undo_brings_typing_back_with_its_document_though_more_was_typed_in_the_other(folder: Folder):
    type_in_front(folder, "lamp.md", "111 ")
    exchange(folder, "lamp.md", "sea.md")
    assert texts(folder) == (SEA, "111 " + LAMP)
    type_in_front(folder, "lamp.md", "222 ")
    done, answer = folder.undo(number_of(folder.turns()[0]) or 0)
    assert done, answer
    assert texts(folder) == ("111 " + LAMP, "222 " + SEA)


@pytest.mark.covers("P1", "P6")
def test_undo_brings_typing_back_with_both_documents_whichever_was_typed_in_since(folder: Folder):
    type_in_front(folder, "lamp.md", "111 ")
    type_in_front(folder, "sea.md", "222 ")
    exchange(folder, "lamp.md", "sea.md")
    assert texts(folder) == ("222 " + SEA, "111 " + LAMP)
    type_in_front(folder, "sea.md", "333 ")
    done, answer = folder.undo(number_of(folder.turns()[0]) or 0)
    assert done, answer
    assert texts(folder) == ("333 111 " + LAMP, "222 " + SEA)
    folder.save("lamp.md")
    assert folder.bytes_of("lamp.md").decode() == "333 111 " + LAMP


@pytest.mark.covers("P1", "P6")
def test_typing_stays_where_it_is_when_its_document_cannot_go_back_to_its_place(folder: Folder):
    folder.put("note.md", SEA.replace("grey", "black"))  # which nobody has looked at
    type_in_front(folder, "lamp.md", "111 ")
    exchange(folder, "lamp.md", "note.md")
    assert folder.text("lamp.md")[0] == SEA.replace("grey", "black")
    type_in_front(folder, "lamp.md", "222 ")
    done, answer = folder.undo(number_of(folder.turns()[0]) or 0)
    seen = folder.text("lamp.md")[0] + folder.text("note.md")[0]
    assert (seen.count("111"), seen.count("222")) == (1, 1), (done, answer, seen)
