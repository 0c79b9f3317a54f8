"""The program `agent-doc`: the commands of `redraft doc ...`, without the options that every other command has."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from redraft.cli.command import Invocation, Parser
from redraft.cli.program import CLOSED_PIPE, MODULES, ensure_streams, load_command
from redraft.cli.screen import BOLD, Screen, StyledText
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP = "doc "
NAMES = [words.removeprefix(GROUP) for words in MODULES if words.startswith(GROUP)]
# The one command of the specification that can answer in JSON; `prompt` always does.
WITH_JSON = "outline"


def run(arguments: Sequence[str]) -> int:
    """Run a command line; every expected failure becomes a message and the exit status of its code."""
    ensure_streams()
    screen = Screen.standard(json=False)
    try:
        try:
            return _run_command(arguments, screen)
        except RedraftError as error:
            screen.finish()
            screen.remark(f"agent-doc: {error.message}")
            return error.exit_status
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            screen.remark(f"agent-doc: {error.filename or 'the output'}: {error.strerror}.")
            return RedraftError("").exit_status
    except BrokenPipeError:
        screen.abandon()
        return CLOSED_PIPE


def _run_command(arguments: Sequence[str], screen: Screen) -> int:
    name = arguments[0] if arguments else "--help"
    if name in ("--help", "-h", "help"):
        _print_overview(screen)
        return 0
    if name not in NAMES:
        raise Refused(f"There is no command {name!r}. `agent-doc --help` lists them.")
    parser = build_parser(name)
    given = list(arguments[1:])
    words = given[: given.index("--")] if "--" in given else given
    if {"--help", "-h"}.intersection(words):
        screen.content(parser.format_help())
        return 0
    parse = parser.parse_args if "--" in given else parser.parse_intermixed_args
    status = load_command(GROUP + name).act(Invocation(parse(given), screen))
    screen.finish()
    return status


def build_parser(name: str) -> Parser:
    """The parser of a command, under the name that it has here."""
    chosen = load_command(GROUP + name)
    examples = "\n".join(f"  agent-doc {example.removeprefix(GROUP)}" for example in chosen.examples)
    parser = Parser(
        prog=f"agent-doc {name}",
        description=chosen.about or f"{chosen.summary}.",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    chosen.configure(parser)
    if name == WITH_JSON:
        parser.add_argument("--json", action="store_true", help="print a JSON array")
    parser.set_defaults(folder=".", **({} if name == WITH_JSON else {"json": False}))
    return parser


def _print_overview(screen: Screen) -> None:
    screen.line("usage: agent-doc COMMAND ...")
    screen.line()
    screen.line("Conversations with agents inside a document.")
    screen.line()
    for name in NAMES:
        screen.line("  ", StyledText(f"{name:<12}", BOLD), load_command(GROUP + name).summary)
    screen.line()
    screen.line("For help on a command: `agent-doc COMMAND --help`.")
