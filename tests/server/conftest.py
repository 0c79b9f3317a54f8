"""The fixtures of every story about the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.serving import Server, begun, ended
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with `story.md`."""
    found = tmp_path / "notes"
    found.mkdir()
    (found / "story.md").write_text(STORY, encoding="utf-8")
    return found


@pytest.fixture
def server(folder: Path) -> Generator[Server]:
    """A real server on a folder with `story.md`; it must end content."""
    found = begun(folder)
    yield found
    assert ended(found) == ""
