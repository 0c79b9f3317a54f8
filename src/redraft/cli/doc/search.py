"""`search`: a text in a session document, and in the archive of its older rounds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.cli.doc.context import add_file, find_project
from redraft.cli.screen import BOLD, DIM, StyledText
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

NOTHING_FOUND = 1


def search(call: Invocation) -> int:
    from redraft.search.text_search import search_text
    from redraft.sessions.compaction import archive_path
    from redraft.sessions.document_store import FileStore

    arguments = call.arguments
    project = find_project(call, arguments.file)
    if not arguments.text:
        raise Refused("Say what to search for.", code="content_required")
    archive = archive_path(arguments.file)
    files = {arguments.file: project.file, archive: os.path.join(call.folder, archive)}
    texts = {name: FileStore(file).read(name).text for name, file in files.items() if os.path.lexists(file)}
    found = {
        name: search_text(text, arguments.text, regex=arguments.regex, case_sensitive=False)
        for name, text in texts.items()
    }
    if call.screen.json:
        hits = [
            {"file": name, "line": match.line + 1, "text": match.lines[0]}
            for name, matches in found.items()
            for match in matches.items
        ]
        call.screen.emit({"hits": hits, "total": sum(matches.total for matches in found.values())})
        return 0 if hits else NOTHING_FOUND
    for name, matches in found.items():
        for match in matches.items:
            call.screen.line(StyledText(f"{name}:{match.line + 1}", BOLD), f": {match.lines[0]}")
        if matches.truncated:
            call.screen.line(StyledText(f"{name}: more matches not shown", DIM))
    return 0 if any(matches.items for matches in found.values()) else NOTHING_FOUND


def configure(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("text", metavar="TEXT", help="what to search for")
    parser.add_argument("--regex", action="store_true", help="treat it as a regular expression")


COMMANDS = {
    "doc search": Command(
        "doc search",
        "Search a document and its archive",
        search,
        configure,
        ("doc search plan.md 'twelve ships'", "doc search plan.md 'ships?' --regex"),
        "Search the document and the archive of its older rounds, ignoring case. Exit status 1:\nno match.",
    ),
}
