"""The fixtures of every story about tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.calling import STORY, Caller
from workspace.folder import Folder

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
def agent(folder: Folder) -> Caller:
    """An agent whose changes are on disk at once, in a folder with `story.md`."""
    return Caller.at(folder)


@pytest.fixture
def proposer(folder: Folder) -> Caller:
    """An agent whose changes wait for the person."""
    return Caller.at(folder, "propose")
