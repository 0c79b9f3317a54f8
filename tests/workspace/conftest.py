"""The fixture of every story about a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.workspace.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    made = Folder(tmp_path)
    yield made
    made.close()
