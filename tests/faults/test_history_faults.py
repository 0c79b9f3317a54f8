"""Faults that the long runs found once, each made anew by hand."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Busy, Stale
from redraft.files.atomic_write import AtomicWrite
from redraft.files.swap_file import is_unfinished
from redraft.history.journal import Journal
from redraft.text.edits import Change, Edit
from tests.faults.driver import AGENT, STEPS
from tests.faults.oracle import check_all, check_history
from tests.faults.scenes import leftovers, read_tree, tree
from tests.faults.stage import open_scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.scenes import Scene
    from tests.faults.stage import Driver

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
        database = workspace.database
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
        assert any("was left unchanged" in notice for notice in workspace.notices)
        assert read_tree(scene.folder) == tree("apply", 1)
        with workspace.turn(AGENT, "goes on", mode="apply") as turn:
            turn.create("probe.md", "all is well\n")
    with open_scene(scene) as workspace:
        assert workspace.notices == []
        check_history(scene, but=tree("apply", 0) | tree("apply", 1))


def test_what_a_power_cut_leaves_of_a_file_is_known_from_what_somebody_wrote() -> None:
    new = bytes(range(1, 256)) * 40
    for left in (b"", new[:5000], new[:512] + bytes(512) + new[1024:], bytes(len(new)), bytes(700)):
        assert is_unfinished(left, new)
    for other in (new + b"x", new[:-1] + b"x", b"x", b"\0" + new[1:512]):
        assert not is_unfinished(other, new)


def stopped_before_the_flush(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A turn that is journaled and written, and of whose files the disk has promised nothing yet."""

    def stop(put: AtomicWrite) -> None:
        raise KeyboardInterrupt

    def leave(*args: object) -> None:
        pass

    with monkeypatch.context() as patch, open_scene(scene) as workspace:
        patch.setattr(AtomicWrite, "flush", stop)
        patch.setattr(Journal, "_take_back", leave)
        with pytest.raises(KeyboardInterrupt):
            STEPS["apply"](workspace, 1)
    return [scene.folder / name for name in leftovers(scene.folder)]


def empty(waiting: Path) -> None:
    waiting.write_bytes(b"")


def halve(waiting: Path) -> None:
    waiting.write_bytes(waiting.read_bytes()[: waiting.stat().st_size // 2])


def fill_with_zeros(waiting: Path) -> None:
    waiting.write_bytes(bytes(waiting.stat().st_size))


@pytest.mark.parametrize("lose", [Path.unlink, empty, halve, fill_with_zeros])
@pytest.mark.parametrize("lost", [1, 99])
def test_a_turn_that_had_not_reached_the_disk_when_the_power_failed_never_was(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, lose: Callable[[Path], None], lost: int
) -> None:
    waiting = stopped_before_the_flush(scene, monkeypatch)
    assert len(waiting) > 1
    for file in waiting[:lost]:
        lose(file)
    with open_scene(scene) as workspace:
        assert any("rolled back" in notice for notice in workspace.notices)
        check_all(scene, workspace, [tree("apply", 0)])
        assert workspace.turns(limit=1)[0].state == "discarded"


def test_a_file_written_by_somebody_after_that_power_cut_stands_and_the_turn_is_not_half_done(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = stopped_before_the_flush(scene, monkeypatch)
    for file in waiting:
        if file.name.endswith("-0"):  # that of the turn's first document
            file.unlink()
    (scene.folder / "five/a.md").write_bytes(b"theirs")
    open_scene(scene).close()
    assert read_tree(scene.folder) == {**tree("apply", 0), "five/a.md": b"theirs"}


@pytest.mark.covers("P5")
def test_a_save_that_a_power_cut_undid_does_not_take_the_typing_along(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(put: AtomicWrite) -> None:
        raise KeyboardInterrupt

    def leave(*args: object) -> None:
        pass

    with monkeypatch.context() as patch, open_scene(scene) as workspace:
        before = str(workspace.read("note.md").text)
        workspace.type("note.md", Change((Edit(0, "", "typed by the person\n"),)))
        patch.setattr(AtomicWrite, "flush", stop)
        patch.setattr(Journal, "_take_back", leave)
        with pytest.raises(KeyboardInterrupt):
            workspace.save("note.md")
    for name in leftovers(scene.folder):
        (scene.folder / name).unlink()
    (scene.folder / "note.md").write_text(before + "an outside line\n", encoding="utf-8")
    with open_scene(scene) as workspace:
        assert str(workspace.read("note.md").text) == "typed by the person\n" + before + "an outside line\n"


def test_a_turn_that_was_done_and_then_built_upon_is_known_to_be_done(scene: Scene) -> None:
    with open_scene(scene) as workspace:
        STEPS["save"](workspace, 1)
    with closing(sqlite3.connect(scene.state / "history.db")) as connection:  # the mark is not flushed
        connection.execute("UPDATE turns SET state = 'applying' WHERE id = (SELECT max(id) FROM turns)")
        connection.commit()
    with open(scene.folder / "note.md", "a", encoding="utf-8") as file:
        file.write("an outside line\n")
    with open_scene(scene) as workspace:
        assert workspace.turns(limit=1)[0].state == "applied"
        assert str(workspace.read("note.md").text).endswith("an outside line\n")


def test_an_acceptance_that_recovery_completed_closes_its_proposal(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(put: AtomicWrite) -> None:
        raise KeyboardInterrupt

    def leave(*args: object) -> None:
        pass

    with monkeypatch.context() as patch, open_scene(scene) as workspace:
        with workspace.turn(AGENT, "propose", mode="propose") as turn:
            turn.write("note.md", "other\n", turn.read("note.md").version)
        patch.setattr(AtomicWrite, "sync", stop)
        patch.setattr(Journal, "_take_back", leave)
        with pytest.raises(KeyboardInterrupt):
            workspace.accept({"note.md": None})
    with open_scene(scene) as workspace:
        assert [str(turn.state) for turn in workspace.turns()] == ["applied", "applied"]
        assert workspace.drafts() == []


def test_the_log_says_of_a_turn_that_was_taken_back_that_it_was(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    flush = os.fsync

    def theirs(fd: int) -> None:
        """Another program writes just as the new content is made to last."""
        (scene.folder / "note.md").write_bytes(b"theirs")
        flush(fd)

    with open_scene(scene) as workspace:
        turn = workspace.turn(AGENT, "edit", mode="apply")
        turn.write("note.md", "ours\n", turn.read("note.md").version)
        monkeypatch.setattr(os, "fsync", theirs)
        with pytest.raises(Stale):
            turn.commit()
        assert [line["result"] for line in workspace.audit()] == ["applied", "discarded"]
        assert workspace.verify_audit().intact
