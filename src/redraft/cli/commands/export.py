"""`redraft export`: export a document to a file of another format. No document changes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, add_yes, pluralize
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Literal

    from redraft.workspace.export import ExportedPage

STANDARD_OUTPUT = "-"
FORMATS = ("html", "docx", "pdf", "criticmarkup")


def export(call: Invocation) -> int:
    given = call.arguments
    if given.to == "criticmarkup":
        return _export_suggestions(call)
    with call.workspace() as workspace:
        found = workspace.read_accepted_document(given.file)
        page = workspace.export(found, proposals=given.proposals)
    out: str = given.out or f"{page.name}.{given.to}"
    _check_output(call, out)
    data = page.html.encode() if given.to == "html" else _convert(page, given.to)
    if out == STANDARD_OUTPUT:
        call.screen.finish()
        sys.stdout.buffer.write(data)
        if found.proposals:
            call.screen.remark(f"Wrote {_describe_proposals(found.proposals, marked=given.proposals)}.")
        return 0
    _write(call, out, data)
    if call.screen.json:
        holds = "proposals" if given.proposals else "accepted"
        call.emit({"path": out, "to": given.to, "bytes": len(data), "holds": holds, "proposals": found.proposals})
    else:
        holding = f": {_describe_proposals(found.proposals, marked=given.proposals)}" if found.proposals else ""
        call.screen.line(f"Wrote {out} ({len(data):,} bytes){holding}.")
    return 0


def _export_suggestions(call: Invocation) -> int:
    """The text with what is pending written into it as marks."""
    from redraft.files.textfile import encode, format_of
    from redraft.formats.criticmarkup import write
    from redraft.workspace.suggestions import pending_suggestions

    given = call.arguments
    with call.workspace() as workspace:
        path = workspace.path(given.file)
        found = pending_suggestions(workspace, path)
        bom = workspace.read(path).bom
    data = encode(write(found, markdown=format_of(path) == "markdown"), bom)
    stem, _, ending = path.rpartition("/")[2].rpartition(".")
    out: str = given.out or f"{stem or ending}.critic.{ending if stem else 'txt'}"
    _check_output(call, out)
    if out == STANDARD_OUTPUT:
        call.screen.finish()
        sys.stdout.buffer.write(data)
        return 0
    _write(call, out, data)
    marks = {"changes": len(found.edits), "comments": len(found.comments)}
    if call.screen.json:
        call.emit({"path": out, "to": given.to, "bytes": len(data), "holds": "proposals", **marks})
    else:
        held = " and ".join(pluralize(count, noun.removesuffix("s")) for noun, count in marks.items())
        call.screen.line(f"Wrote {out} ({len(data):,} bytes) with {held}.")
    return 0


def _write(call: Invocation, out: str, data: bytes) -> None:
    from redraft.runtime import write_output

    there = os.path.lexists(out)
    if there and not call.confirm(f"replace {out}", [out]):
        raise Refused(f"{out} already exists and was not changed.", code="already_exists", path=out)
    write_output(out, data, replace=there)


def _describe_proposals(proposals: int, *, marked: bool) -> str:
    """What is in the file, where that could be in doubt."""
    if marked:
        return f"the document with {pluralize(proposals, 'proposal')} marked as such"
    return f"the accepted text, without {pluralize(proposals, 'proposal')} (--proposals marks them)"


def _check_output(call: Invocation, out: str) -> None:
    if out != STANDARD_OUTPUT:
        return
    if call.screen.json:
        raise Refused("The file and the JSON answer cannot both go to standard output; name a file with --out.")
    if call.arguments.to in ("docx", "pdf") and call.screen.terminal:
        raise Refused("This file cannot be printed to a terminal; name a file with --out.")


def _convert(page: ExportedPage, to: Literal["docx", "pdf"]) -> bytes:
    import asyncio

    from redraft.runtime import export_environment
    from redraft.workspace.export import convert_page

    return asyncio.run(convert_page(page, to, export_environment()))


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the document, by its path in the folder")
    parser.add_argument("--to", choices=FORMATS, default="html", help="the format (default: html)")
    parser.add_argument(
        "--out",
        metavar="F",
        help="where to write it; - for standard output (default: the document's name, in the current folder)",
    )
    parser.add_argument("--proposals", action="store_true", help="include pending proposals, marked as such")
    add_yes(parser)


COMMANDS = {
    "export": Command(
        "export",
        "Export a document as HTML, Word, PDF or CriticMarkup",
        export,
        configure,
        (
            "export notes.md",
            "export notes.md --to docx --out ~/notes.docx",
            "export notes.md --proposals",
            "export notes.md --to criticmarkup --out -",
        ),
        "Export a document to another format: the accepted text with unsaved typing. It says how many\n"
        "proposals were left out; --proposals includes them, marked. An HTML page contains its own style and\n"
        "pictures. Word needs pandoc; PDF needs pandoc and a PDF engine: without them, print\n"
        "from the app. CriticMarkup is the text itself with pending changes and open comments as marks.",
    ),
}
