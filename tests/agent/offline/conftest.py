"""The fixtures of every story about the offline assistant."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.agent.offline.conversing import Assistant
from tests.workspace.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Generator

NOTES = Path(__file__).resolve().parents[3] / "examples" / "notes"


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    """The example notes that come with the program."""
    made = Folder(tmp_path)
    shutil.copytree(NOTES, made.path, dirs_exist_ok=True)
    yield made
    made.close()


@pytest.fixture
def assistant(folder: Folder) -> Assistant:
    """Its changes are on disk when it has answered."""
    return Assistant.at(folder)


@pytest.fixture
def book(tmp_path: Path, material: Path) -> Generator[Assistant]:
    """In a folder of 112 real markdown files."""
    made = Folder(tmp_path)
    with tarfile.open(material / "workspace-tree" / "rust-book-src-md.tar.gz") as archive:
        archive.extractall(made.path, filter="data")
    yield Assistant.at(made)
    made.close()
