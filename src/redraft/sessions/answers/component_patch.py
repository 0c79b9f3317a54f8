"""`patch`: write an entry into one component, and run its commands if the person trusts them.

An untrusted `pre_patch` stops the patch, since the content was meant to pass through it; an untrusted `post_patch` is
skipped with a notice, since the document does not depend on it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from redraft.errors import ConfirmationRequired, Damaged, RedraftError, Refused
from redraft.files.atomic_write import write_private
from redraft.files.locks import folder_lock
from redraft.files.syscalls import explain_os_errors
from redraft.formats.components import Component, component, fill_component
from redraft.providers.child_process import ProcessOptions, TooMuchOutput, run_program
from redraft.sessions.answers.fills import fill_for
from redraft.sessions.answers.writer import WrittenAnswer
from redraft.sessions.component_rules import FILE, rule_for
from redraft.sessions.document_store import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.sessions.answers.writer import SessionContext
    from redraft.sessions.component_rules import ComponentRule

# Run the commands of `components.toml`. Whether they may run is decided before; nothing here checks for trust.
#
# `pre_patch` receives the content and returns it changed, with limits on time and size. `post_patch` is started and not
# waited for; a watchdog process ends it when its time is up. Both see `COMPONENT` and `FILE` in their environment.


PRE_SECONDS = 60.0
POST_SECONDS = 600.0
OUTPUT_BYTES = 64 * 1024 * 1024
_MAX_QUOTED = 300
# A separate process, so that the caller need not wait: it waits instead.
_WATCHMAN = """
import os, signal, subprocess, sys
hook = subprocess.Popen(["/bin/sh", "-c", sys.argv[2]], start_new_session=True)
try:
    hook.wait(float(sys.argv[1]))
except subprocess.TimeoutExpired:
    os.killpg(hook.pid, signal.SIGKILL)
