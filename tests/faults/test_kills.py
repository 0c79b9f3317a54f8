"""`kill -9` at random instants: whatever was acknowledged is there, and nothing is half done."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE
from tests.faults.oracle import check_all
from tests.faults.scenes import ACTS, tree
from tests.faults.stage import open_scene

if TYPE_CHECKING:
    from tests.faults.scenes import Scene
    from tests.faults.stage import Driver

FEW = {"undo", "trash", "move", "accept"}  # in the short profile
LONGEST = 0.03
# A history of so many turns is long enough; a longer one only makes the checks slow.
FRESH_EVERY = 25


@pytest.mark.covers("P2")
@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_a_kill_at_any_instant_leaves_the_last_step_whole_or_undone(scene: Scene, driver: Driver, act: str) -> None:
    choose = random.Random(f"kills in {act}")
    step = 0
    for number in range(1000 if TORTURE else 10 if act in FEW else 40):
        if number % FRESH_EVERY == 0:
            scene.put_back("fresh")
            step = 0
        driver.start(scene, act=act, step=step, steps=10_000)
        driver.go()
        driver.listen(choose.random() * LONGEST)
        driver.kill()
        assert driver.wait() == -9
        assert driver.all("crash") == []
        done = driver.last("ack", step)
        begun = driver.last("try", done)
        with open_scene(scene) as workspace:
            step = (done, begun)[check_all(scene, workspace, [tree(act, done), tree(act, begun)])]
