"""SIGKILL at every system call that changes the disk, in every act, and in recovery itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE
from tests.faults.oracle import check_all
from tests.faults.scenes import ACTS, tree
from tests.faults.stage import open_scene
from tests.faults.tracing import CHANGING, Point, points_in, tracing

if TYPE_CHECKING:
    from tests.faults.scenes import Scene
    from tests.faults.stage import Driver

EVERY = 1 if TORTURE else 18


def points_of(driver: Driver, scene: Scene, act: str, step: int) -> list[Point]:
    """The calls that one step makes when nothing disturbs it."""
    log = scene.place / "calls"
    driver.start(scene, act=act, step=step, steps=1)
    with tracing(driver.pid, CHANGING, log=str(log)):
        driver.go()
        assert driver.wait() == 0
    assert driver.all("ack") == [step + 1]
    return points_in(log)


@pytest.mark.covers("P2")
@pytest.mark.slow
@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("step", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize("act", ACTS)
def test_a_kill_at_every_call_leaves_the_step_whole_or_undone(
    scene: Scene, driver: Driver, act: str, step: int
) -> None:
    if step:
        driver.start(scene, act=act, step=0, steps=step)
        driver.go()
        assert driver.wait() == 0
    scene.keep("before")
    scene.put_back("before")  # as before every kill: what is trusted of a file depends on when it was written
    points = points_of(driver, scene, act, step)
    assert len(points) > 5
    offset = ACTS.index(act)  # so that the short profile does not try the same calls in every act
    for call, number in points[offset % EVERY :: EVERY]:
        scene.put_back("before")
        driver.start(scene, act=act, step=step, steps=1)
        with tracing(driver.pid, (call,), inject=f"{call}:signal=KILL:when={number}"):
            driver.go()
            assert driver.wait() == -9
        begun = step + 1
        allowed = [tree(act, begun)] if driver.all("ack") else [tree(act, step), tree(act, begun)]
        with open_scene(scene) as workspace:
            check_all(scene, workspace, allowed)
