"""A hostile program under `redraft run`: nothing that it does outside of its view takes effect, in every sandbox."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import COMMAND, PATIENCE
from tests.programs.conftest import STORY, make_folder
from tests.programs.files import contents

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.cli.running import Program

# Everything is tried; what is refused is refused.
HOSTILE = """
import ctypes, os, pathlib, subprocess
home, state, folder = {home!r}, {state!r}, {folder!r}
def attempt(act, *arguments):
    try:
        act(*arguments)
    except Exception as error:
        print(type(error).__name__)
def write(path, text="owned"):
    with open(path, "w") as file:
        file.write(text)
attempt(write, home + "/outside.txt")
attempt(os.symlink, home + "/target.txt", "out.md")
attempt(write, "out.md")
attempt(os.symlink, home, "away")
attempt(write, "away/through.txt")
attempt(write, "../beside.txt")
attempt(os.unlink, home + "/target.txt")
if {permissions}:
    attempt(os.chmod, home + "/target.txt", 0)
attempt(os.truncate, home + "/target.txt", 0)
attempt(os.rename, home + "/target.txt", home + "/taken.txt")
attempt(os.link, home + "/target.txt", "mine.txt")
for place, _, names in os.walk(state):
    for name in names if "/views/" not in place else ():  # a copy lies there, in which it may write
        attempt(write, os.path.join(place, name))
attempt(write, "/proc/sys/kernel/hostname")
attempt(subprocess.run, ["umount", folder])
attempt(subprocess.run, ["mount", "-o", "remount,rw", "/"])
here = os.getcwd()
def write_by_descriptor(number):
    os.fchdir(number)
    write("by-descriptor.txt")
for number in range(3, 64):
    attempt(write_by_descriptor, number)
os.chdir(here)
pathlib.Path(".git/hooks").mkdir(parents=True, exist_ok=True)
attempt(write, ".git/hooks/pre-commit", "#!/bin/sh\\ntouch " + home + "/hooked\\n")
with open("story.md", "a") as file:
    file.write("added\\n")
"""


def hostile(program: Program, *, permissions: bool = True) -> list[str]:
    """The program. What Landlock does not hold it from is to change permissions."""
    text = HOSTILE.format(
        home=str(program.home), state=program.state_home, folder=str(program.folder), permissions=permissions
    )
    return [sys.executable, "-I", "-c", text]


def outside(program: Program) -> dict[str, tuple[bytes, int]]:
    """All that lies beside the folder, but for our own state."""
    return contents(program.home, ("state", "notes"))


def begin(program: Program) -> tuple[dict[str, tuple[bytes, int]], dict[str, tuple[bytes, int]]]:
    (program.home / "target.txt").write_text("target", encoding="utf-8")
    subprocess.run(["git", "init", "-q", program.folder], check=True)
    program.ok("status")
    return contents(program.folder), outside(program)


def check_untouched(
    program: Program, before: tuple[dict[str, tuple[bytes, int]], dict[str, tuple[bytes, int]]]
) -> None:
    assert (contents(program.folder), outside(program)) == before
    assert socket.gethostname() != "owned"
    assert program.json("audit", "verify")["intact"]
    [turn] = program.json("turns")["turns"]
    assert turn["paths"] == ["story.md"]
    program.ok("accept", "--all")
    assert program.read("story.md") == STORY + "added\n"


@pytest.fixture
def away() -> Generator[Path]:
    """A folder that is not beneath /tmp, of which a program in a sandbox has one of its own."""
    place = Path(tempfile.mkdtemp(prefix="redraft-test-", dir=Path(__file__).parents[2] / ".venv"))
    yield place
    shutil.rmtree(place)


@pytest.mark.covers("RD-run-confined")
@pytest.mark.slow
@pytest.mark.parametrize("view", ["auto", "copy"])
def test_nothing_outside_of_its_view_is_changed(away: Path, view: str):
    program = make_folder(away, REDRAFT_RUN_VIEW=view)
    before = begin(program)
    result = program.run("run", "--json", "--", *hostile(program))
    assert json.loads(result.out)["confinement"] == "namespace"
    check_untouched(program, before)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to forbid namespaces")
def test_without_namespaces_landlock_forbids_the_writes(away: Path):
    program = make_folder(away)
    before = begin(program)
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    command = ["unshare", "-Ur", "sh", "-c", forbid, "sh", *COMMAND, "run", "--", *hostile(program, permissions=False)]
    done = subprocess.run(
        command, cwd=program.folder, env=program.environment, capture_output=True, timeout=PATIENCE, check=False
    )
    assert b"can write only to its copy" in done.stderr, done
    check_untouched(program, before)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root is an ordinary user in all these tests")
def test_an_ordinary_user_is_confined_as_root_is(away: Path):
    program = make_folder(away)
    before = begin(program)
    ordinary = ["unshare", "-U", "--map-user=1000", "--map-group=1000"]
    told = subprocess.run(
        [*ordinary, *COMMAND, "run", "--json", "--", *hostile(program)],
        cwd=program.folder,
        env=program.environment,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert json.loads(told.stdout)["confinement"] == "namespace", told
    check_untouched(program, before)


@pytest.mark.covers("RD-run-state-hidden")
def test_the_history_can_neither_be_read_nor_written(overlaid: Program):
    overlaid.ok("status")
    result = overlaid.run(
        "run", "--", "sh", "-c", f"find {overlaid.state_home} -name '*.db'; ls /proc | grep -c ^[0-9]"
    )
    shown = result.out.split()
    assert len(shown) == 1, result
    assert int(shown[0]) < 10


@pytest.mark.covers("RD-run-size")
def test_a_program_that_fills_the_disk_is_ended(overlaid: Program):
    overlaid.variables["REDRAFT_RUN_BYTES"] = "4000000"
    fill = "echo more >> story.md; i=0; while :; do i=$((i+1)); head -c 500000 /dev/zero > big$i; done"
    told = json.loads(overlaid.run("run", "--json", "--", "sh", "-c", fill).out)
    assert told["unfinished"] == "wrote more than 4000000 bytes"
    assert told["documents"][0]["path"] == "story.md"
    one = json.loads(overlaid.run("run", "--json", "--", "sh", "-c", "exec head -c 8000000 /dev/zero > big").out)
    assert one["unfinished"] in ("ended by SIGXFSZ", "wrote more than 4000000 bytes")  # whoever notices first


def test_without_confinement_it_is_said_and_the_folder_is_safe_all_the_same(overlaid: Program):
    before = contents(overlaid.folder)
    result = overlaid.run(
        "run", "--unconfined", "--", "sh", "-c", f"echo more >> story.md; touch {overlaid.home}/beside"
    )
    assert "is not confined" in result.err
    assert (overlaid.home / "beside").exists()
    assert contents(overlaid.folder) == before


def test_a_place_that_the_person_names_can_be_written_to(away: Path):
    program = make_folder(away)
    (away / "cache").mkdir()
    (away / ".codex").mkdir()
    write = f"echo kept > {away}/cache/a; echo lost > {away}/other"
    assert program.run("run", "--write", str(away / "cache"), "--", "sh", "-c", write).status == 2
    assert (away / "cache" / "a").read_text(encoding="utf-8") == "kept\n"
    assert not (away / "other").exists()
    agent = away / "bin" / "codex"
    agent.parent.mkdir()
    agent.write_text("#!/bin/sh\necho signed-in > ~/.codex/auth\n", encoding="utf-8")
    agent.chmod(0o755)
    assert program.run("run", "--", str(agent)).status == 0
    assert (away / ".codex" / "auth").read_text(encoding="utf-8") == "signed-in\n"
