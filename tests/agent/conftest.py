"""The fixtures of every story about the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.desk import Desk
from tests.workspace.folder import POEM, Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from redraft.config import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    made = Folder(tmp_path)
    made.put("poem.md", POEM)
    made.put("other.md", "One line.\nAnother line.\n")
    yield made
    made.close()


@pytest.fixture
def desk(folder: Folder) -> Generator[Callable[..., Desk]]:
    """A maker of desks on the one folder; each is a program that starts."""
    made: list[Desk] = []

    def make(*steps: dict[str, Any], settings: Settings | None = None, **more: Any) -> Desk:
        desk = Desk.at(folder, steps, settings, **more)
        made.append(desk)
        return desk

    yield make
    for each in made:
        each.close()
