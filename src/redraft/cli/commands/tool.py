"""`redraft tool`: any tool of the registry from the command line, with the answer that every other surface gives."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

from redraft.cli.command import Command, Invocation, add_yes
from redraft.cli.commands.propose import MODES
from redraft.cli.screen import BOLD, DIM, StyledText, escape
from redraft.config import PROFILES
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.tools.registry import Registry

__all__ = ["COMMANDS", "MODES", "PROFILES"]

FAILED = 1


def run_tool(call: Invocation) -> int:
    from redraft.tools.registry import load_registry

    arguments = call.arguments
    tools = load_registry().profile(arguments.profile)
    if arguments.list:
        _list_tools(call, tools)
        return 0
    if arguments.tool is None:
        raise Refused("Name a tool; `redraft tool --list` shows them.")
    try:
        call.screen.emit(_call_tool(call, tools))
    except RedraftError as error:
        call.screen.emit(error.as_dict())
        return FAILED
    return 0


def _call_tool(call: Invocation, tools: Registry) -> dict[str, Any]:
    from redraft.history.turns import agent_author
    from redraft.runtime import open_worker
    from redraft.tools.context import ToolContext

    arguments = call.arguments
    given = _parse_arguments(arguments.arguments)
    if "editors" in tools.get(arguments.tool).needs and (answer := _call_through_server(call, given)) is not None:
        return answer
    with ExitStack() as stack:
        workspace = stack.enter_context(call.workspace(mode=arguments.mode))
        author = agent_author(arguments.author)
        context = ToolContext(workspace, author, confirm=call.confirm, ask=_ask, active_tab=arguments.tab)
        context.find_worker = lambda path: stack.enter_context(open_worker(workspace, path))
        return tools.call(arguments.tool, given, context)


def _call_through_server(call: Invocation, given: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of the folder's server, where one runs: only it can reach the editors that are open in browsers."""
    from urllib.parse import urlencode

    from redraft.runtime import state_of
    from redraft.server.discovery import find_server

    state = state_of(call.folder)
    running = None if state is None else find_server(state)
    if running is None:
        return None
    arguments = call.arguments
    asked = {"mode": arguments.mode, "author": arguments.author, "tab": arguments.tab}
    query = {name: value for name, value in asked.items() if value is not None}
    agree = {"agree": "true"} if arguments.yes else {}
    return running.ask("POST", f"/api/tools/{arguments.tool}?{urlencode(query | agree)}", given)


def _parse_arguments(text: str) -> dict[str, Any]:
    from redraft.runtime import read_input

    try:
        found = json.loads(read_input("-").text if text == "-" else text)
    except ValueError as error:
        raise Refused(f"The arguments are not JSON: {error}.", field="arguments") from error
    except RecursionError as error:
        raise Refused("The arguments are nested too deeply.", field="arguments") from error
    if not isinstance(found, dict):
        raise Refused("The arguments must be a JSON object.", field="arguments")
    return cast("dict[str, Any]", found)


def _ask(question: str) -> str | None:
    """The person's answer, if one sits at the terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    sys.stderr.write(f"{escape(question)}\n> ")
    sys.stderr.flush()
    return sys.stdin.readline().rstrip("\n") or None


def _list_tools(call: Invocation, tools: Registry) -> None:
    screen = call.screen
    if screen.json:
        screen.emit({"profile": call.arguments.profile, "tools": [tool.as_json() for tool in tools.tools]})
        return
    for tool in tools.tools:
        first = tool.description.partition(". ")[0].rstrip(".")
        screen.line("  ", StyledText(f"{tool.name:<18}", BOLD), StyledText(f"{tool.risk:<9}", DIM), f"{first}.")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("tool", metavar="NAME", nargs="?", help="the tool to call")
    parser.add_argument(
        "arguments",
        metavar="ARGUMENTS",
        nargs="?",
        default="{}",
        help="its arguments as a JSON object; - reads standard input",
    )
    parser.add_argument("--list", action="store_true", help="list the tools instead; with --json, in full")
    parser.add_argument(
        "--profile", choices=PROFILES, default="all", help="only the tools of this profile (default: all)"
    )
    parser.add_argument("--mode", choices=MODES, help="when changes reach the disk (default: from the settings)")
    parser.add_argument("--author", metavar="NAME", default="agent", help="the caller's name (default: agent)")
    parser.add_argument("--tab", metavar="ID", help="the active tab, for calls that name neither tab nor path")
    add_yes(parser)


COMMANDS = {
    "tool": Command(
        "tool",
        "Call a tool, as an agent would",
        run_tool,
        configure,
        (
            "tool --list",
            """tool read_document --json '{"path": "story.md"}'""",
            """tool edit_text --json '{"path": "story.md", "old_text": "dark", "new_text": "black"}' --mode apply""",
        ),
        "Call a tool as an agent would, with its arguments as JSON. The answer is JSON on standard output; if the\n"
        "call fails, the error is printed there and the exit status is 1. What a call changes is an ordinary turn.",
    )
}
