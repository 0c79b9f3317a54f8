"""A folder with a story in it, and a client of a program that serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.speaking.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STORY = "# Story\n\nThe hero John walked in.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    return folder


@pytest.fixture
def client(folder: Path) -> Iterator[Lines]:
    client = Lines.to(folder)
    yield client
    assert client.close() == ""
