"""`redraft macros` and `rules`: list and delete saved macros and permission rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation
from redraft.cli.screen import BOLD, CYAN, DIM, StyledText
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser


def macros(call: Invocation) -> int:
    from redraft.agent.memory.macros import Macros

    name = call.arguments.name
    with call.workspace() as workspace:
        kept = Macros(workspace.state)
        if call.arguments.forget and name is None:
            raise Refused("Name the macro: redraft macros NAME --forget.")
        if call.arguments.forget:
            kept.remove(name)
        elif name is not None:
            kept.get(name)
        shown = [each for each in kept.shapes() if call.arguments.forget or name in (None, each["name"])]
        if call.screen.json:
            call.emit({"macros": shown})
        else:
            _print_macros(call, shown)
    return 0


def _print_macros(call: Invocation, shown: list[dict[str, Any]]) -> None:
    for macro in shown:
        values = "".join(f" --value {value}=..." for value in macro["values"])
        call.screen.line(
            StyledText(f"{macro['name']:<20}", BOLD),
            StyledText(", ".join(each["tool"] for each in macro["calls"]), DIM),
            "" if macro["saved"] else StyledText("  (built in)", DIM),
        )
        call.screen.line("  ", StyledText(f"{call.command_line('ask', '--macro', macro['name'])}{values}", CYAN))


def rules(call: Invocation) -> int:
    from redraft.agent.memory.permissions import PermissionRules

    arguments = call.arguments
    if arguments.forget != (arguments.path is not None):
        raise Refused("Name the rule by its tool or action and its path: redraft rules TOOL PATH --forget.")
    with call.workspace() as workspace:
        kept = PermissionRules(workspace.state)
        if arguments.forget:
            kept.forget(arguments.tool, arguments.path)
        found = [rule.as_dict() for rule in kept.all() if arguments.forget or arguments.tool in (None, rule.tool)]
        if call.screen.json:
            call.emit({"rules": found})
            return 0
        for rule in found:
            call.screen.line(StyledText(f"{rule['verdict']:<6}", BOLD), f"{rule['tool']:<20}", rule["path"])
        if not found:
            call.screen.line("There are no rules: the agent asks as its mode requires.")
    return 0


def configure_macros(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="show only this macro")
    parser.add_argument("--forget", action="store_true", help="delete this macro, which you saved")


def configure_rules(parser: ArgumentParser) -> None:
    parser.add_argument("tool", metavar="TOOL", nargs="?", help="only the rules for this tool or action")
    parser.add_argument("path", metavar="PATH", nargs="?", help="with --forget: the pattern of the rule")
    parser.add_argument("--forget", action="store_true", help="delete the rule for this tool or action and path")


COMMANDS = {
    "macros": Command(
        "macros",
        "List macros, or delete one",
        macros,
        configure_macros,
        ("macros", "macros daily-note", "macros 'tidy up' --forget"),
        "The macros of this folder, each with the command that runs it. `redraft jobs JOB --save NAME` saves what\n"
        "a job did as a macro. Some are built in.",
    ),
    "rules": Command(
        "rules",
        "List the agent's permission rules, or delete one",
        rules,
        configure_rules,
        ("rules", "rules destroy 'drafts/*' --forget"),
        "Your permanent answers to the agent in this folder: allow, ask or deny, by tool or action and path. The\n"
        "first rule that matches applies. No rule allows more than the mode does.",
    ),
}
