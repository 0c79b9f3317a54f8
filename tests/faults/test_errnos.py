"""Every error at every system call of every act: old or new content, never a false success, never a traceback."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import TORTURE
from tests.faults.oracle import check_all
from tests.faults.scenes import ACTS, tree
from tests.faults.stage import open_scene
from tests.faults.tracing import CHANGING, LOOKING, Point, points_in, tracing

if TYPE_CHECKING:
    from tests.faults.scenes import Scene
    from tests.faults.stage import Driver

ERRNOS = ("EIO", "ENOSPC", "EMFILE", "EDQUOT", "EROFS")
SHORT_PROFILE = 16
STEPS = [(act, step) for act in ACTS for step in (0, 1)]


def calls_of(driver: Driver, scene: Scene, job: str = "act", **more: Any) -> list[Point]:
    log = scene.place / "calls"
    driver.start(scene, job, **more)
    with tracing(driver.pid, CHANGING + LOOKING, log=str(log)):
        driver.go()
        assert driver.wait() == 0
    return points_in(log)


def faults_at(points: list[Point], seed: str) -> list[str]:
    """Every error at every point, once and from then on; in the short profile some of them."""
    faults = [
        f"{call}:error={errno}:when={number}{'+' * lasting}"
        for (call, number), errno, lasting in product(points, ERRNOS, (False, True))
    ]
    return faults if TORTURE else random.Random(seed).sample(faults, SHORT_PROFILE)


def check_fault(scene: Scene, driver: Driver, act: str, step: int, inject: str) -> None:
    """One step under one fault, then, in the same process, something else without it."""
    scene.put_back("before")
    driver.start(scene, act=act, step=step, steps=1, probe=True)
    with tracing(driver.pid, (inject.partition(":")[0],), inject=inject):
        driver.go()
        driver.until("ready", 2)
    driver.go()
    status = driver.wait()
    assert driver.all("crash") == [], inject
    assert (status, driver.all("probed")) == (0, [True]), inject
    probe = {"probe.md": b"all is well again\n"}
    old, new = tree(act, step) | probe, tree(act, step + 1) | probe
    for code, message in zip(driver.all("failed"), driver.all("message"), strict=True):
        allowed = {"io_error", "permission_denied", "busy", "state_damaged", "conflict", "version_mismatch"}
        assert code in allowed, (inject, code, message)
        assert len(message) > 20
    with open_scene(scene) as workspace:
        check_all(scene, workspace, [new] if driver.all("ack") else [old, new])
        assert workspace.notices == [], inject


@pytest.mark.covers("ML-err-system")
@pytest.mark.slow
@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize(("act", "step"), STEPS)
def test_every_errno_at_every_call_gives_old_or_new_and_never_a_false_success(
    scene: Scene, driver: Driver, act: str, step: int
) -> None:
    if step:
        driver.start(scene, act=act, step=0, steps=step)
        driver.go()
        assert driver.wait() == 0
    scene.keep("before")
    points = calls_of(driver, scene, act=act, step=step, steps=1)
    for inject in faults_at(points, f"{act} {step}"):
        check_fault(scene, driver, act, step, inject)


@pytest.mark.slow
@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("kind", ["first", "later", "recovering"])
def test_an_opening_that_fails_costs_nothing(scene: Scene, driver: Driver, kind: str) -> None:
    if kind == "first":
        scene.begin(tree("apply", 0))
    else:
        driver.start(scene, act="apply", step=0, steps=2)
        cut = "renameat2:signal=KILL:when=8" if kind == "recovering" else "renameat2:delay_enter=0"
        with tracing(driver.pid, ("renameat2",), inject=cut):
            driver.go()
            driver.wait()
    scene.keep("before")
    allowed = [tree("apply", 0)] if kind == "first" else [tree("apply", 1), tree("apply", 2)]
    for inject in faults_at(calls_of(driver, scene, "open"), kind):
        scene.put_back("before")
        driver.start(scene, "open")
        with tracing(driver.pid, (inject.partition(":")[0],), inject=inject):
            driver.go()
            driver.wait()
        assert driver.all("crash") == [], inject
        assert driver.all("ack") or driver.all("failed"), inject
        with open_scene(scene) as workspace:
            check_all(scene, workspace, allowed)
            assert not any("set aside" in notice or "gone" in notice for notice in workspace.notices), inject
        assert list(scene.state_home.rglob("*.damaged-*")) == [], inject
