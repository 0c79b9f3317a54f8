"""The program that is killed, starved and unplugged: it carries out acts in child processes and says how far it got.

Run as `python -m faults.driver`. One line of JSON on standard input starts a child, made by `fork` so that it costs
no start-up; it prepares, says `ready` with its process id, waits for an empty line, and then works: `try` before a
step, `ack` after the call has returned, `failed` with our error, or `crash` with a traceback, which no fault may cause.
The parent adds `exit`. Everything is said and heard through `readv` and `writev`, which no fault is injected into.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redraft.errors import Busy, RedraftError, Stale
from redraft.files import file_image, swap_file
from redraft.history.journal import Journal
from redraft.history.turns import Author
from redraft.text.edits import Change
from redraft.workspace.workspace import Workspace
from tests.faults.scenes import ACTS, FIVE, body, tree, write_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.workspace.turns.turn import Turn

Job = dict[str, Any]
AGENT = Author("agent", "tester")


def say(**words: Any) -> None:
    os.writev(1, [json.dumps(words).encode() + b"\n"])


def hear() -> str | None:
    """One line, read byte by byte, because parent and children listen to the same pipe; None at its end."""
    line, byte = bytearray(), bytearray(1)
    while os.readv(0, [byte]):
        if byte[0] == ord("\n"):
            return line.decode()
        line += byte
    return None


# The steps of the acts: each brings the folder from `tree(act, step - 1)` to `tree(act, step)`.


def begin_turn(workspace: Workspace, title: str, mode: str = "apply") -> Turn:
    return workspace.turn(AGENT, title, mode=mode, confirm=lambda _what, _paths: True)


def save(workspace: Workspace, step: int) -> None:
    old, new = str(workspace.read("note.md").text), body("note.md", step).decode()
    workspace.type("note.md", Change.between(old, new))
    workspace.save("note.md")


def apply(workspace: Workspace, step: int) -> None:
    with begin_turn(workspace, f"step {step}") as turn:
        for name in FIVE:
            turn.write(name, body(name, step).decode(), turn.read(name).version)
        if step % 2:
            turn.create("made/new.md", body("made/new.md", step).decode())
            turn.delete("gone.md", turn.read("gone.md").version)
        else:
            turn.delete("made/new.md", turn.read("made/new.md").version)
            turn.create("gone.md", body("gone.md", 0).decode())


def rollback(workspace: Workspace, step: int) -> None:
    if step % 2:
        apply(workspace, step)
        return
    last = next(turn for turn in workspace.turns() if turn.kind == "apply" and turn.state == "applied")
    workspace.rollback(last.id, "hard_all")


def undo(workspace: Workspace, step: int) -> None:
    if step % 2:
        apply(workspace, step)
    elif workspace.undo().conflicts:
        raise AssertionError("an undo right after its turn must not conflict")


def trash(workspace: Workspace, step: int) -> None:
    if step % 2:
        with begin_turn(workspace, f"step {step}") as turn:
            turn.delete("note.md", turn.read("note.md").version)
    else:
        workspace.untrash("note.md")


def move(workspace: Workspace, step: int) -> None:
    old, new = ("note.md", "made/note.md") if step % 2 else ("made/note.md", "note.md")
    with begin_turn(workspace, f"step {step}") as turn:
        turn.move(old, new, turn.read(old).version)


def accept(workspace: Workspace, step: int) -> None:
    if step % 2:
        with begin_turn(workspace, f"step {step}", "propose") as turn:
            turn.write("note.md", body("note.md", step + 1).decode(), turn.read("note.md").version)
    else:
        workspace.accept({"note.md": None})


STEPS: dict[str, Callable[[Workspace, int], None]] = {
    "save": save,
    "apply": apply,
    "rollback": rollback,
    "undo": undo,
    "trash": trash,
    "move": move,
    "accept": accept,
}


# What a child can be asked to do


def open_workspace(job: Job) -> Workspace:
    return Workspace.open(job["folder"], state_home=job["state_home"])


def ready() -> None:
    say(ready=os.getpid())
    hear()  # one byte, so that a child which is killed meanwhile has taken all of it or nothing


def act(job: Job) -> None:
    """Take steps until they are all done, or one fails; with `probe`, write something else when the fault is over."""
    workspace = open_workspace(job)
    ready()
    take_steps(workspace, job)
    if job.get("probe"):
        ready()
        workspace.verify_audit()
        with begin_turn(workspace, "probe") as turn:
            turn.create("probe.md", "all is well again\n")
        say(probed=True)
    workspace.close()


def take_steps(workspace: Workspace, job: Job) -> None:
    for step in range(job["step"] + 1, job["step"] + job["steps"] + 1):
        say(**{"try": step})
        try:
            STEPS[job["act"]](workspace, step)
        except RedraftError as error:
            say(failed=error.code, message=error.message)
            return
        say(ack=step)


def open_only(job: Job) -> None:
    ready()
    try:
        with open_workspace(job) as workspace:
            say(ack=workspace.notices)
    except RedraftError as error:
        say(failed=error.code, message=error.message)


def add_tokens(job: Job) -> None:
    """Insert lines that occur nowhere else, each into some file; refused ones are tried again on the new version."""
    choose = random.Random(job["name"])
    with open_workspace(job) as workspace:
        ready()
        for number in range(job["count"]):
            token, path = f"token {job['name']}-{number} end", choose.choice(job["files"])
            while not insert_line(workspace, path, token, choose):
                time.sleep(choose.random() * 0.01)
            say(ack=[path, token])


def insert_line(workspace: Workspace, path: str, line: str, choose: random.Random) -> bool:
    try:
        with begin_turn(workspace, line) as turn:
            document = turn.read(path)
            lines = str(document.text).splitlines(keepends=True)
            lines.insert(choose.randint(0, len(lines)), line + "\n")
            turn.write(path, "".join(lines), document.version)
    except (Stale, Busy):
        return False
    return True


def stop_within(job: Job) -> None:
    """Stop like a process that the person suspended, in the middle of a turn; then go on."""
    settle = Journal._settle  # pyright: ignore[reportPrivateUsage]

    def stopped(*args: Any, **more: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        settle(*args, **more)

    setattr(Journal, "_settle", stopped)  # noqa: B010 - a private name, set on purpose
    act(job)


JOBS: dict[str, Callable[[Job], None]] = {"act": act, "open": open_only, "tokens": add_tokens, "stop": stop_within}


def warm_up() -> None:
    """Do everything once, so that no import is left to meet a fault: it is the workspace's disk that fails."""
    for name in ACTS:
        with tempfile.TemporaryDirectory() as place:
            folder, state_home = Path(place, "folder"), Path(place, "state")
            folder.mkdir()
            write_tree(folder, tree(name, 0))
            with Workspace.open(folder, state_home=str(state_home)) as workspace:
                for step in (1, 2):
                    STEPS[name](workspace, step)


def run_child(job: Job) -> None:
    status = 1
    try:
        JOBS[job["job"]](job)
        status = 0
    finally:
        if status:
            say(crash=traceback.format_exc())
        os._exit(status)  # not back into the parent's loop, whatever happened


def main() -> None:
    warm_up()
    say(serving=os.getpid())
    while (line := hear()) is not None:
        if not line:  # meant for a child that was killed before it read it
            continue
        child = os.fork()
        if not child:
            run_child(json.loads(line))
        _, status = os.waitpid(child, 0)
        say(exit=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    # So that the longest of the documents goes the way of large ones, in several pieces.
    swap_file.LARGE, swap_file.WRITE_PIECE = 50_000, 32_768
    # So that a step makes the same calls however long the machine takes: no file is trusted for its age.
    file_image.SETTLED_NS = 1 << 60
    sys.exit(main())
