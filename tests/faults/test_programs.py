"""The programs that people run, killed in the middle, beside others, on full and failing disks and on damaged state."""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import COMMAND, Program
from tests.faults.disks import memory
from tests.faults.scenes import leftovers, read_tree
from tests.faults.stage import ROOT
from tests.faults.test_state_files import DAMAGES
from tests.speaking.lines import Lines, answer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
OLD = {name: f"Old words of {name}.\n".encode() for name in ("a.md", "b.md", "deep/c.md", "gone.md", "kept.md")}
NEW = {name: text.replace(b"Old", b"New") if name != "kept.md" else text for name, text in OLD.items()} | {
    "made/new.md": b"New words.\n"
}
del NEW["gone.md"]
PATCH = "".join(
    [
        *(
            f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-Old words of {name}.\n+New words of {name}.\n"
            for name in ("a.md", "b.md", "deep/c.md")
        ),
        "--- a/gone.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-Old words of gone.md.\n",
        "--- /dev/null\n+++ b/made/new.md\n@@ -0,0 +1 @@\n+New words.\n",
    ]
)


@pytest.fixture
def redraft(place: Path) -> Program:
    """The program in a folder where a turn over five documents waits for `redraft accept --all`."""
    program = Program(place / "notes")
    for name, text in OLD.items():
        program.write(name, text.decode())
    program.ok("propose", "-", "--title", "Five", stdin=PATCH)
    return program


