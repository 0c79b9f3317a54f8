"""`redraft export`: a document as a file of another kind, wherever the person wants it. No document changes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, add_yes
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Literal

    from redraft.workspace.exporting import Page

STANDARD_OUTPUT = "-"


def export(call: Call) -> int:
    from redraft.runtime import write_outside
    from redraft.workspace.exporting import exported_page

    given = call.arguments
    with call.workspace() as workspace:
        page = exported_page(workspace, given.file)
    out: str = given.out or f"{page.name}.{given.to}"
    _check_place(call, out)
    data = page.html.encode() if given.to == "html" else _converted(page, given.to)
    if out == STANDARD_OUTPUT:
        call.screen.finish()
        sys.stdout.buffer.write(data)
        return 0
    there = os.path.lexists(out)
    if there and not call.confirmed(f"replace {out}", [out]):
        raise Refused(f"{out} is already there and stays as it is.", code="already_exists", path=out)
    write_outside(out, data, replace=there)
    if call.screen.json:
        call.emit({"path": out, "to": given.to, "bytes": len(data)})
    else:
        call.screen.line(f"Wrote {out} ({len(data):,} bytes).")
    return 0


def _check_place(call: Call, out: str) -> None:
    if out != STANDARD_OUTPUT:
        return
    if call.screen.json:
        raise Refused("The standard output cannot hold the file and the answer in JSON; name a file with --out.")
    if call.arguments.to != "html" and call.screen.terminal:
        raise Refused("A terminal cannot show such a file; name one with --out.")


def _converted(page: Page, to: Literal["docx", "pdf"]) -> bytes:
    import asyncio

    from redraft.runtime import export_environment
    from redraft.workspace.exporting import converted

    return asyncio.run(converted(page, to, export_environment()))


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the document, by its path in the folder")
    parser.add_argument(
        "--to", choices=("html", "docx", "pdf"), default="html", help="what to make of it (default: html)"
    )
    parser.add_argument(
        "--out", metavar="F", help="where to write it; - for the standard output (default: its name, here)"
    )
    add_yes(parser)


COMMANDS = {
    "export": Command(
        "export",
        "Write a document as an HTML page, a Word document or a PDF",
        export,
        configure,
        ("export notes.md", "export notes.md --to docx --out ~/notes.docx", "export notes.md --out - | less"),
        "Write a document, as it is being worked on, as a file of another kind. An HTML page has its style and its\n"
        "pictures in it. Word needs pandoc; PDF needs pandoc and a program that sets pages: without them, print\n"
        "from the app.",
    ),
}
