"""`upgrade` and `plugin`: a newer version of this program, and its extension for editors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft import __version__
from redraft.cli.command import Command, Invocation
from redraft.cli.doc.context import say
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

NONE_YET = "There is no plugin for JetBrains yet. Use agent-doc beside it: `agent-doc route FILE` submits a document."


def upgrade(call: Invocation) -> int:
    from redraft.sessions.installation import install_version, newer_version

    newer = newer_version()
    if newer is None:
        say(call, f"agent-doc {__version__} is the latest version.", version=__version__, upgraded=False)
        return 0
    install_version(newer)
    say(call, f"Upgraded from {__version__} to {newer}.", version=newer, upgraded=True)
    return 0


def plugin(call: Invocation) -> int:
    from redraft.sessions.installation import find_editor, install_extension, read_installed_version

    arguments = call.arguments
    place = find_editor(os.path.expanduser("~"), os.environ)
    known = read_installed_version(place)
    if arguments.action == "list":
        standing = "not installed" if known is None else f"{known} installed, {__version__} available"
        if call.screen.json:
            call.screen.emit({"vscode": {"installed": known, "available": __version__}, "jetbrains": None})
        else:
            call.screen.line(f"vscode     {standing}")
            call.screen.line("jetbrains  not available yet")
        return 0
    if arguments.editor is None:
        raise Refused("Name the editor: vscode.")
    if arguments.editor == "jetbrains":
        raise Refused(NONE_YET, code="not_found")
    if arguments.action == "update" and known == __version__:
        say(call, f"The extension {known} is up to date.", version=known, where=None)
        return 0
    if arguments.action == "update" and known is None and place.folder is not None:
        raise Refused(
            "The extension is not installed; install it with `agent-doc plugin install vscode`.", code="not_found"
        )
    where = install_extension(place, os.environ)
    say(call, f"Installed the extension {__version__}: {where}", version=__version__, where=where)
    return 0


def configure_plugin(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", choices=("list", "install", "update"), help="list, install or update"
    )
    parser.add_argument(
        "editor", metavar="EDITOR", nargs="?", choices=("vscode", "jetbrains"), help="the editor: vscode"
    )


COMMANDS = {
    "doc upgrade": Command(
        "doc upgrade",
        "Install the latest version",
        upgrade,
        examples=("doc upgrade",),
        about="Ask pip's package index for a newer version and install it. No other command goes online to check.",
    ),
    "doc plugin": Command(
        "doc plugin",
        "Install the extension for an editor",
        plugin,
        configure_plugin,
        ("doc plugin list", "doc plugin install vscode", "doc plugin update vscode"),
        "The extension for VS Code is part of this program; nothing is downloaded.",
    ),
}
