"""One server for the stories of a module, since a server takes seconds to start, and a document of its own for each."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from tests.server.serving import Server, begun, ended
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Generator

NUMBERS = count()


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A real server; it must end content."""
    folder = tmp_path_factory.mktemp("live") / "notes"
    folder.mkdir()
    server = begun(folder)
    yield server
    assert ended(server) == ""


@pytest.fixture
def page(standing: Server) -> str:
    """The path of a new document that holds the story."""
    assert standing.folder is not None
    path = f"story-{next(NUMBERS)}.md"
    (standing.folder / path).write_text(STORY, encoding="utf-8")
    return path
