"""`redraft lsp`: the review in an editor that speaks the Language Server Protocol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

STDIN, STDOUT, STDERR = 0, 1, 2


def run_lsp(call: Invocation) -> int:
    arguments = call.arguments
    folder = arguments.where or (None if arguments.folder == "." else arguments.folder)
    if folder is not None and not os.path.isdir(folder):
        raise Refused(f"The folder {folder} does not exist.", code="folder_not_found", folder=folder)
    try:
        from redraft.lsp_server.language_server import serve
    except ModuleNotFoundError as error:
        raise Refused("The language server is not installed: run `pip install 'redraft[lsp]'`.") from error
    # Nothing but protocol may reach the editor, so whatever else is printed goes to the standard error.
    with os.fdopen(os.dup(STDOUT), "wb") as sink, os.fdopen(os.dup(STDIN), "rb") as source:
        os.dup2(STDERR, STDOUT)
        serve(folder, source, sink)
    return 0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "where", metavar="FOLDER", nargs="?", help="the folder to work in (default: the one that the editor has open)"
    )


COMMANDS = {
    "lsp": Command(
        "lsp",
        "Review in any editor that has a language client",
        run_lsp,
        configure,
        ("lsp", "lsp ~/notes"),
        "Act as a language server for Neovim, Helix, Emacs, Kate and others, on stdin and stdout. What waits for\n"
        "review is shown as diagnostics, with actions that accept and reject; what you type is in the app as you\n"
        "type it, and what others do comes into the editor's text. It joins the folder's server, or starts one.\n"
        "Needs redraft[lsp].",
    )
}
