"""`skill`: the skill for Claude Code, installed or compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.cli.doc.context import say

if TYPE_CHECKING:
    from argparse import ArgumentParser

NOT_CURRENT = 1


def skill(call: Invocation) -> int:
    from redraft.sessions.installation import SKILL_PATH, install_skill, skill_status

    if call.arguments.action == "install":
        new = install_skill(call.folder)
        say(call, f"Installed {SKILL_PATH}" if new else f"{SKILL_PATH} is up to date", path=SKILL_PATH, written=new)
        return 0
    found = skill_status(call.folder)
    hint = "" if found == "up to date" else "; run `agent-doc skill install`"
    say(call, f"{SKILL_PATH} is {found}{hint}", path=SKILL_PATH, state=found)
    return 0 if found == "up to date" else NOT_CURRENT


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", choices=("install", "check"), help="install the skill, or check the installed one"
    )


COMMANDS = {
    "doc skill": Command(
        "doc skill",
        "Install the skill for Claude Code, or check it",
        skill,
        configure,
        ("doc skill install", "doc skill check"),
        "install writes .claude/skills/agent-doc/SKILL.md; check exits with 1 if it is outdated or missing.",
    ),
}
