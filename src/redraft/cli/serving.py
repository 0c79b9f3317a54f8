"""`redraft mcp`: the toolset for agents outside, over the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command
from redraft.cli.tooling import MODES, PROFILES

if TYPE_CHECKING:
    from argparse import ArgumentParser


def run_mcp(call: Call) -> int:
    from redraft.mcp_server import serve
    from redraft.tools.catalogue import registry

    arguments = call.arguments
    call.arguments.folder = arguments.where or arguments.folder
    with call.workspace(mode=arguments.mode) as workspace:
        serve(workspace, registry().profile(arguments.profile), sys.stdin.buffer, sys.stdout.buffer)
    return 0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("where", metavar="FOLDER", nargs="?", help="the folder to serve (default: --folder)")
    parser.add_argument(
        "--profile", choices=PROFILES, default="default", help="which tools are offered (default: default)"
    )
    parser.add_argument("--mode", choices=MODES, default="apply", help="when the disk is written (default: apply)")


COMMANDS = {
    "mcp": Command(
        "mcp",
        "Serve the tools to an agent over MCP, on the standard streams",
        run_mcp,
        configure,
        ("mcp notes", "mcp notes --profile workspace", "mcp notes --mode propose"),
        "Let an agent program (Claude Code, Codex and the like) work in a folder. It is started by that program,\n"
        "speaks the Model Context Protocol on its standard streams, and ends with them. In the mode `apply` each\n"
        "change is written at once, as a turn that can be undone; with `--mode propose` it waits for `redraft accept`.",
    )
}
