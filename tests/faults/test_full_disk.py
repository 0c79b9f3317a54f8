"""A full disk, by bytes and by inodes, under the folder and under the state: nothing shrinks, and it is said."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import pytest

from redraft.errors import RedraftError
from redraft.text.edits import Change
from tests.conftest import TORTURE
from tests.faults.disks import memory
from tests.faults.oracle import check_history
from tests.faults.scenes import Scene, body, leftovers, read_tree, write_tree
from tests.faults.stage import open_scene

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redraft.workspace.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.usefixtures("mounts")]

SAVES = range(0, 200, 1 if TORTURE else 4)  # each longer than the one before
SMALL = {"bytes": "size=700k", "inodes": "size=64m,nr_inodes=40"}
OTHERS = {"other.md": body("other.md", 0), "deep/other.md": body("deep/other.md", 0)}


@pytest.fixture
def small_scene(place: Path, part: str, by: str) -> Iterator[Scene]:
    scene = Scene(place)
    scene.begin({})
    with ExitStack() as stack:
        stack.enter_context(memory(scene.folder if part == "folder" else scene.state_home, SMALL[by]))
        write_tree(scene.folder, {"note.md": b"start\n", **OTHERS})
        yield scene


def fill(where: Path, by: str) -> Path:
    """Use up what is left, all but a few kilobytes or inodes."""
    filler = where / "filler"
    filler.mkdir()
    with suppress(OSError):
        for number in range(1 << 20):
            (filler / str(number)).write_bytes(b"x" * (4096 if by == "bytes" else 0))
    for number in range(3):
        (filler / str(number)).unlink(missing_ok=True)
    return filler


def empty(filler: Path) -> None:
    for entry in filler.iterdir():
        entry.unlink()
    filler.rmdir()


def save(workspace: Workspace, text: str) -> str | None:
    """What the failure says, or None."""
    try:
        workspace.type("note.md", Change.between(str(workspace.read("note.md").text), text))
        workspace.save("note.md")
    except RedraftError as error:
        return f"{error.code}: {error.message}"
    return None


@pytest.mark.covers("ML-err-system")
@pytest.mark.parametrize("by", SMALL)
@pytest.mark.parametrize("part", ["folder", "state"])
def test_saving_on_a_full_disk_shrinks_no_file_says_so_and_works_again_with_space(
    small_scene: Scene, part: str, by: str
) -> None:
    scene = small_scene
    note = scene.folder / "note.md"
    failures: list[str] = []
    with open_scene(scene) as workspace:
        assert save(workspace, "the first save\n") is None
        filler = fill(scene.folder if part == "folder" else scene.state_home, by)
        for number in SAVES:
            old = note.read_bytes()
            new = "".join(f"{number} {line} {os.urandom(30).hex()}\n" for line in range(number + 1))
            message = save(workspace, new)
            failures += [message] if message else []
            assert note.read_bytes() in ({old, new.encode()} if message else {new.encode()})
            assert note.stat().st_size > 0
            assert {name: content for name, content in read_tree(scene.folder).items() if name in OTHERS} == OTHERS
        if failures:
            assert all(message.startswith("io_error: ") and "full" in message for message in failures), set(failures)
        empty(filler)
        assert save(workspace, "there is space again\n") is None
    assert failures or by == "inodes"
    with open_scene(scene) as workspace:
        assert note.read_bytes() == b"there is space again\n"
        assert leftovers(scene.folder) == []
        check_history(scene)
        assert workspace.verify_audit().intact


@pytest.mark.parametrize("by", SMALL)
@pytest.mark.parametrize("part", ["folder", "state"])
def test_a_workspace_opens_while_the_disk_is_full_or_says_that_it_is(small_scene: Scene, part: str, by: str) -> None:
    scene = small_scene
    with open_scene(scene) as workspace:
        assert save(workspace, "the first save\n") is None
    filler = fill(scene.folder if part == "folder" else scene.state_home, by)
    if (part, by) == ("state", "bytes"):  # SQLite finds no room for the index of its log
        with pytest.raises(RedraftError, match="full"):
            open_scene(scene)
        empty(filler)
    with open_scene(scene) as workspace:
        assert str(workspace.read("note.md").text) == "the first save\n"
        assert workspace.notices == []
