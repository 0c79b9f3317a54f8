"""The tasks of the project, and short words for tests that make their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evals.task_files import load_tasks
from evals.tasks import Task
from tests.conftest import MATERIAL

if TYPE_CHECKING:
    from evals.tasks import MissingTask

TASKS = Path(__file__).resolve().parents[2] / "evals" / "tasks"


@pytest.fixture(scope="session")
def every_task() -> list[Task | MissingTask]:
    return load_tasks(str(TASKS), str(MATERIAL))


@pytest.fixture(scope="session")
def tasks(every_task: list[Task | MissingTask]) -> dict[str, Task]:
    """Those that can be run here, by id."""
    return {task.id: task for task in every_task if isinstance(task, Task)}
