"""The commands of `components.toml`, run. Whether they may is decided before: nothing here looks for trust.

`pre_patch` gets the content and gives it back changed, within a time and a size. `post_patch` is started and left to
itself, with a watchman that ends it when its time is over. Both see `COMPONENT` and `FILE` in their environment.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass

from redraft.errors import RedraftError
from redraft.providers.programs import Bounds, TooMuchOutput, run_program
from redraft.sessions.rules import FILE

PRE_SECONDS = 60.0
POST_SECONDS = 600.0
OUTPUT_BYTES = 64 * 1024 * 1024
_MAX_QUOTED = 300
# Started on its own, so that whoever called need not wait: it waits in our place.
_WATCHMAN = """
import os, signal, subprocess, sys
hook = subprocess.Popen(["/bin/sh", "-c", sys.argv[2]], start_new_session=True)
try:
    hook.wait(float(sys.argv[1]))
except subprocess.TimeoutExpired:
    os.killpg(hook.pid, signal.SIGKILL)
"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where hooks run, and for which component of which file."""

    folder: str
    environ: dict[str, str]
    component: str
    file: str

    @property
    def variables(self) -> dict[str, str]:
        return {**self.environ, "COMPONENT": self.component, "FILE": self.file}


def pre_patch(command: str, content: str, around: Surroundings, *, seconds: float = PRE_SECONDS) -> str:
    """What the command makes of the content; an error, and nothing written, where it fails or takes too long."""
    bounds = Bounds(around.folder, around.variables, seconds, OUTPUT_BYTES)
    try:
        ended = asyncio.run(run_program(["/bin/sh", "-c", command], content, bounds))
    except TimeoutError as error:
        raise _failed(around, f"did not end within {seconds:g} seconds") from error
    except TooMuchOutput as error:
        raise _failed(around, f"wrote more than {OUTPUT_BYTES} bytes") from error
    except (OSError, ValueError) as error:
        raise _failed(around, f"cannot be started: {error}") from error
    if ended.status:
        raise _failed(around, f"failed with status {ended.status}. {ended.complaint[-_MAX_QUOTED:]}".strip())
    try:
        return ended.output.decode()
    except UnicodeDecodeError as error:
        raise _failed(around, "wrote something that is not UTF-8 text") from error


def post_patch(command: str, around: Surroundings, *, seconds: float = POST_SECONDS) -> None:
    """Start the command and do not wait for it."""
    watchman = subprocess.Popen(  # noqa: S603 - the person trusted this command
        [sys.executable, "-I", "-S", "-c", _WATCHMAN, str(seconds), command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=around.folder,
        env=around.variables,
        start_new_session=True,
    )
    watchman.returncode = 0  # left to itself on purpose: nobody is to be warned that it still runs


def _failed(around: Surroundings, what: str) -> RedraftError:
    message = f"{FILE}: pre_patch of {around.component!r} {what}. Nothing was written."
    return RedraftError(message, code="invalid_settings", component=around.component)
