"""Every state file cut, emptied, zeroed, filled with nonsense or deleted: it opens, and documents are as they were."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Damaged
from tests.conftest import TORTURE
from tests.faults.driver import AGENT
from tests.faults.oracle import History
from tests.faults.scenes import read_tree, tree
from tests.faults.stage import open_scene

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.scenes import Scene
    from tests.faults.stage import Driver

STATE_FILES = (
    *("history.db", "history.db-wal", "history.db-shm", "suspect", "newest-turn"),
    *("lock", "workspace.json", "written-folders"),
)
FOLDER_FILES = (".redraft/id", ".redraft/settings.toml")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def scramble(path: Path) -> None:
    path.write_bytes(random.Random(path.name).randbytes(path.stat().st_size))


def delete(path: Path) -> None:
    path.unlink()


DAMAGES: list[Callable[[Path], None]] = [cut, empty, zero, scramble, delete]


@pytest.fixture
def used(scene: Scene, driver: Driver) -> Scene:
    """A workspace with five turns and a pending review, left by a kill, so that all its files are there."""
    driver.start(scene, act="accept", step=0, steps=5, probe=True)
    driver.go()
    driver.until("ready", 2)
    driver.kill()
    driver.wait()
    assert driver.all("ack") == [1, 2, 3, 4, 5]
    (scene.state / "suspect").write_bytes(b"")
    (scene.folder / ".redraft" / "settings.toml").write_bytes(b"confirm_files = 10\n")
    (scene.folder / "pictures").mkdir()
    return scene


def check_opens(scene: Scene) -> list[str]:
    """It opens, reads, takes a turn and takes it back; gives what it told the person."""
    files = tree("accept", 5)
    with open_scene(scene) as workspace:
        assert read_tree(scene.folder) == files
        with workspace.turn(AGENT, "after the damage", mode="apply") as turn:
            turn.write("untouched.md", "touched\n", turn.read("untouched.md").version)
        assert read_tree(scene.folder) == files | {"untouched.md": b"touched\n"}
        workspace.undo()
        assert read_tree(scene.folder) == files
        notices = workspace.notices
    with open_scene(scene) as workspace:
        assert workspace.notices == []  # told once
    return notices


def turns_in(scene: Scene) -> int:
    """How many of the five turns the history still has."""
    with closing(History(max(scene.state_home.rglob("history.db"), key=lambda path: path.stat().st_mtime))) as history:
        return len([title for (title,) in history.rows("SELECT title FROM turns") if title != "after the damage"]) - 1


@pytest.mark.covers("RD-history-damaged")
@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", STATE_FILES + FOLDER_FILES)
def test_a_damaged_state_file_costs_no_document_and_a_loss_is_told(
    used: Scene, name: str, damage: Callable[[Path], None]
) -> None:
    path = used.folder / name if name in FOLDER_FILES else used.state / name
    damage(path)
    notices = check_opens(used)
    if turns_in(used) < 5:
        assert any("history" in notice for notice in notices), "turns are gone and nobody said so"


@pytest.mark.slow
def test_a_damaged_block_is_told_by_whoever_reads_it_and_by_nobody_else(used: Scene) -> None:
    with closing(sqlite3.connect(used.state / "history.db")) as database:
        [(manifest,)] = database.execute(
            "SELECT manifest FROM snapshots JOIN file_steps ON id = before WHERE path = 'note.md' ORDER BY turn LIMIT 1"
        )
        database.execute("UPDATE blocks SET data = x'00' WHERE digest = ?", (manifest[:32],))
        database.commit()
    with open_scene(used) as workspace:
        first, second = [turn for turn in reversed(workspace.turns()) if turn.files]
        with pytest.raises(Damaged):
            workspace.restore(first.id)
        assert read_tree(used.folder) == tree("accept", 5)
        workspace.restore(second.id)
        assert read_tree(used.folder) == tree("accept", 3)
        assert workspace.verify_audit().intact
    check_opens_after_restore(used)


def check_opens_after_restore(scene: Scene) -> None:
    with open_scene(scene) as workspace:
        assert workspace.notices == []
        assert workspace.undo().conflicts == []
    assert read_tree(scene.folder) == tree("accept", 5)


def test_a_damaged_review_costs_that_review_and_nothing_else(scene: Scene) -> None:
    with open_scene(scene) as workspace:
        for name in ("note.md", "gone.md"):
            with workspace.turn(AGENT, "propose", mode="propose") as turn:
                turn.write(name, f"proposed for {name}\n", turn.read(name).version)
    with closing(sqlite3.connect(scene.state / "history.db")) as database:
        [(image,)] = database.execute("SELECT image FROM reviews WHERE path = 'note.md'")
        proposed = bytes.fromhex(json.loads(image)["text"])
        [(manifest,)] = database.execute("SELECT manifest FROM snapshots WHERE id = ?", (proposed,))
        database.execute("UPDATE blocks SET data = x'00' WHERE digest = ?", (manifest[:32],))
        database.commit()
    with open_scene(scene) as workspace:
        assert "gone.md" in {draft.key for draft in workspace.drafts()}
        workspace.accept({"gone.md": None})
        workspace.undo()
        assert (scene.folder / "gone.md").read_bytes() == tree("save", 0)["gone.md"]
        workspace.read("note.md")


@pytest.mark.slow
def test_a_page_of_nonsense_anywhere_in_the_database_costs_no_document(used: Scene) -> None:
    open_scene(used).close()  # which brings the log into the database
    used.keep("used")
    pages = (used.state / "history.db").stat().st_size // 4096
    for page in range(0, pages, 1 if TORTURE else 5):
        used.put_back("used")
        with open(used.state / "history.db", "r+b") as file:
            file.seek(page * 4096)
            file.write(random.Random(page).randbytes(4096))
        check_survives(used)


def check_survives(scene: Scene) -> None:
    """Damage within may be found late: at the latest the second opening has a history that works again."""
    try:
        with open_scene(scene) as workspace:
            workspace.drafts()
            with workspace.turn(AGENT, "after the damage", mode="apply") as turn:
                turn.create("probe.md", "new\n")
    except Damaged:
        pass
    assert read_tree(scene.folder).items() >= tree("accept", 5).items()
    with open_scene(scene) as workspace, workspace.turn(AGENT, "after the second opening", mode="apply") as turn:
        turn.create("second.md", "new\n")
    assert read_tree(scene.folder).items() >= (tree("accept", 5) | {"second.md": b"new\n"}).items()
