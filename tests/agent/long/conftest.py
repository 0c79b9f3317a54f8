"""The fixtures of every story about long documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.long.writing import Writing
from tests.workspace.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    made = Folder(tmp_path)
    yield made
    made.close()


@pytest.fixture
def writing(folder: Folder) -> Generator[Writing]:
    """A folder with a tool caller; `writing.with_model(...)` gives it a model."""
    made = Writing.at(folder)
    yield made
    made.close()
