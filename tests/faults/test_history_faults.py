"""Faults that the long runs found once, each made anew by hand."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from faults.driver import AGENT, STEPS
from faults.oracle import check_all, check_history
from faults.scenes import leftovers, read_tree, tree
from faults.stage import open_scene
from redraft.errors import Busy

if TYPE_CHECKING:
    from faults.scenes import Scene
    from faults.stage import Driver

PAGE = 4096


def left_by_a_kill(scene: Scene, driver: Driver, act: str, steps: int) -> None:
    """A workspace after some steps, with everything still in the log."""
    driver.start(scene, act=act, step=0, steps=steps, probe=True)
    driver.go()
    driver.until("ready", 2)
    driver.kill()
    driver.wait()


def test_a_checkpoint_that_was_cut_off_is_no_damage(scene: Scene, driver: Driver) -> None:
    left_by_a_kill(scene, driver, "apply", 4)
    database = scene.state / "history.db"
    copy = scene.place / "copy.db"
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{database}{suffix}", f"{copy}{suffix}")
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert copy.stat().st_size > database.stat().st_size
    with open(database, "r+b") as file:  # the first page is written first, and says how long the file is going to be
        file.write(copy.read_bytes()[:PAGE])
    with open_scene(scene) as workspace:
        assert workspace.notices == []
        check_all(scene, workspace, [tree("apply", 4)])
    assert list(scene.state.glob("*.damaged-*")) == []


def test_a_log_whose_database_is_gone_is_set_aside_and_not_thrown_away(scene: Scene, driver: Driver) -> None:
    left_by_a_kill(scene, driver, "apply", 4)
    log = (scene.state / "history.db-wal").read_bytes()
    (scene.state / "history.db").unlink()
    with open_scene(scene) as workspace:
        assert any("set aside" in notice for notice in workspace.notices)
        assert read_tree(scene.folder) == tree("apply", 4)
    assert (scene.state / "history.db.damaged-1-wal").read_bytes() == log


def test_a_quick_write_that_found_the_history_busy_leaves_later_ones_durable(scene: Scene) -> None:
    with open_scene(scene) as workspace, closing(sqlite3.connect(scene.state / "history.db")) as other:
        database = workspace.engine.database
        database.execute("PRAGMA busy_timeout = 10")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy), database.transaction(durable=False):
            pass
        other.rollback()
        assert database.row("PRAGMA synchronous") == (2,)


def test_another_opening_does_not_make_leftovers_be_forgotten(scene: Scene) -> None:
    with open_scene(scene) as first:
        STEPS["apply"](first, 1)
        open_scene(scene).close()  # sweeps, and begins the list of folders anew
        STEPS["apply"](first, 2)
        (scene.folder / "five" / ".redraft-tmp-of-a-crash").write_bytes(b"left")
    open_scene(scene).close()
    assert leftovers(scene.folder) == []


def test_a_list_of_folders_that_was_cut_short_makes_the_whole_tree_be_swept(scene: Scene) -> None:
    with open_scene(scene) as workspace:
        (scene.state / "written-folders").write_bytes(b'"made"\n"fi')
        STEPS["apply"](workspace, 1)
        for folder in ("five", "made"):
            (scene.folder / folder / ".redraft-tmp-of-a-crash").write_bytes(b"left")
    open_scene(scene).close()
    assert leftovers(scene.folder) == []


@pytest.mark.parametrize("damage", ["UPDATE blocks SET data = x'00'", "DELETE FROM blocks", "DELETE FROM snapshots"])
def test_an_interrupted_turn_whose_images_are_damaged_does_not_close_the_folder(scene: Scene, damage: str) -> None:
    with open_scene(scene) as workspace:
        STEPS["apply"](workspace, 1)
    with closing(sqlite3.connect(scene.state / "history.db")) as connection:
        connection.execute("UPDATE turns SET state = 'applying'")
        connection.execute(damage)
        connection.commit()
    (scene.folder / "five" / ".redraft-tmp-by-somebody").write_bytes(b"no token of any turn")
    with open_scene(scene) as workspace:
        assert any("was left as it was found" in notice for notice in workspace.notices)
        assert read_tree(scene.folder) == tree("apply", 1)
        with workspace.turn(AGENT, "goes on", mode="apply") as turn:
            turn.create("probe.md", "all is well\n")
    with open_scene(scene) as workspace:
        assert workspace.notices == []
        check_history(scene, but=tree("apply", 0) | tree("apply", 1))
