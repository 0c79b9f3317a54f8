"""`redraft open` and `redraft serve`: the folder's server, with the browser or without."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize
from redraft.errors import Busy

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.server.discovery import RunningServer
    from redraft.server.http_server import ListenAddress
    from redraft.workspace.workspace import Workspace

LOOPBACK = "127.0.0.1"


def open_folder(call: Invocation) -> int:
    from redraft.server.http_server import ListenAddress

    return _serve(call, ListenAddress(port=call.arguments.port), browser=not call.arguments.no_browser)


def serve_folder(call: Invocation) -> int:
    from redraft.server.http_server import ListenAddress

    arguments = call.arguments
    return _serve(call, ListenAddress(arguments.host, arguments.port, arguments.public), browser=False)


def _serve(call: Invocation, place: ListenAddress, *, browser: bool) -> int:
    from redraft.server.discovery import is_running
    from redraft.server.http_server import serve

    call.arguments.folder, document = _folder_and_document(call.arguments.where or call.arguments.folder)

    def ready(running: RunningServer, path: str) -> None:
        path += document
        _print_address(call, running, path, place)
        if browser:
            _open_browser(call, running.url + path)

    with call.workspace() as workspace:
        try:
            serve(workspace, place, ready)
        except Busy:
            if not is_running(workspace.state):
                raise
            return _join_running(call, workspace, document, browser=browser)
        _report_unsaved(call, workspace)
    return 0


def _folder_and_document(where: str) -> tuple[str, str]:
    """The folder to serve, and what to add to the app's address to open a document in it. A file's folder is the
    nearest one above it that was opened before, else the one it is in."""
    from urllib.parse import quote

    if not os.path.isfile(where):
        return where, ""
    file = os.path.abspath(where)
    own = folder = os.path.dirname(file)
    while not os.path.exists(os.path.join(folder, ".redraft", "id")):
        above = os.path.dirname(folder)
        if above == folder:
            folder = own
            break
        folder = above
    return folder, f"#open={quote(os.path.relpath(file, folder))}"


def _print_address(call: Invocation, running: RunningServer, path: str, place: ListenAddress) -> None:
    if call.screen.json:
        call.screen.emit({"url": running.url, "enter": running.url + path, "port": running.port, "pid": running.pid})
        call.screen.finish()
        return
    remark = call.screen.remark
    remark(f"Serving {call.folder} at {running.url} until Ctrl+C. Open this link, which works once:")
    remark(f"  {running.url}{path}")
    if place.for_team:
        remark("Others sign in there with the token that `redraft users add` printed.")


def _join_running(call: Invocation, workspace: Workspace, document: str, *, browser: bool) -> int:
    """The folder is already being served: sign the browser in there."""
    from redraft.server.discovery import find_server

    running = find_server(workspace.state)
    if running is None:
        raise Busy("The server of this folder has just stopped; try again.")
    path = running.ask("POST", "/api/visit")["path"] + document
    if call.screen.json:
        call.screen.emit({"url": running.url, "enter": running.url + path, "port": running.port, "pid": running.pid})
    else:
        call.screen.remark(f"{call.folder} is already being served at {running.url}. Open this link, which works once:")
        call.screen.remark(f"  {running.url}{path}")
    if browser:
        _open_browser(call, running.url + path)
    return 0


def _open_browser(call: Invocation, url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        call.screen.remark("Could not open a browser: open the address above yourself.")


def _report_unsaved(call: Invocation, workspace: Workspace) -> None:
    unsaved = [draft.key for draft in workspace.drafts() if draft.dirty]
    if unsaved and not call.screen.json:
        call.screen.remark(f"Stopped. {pluralize(len(unsaved), 'document')} with unsaved typing, which is kept:")
        for path in unsaved:
            call.screen.remark(f"  {path}")


def port_number(text: str) -> int:
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) < 65536):
        raise ArgumentTypeError(f"{text!r} is not a port: use a number from 0 to 65535")
    return int(text)


def configure_open(parser: ArgumentParser) -> None:
    parser.add_argument("where", metavar="WHERE", nargs="?", help="the folder, or a file in it (default: --folder)")
    parser.add_argument("--port", metavar="N", type=port_number, default=0, help="the port (default: a free one)")
    parser.add_argument("--no-browser", action="store_true", help="print the address, do not open a browser")


def configure_serve(parser: ArgumentParser) -> None:
    configure_open(parser)
    parser.add_argument(
        "--host", metavar="H", default=LOOPBACK, help="the address to listen on; access from other machines needs users"
    )
    parser.add_argument("--public", metavar="URL", help="its public address, such as https://redraft.example.org")


COMMANDS = {
    "open": Command(
        "open",
        "Open a folder in the browser",
        open_folder,
        configure_open,
        ("open", "open notes", "open notes/chapter-1.md"),
        "Serve a folder to your browser, on this machine only, until Ctrl+C. The browser signs in with a link\n"
        "that works once. If the folder is already being served, this opens it again. Stopping saves nothing and\n"
        "loses nothing: your unsaved typing and the agent's jobs are kept.",
    ),
    "serve": Command(
        "serve",
        "Serve a folder over HTTP, to this machine or a team",
        serve_folder,
        configure_serve,
        ("serve notes --port 7700", "serve notes --host 0.0.0.0 --port 7700 --public https://redraft.example.org"),
        "Like `redraft open`, without opening a browser. For a team, give the address to listen on, add people with\n"
        "`redraft users add`, and put a TLS proxy in front; see docs/server.md.",
    ),
}
