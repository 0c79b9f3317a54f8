"""Which folder a document belongs to: the person's own nearest one, whatever lies above."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from redraft.sessions.project import Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    found = tmp_path / "outer" / "inner"
    found.mkdir(parents=True)
    return found


def test_the_nearest_workspace_and_the_nearest_agent_doc_are_used(deep: Path):
    (deep.parent / ".redraft").mkdir()
    (deep.parent / ".agent-doc").mkdir()
    (deep / ".agent-doc").mkdir()
    project = Project.of("a.md", str(deep))
    assert (project.root, project.folder) == (str(deep), str(deep.parent))


def test_a_link_above_makes_no_workspace(deep: Path, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (deep.parent / ".redraft").symlink_to(tmp_path / "elsewhere")
    assert Project.of("a.md", str(deep)).folder == str(deep)


@pytest.mark.root
def test_what_somebody_else_put_above_makes_no_workspace(deep: Path):
    if os.geteuid() != 0:
        pytest.skip("only root gives folders to others")
    for name in (".redraft", ".agent-doc"):
        (deep.parent / name).mkdir()
        os.chown(deep.parent / name, 65534, 65534)
    project = Project.of("a.md", str(deep))
    assert (project.root, project.folder) == (str(deep), str(deep))
