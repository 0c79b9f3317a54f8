"""The program: finds the command that is meant, runs it, and turns whatever happens into an exit status.

Only the module of the one command is loaded. Options may stand before or after the command's words.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from redraft.cli.command import Call
from redraft.cli.screen import BOLD, Screen, Styled
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.cli.command import Command

# Where each command lives, in the order in which a newcomer meets them.
MODULES = {
    "status": "overview",
    "open": "opening",
    "serve": "opening",
    "users add": "admitting",
    "users list": "admitting",
    "users remove": "admitting",
    "ask": "asking",
    "chat": "asking",
    "jobs": "jobbing",
    "macros": "remembering",
    "rules": "remembering",
    "models": "spending",
    "usage": "spending",
    "figures": "spending",
    "worker": "working",
    "eval": "evaluating",
    "propose": "proposing",
    "tool": "tooling",
    "mcp": "serving",
    "diff": "deciding",
    "accept": "deciding",
    "reject": "deciding",
    "settle": "settling",
    "split": "splitting",
    "turns": "past",
    "show": "past",
    "undo": "taking_back",
    "redo": "taking_back",
    "restore": "taking_back",
    "rollback": "taking_back",
    "trash list": "keeping",
    "trash restore": "keeping",
    "audit verify": "keeping",
    "audit list": "keeping",
    "gc": "keeping",
    "settings": "preferring",
    "merge": "merging",
    "export": "exporting",
    "rich positions": "rich",
    "rich replace": "rich",
    "doc init": "doc.beginning",
    "doc run": "doc.talking",
    "doc diff": "doc.beginning",
    "doc patch": "doc.writing",
    "doc write": "doc.writing",
    "doc reset": "doc.beginning",
    "doc outline": "doc.looking",
    "doc history": "doc.committing",
    "doc commit": "doc.committing",
    "doc clean": "doc.committing",
    "doc trust": "doc.trusting",
    "doc prompt": "doc.prompting",
    "doc skill": "doc.skill",
    "doc audit-docs": "doc.looking",
    "doc watch": "doc.watching",
    "doc start": "doc.routing",
    "doc route": "doc.routing",
    "doc claim": "doc.routing",
    "doc focus": "doc.routing",
    "doc layout": "doc.arranging",
    "doc sync": "doc.arranging",
    "doc resync": "doc.routing",
    "doc log": "doc.remembering",
    "doc show": "doc.remembering",
    "doc blame": "doc.remembering",
    "doc undo": "doc.remembering",
    "doc read": "doc.remembering",
    "doc search": "doc.searching",
    "doc rename": "doc.keeping",
    "doc compact": "doc.keeping",
    "doc doctor": "doc.keeping",
    "doc upgrade": "doc.installing",
    "doc plugin": "doc.installing",
}
GROUPS = {words.split()[0] for words in MODULES if " " in words}
VALUED, FLAGS, END = "--folder", ("--json",), "--"
CLOSED_PIPE = 141  # as a program ends that the signal SIGPIPE stopped


def command(words: str) -> Command:
    """The command of that name, loaded."""
    return import_module(f"redraft.cli.{MODULES[words]}").COMMANDS[words]


def run(arguments: Sequence[str]) -> int:
    """Run a command line; every expected failure becomes a message and the exit status of its code."""
    with_streams()
    screen = Screen.standard(json="--json" in options(arguments))
    try:
        try:
            return _carried_out(arguments, screen)
        except RedraftError as error:
            screen.failure(error)
            screen.finish()
            return error.exit_status
    except BrokenPipeError:
        screen.abandon()
        return CLOSED_PIPE
    except OSError as error:
        return _told(error, screen)


def with_streams() -> None:
    """Give a program that was started without a stream an empty one: no command has to think of that."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the program


def _told(error: OSError, screen: Screen) -> int:
    """A failure that no room explained: of the state's own folder, or of the program's output, which has no name."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        failure = RedraftError("The folder that this command was started in is gone.")
        screen.failure(failure)
        screen.finish()
    elif error.filename is None:
        screen.abandon()
        failure = RedraftError(f"The output could not be written: {error.strerror}.")
        screen.remark(f"redraft: {failure.message}")
    else:
        failure = RedraftError(f"{error.filename}: {error.strerror}.")
        screen.failure(failure)
        screen.finish()
    return failure.exit_status


def _carried_out(arguments: Sequence[str], screen: Screen) -> int:
    for argument in arguments:
        if not argument.isprintable() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise Refused(f"{argument!a} is not UTF-8 text.")
    words, rest = split(arguments)
    if words is None:
        return _general(rest, screen)
    chosen = command(words)
    parser = chosen.parser()
    if {"--help", "-h"}.intersection(options(rest)):
        screen.content(parser.format_help())
        return 0
    # argparse reads words on both sides of an option, or a `--` after which all are words, but not both.
    parse = parser.parse_args if END in rest else parser.parse_intermixed_args
    status = chosen.act(Call(parse(rest), screen))
    screen.finish()
    return status


def options(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments among which options may be: those before a `--`."""
    return arguments[: arguments.index(END)] if END in arguments else arguments


def split(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The command's words (None where there is none) and everything else, in order."""
    words: list[str] = []
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == VALUED:
            rest += [argument, *(value for value in (next(waiting, None),) if value is not None)]
        elif argument in FLAGS or argument.startswith("-"):
            rest.append(argument)
        else:
            words.append(argument)
            if len(words) > 1 or argument not in GROUPS:
                break
    rest += waiting
    return _known(words), rest


def _known(words: list[str]) -> str | None:
    name = " ".join(words)
    if not words or name in MODULES:
        return name or None
    if words[0] in GROUPS:
        choices = ", ".join(f"`{known}`" for known in MODULES if known.startswith(words[0] + " "))
        raise Refused(f"Say which: {choices}.")
    from difflib import get_close_matches

    near = get_close_matches(name, MODULES, n=1)
    hint = f"Did you mean `redraft {near[0]}`?" if near else "`redraft --help` lists them."
    raise Refused(f"There is no command {name!r}. {hint}")


def _general(options: list[str], screen: Screen) -> int:
    """The call without a command: help, the version, or a wrong option."""
    if "--version" in options:
        from redraft import __version__

        if screen.json:
            screen.emit({"version": __version__})
        else:
            screen.line(f"redraft {__version__}")
        return 0
    unknown = [option for option in options if option.startswith("-") and option not in ("--help", "-h", *FLAGS)]
    if unknown and unknown[0] != VALUED and not unknown[0].startswith(VALUED + "="):
        raise Refused(f"Unrecognized argument: {unknown[0]}. See `redraft --help`.")
    _overview(screen)
    return 0


def _overview(screen: Screen) -> None:
    screen.line("usage: redraft COMMAND [--folder F] [--json] ...")
    screen.line()
    screen.line("A workspace for documents that people and AI agents write together.")
    screen.line()
    for words in MODULES:
        screen.line("  ", Styled(f"{words:<15}", BOLD), command(words).summary)
    screen.line()
    screen.line("Every command explains itself: `redraft COMMAND --help`.")