def traced(program: Program, *arguments: str, options: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run the program under `strace`."""
    command = ["strace", "-f", "-qq", "-e", "signal=none", *options, *COMMAND, *arguments]
    environment = {**program.environment, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=program.folder, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


def kill_at(program: Program, call: str, number: int, *arguments: str) -> bool:
    """Kill the program when it is about to make a system call for this time; whether it came to that."""
    inject = ("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}", "-o", os.devnull)
    return traced(program, *arguments, options=inject).returncode != 0


@contextmanager
def copies(program: Program) -> Generator[Callable[[], None]]:
    """A function that puts folder and state back as they are now."""
    kept = program.home / "as-it-was"
    parts = [program.folder, program.home / "state"]
    for part in parts:
        shutil.copytree(part, kept / part.name)

    def put_back() -> None:
        for part in parts:
            shutil.rmtree(part)
            shutil.copytree(kept / part.name, part)

    yield put_back


@pytest.mark.covers("RD-history-journal", "RD-files-sweep")
@pytest.mark.usefixtures("strace")
def test_a_turn_that_was_cut_off_is_ended_by_the_next_program_also_where_that_is_killed_too(redraft: Program):
    outcomes, swept, killed_again = list[str](), 0, 0
    with copies(redraft) as put_back:
        for number in range(1, 9):
            put_back()
            if not kill_at(redraft, "renameat2", number, "accept", "--all"):
                break
            swept += len(leftovers(redraft.folder))
            killed_again += kill_at(redraft, "renameat2,unlinkat,pwrite64", 1 + number % 3, "status")
            told = redraft.run("status", "--json")
            assert told.status == 0, told
            found = read_tree(redraft.folder)
            assert found in (OLD, NEW), sorted(found)
            outcomes.append("old" if found == OLD else "new")
            assert leftovers(redraft.folder) == []
            assert redraft.run("audit", "verify").status == 0
            if found == OLD:
                redraft.ok("accept", "--all")
            redraft.ok("undo")
            assert read_tree(redraft.folder) == OLD
    assert len(outcomes) >= 4, outcomes
    assert killed_again > 0, "some recoveries were cut off, too"
    assert swept > 0, "there was something to sweep"


@pytest.mark.covers("RD-history-conflict-copy")
@pytest.mark.usefixtures("strace")
def test_what_somebody_wrote_into_a_turn_that_was_cut_off_is_kept(redraft: Program):
    theirs = b"A third state, by somebody else.\n"
    with copies(redraft) as put_back:
        for number in (1, 2, 3):
            for name in ("a.md", "deep/c.md", "made/new.md"):
                put_back()
                assert kill_at(redraft, "renameat2", number, "accept", "--all")
                (redraft.folder / name).parent.mkdir(exist_ok=True)
                (redraft.folder / name).write_bytes(theirs)
                told = redraft.run("status", "--json")
                assert told.status == 0, told
                found = read_tree(redraft.folder)
                assert theirs in found.values(), "in its place, or as a copy beside it"
                others = {path: text for path, text in found.items() if path in OLD | NEW and path != name}
                assert others in [{path: text for path, text in tree.items() if path != name} for tree in (OLD, NEW)]
                assert leftovers(redraft.folder) == []


@pytest.mark.covers("RD-files-atomic")
@pytest.mark.usefixtures("strace")
def test_content_is_flushed_before_it_has_its_name_and_the_folder_before_success(redraft: Program, place: Path):
    (redraft.folder / "a.md").chmod(0o640)
    log = place / "calls"
    calls = ("-y", "-e", "trace=fsync,fdatasync,renameat2,write", "-o", str(log))
    assert traced(redraft, "accept", "--path", "a.md", options=calls).returncode == 0
    folder = re.escape(str(redraft.folder))
    steps = {
        "flushed": rf"f(?:data)?sync\(\d+<{folder}/\.redraft-tmp-[^>]*>",
        "named": r'renameat2\(.*"a\.md"',
        "the folder flushed": rf"f(?:data)?sync\(\d+<{folder}>\)",
        "told": r"write\(1<",
    }
    lines = log.read_text(encoding="utf-8").splitlines()
    at = {name: [number for number, line in enumerate(lines) if re.search(form, line)] for name, form in steps.items()}
    assert all(at.values()), at
    assert max(at["flushed"]) < min(at["named"]) < max(at["the folder flushed"]) < min(at["told"])
    assert (redraft.folder / "a.md").read_bytes() == NEW["a.md"]
    assert (redraft.folder / "a.md").stat().st_mode & 0o7777 == 0o640


@pytest.mark.covers("RD-history-damaged")
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_history_costs_no_document_and_the_loss_is_told(redraft: Program, damage: Callable[[Path], None]):
    redraft.ok("accept", "--all")
    assert "history" not in redraft.ok("status")
    [history] = (redraft.home / "state" / "redraft").glob("*/history.db")
    for beside in history.parent.glob("history.db-*"):
        beside.unlink()
    damage(history)
    told = redraft.run("status")
    assert told.status == 0, told
    assert "history" in told.out + told.err
    assert read_tree(redraft.folder) == NEW
    call = {"path": "a.md", "old_text": "words", "new_text": "letters"}
    redraft.run("tool", "edit_text", json.dumps(call), "--mode", "apply")
    assert (redraft.folder / "a.md").read_bytes() == NEW["a.md"].replace(b"words", b"letters"), "it works again"


@pytest.mark.covers("ML-err-system")
@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("fault", ["fsync:error=EIO", "renameat2:error=EIO", "renameat2:error=ENOSPC"])
def test_a_disk_that_fails_is_told_and_the_documents_are_as_they_were(redraft: Program, fault: str):
    inject = ("-e", f"trace={fault.partition(':')[0]}", "-e", f"inject={fault}", "-o", os.devnull)
    done = traced(redraft, "accept", "--all", "--json", options=inject)
    assert done.returncode != 0
    told = json.loads(done.stdout or done.stderr)
    assert told["error"] == "io_error", told
    assert told["suggestion"]
    assert read_tree(redraft.folder) == OLD
    redraft.ok("accept", "--all")
    assert read_tree(redraft.folder) == NEW


@pytest.mark.covers("ML-err-system")
@pytest.mark.root
@pytest.mark.usefixtures("mounts")
def test_a_full_disk_is_told_and_the_documents_are_as_they_were(place: Path):
    program = Program(place / "notes")
    program.folder.mkdir()
    with memory(program.folder, "size=400k"):
        program.write("a.md", "Old words.\n")
        filler = program.folder / "filler"
        filler.write_bytes(b"x" * 360_000)
        patch = f"--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-Old words.\n+{'New words. ' * 9000}\n"
        program.ok("propose", "-", stdin=patch)
        done = program.run("accept", "--all", "--json")
        told = json.loads(done.out or done.err)
        assert (done.status != 0, told["error"]) == (True, "io_error"), done
        assert "full" in told["message"]
        assert program.read("a.md") == "Old words.\n"
        filler.unlink()
        program.ok("accept", "--all")
        assert program.read("a.md").startswith("New words. New words.")


@pytest.mark.covers("RD-busy", "ML-err-retry")
def test_a_lock_is_waited_for_a_moment_and_not_without_end(redraft: Program):
    [state] = [path for path in (redraft.home / "state" / "redraft").iterdir() if len(path.name) == 32]
    with open(state / "lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        start = time.monotonic()
        done = redraft.run("accept", "--all", "--json")
        assert 4 < time.monotonic() - start < 30
        assert (done.status != 0, json.loads(done.out or done.err)["error"]) == (True, "busy")
        assert read_tree(redraft.folder) == OLD
        threading.Timer(1.5, lambda: fcntl.flock(lock, fcntl.LOCK_UN)).start()
        redraft.ok("accept", "--all")
    assert read_tree(redraft.folder) == NEW


AGENTS, EDITS, OUTSIDE = 4, 20, 40
SHARED = [f"shared-{number}.md" for number in range(4)]


@pytest.mark.covers("RD-many-processes", "ML-stress-concurrent")
def test_several_agents_and_another_program_on_one_folder_lose_no_line(place: Path):
    """Agents of their own processes add lines to the same documents, each for the version that it has read; a program
    that knows nothing of us writes there too, in place, with its time put back, and by exchange."""
    folder = place / "notes"
    folder.mkdir()
    for name in SHARED:
        (folder / name).write_text(f"# {name}\n", encoding="utf-8")
    clients = [Lines.to(folder, "--profile", "tabs") for _ in range(AGENTS)]
    acknowledged: list[list[str]] = [[] for _ in clients]

    def work(number: int) -> None:
        choose = random.Random(number)
        client = clients[number]
        client.start(f"agent{number}")
        for at in range(EDITS):
            path, line = choose.choice(SHARED), f"token {number}-{at}"
            while True:
                read = answer_of(client.call("read_document", path=path))
                place = {"path": path, "version": read["version"], "after_line": read["lines"]["total"] - 1}
                if "error" not in answer_of(client.call("insert_lines", **place, content=f"{line}\n")):
                    acknowledged[number].append(line)
                    break

    editor_command = [sys.executable, "-m", "tests.faults.editor", str(folder), "editor", str(OUTSIDE), *SHARED]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    threads = [threading.Thread(target=work, args=(number,)) for number in range(AGENTS)]
    with subprocess.Popen(editor_command, stdout=subprocess.PIPE, env=environment) as editor:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        out, _ = editor.communicate(timeout=120)
    assert [client.close() for client in clients] == [""] * AGENTS
    theirs: list[Any] = [json.loads(line)[1] for line in out.splitlines()]
    assert [len(lines) for lines in acknowledged] == [EDITS] * AGENTS
    files = {name: text.decode().splitlines() for name, text in read_tree(folder).items()}
    written = [line for name in SHARED for line in files[name]]
    copied = {line for name in files if ".conflict-" in name for line in files[name]}
    ours = [line for lines in acknowledged for line in lines]
    assert [line for line in ours if written.count(line) != 1] == []
    assert [line for line in theirs if line not in copied and written.count(line) != 1] == []
