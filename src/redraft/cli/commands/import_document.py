"""`redraft import`: a file with suggested changes becomes a document in which they wait for a decision."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize
from redraft.cli.screen import CYAN, StyledText
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.workspace.suggestions import ImportedDocument


def import_document(call: Invocation) -> int:
    from redraft.files.textfile import format_of
    from redraft.formats.criticmarkup import parse
    from redraft.runtime import read_input
    from redraft.workspace.suggestions import import_suggestions

    given = call.arguments
    if not given.criticmarkup:
        raise Refused("Name the format of the marks in the file: --criticmarkup.")
    source = read_input(given.file)
    here = _path_in_folder(call.folder, given.file)
    path: str = given.path or here or os.path.basename(given.file)
    if path == "-":
        raise Refused("Name the document with --as.")
    critic = parse(source.text, markdown=format_of(path) == "markdown")
    with call.workspace() as workspace:
        path = workspace.path(path)
        done = import_suggestions(workspace, path, critic, bom=source.bom, in_place=path == here)
        _report(call, done)
    return 0


def _path_in_folder(folder: str, file: str) -> str | None:
    """Where the file lies in the folder, if it does."""
    inside = os.path.relpath(os.path.realpath(file), os.path.realpath(folder))
    return None if file == "-" or inside.startswith("..") else inside.replace(os.sep, "/")


def _report(call: Invocation, done: ImportedDocument) -> None:
    from redraft.workspace.shapes import comment_shape, turn_shape

    suggested = done.turns[1:]
    if call.screen.json:
        call.emit(
            {
                "path": done.path,
                "turns": [turn_shape(turn) for turn in done.turns],
                "comments": [comment_shape(thread) for thread in done.comments],
            }
        )
        return
    by = f" by {', '.join(str(turn.author) for turn in suggested)}" if suggested else ""
    call.screen.line(
        f"Imported {done.path}: {pluralize(len(suggested), 'turn')} to decide{by}, "
        f"{pluralize(len(done.comments), 'comment')}."
    )
    if suggested:
        call.screen.line("Show the changes: ", StyledText(call.command_line("diff", done.path), CYAN))
    if done.comments:
        call.screen.line("Show the comments: ", StyledText(call.command_line("comments", "list", done.path), CYAN))


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file, anywhere; - for standard input")
    parser.add_argument(
        "--criticmarkup", action="store_true", help="its changes and comments are written in CriticMarkup"
    )
    parser.add_argument(
        "--as", dest="path", metavar="PATH", help="the document's path in the folder (default: the file's name)"
    )


COMMANDS = {
    "import": Command(
        "import",
        "Import a document with its suggested changes",
        import_document,
        configure,
        (
            "import ~/Downloads/chapter.md --criticmarkup",
            "import chapter.md --criticmarkup --as drafts/chapter.md",
        ),
        "Make a document of a file with CriticMarkup: {++inserted++}, {--deleted--}, {~~old~>new~~}, {==highlight==}\n"
        "and {>>comment<<}. Its changes wait for your decision, as turns of their authors; its comments are kept.\n"
        "Marks inside code stay text. If the file is in the folder already, its document is changed in place.",
    )
}
