"""The fixtures of every story about tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tools.calling import STORY, Caller
from tests.tools.over_mcp import McpCaller
from tests.workspace.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    made = Folder(tmp_path)
    made.put("story.md", STORY)
    yield made
    made.close()


@pytest.fixture
def agent(folder: Folder, request: pytest.FixtureRequest) -> Generator[Caller]:
    """An agent whose changes are on disk at once, in a folder with `story.md`."""
    yield from _caller(folder, request, "apply")


@pytest.fixture
def proposer(folder: Folder, request: pytest.FixtureRequest) -> Generator[Caller]:
    """An agent whose changes wait for the person."""
    yield from _caller(folder, request, "propose")


@pytest.fixture(scope="module")
def shared_program(tmp_path_factory: pytest.TempPathFactory) -> Generator[McpCaller]:
    folder = Folder(tmp_path_factory.mktemp("shared"))
    folder.put("story.md", STORY)
    caller = McpCaller.at(folder)
    yield caller
    caller.close()
    folder.close()


@pytest.fixture
def reader(shared_program: McpCaller) -> Generator[Caller]:
    """An agent that reads and is refused, in a folder with `story.md`. Its program is one for each module, so a test
    may change nothing there but put files of its own into the folder."""
    yield shared_program
    assert shared_program.text("story.md") == STORY
    assert [*shared_program.workspace.turns(), *shared_program.workspace.tabs()] == []


def _caller(folder: Folder, request: pytest.FixtureRequest, mode: str) -> Generator[Caller]:
    """A test that shows a requirement goes through the program, others call the tools in this process."""
    node: pytest.Item = request.node
    if node.get_closest_marker("covers") is None or node.get_closest_marker("engine") is not None:
        yield Caller.at(folder, mode)
        return
    caller = McpCaller.at(folder, mode)
    yield caller
    caller.close()
