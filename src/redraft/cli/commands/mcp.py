"""`redraft mcp`: serve the tools to external agents over the Model Context Protocol."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.cli.commands.tool import MODES, PROFILES
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.mcp_server import Endpoint

FORMS = ("structured", "text", "both")
ALONE = "apply"  # the mode of an agent that works without the folder's server


def run_mcp(call: Invocation) -> int:
    arguments = call.arguments
    call.arguments.folder = arguments.where or arguments.folder
    if not arguments.http and (arguments.port or arguments.token_file):
        raise Refused("--port and --token-file need --http.")
    with ExitStack() as stack:
        if arguments.http:
            _serve_http(call, _open_endpoint(call, stack, arguments.mode or ALONE))
        elif not _serve_stdio(call, stack):
            call.screen.abandon()
    return 0


def _open_endpoint(call: Invocation, stack: ExitStack, mode: str | None) -> Endpoint:
    """The folder, to be served by this process. `mode` None stands for that of the settings."""
    from redraft.mcp_server import Endpoint
    from redraft.tools.registry import load_registry

    arguments = call.arguments
    tools = load_registry().profile(arguments.profile)
    workspace = stack.enter_context(call.workspace(mode=mode))
    return stack.enter_context(Endpoint(workspace, tools, form=arguments.answers, most=arguments.mode))


def _serve_stdio(call: Invocation, stack: ExitStack) -> bool:
    """Serve on stdin and stdout, through the folder's server if one is running."""
    from redraft.runtime import state_of
    from redraft.server.discovery import find_server

    streams = sys.stdin.buffer, sys.stdout.buffer
    state = state_of(call.folder)
    running = None if state is None else find_server(state)
    if state is None or running is None:
        from redraft.mcp_server import serve_stdio

        return serve_stdio(_open_endpoint(call, stack, call.arguments.mode or ALONE), *streams)
    from redraft.mcp_server.transports.stdio import serve_streams
    from redraft.server.mcp_proxy import McpProxy, RemoteSession

    asked = {name: getattr(call.arguments, name) for name in ("profile", "answers", "mode")}
    remote = RemoteSession(state, running, {name: value for name, value in asked.items() if value is not None})
    return serve_streams(lambda emit: McpProxy(emit, remote, lambda: _open_endpoint(call, stack, None)), *streams)


def _serve_http(call: Invocation, endpoint: Endpoint) -> None:
    from redraft.mcp_server.transports.http_server import McpHttpServer, check_token, load_token, new_token
    from redraft.runtime import mcp_token

    arguments = call.arguments
    if arguments.token_file:
        token, told = load_token(arguments.token_file), f"the one in {arguments.token_file}"
    elif (chosen := mcp_token()) is not None:
        token, told = check_token(chosen, "REDRAFT_MCP_TOKEN"), "the one in REDRAFT_MCP_TOKEN"
    else:
        token = told = new_token()
    with McpHttpServer(endpoint, token, port=arguments.port) as listener:

        def ready() -> None:
            remark = call.screen.remark
            remark(f"Serving {call.folder} over MCP until Ctrl-C. Client settings:")
            remark(f"  url:     {listener.url}")
            remark(f"  header:  Authorization: Bearer {told}" if told == token else f"  token:   {told}")

        listener.serve(ready)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("where", metavar="FOLDER", nargs="?", help="the folder to serve (default: --folder)")
    parser.add_argument(
        "--profile", choices=PROFILES, default="default", help="the set of tools to offer (default: default)"
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="when changes reach the disk (default: apply, or what the folder's running server uses)",
    )
    parser.add_argument(
        "--answers", choices=FORMS, help="the format of answers (default: what the client is known to read)"
    )
    parser.add_argument(
        "--http", action="store_true", help="serve over HTTP on this machine, to clients with the token"
    )
    parser.add_argument("--port", metavar="N", type=int, default=0, help="the port for --http (default: a free one)")
    parser.add_argument(
        "--token-file", metavar="FILE", help="keep the token for --http in this file, created if missing"
    )


COMMANDS = {
    "mcp": Command(
        "mcp",
        "Serve the tools to an agent over MCP, on stdio or HTTP",
        run_mcp,
        configure,
        ("mcp notes", "mcp notes --profile workspace", "mcp notes --mode propose", "mcp notes --http --port 7700"),
        "Let an agent such as Claude Code or Codex work in a folder. The agent starts this command, which\n"
        "speaks the Model Context Protocol on stdin and stdout and ends when they close. In the mode `apply` each\n"
        "change is written at once, as a turn that can be undone; in `propose` it waits for `redraft accept`.\n"
        "With `--http` it is a local server for any number of clients that have the token.",
    )
}
