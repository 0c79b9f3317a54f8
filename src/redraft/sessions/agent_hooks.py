"""The hooks of agents that work in the folder by their own tools: they tell Redraft when a prompt begins and ends.

Each agent reads its hooks from a file of its own in the folder. Ours are added to what is there, and removed again
without touching the rest. A file that is not what the agent would accept is left alone.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Refused
from redraft.files.atomic_write import write_file
from redraft.files.paths import parse_path
from redraft.files.root import Root
from redraft.files.syscalls import explain_os_errors

if TYPE_CHECKING:
    from collections.abc import Generator

# How long an agent waits for one of our hooks: the first one in a large folder stores all of its documents.
SECONDS = 120
PLUGIN = """\
// Tells Redraft which prompt opencode works on. Written by `redraft hooks install opencode`.
import { spawnSync } from "node:child_process";

const [program, ...before] = %(command)s;

function tell(event, prompt) {
  const options = { input: JSON.stringify({ prompt }), timeout: %(milliseconds)d };
  spawnSync(program, [...before, "hooks", event, "opencode", "--folder", %(folder)s], options);
}

export const Redraft = async () => ({
  "chat.message": async (_input, { parts }) =>
    tell("begin", parts.map((part) => (part.type === "text" ? part.text : "")).join(" ")),
  event: async ({ event }) => {
    if (event.type === "session.idle") tell("end", "");
  },
});
"""


@dataclass(frozen=True, slots=True)
class HookedAgent:
    """An agent with hooks: its name in the history, its file, and its names for the two moments. `milliseconds` says
    whether it counts them in a timeout; `advice` is what the person has to do as well."""

    name: str
    file: str
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    milliseconds: bool = False
    advice: str = ""


HOOKED_AGENTS = {
    "claude": HookedAgent("Claude Code", ".claude/settings.local.json", ("UserPromptSubmit",), ("Stop", "SessionEnd")),
    "codex": HookedAgent(
        "Codex",
        ".codex/hooks.json",
        ("UserPromptSubmit",),
        ("Stop",),
        advice="Codex runs new hooks only after you have trusted them: enter /hooks in Codex.",
    ),
    "gemini": HookedAgent(
        "Gemini CLI", ".gemini/settings.json", ("BeforeAgent",), ("AfterAgent", "SessionEnd"), milliseconds=True
    ),
    "opencode": HookedAgent("opencode", ".opencode/plugins/redraft.js"),
}


def install_hooks(folder: str, agent: str) -> bool:
    """Add our hooks to an agent's file; returns whether they were not there already, exactly so."""
    hooked = HOOKED_AGENTS[agent]
    with _agent_file(folder, hooked.file) as file:
        old = file.read()
        if agent == "opencode" and old is not None and not _is_our_plugin(old):
            raise Refused(f"{hooked.file} is not Redraft's; nothing was changed.", code="already_exists")
        new = _plugin(folder) if agent == "opencode" else _with_hooks(old, agent, folder)
        if new == old:
            return False
        file.write(new, old)
    return True


def remove_hooks(folder: str, agent: str) -> bool:
    """Remove our hooks from an agent's file; returns whether there were any. A file without anything else goes."""
    hooked = HOOKED_AGENTS[agent]
    with _agent_file(folder, hooked.file) as file:
        old = file.read()
        if old is None:
            return False
        if agent == "opencode":
            if _is_our_plugin(old):
                file.remove()
            return _is_our_plugin(old)
        settings = _parse(old, hooked.file)
        left = _without_ours(settings, agent)
        if left == settings:
            return False
        if left:
            file.write(_dump(left), old)
        else:
            file.remove()
    return True


class _AgentFile:
    """One file in a folder that is not trusted: nothing is followed out of it."""

    def __init__(self, root: Root, name: str) -> None:
        self._root, self._path = root, parse_path(name)

    def read(self) -> bytes | None:
        try:
            return self._root.read(self._path).data
        except Refused as error:
            if error.code == "not_found":
                return None
            raise

    def write(self, data: bytes, old: bytes | None) -> None:
        write_file(self._root, self._path, data, expected=old)

    def remove(self) -> None:
        with self._root.open_parent(self._path) as parent, explain_os_errors("remove", self._path):
            os.unlink(parent.name, dir_fd=parent.fd)


@contextmanager
def _agent_file(folder: str, name: str) -> Generator[_AgentFile]:
    root = Root.open(folder)
    try:
        yield _AgentFile(root, name)
    finally:
        root.close()


def _command() -> list[str]:
    """This program, as another one starts it: `-P` because the folder that it is started in may hold modules."""
    return [sys.executable, "-P", "-m", "redraft"]


def _plugin(folder: str) -> bytes:
    values = {
        "command": json.dumps(_command()),
        "folder": json.dumps(os.path.abspath(folder)),
        "milliseconds": 1000 * SECONDS,
    }
    return (PLUGIN % values).encode()


def _is_our_plugin(data: bytes) -> bool:
    return data.startswith(PLUGIN.partition("\n")[0].encode())


def _with_hooks(old: bytes | None, agent: str, folder: str) -> bytes:
    hooked = HOOKED_AGENTS[agent]
    settings = _without_ours({} if old is None else _parse(old, hooked.file), agent)
    hooks: dict[str, Any] = settings.setdefault("hooks", {})
    for act, events in (("begin", hooked.begin), ("end", hooked.end)):
        words = [*_command(), "hooks", act, agent, "--folder", os.path.abspath(folder)]
        timeout = SECONDS * 1000 if hooked.milliseconds else SECONDS
        for event in events:
            entry = {"type": "command", "command": shlex.join(words), "timeout": timeout}
            hooks.setdefault(event, []).append({"hooks": [entry]})
    return _dump(settings)


def _parse(data: bytes, name: str) -> dict[str, Any]:
    """An agent's settings, as far as our hooks need their shape."""
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{name} is not JSON ({error}); nothing was changed.", code="invalid_settings") from error
    settings = cast("dict[str, Any]", found if isinstance(found, dict) else {"hooks": None})
    hooks: Any = settings.get("hooks", {})
    if not isinstance(hooks, dict) or not all(
        isinstance(each, list) for each in cast("dict[str, Any]", hooks).values()
    ):
        raise Refused(
            f"The hooks in {name} are not in the form that the agent reads; nothing was changed.",
            code="invalid_settings",
        )
    return settings


def _without_ours(settings: dict[str, Any], agent: str) -> dict[str, Any]:
    kept: dict[str, list[Any]] = {}
    for event, groups in settings.get("hooks", {}).items():
        left = [group for group in groups if not _is_ours(group, agent)]
        if left or not groups:
            kept[event] = left
    others = {name: value for name, value in settings.items() if name != "hooks"}
    return {**others, "hooks": kept} if kept else others


def _is_ours(group: Any, agent: str) -> bool:
    text = json.dumps(group)
    return any(f" -m redraft hooks {act} {agent} " in text for act in ("begin", "end"))


def _dump(settings: dict[str, Any]) -> bytes:
    try:
        return (json.dumps(settings, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except ValueError as error:  # a number or a text that only some programs take for JSON
        raise Refused(f"The agent's settings cannot be written ({error}); nothing was changed.") from error
