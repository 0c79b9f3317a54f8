"""A folder with documents of several kinds, and the program in it; once with overlayfs, once with a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Program

if TYPE_CHECKING:
    from pathlib import Path

STORY = "# The Lamp\n\nThe lighthouse was dark.\n\nShe read the letter twice.\n\nThen she looked for the keys.\n"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB\n" * 3


def make_folder(place: Path, **variables: str) -> Program:
    program = Program(place / "notes", dict(variables))
    program.write("story.md", STORY)
    program.write("windows.txt", "one\r\ntwo\r\nthree\r\n")
    program.write("marked.txt", "\ufeffalpha\nbeta\n")
    program.write("drafts/old.md", "An old idea about lamps and the sea, written down in haste.\n")
    program.write("drafts/dull.md", "Dull.\n")
    program.write(".env", "TOKEN=hidden-in-env\n")
    program.write("note.txt", f"keep this\n{KEY}")
    (program.folder / "picture.png").write_bytes(b"\x89PNG\0\0")
    (program.folder / "windows.txt").chmod(0o640)
    return program


@pytest.fixture(params=["auto", "copy"])
def redraft(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    return make_folder(tmp_path, REDRAFT_RUN_VIEW=request.param)


@pytest.fixture
def overlaid(tmp_path: Path) -> Program:
    return make_folder(tmp_path)
