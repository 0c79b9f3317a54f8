"""Several processes on one folder, and another program beside them: no acknowledged edit is lost or doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Busy
from tests.conftest import TORTURE
from tests.faults.driver import AGENT
from tests.faults.oracle import check_history
from tests.faults.scenes import leftovers, read_tree, tree
from tests.faults.stage import ROOT, drivers, open_scene

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace
    from tests.faults.scenes import Scene, Tree
    from tests.faults.stage import Driver

pytestmark = pytest.mark.slow

PROCESSES = 8
EDITS = 500 if TORTURE else 25
OUTSIDE = 2000 if TORTURE else 60
FILES = [f"shared-{number}.md" for number in range(10)]


def begin(scene: Scene) -> None:
    for name in FILES:
        (scene.folder / name).write_text(f"# {name}\n", encoding="utf-8")


def edit_at_once(scene: Scene, running: list[Driver], count: int) -> list[tuple[str, str]]:
    """Every process adds its lines; gives what was acknowledged."""
    for number, driver in enumerate(running):
        driver.start(scene, "tokens", name=f"p{number}", count=count, files=FILES)
    for driver in running:
        driver.go()
    for driver in running:
        assert driver.wait() == 0, driver.told[-1:]
    return [(path, token) for driver in running for path, token in driver.all("ack")]


def lines_in(files: Tree, prefix: str) -> Counter[str]:
    """How often each line occurs in a document, its conflict copies not counted."""
    found: Counter[str] = Counter()
    for name, content in files.items():
        if ".conflict-" not in name:
            found.update(line for line in content.decode().splitlines() if line.startswith(prefix))
    return found


@pytest.mark.covers("RD-many-processes", "ML-stress-concurrent")
def test_eight_processes_lose_and_double_no_edit(scene: Scene) -> None:
    begin(scene)
    with drivers(PROCESSES) as running:
        acknowledged = edit_at_once(scene, running, EDITS)
    assert len(acknowledged) == PROCESSES * EDITS
    files = read_tree(scene.folder)
    assert lines_in(files, "token ") == Counter(token for _, token in acknowledged)
    assert {name for name in files if name.startswith("shared-")} == set(FILES)
    with open_scene(scene) as workspace:
        assert workspace.notices == []
        check_history(scene)
        assert leftovers(scene.folder) == []


def test_processes_that_open_a_new_folder_at_once_share_one_history(scene: Scene) -> None:
    scene.begin(tree("save", 0))
    with drivers(3) as running:
        for driver in running:
            driver.start(scene, "open")
        for driver in running:
            driver.go()
        for driver in running:
            assert driver.wait() == 0
            assert driver.all("ack") == [[]]
    assert len(list((scene.state_home / "redraft").glob("*/history.db"))) == 1


@pytest.mark.covers("RD-many-processes")
def test_a_program_that_writes_in_place_by_rename_and_with_its_mtime_kept_loses_no_line(scene: Scene) -> None:
    begin(scene)
    command = [sys.executable, "-m", "tests.faults.editor", str(scene.folder), "editor", str(OUTSIDE), *FILES]
    with drivers(3) as running:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as editor:
            ours = edit_at_once(scene, running, OUTSIDE // 3)
            out, _ = editor.communicate(timeout=600)
            assert editor.returncode == 0
    theirs = [tuple(json.loads(line)) for line in out.splitlines()]
    assert len(theirs) == OUTSIDE
    with open_scene(scene):
        files = read_tree(scene.folder)
    assert lines_in(files, "token ") == Counter(token for _, token in ours)
    written = lines_in(files, "line ")
    assert max(written.values()) == 1
    copies = [content.decode() for name, content in files.items() if ".conflict-" in name]
    missing = [line for _, line in theirs if line not in written and not any(line in copy for copy in copies)]
    assert missing == []
    assert leftovers(scene.folder) == []


@pytest.mark.covers("RD-busy")
def test_a_stopped_process_keeps_others_out_for_five_seconds_and_not_for_good(scene: Scene, driver: Driver) -> None:
    pid = driver.start(scene, "stop", act="apply", step=0, steps=1)
    with open_scene(scene) as workspace:
        driver.go()
        driver.until("try")
        wait_until_stopped(pid)
        started = time.monotonic()
        with pytest.raises(Busy):
            write_note(workspace)
        assert 4 < time.monotonic() - started < 30
        assert str(workspace.read("note.md").text).encode() == tree("apply", 0)["note.md"]
        os.kill(pid, signal.SIGCONT)
        assert driver.wait() == 0
        assert driver.all("ack") == [1]
        write_note(workspace)
    assert read_tree(scene.folder) == tree("apply", 1) | {"note.md": b"written\n"}
    check_history(scene)


def write_note(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "meanwhile", mode="apply") as turn:
        turn.write("note.md", "written\n", turn.read("note.md").version)


def wait_until_stopped(pid: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            if file.read().rpartition(") ")[2].startswith("T"):
                return
        time.sleep(0.005)
    pytest.fail("it did not stop")
