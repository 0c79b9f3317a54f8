"""`skill`: the skill for Claude Code, installed or compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command
from redraft.cli.doc.desk import say

if TYPE_CHECKING:
    from argparse import ArgumentParser

NOT_CURRENT = 1


def skill(call: Call) -> int:
    from redraft.sessions.skill import PLACE, install, standing

    if call.arguments.action == "install":
        new = install(call.folder)
        say(call, f"Installed {PLACE}" if new else f"{PLACE} is up to date", path=PLACE, written=new)
        return 0
    found = standing(call.folder)
    hint = "" if found == "up to date" else "; `agent-doc skill install` brings it"
    say(call, f"{PLACE} is {found}{hint}", path=PLACE, state=found)
    return 0 if found == "up to date" else NOT_CURRENT


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", choices=("install", "check"), help="install the skill, or check what is installed"
    )


COMMANDS = {
    "doc skill": Command(
        "doc skill",
        "Install the skill for Claude Code, or check it",
        skill,
        configure,
        ("doc skill install", "doc skill check"),
        "install writes .claude/skills/agent-doc/SKILL.md; check exits with 1 where it is outdated or missing.",
    ),
}