"""


@dataclass(frozen=True, slots=True)
class HookEnvironment:
    """Where hooks run, and for which component of which file."""

    folder: str
    environ: dict[str, str]
    component: str
    file: str

    @property
    def rules_file(self) -> str:
        """The file that has the commands, from where the person stands."""
        return os.path.relpath(os.path.join(self.folder, FILE))

    @property
    def variables(self) -> dict[str, str]:
        return {**self.environ, "COMPONENT": self.component, "FILE": self.file}


def run_pre_patch(command: str, content: str, environment: HookEnvironment, *, seconds: float = PRE_SECONDS) -> str:
    """The content as the command changed it; raises, with nothing written, if it fails or takes too long."""
    bounds = ProcessOptions(environment.folder, environment.variables, seconds, OUTPUT_BYTES)
    try:
        ended = asyncio.run(run_program(["/bin/sh", "-c", command], content, bounds))
    except TimeoutError as error:
        raise _hook_failure(environment, f"did not end within {seconds:g} seconds") from error
    except TooMuchOutput as error:
        raise _hook_failure(environment, f"wrote more than {OUTPUT_BYTES} bytes") from error
    except (OSError, ValueError) as error:
        raise _hook_failure(environment, f"cannot be started: {error}") from error
    if ended.status:
        raise _hook_failure(environment, f"failed with status {ended.status}. {ended.complaint[-_MAX_QUOTED:]}".strip())
    try:
        return ended.output.decode()
    except UnicodeDecodeError as error:
        raise _hook_failure(environment, "wrote output that is not UTF-8 text") from error


def run_post_patch(command: str, environment: HookEnvironment, *, seconds: float = POST_SECONDS) -> None:
    """Start the command without waiting for it."""
    watchman = subprocess.Popen(  # noqa: S603 - the person trusted this command
        [sys.executable, "-I", "-S", "-c", _WATCHMAN, str(seconds), command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=environment.folder,
        env=environment.variables,
        start_new_session=True,
    )
    watchman.returncode = 0  # not waited for on purpose: Python must not warn that it still runs


def _hook_failure(environment: HookEnvironment, what: str) -> RedraftError:
    message = f"{environment.rules_file}: pre_patch of {environment.component!r} {what}. Nothing was written."
    return RedraftError(message, code="invalid_settings", component=environment.component)


@dataclass(frozen=True, slots=True)
class HookPermission:
    """Whether the commands of `components.toml` may run, and with which environment."""

    trusted: bool
    environ: dict[str, str]


def patch_component(context: SessionContext, name: str, content: str, allowed: HookPermission) -> WrittenAnswer:
    """Write an entry into a component, through its hooks."""
    rule = rule_for(_require_component(context.store.read(context.project.path).text, name), context.rules)
    environment = HookEnvironment(context.project.root, allowed.environ, name, context.project.file)
    if rule.pre_patch:
        if not allowed.trusted:
            raise ConfirmationRequired(
                f"{environment.rules_file} has a pre_patch command for {name!r} that you have not trusted: "
                f"{rule.pre_patch!r}. Read the file, then run `agent-doc trust`.",
                component=name,
            )
        content = run_pre_patch(rule.pre_patch, content, environment)
    written = _write_patch(context, name, content)
    if not rule.post_patch:
        return written
    if not allowed.trusted:
        remark = (
            f"The post_patch command of {name!r} was skipped: {environment.rules_file} is not trusted. "
            "See `agent-doc trust`."
        )
        return WrittenAnswer(written.changed, remarks=(remark,))
    run_post_patch(rule.post_patch, environment)
    return written


def _write_patch(context: SessionContext, name: str, content: str) -> WrittenAnswer:
    stamp = context.stamp
    path = context.project.path
    with context.lock():
        was: list[str] = []

        def make(text: str) -> str:
            was[:] = [text]
            return _fill_component(text, name, content, context.rules, stamp)

        changed = change(context.store, path, f"Patch {name} in {path}", make)
        if changed.state != "proposed":
            context.agent_files.save_snapshot(
                context.project, _next_snapshot(context, was[0], changed.text, name, content, stamp)
            )
    return WrittenAnswer(changed)


def _require_component(text: str, name: str) -> Component:
    place = component(text, name)
    if place is None:
        raise Refused(f"There is no component {name!r} in the document.", code="anchor_not_found", component=name)
    return place


def _fill_component(text: str, name: str, content: str, rules: Mapping[str, ComponentRule], stamp: str) -> str:
    place = _require_component(text, name)
    fill = fill_for(place, content, rules, stamp)
    return fill_component(text, place, fill.content, fill.filling)


def _next_snapshot(context: SessionContext, before: str, after: str, name: str, content: str, stamp: str) -> str:
    """The new snapshot: the document; or, if the person has written something that no agent has seen yet, the old
    snapshot with the same entry, so that their words still count as new."""
    old = context.agent_files.snapshot(context.project)
    if old is None or old == before:
        return after
    try:
        return _fill_component(old, name, content, context.rules, stamp)
    except Refused:
        return old


# Which `components.toml` a person has trusted: by its exact content, stored in the folder's state outside the folder.
#
# An unknown hash is not trusted. There is no trust by name or path, so if one byte of a trusted file changes, it has to
# be trusted again.


TRUSTED_FILE = "agent-doc-trusted.json"
LOCK = "agent-doc-trust"


def is_trusted(state: str, data: bytes) -> bool:
    return _digest(data) in _read_digests(state)


def trust(state: str, data: bytes) -> None:
    """Allow the commands of a file with exactly this content."""
    with folder_lock(state, LOCK):
        known = _read_digests(state)
        if _digest(data) not in known:
            _write_digests(state, [*known, _digest(data)])


def distrust(state: str) -> int:
    """Revoke all trust; returns how many files were trusted."""
    with folder_lock(state, LOCK):
        known = _read_digests(state)
        if known:
            _write_digests(state, [])
    return len(known)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _read_digests(state: str) -> list[str]:
    path = os.path.join(state, TRUSTED_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise Damaged(f"{TRUSTED_FILE} in the folder's state cannot be read: {error}.") from error
    if not isinstance(found, list):
        raise Damaged(f"{TRUSTED_FILE} in the folder's state has the wrong format.")
    return [entry for entry in cast("list[object]", found) if isinstance(entry, str)]


def _write_digests(state: str, known: list[str]) -> None:
    with explain_os_errors("write", TRUSTED_FILE):
        write_private(os.path.join(state, TRUSTED_FILE), json.dumps(known))
