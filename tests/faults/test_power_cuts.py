"""Power cuts on a real file system: what was acknowledged before the cut is there, and nothing is torn or half done."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE
from tests.faults.disks import cuttable
from tests.faults.oracle import check_all
from tests.faults.scenes import tree
from tests.faults.stage import Driver, new_scene, open_scene

if TYPE_CHECKING:
    from pathlib import Path

CUTS = {"ext4": 1000 if TORTURE else 6, "xfs": 500 if TORTURE else 3}
CUT_ACTS = ("apply", "save", "rollback", "trash", "accept", "move")
LONGEST = 0.15
FRESH_EVERY = 30 if TORTURE else 1


@pytest.mark.covers("P2")
@pytest.mark.slow
@pytest.mark.root
@pytest.mark.usefixtures("mounts")
@pytest.mark.parametrize("kind", CUTS)
def test_a_power_cut_loses_nothing_that_was_acknowledged(place: Path, driver: Driver, kind: str) -> None:
    choose = random.Random(f"cuts of {kind}")
    with cuttable(place, kind) as disk:
        scene = new_scene(disk.where)
        act, step = CUT_ACTS[0], 0
        for number in range(CUTS[kind]):
            if number % FRESH_EVERY == 0:
                scene.put_back("fresh")
                disk.sync()
                act, step = CUT_ACTS[number // FRESH_EVERY % len(CUT_ACTS)], 0
            driver.start(scene, act=act, step=step, steps=10_000)
            driver.go()
            driver.listen(choose.random() * LONGEST)
            done = driver.last("ack", step)
            disk.cut()
            driver.kill()
            driver.wait()
            assert driver.all("crash") == []
            begun = driver.last("try", done)
            disk.unmount()
            disk.mount()
            with open_scene(scene) as workspace:
                allowed = [tree(act, each) for each in range(done, begun + 1)]
                step = done + check_all(scene, workspace, allowed)
