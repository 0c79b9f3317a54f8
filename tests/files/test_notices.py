"""Notices of changes: whatever was done before the question is heard in the answer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from redraft.files.inotify import Inotify, InotifyChanges, RenamedPath
from redraft.files.syscalls import Unsupported

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def notices(tmp_path: Path) -> Generator[Inotify]:
    try:
        made = Inotify()
    except Unsupported:
        pytest.skip("this system has no inotify")
    (tmp_path / "old.md").write_text("old", encoding="utf-8")
    fd = os.open(tmp_path, os.O_RDONLY)
    made.watch("notes", fd)
    os.close(fd)
    yield made
    made.close()


def test_nothing_is_heard_where_nothing_happened(notices: Inotify):
    assert notices.read_changes() == InotifyChanges.none()


def test_what_was_written_moved_or_removed_is_heard_at_once_and_only_once(notices: Inotify, tmp_path: Path):
    (tmp_path / "new.md").write_text("new", encoding="utf-8")
    assert notices.read_changes() == InotifyChanges({"notes/new.md"}, lost=False, renames=[])
    (tmp_path / "new.md").rename(tmp_path / "moved.md")
    (tmp_path / "old.md").unlink()
    renamed = RenamedPath("notes/new.md", "notes/moved.md")
    paths = {*renamed, "notes/old.md"}
    assert notices.read_changes() == InotifyChanges(paths, lost=False, renames=[renamed])
    assert notices.read_changes() == InotifyChanges.none()


def test_a_folder_that_comes_or_goes_means_to_look_at_everything(notices: Inotify, tmp_path: Path):
    (tmp_path / "inner").mkdir()
    assert notices.read_changes().lost
    assert not notices.read_changes().lost


def test_a_watched_folder_that_goes_is_not_forgotten_silently(notices: Inotify, tmp_path: Path):
    (tmp_path / "old.md").unlink()
    tmp_path.rmdir()
    assert notices.read_changes().lost


def test_a_descriptor_that_is_no_folder_cannot_be_watched(notices: Inotify, tmp_path: Path):
    fd = os.open(tmp_path / "old.md", os.O_RDONLY)
    try:
        with pytest.raises(Unsupported):
            notices.watch("", fd)
    finally:
        os.close(fd)
