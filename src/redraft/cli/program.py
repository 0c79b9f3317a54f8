"""The program: find the command, run it, and turn the outcome into an exit status.

Only the module of the one command is loaded. Options may stand before or after the command's words.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from redraft.cli.command import Invocation
from redraft.cli.screen import BOLD, Screen, StyledText
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redraft.cli.command import Command

# The module of each command, by what it is for, in the order shown by `--help`.
SECTIONS = {
    "Start": {
        "status": "commands.status",
        "open": "commands.open",
        "serve": "commands.open",
        "users add": "commands.users",
        "users list": "commands.users",
        "users remove": "commands.users",
        "settings": "commands.settings",
        "usage": "commands.usage",
        "figures": "commands.usage",
    },
    "Ask the agent": {
        "ask": "commands.ask",
        "chat": "commands.ask",
        "jobs": "commands.jobs",
        "models": "commands.models",
        "models add": "commands.models",
        "models test": "commands.models",
        "models use": "commands.models",
        "models remove": "commands.models",
        "macros": "commands.macros",
        "rules": "commands.macros",
    },
    "Bring your own agent": {
        "mcp": "commands.mcp",
        "acp": "commands.acp",
        "lsp": "commands.lsp",
        "run": "commands.run",
        "views list": "commands.run",
        "views take": "commands.run",
        "views remove": "commands.run",
        "hooks install": "commands.hooks",
        "hooks remove": "commands.hooks",
        "hooks begin": "commands.hooks",
        "hooks end": "commands.hooks",
        "propose": "commands.propose",
        "tool": "commands.tool",
    },
    "Review": {
        "diff": "commands.accept",
        "accept": "commands.accept",
        "reject": "commands.accept",
        "settle": "commands.settle",
        "split": "commands.split",
        "discard": "commands.discard",
        "comments list": "commands.comments",
        "comments add": "commands.comments",
        "comments reply": "commands.comments",
        "comments resolve": "commands.comments",
    },
    "Go back": {
        "turns": "commands.turns",
        "show": "commands.turns",
        "undo": "commands.undo",
        "redo": "commands.undo",
        "restore": "commands.undo",
        "rollback": "commands.undo",
        "trash list": "commands.gc",
        "trash restore": "commands.gc",
        "audit verify": "commands.gc",
        "audit list": "commands.gc",
        "gc": "commands.gc",
    },
    "Other formats": {
        "import": "commands.import_document",
        "export": "commands.export",
        "merge": "commands.merge",
        "rich positions": "commands.rich",
        "rich replace": "commands.rich",
    },
    "Conversations inside a document (agent-doc)": {
        "doc init": "doc.init",
        "doc run": "doc.run",
        "doc diff": "doc.init",
        "doc patch": "doc.write",
        "doc write": "doc.write",
        "doc take": "doc.write",
        "doc reset": "doc.init",
        "doc outline": "doc.outline",
        "doc history": "doc.commit",
        "doc commit": "doc.commit",
        "doc clean": "doc.commit",
        "doc trust": "doc.trust",
        "doc prompt": "doc.prompt",
        "doc skill": "doc.skill",
        "doc audit-docs": "doc.outline",
        "doc watch": "doc.watch",
        "doc start": "doc.route",
        "doc route": "doc.route",
        "doc claim": "doc.route",
        "doc focus": "doc.route",
        "doc layout": "doc.layout",
        "doc sync": "doc.layout",
        "doc resync": "doc.route",
        "doc log": "doc.log",
        "doc show": "doc.log",
        "doc blame": "doc.log",
        "doc undo": "doc.log",
        "doc read": "doc.log",
        "doc search": "doc.search",
        "doc rename": "doc.compact",
        "doc compact": "doc.compact",
        "doc doctor": "doc.compact",
        "doc upgrade": "doc.plugin",
        "doc plugin": "doc.plugin",
    },
}
MODULES = {words: module for section in SECTIONS.values() for words, module in section.items()}
# What the commands of a group are about.
ABOUT_GROUPS = {
    "users": "Who can use the folder's server",
    "views": "Private views, in which other programs work",
    "hooks": "What an agent in your own terminal does, as turns",
    "comments": "Comments on passages",
    "trash": "Deleted documents",
    "audit": "The audit log",
    "rich": "Positions in rich text",
    "doc": "Conversations with agents inside a document",
}
# `models` is a command of its own, and the first word of others.
FIRST_WORDS = {words.partition(" ")[0] for words in MODULES if " " in words}
COLUMN = max(map(len, MODULES)) + 2
LONG_SECTION = 20  # a section with more commands is one group, and has a page of its own
# What other programs call it.
MEANT = {
    "find": "tool search_documents",
    "history": "turns",
    "log": "turns",
    "search": "tool search_documents",
}
VALUED, FLAGS, END = "--folder", ("--json",), "--"
CLOSED_PIPE = 141  # as a program ends that the signal SIGPIPE stopped


def load_command(words: str) -> Command:
    """The command of that name, loaded."""
    return import_module(f"redraft.cli.{MODULES[words]}").COMMANDS[words]


def run(arguments: Sequence[str]) -> int:
    """Run a command line."""
    return report_failures(lambda screen: _run_command(arguments, screen), json="--json" in options(arguments))


def report_failures(act: Callable[[Screen], int], *, json: bool) -> int:
    """Run a function; every expected error becomes a message and the exit status of its code."""
    ensure_streams()
    screen = Screen.standard(json=json)
    try:
        try:
            return act(screen)
        except RedraftError as error:
            screen.report_failure(error)
            screen.finish()
            return error.exit_status
    except BrokenPipeError:
        screen.abandon()
        return CLOSED_PIPE
    except OSError as error:
        return _report_os_error(error, screen)


def ensure_streams() -> None:
    """Give a program that was started without a stream an empty one: no command has to think of that."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the program


