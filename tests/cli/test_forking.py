"""A program that the tests fork does what one does that they start."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import PATCH
from tests.cli.running import COMMAND, PATIENCE
from tests.speaking.forking import ForkedProgram, can_fork, run_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.running import Program

pytestmark = pytest.mark.slow


def run(start: type[subprocess.Popen[bytes]], program: Program, words: Sequence[str], stdin: bytes = b"") -> object:
    pipe = subprocess.PIPE
    with start(
        [*COMMAND, *words], stdin=pipe, stdout=pipe, stderr=pipe, cwd=program.folder, env=program.environment
    ) as process:
        said = process.communicate(stdin, PATIENCE)
    return process.returncode, said


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["settings", "--json"], b""),
        (["diff", "caf\udce9.md"], b""),
        (["propose", "-", "--dry-run"], PATCH.encode()),
        (["propose", "-"], b"\xff\n"),
        (["no-such-command"], b""),
    ],
)
def test_output_errors_and_status_are_those_of_a_program_that_is_started(
    redraft: Program, words: list[str], stdin: bytes
):
    assert run(ForkedProgram, redraft, words, stdin) == run(subprocess.Popen, redraft, words, stdin)


def test_a_forked_program_is_a_child_of_the_test_and_ends_by_its_signals(redraft: Program):
    process = ForkedProgram([*COMMAND, "mcp", str(redraft.folder)], stdin=subprocess.PIPE, env=redraft.environment)
    with process, open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        assert int(file.read().rpartition(")")[2].split()[1]) == os.getpid()
        process.kill()
        assert process.wait(PATIENCE) == -signal.SIGKILL


def test_a_program_with_variables_of_python_or_the_linker_is_started_anew(redraft: Program):
    options: dict[str, Any] = {"cwd": redraft.folder, "env": redraft.environment}
    assert can_fork([*COMMAND, "status"], options) is (not os.environ.get("REDRAFT_TORTURE"))
    for name in ("PYTHONPATH", "LD_PRELOAD", "LC_ALL"):
        assert not can_fork([*COMMAND, "status"], {**options, "env": {**redraft.environment, name: "C"}})
    assert not can_fork([*COMMAND, "status"], {**options, "start_new_session": True})
    assert not can_fork(["strace", *COMMAND, "status"], options)
    assert run_program([*COMMAND, "--version"], timeout=PATIENCE, **options).stdout.startswith(b"redraft ")
