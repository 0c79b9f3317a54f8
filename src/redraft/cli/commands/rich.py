"""`redraft rich`: a document as the rich editor has it, for people who look into positions. Nothing is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.formats.rich.parser import ParsedDocument
    from redraft.formats.rich.schema import Node

FILE = "markdown, or a ProseMirror document as JSON; - for standard input"


def positions(call: Invocation) -> int:
    from redraft.formats.rich.positions import Positions

    doc, _ = _read_document(call.arguments.file)
    found = Positions.of(doc)
    # On one line: there is a number for every character.
    call.screen.content(json.dumps({"text": found.text, "positions": found.all()}) + "\n")
    return 0


def replace(call: Invocation) -> int:
    from redraft.formats.rich.positions import Positions
    from redraft.formats.rich.replacements import Replacement, apply_replacements
    from redraft.formats.rich.save import save

    given = call.arguments
    doc, parsed = _read_document(given.file)
    passage = Replacement(given.start, given.to, given.text, given.expected, given.format)
    after = apply_replacements(doc, [passage], parsed.references if parsed else None)
    text = Positions.of(after).text
    if call.screen.json:
        call.emit({"text": text, "document": after, **({"markdown": save(after, parsed)} if parsed else {})})
    else:
        call.screen.content(text + "\n")
    return 0


def _read_document(name: str) -> tuple[Node, ParsedDocument | None]:
    """What a file holds: JSON where it begins as JSON does, else markdown."""
    from redraft.formats.rich.foreign_schema import check_document
    from redraft.formats.rich.parser import parse
    from redraft.runtime import read_input

    content = read_input(name).text
    if not content.lstrip().startswith("{"):
        parsed = parse(content)
        return parsed.doc, parsed
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        if name.endswith(".json"):
            raise Refused(f"{name} is not JSON: {error}.", path=name) from error
        parsed = parse(content)
        return parsed.doc, parsed
    return check_document(value), None


def configure_positions(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILE)


def configure_replace(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILE)
    parser.add_argument("--from", dest="start", metavar="A", type=int, required=True, help="start of the passage")
    parser.add_argument("--to", metavar="B", type=int, required=True, help="end of the passage, exclusive")
    parser.add_argument("--text", metavar="T", required=True, help="the replacement; empty to delete")
    parser.add_argument("--expected", metavar="E", help="the text expected there; if it differs, nothing is replaced")
    parser.add_argument(
        "--format",
        choices=("auto", "plain", "markdown", "html"),
        default="auto",
        help="the format of the text (default: auto)",
    )


COMMANDS = {
    "rich positions": Command(
        "rich positions",
        "Print a document's plain text and the editor's position of every offset",
        positions,
        configure_positions,
        ("rich positions notes.md", "rich positions document.json"),
        'Print {"text", "positions"}: the plain text as the rich editor counts it, and for each offset in it (in code\n'
        "points, the end included) the position in the editor's document.",
    ),
    "rich replace": Command(
        "rich replace",
        "Print a document's plain text with a passage replaced",
        replace,
        configure_replace,
        ("rich replace notes.md --from 0 --to 5 --text Hi", "rich replace doc.json --from 6 --to 6 --text 'new '"),
        "Print the plain text after the replacement; with --json also the document, and its markdown where the file\n"
        "is markdown. Offsets count code points of the plain text. The file is not changed.",
    ),
}