def _report_os_error(error: OSError, screen: Screen) -> int:
    """Report an OS error that no package handled: in the state folder, or in the program's output, which has no file
    name."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        failure = RedraftError("The current folder no longer exists.")
        screen.report_failure(failure)
        screen.finish()
    elif error.filename is None:
        screen.abandon()
        failure = RedraftError(f"The output could not be written: {error.strerror}.")
        screen.remark(f"redraft: {failure.message}")
    else:
        failure = RedraftError(f"{error.filename}: {error.strerror}.")
        screen.report_failure(failure)
        screen.finish()
    return failure.exit_status


def _run_command(arguments: Sequence[str], screen: Screen) -> int:
    for argument in arguments:
        if not argument.isprintable() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise Refused(f"{argument!a} is not UTF-8 text.")
    if arguments and arguments[0] == "help":
        arguments = [*arguments[1:], "--help"]
    words, rest = split_command(arguments)
    if words is None:
        return _run_without_command(rest, screen)
    if words in ABOUT_GROUPS:
        return _run_group(words, rest, screen)
    chosen = load_command(words)
    parser = chosen.parser()
    if {"--help", "-h"}.intersection(options(rest)):
        screen.content(parser.format_help())
        return 0
    # argparse reads words on both sides of an option, or a `--` after which all are words, but not both.
    parse = parser.parse_args if END in rest else parser.parse_intermixed_args
    status = chosen.act(Invocation(parse(rest), screen))
    screen.finish()
    return status


def options(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments among which options may be: those before a `--`."""
    return arguments[: arguments.index(END)] if END in arguments else arguments


def split_command(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
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
            if len(words) > 1 or argument not in FIRST_WORDS:
                break
    rest += waiting
    return _find_command(words), rest


def _find_command(words: list[str]) -> str | None:
    name = " ".join(words)
    if not words or name in MODULES or name in ABOUT_GROUPS:
        return name or None
    if words[0] in ABOUT_GROUPS:
        raise _choose_one(words[0])
    from difflib import get_close_matches

    # `doc` has commands of the same name that do something else: it is named where nothing else is near.
    meant = MEANT.get(name)
    own = [known for known in MODULES if not known.startswith("doc ")]
    near = [meant] if meant else get_close_matches(name, own, n=1) or get_close_matches(name, MODULES, n=1)
    hint = f"Did you mean `redraft {near[0]}`?" if near else "`redraft --help` lists them."
    raise Refused(f"There is no command {name!r}. {hint}")


def _run_without_command(options: list[str], screen: Screen) -> int:
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
    _print_overview(screen)
    return 0


def _run_group(group: str, options: list[str], screen: Screen) -> int:
    """The call of a group's name alone, as in `redraft trash`: its help, or which commands there are."""
    if not {"--help", "-h"}.intersection(options):
        raise _choose_one(group)
    screen.line(f"usage: redraft {group} COMMAND [--folder F] [--json] ...")
    screen.line()
    screen.line(f"{ABOUT_GROUPS[group]}.")
    screen.line()
    _list_commands(_commands_of(group), screen)
    screen.line()
    screen.line(f"For help on a command: `redraft {group} COMMAND --help`.")
    return 0


def _commands_of(group: str) -> list[str]:
    return [words for words in MODULES if words.startswith(f"{group} ")]


def _choose_one(group: str) -> Refused:
    choices = ", ".join(f"`{words}`" for words in _commands_of(group))
    return Refused(f"Choose one: {choices}. `redraft {group} --help` says what they do.")


def _print_overview(screen: Screen) -> None:
    screen.line("usage: redraft COMMAND [--folder F] [--json] ...")
    screen.line()
    screen.line("A workspace for documents that people and AI agents write together.")
    for title, commands in SECTIONS.items():
        screen.line()
        screen.line(StyledText(title, BOLD))
        if len(commands) > LONG_SECTION:
            (group,) = {words.split()[0] for words in commands}
            screen.line(f"  {f'{group} ...':<{COLUMN}}{ABOUT_GROUPS[group]}: `redraft {group} --help`")
        else:
            _list_commands(commands, screen)
    screen.line()
    screen.line("For help on a command: `redraft COMMAND --help`.")


def _list_commands(commands: Iterable[str], screen: Screen) -> None:
    for words in commands:
        screen.line("  ", StyledText(f"{words:<{COLUMN}}", BOLD), load_command(words).summary)
