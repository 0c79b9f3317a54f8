"""Turns that were cut off: ended by the next opening, also when that is cut off or finds somebody else's work."""

from __future__ import annotations

import random
import shutil
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE
from tests.faults.driver import AGENT
from tests.faults.oracle import check_all, check_history, unlike
from tests.faults.scenes import Scene, body, leftovers, read_tree, tree
from tests.faults.stage import Driver, open_scene
from tests.faults.tracing import CHANGING, Point, points_in, tracing

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.workspace.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("strace")]

EVERY = 1 if TORTURE else 8
# Where the five-file turn is cut off: before one of its files is put in place, and before it is marked as done.
CUTS = (1, 2, 3, 4, 5, 6)
OLD, NEW = tree("apply", 0), tree("apply", 1)


def killed_at(driver: Driver, scene: Scene, point: Point, job: str = "act") -> None:
    """A process that is killed when it is about to make this call."""
    driver.start(scene, job, act="apply", step=0, steps=1)
    with tracing(driver.pid, (point.call,), inject=f"{point.call}:signal=KILL:when={point.number}"):
        driver.go()
        driver.wait()


def calls_of(driver: Driver, scene: Scene, job: str) -> list[Point]:
    log = scene.place / "calls"
    driver.start(scene, job, act="apply", step=0, steps=1)
    with tracing(driver.pid, CHANGING, log=str(log)):
        driver.go()
        assert driver.wait() == 0
    assert driver.all("ack")
    return points_in(log)


def interrupt(driver: Driver, scene: Scene, cut: int) -> None:
    """A turn that is cut off before its `cut`-th file is in place, or, after the last, before it is marked."""
    calls = calls_of(driver, scene, "act")
    last = max(index for index, point in enumerate(calls) if point.call == "renameat2")
    mark = next(point for point in calls[last:] if point.call == "pwrite64")
    scene.put_back("fresh")
    killed_at(driver, scene, Point("renameat2", cut) if cut <= calls[last].number else mark)
    scene.keep("interrupted")


def check_works(scene: Scene, workspace: Workspace, but: set[str]) -> None:
    with workspace.turn(AGENT, "probe", mode="apply") as turn:
        turn.create("probe.md", "all is well\n")
    assert (scene.folder / "probe.md").read_bytes() == b"all is well\n"
    workspace.undo()
    check_history(scene, but=but)


@pytest.mark.covers("RD-history-journal")
@pytest.mark.parametrize("cut", CUTS)
def test_a_crash_in_recovery_is_ended_by_a_later_opening(scene: Scene, driver: Driver, cut: int) -> None:
    interrupt(driver, scene, cut)
    points = calls_of(driver, scene, "open")
    choose = random.Random(cut)
    for point in points[:: EVERY if len(points) > EVERY else 1]:
        scene.put_back("interrupted")
        killed_at(driver, scene, point, "open")
        for again in choose.sample(points, choose.randint(0, 3)):
            killed_at(driver, scene, again, "open")
        with open_scene(scene) as workspace:
            check_all(scene, workspace, [OLD, NEW])


FOREIGN = b"somebody else wrote this before the workspace was opened again\n"


def overwrite(scene: Scene, name: str) -> None:
    (scene.folder / name).parent.mkdir(exist_ok=True)
    (scene.folder / name).write_bytes(FOREIGN)


def shorten(scene: Scene, name: str) -> None:
    """The worst content for guessing: a beginning of what the turn wanted to write."""
    (scene.folder / name).parent.mkdir(exist_ok=True)
    (scene.folder / name).write_bytes(body(name, 1)[:100])


def remove(scene: Scene, name: str) -> None:
    (scene.folder / name).unlink(missing_ok=True)


def remove_folder(scene: Scene, name: str) -> None:
    target = scene.folder / name
    if target.parent != scene.folder:
        shutil.rmtree(target.parent, ignore_errors=True)


def put_folder(scene: Scene, name: str) -> None:
    remove(scene, name)
    (scene.folder / name).mkdir(parents=True)
    (scene.folder / name / "inside.md").write_bytes(FOREIGN)


def put_link(scene: Scene, name: str) -> None:
    remove(scene, name)
    (scene.folder / name).parent.mkdir(exist_ok=True)
    (scene.folder / name).symlink_to("../untouched.md" if "/" in name else "untouched.md")


def link_elsewhere(scene: Scene, name: str) -> None:
    """A second name for the file, as a back-up program makes it: such a file is not replaced."""
    if (scene.folder / name).exists():
        (scene.folder / "twin.md").hardlink_to(scene.folder / name)


def replace_parent(scene: Scene, name: str) -> None:
    """A file stands where the folder was."""
    target = scene.folder / name
    if target.parent != scene.folder:
        shutil.rmtree(target.parent, ignore_errors=True)
        target.parent.write_bytes(FOREIGN)


MEDDLINGS: list[Callable[[Scene, str], None]] = [
    *(overwrite, shorten, remove, remove_folder, put_folder, put_link, link_elsewhere, replace_parent),
]


@pytest.mark.covers("RD-history-conflict-copy")
@pytest.mark.parametrize("cut", CUTS)
def test_somebody_elses_work_on_an_interrupted_turn_is_kept_and_the_rest_is_whole(
    scene: Scene, driver: Driver, cut: int
) -> None:
    interrupt(driver, scene, cut)
    for meddle, name in product(MEDDLINGS, ("five/b.md", "made/new.md", "gone.md")):
        scene.put_back("interrupted")
        meddle(scene, name)
        theirs = set(read_tree(scene.folder).values()) - {*OLD.values(), *NEW.values()}
        with open_scene(scene) as workspace:
            meddled = {name} if "/" not in name else {path for path in OLD | NEW if path.startswith(name[:5])}
            check_meddled(scene, workspace, name, meddled, theirs)
            check_works(scene, workspace, meddled)


def check_meddled(scene: Scene, workspace: Workspace, name: str, meddled: set[str], theirs: set[bytes]) -> None:
    found = read_tree(scene.folder)
    assert leftovers(scene.folder) == []
    assert theirs <= set(found.values()), "what somebody else wrote is gone"
    rest, old, new = (
        {path: content for path, content in side.items() if path in OLD | NEW and path not in meddled}
        for side in (found, OLD, NEW)
    )
    assert rest in (old, new), (unlike(rest, old), unlike(rest, new))
    assert any("was interrupted" in notice for notice in workspace.notices)
    if theirs and found.get(name) not in theirs and (scene.folder / name).is_file():
        assert any(name in notice and ".conflict-" in notice for notice in workspace.notices)
