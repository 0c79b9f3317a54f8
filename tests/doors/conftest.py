"""The real thing in a folder: an agent program's connection, a server, the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.serving import Server, begun, ended
from tests.speaking.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the documents of a whole module: each test has its own."""
    folder = tmp_path_factory.mktemp("doors") / "notes"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def tools(shelf: Path) -> Generator[Lines]:
    """An agent program, with every tool, whose changes are written at once."""
    client = Lines.to(shelf, "--profile", "all", "--mode", "apply", "--answers", "structured")
    client.answer = lambda _: {"action": "accept", "content": {"agree": True}}
    client.start(elicitation={})
    yield client
    assert client.close() == ""


@pytest.fixture(scope="module")
def server(shelf: Path) -> Generator[Server]:
    """The folder's server, as `redraft serve` starts it."""
    found = begun(shelf)
    yield found
    assert ended(found) == ""
