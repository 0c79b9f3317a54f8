"""`redraft acp`: let an editor drive the built-in agent over the Agent Client Protocol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

STDIN, STDOUT, STDERR = 0, 1, 2
MODES = ("propose", "apply", "read")


def run_acp(call: Invocation) -> int:
    import asyncio

    arguments = call.arguments
    folder = arguments.where or (None if arguments.folder == "." else arguments.folder)
    if folder is not None and not os.path.isdir(folder):
        raise Refused(f"The folder {folder} does not exist.", code="folder_not_found", folder=folder)
    from redraft.acp_server import serve

    # Nothing but protocol may reach the editor, so whatever else is printed goes to the standard error.
    sink = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    asyncio.run(serve(STDIN, sink, folder=folder, mode=arguments.mode, model=arguments.model or ""))
    return 0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "where", metavar="FOLDER", nargs="?", help="the folder to work in (default: the one that the editor has open)"
    )
    parser.add_argument("--mode", choices=MODES, help="the mode that a session starts in (default: from the settings)")
    parser.add_argument(
        "--model", metavar="M", help="the model that a session starts with (default: from the settings)"
    )


COMMANDS = {
    "acp": Command(
        "acp",
        "Let an editor drive the agent, over the Agent Client Protocol",
        run_acp,
        configure,
        ("acp", "acp ~/notes", "acp --mode apply"),
        "Act as the agent in an editor such as Zed, a JetBrains IDE, Neovim, Emacs or Obsidian. The editor starts\n"
        "this command, which speaks the Agent Client Protocol on stdin and stdout and ends when stdin closes.\n"
        "In the mode `propose` changes wait for `redraft accept`; in `apply` they are written, and can be undone.",
    )
}
