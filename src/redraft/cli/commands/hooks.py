"""`redraft hooks`: let agents that work in the folder by their own tools tell Redraft of their prompts."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, cast

from redraft.cli.command import Command, Invocation
from redraft.cli.screen import BOLD, CYAN, StyledText
from redraft.errors import RedraftError
from redraft.sessions.agent_hooks import HOOKED_AGENTS, install_hooks, remove_hooks

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable

# Status 2 of a hook keeps some agents from working on the prompt.
FAILED = 1
MOST_INPUT = 1 << 20


def install(call: Invocation) -> int:
    agent = HOOKED_AGENTS[call.arguments.agent]
    with call.workspace():  # refuses what is not a folder for documents
        new = install_hooks(call.folder, call.arguments.agent)
    if call.screen.json:
        call.emit({"agent": agent.name, "path": agent.file, "written": new})
        return 0
    screen = call.screen
    screen.line(StyledText(agent.file, BOLD), " now has the hooks." if new else " already has the hooks.")
    screen.line(f"From its next prompt on, what {agent.name} does in this folder is a turn of its own.")
    if agent.advice:
        screen.line(agent.advice)
    screen.line("Undo a prompt: ", StyledText(call.command_line("undo"), CYAN))
    return 0


def remove(call: Invocation) -> int:
    agent = HOOKED_AGENTS[call.arguments.agent]
    removed = remove_hooks(call.folder, call.arguments.agent)
    if call.screen.json:
        call.emit({"agent": agent.name, "path": agent.file, "removed": removed})
    else:
        call.screen.line(
            StyledText(agent.file, BOLD), " no longer has the hooks." if removed else " has none of these hooks."
        )
    return 0


def begin(call: Invocation) -> int:
    def act() -> None:
        with call.workspace() as workspace:
            workspace.outside.prompts.begin(HOOKED_AGENTS[call.arguments.agent].name, _read_prompt())

    return _quietly(act)


def end(call: Invocation) -> int:
    def act() -> None:
        _read_prompt()
        with call.workspace() as workspace:
            workspace.outside.prompts.end(HOOKED_AGENTS[call.arguments.agent].name)

    return _quietly(act)


def _quietly(act: Callable[[], None]) -> int:
    """Agents take what a hook prints for something to tell the model; an error must not stop their work."""
    try:
        act()
    except RedraftError as error:
        sys.stderr.write(f"redraft: {error.message}\n")
        return FAILED
    return 0


def _read_prompt() -> str:
    """What the agent was asked for, from the hook's input; empty if it does not say."""
    try:
        found: Any = json.loads(sys.stdin.buffer.read(MOST_INPUT))
    except ValueError:
        return ""
    prompt: Any = cast("dict[str, Any]", found).get("prompt") if isinstance(found, dict) else None
    return prompt if isinstance(prompt, str) else ""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", choices=tuple(HOOKED_AGENTS), help=", ".join(HOOKED_AGENTS))


COMMANDS = {
    "hooks install": Command(
        "hooks install",
        "Record what an agent does with its own tools as turns",
        install,
        configure,
        ("hooks install claude", "hooks install codex --folder ~/notes"),
        "Add hooks to the agent's settings in this folder. From then on, whatever the agent writes here with its own\n"
        "tools or with commands is a turn under its name, with your request as title, and `redraft undo` undoes\n"
        "the work of one prompt. Agents: claude, codex, gemini, opencode.",
    ),
    "hooks remove": Command(
        "hooks remove",
        "Remove these hooks",
        remove,
        configure,
        ("hooks remove claude",),
        "Remove Redraft's hooks from the agent's settings in this folder; everything else there stays.",
    ),
    "hooks begin": Command(
        "hooks begin",
        "Called by a hook: a prompt begins",
        begin,
        configure,
        ('hooks begin claude <<< \'{"prompt": "Fix the typos"}\'',),
        "Remember all documents as they are, and record what is written from now on as this agent's. The prompt comes\n"
        "as JSON on standard input.",
    ),
    "hooks end": Command(
        "hooks end",
        "Called by a hook: a prompt is done",
        end,
        configure,
        ("hooks end claude < /dev/null",),
        "Record what the agent did for its prompt. Later changes count as another program's again.",
    ),
}
