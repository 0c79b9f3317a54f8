"""Edits by words: a quoted passage, or a section under its headings. Neither needs line numbers."""

import contextlib
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Literal, TypedDict

from redraft.errors import Refused, Stale
from redraft.text.edits import Edit
from redraft.text.text import find_passage
from redraft.tools.context import DRY_RUN, EditResult, ToolContext, carry_out, edit_result
from redraft.tools.edits.lines import check_range, replacement
from redraft.tools.edits.write_document import is_blank, paragraph_insertion, skip_blank_line
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import (
    EditBasis,
    SectionSpan,
    Target,
    basis_of,
    carry,
    find_once,
    find_section,
    match_newlines,
    newline_of,
    target_basis,
    target_document,
)
from redraft.workspace.document import Document

VERSION = Field(
    "The version the edit is made for. Default: what you last read. If the document changed elsewhere since, "
    "the edit is moved."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditText(Target):
    """What `edit_text` takes."""

    old_text: Annotated[
        str,
        Field(
            "The exact passage to replace; it must occur once in the document.",
            ("old_string", "old", "old_str", "find", "search"),
        ),
    ]
    new_text: Annotated[str, Field("The replacement; empty text deletes.", ("new_string", "new", "new_str", "replace"))]
    version: Annotated[str | None, VERSION] = None
    dry_run: Annotated[bool, DRY_RUN] = False


class LineSpan(TypedDict):
    """Lines from 0, inclusive."""

    start: int
    end: int


class EditTextResult(EditResult):
    """The answer of `edit_text`."""

    lines: Annotated[LineSpan, Field("The lines the passage was on.")]


@tool("modify", "default", serves="RD-decided-refuse")
def edit_text(given: EditText, context: ToolContext) -> EditTextResult:
    """Replace one passage, quoted exactly. It must occur once in the document: quote enough context to make it unique.
    Refused if it is missing (with similar passages) or occurs more than once (with the places). The safest way to
    change a few words; no line numbers needed."""
    place, document = target_document(given, context)
    if not given.old_text:
        raise Refused("Quote the passage to replace.", code="content_required", field="old_text")
    basis = _basis(given, document, context)
    at = find_once(basis.then, given.old_text)
    old, new = match_newlines(given.old_text, basis.then), match_newlines(given.new_text, basis.then)
    carried = carry(basis, [Edit(at, old, new)], context)
    done = carry_out(context, f"Edit a passage of {place.path}", carried.edit, dry_run=given.dry_run)
    text, at = document.text, carried.change.edits[0].at
    lines: LineSpan = {"start": text.line_at(at), "end": text.line_at(at + len(old) - 1)}
    return edit_result(place, done, carried, lines=lines)


def _basis(given: EditText, document: Document, context: ToolContext) -> EditBasis:
    """What the passage was quoted from: the named version. Without one, the text that the caller last read, if the
    passage occurs there once; otherwise it came from elsewhere, and the current document decides."""
    if given.version:
        return basis_of(document, given.version, context)
    with contextlib.suppress(Stale):
        basis = basis_of(document, None, context)
        wanted = match_newlines(given.old_text, basis.then)
        if basis.is_current or len(list(islice(find_passage(basis.then.text, wanted), 2))) == 1:
            return basis
    return EditBasis(document, document, document.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditSection(Target):
    """What `edit_section` takes."""

    heading: Annotated[
        tuple[str, ...],
        Field(
            'The section\'s headings, outermost first; as few as identify it: ["Chapter 2", "The Storm"].',
            ("headings", "section", "heading_path"),
        ),
    ]
    content: Annotated[str, Field("The text for the section, without its heading.", ("text", "new_text"))]
    operation: Annotated[
        Literal["replace", "append", "prepend"],
        Field(
            "replace: everything under the heading, subsections included. append: add at the section's end. "
            "prepend: add right under the heading."
        ),
    ] = "replace"
    version: Annotated[str | None, VERSION] = None
    dry_run: Annotated[bool, DRY_RUN] = False


class EditSectionResult(EditResult):
    """The answer of `edit_section`."""

    headings: list[str]
    lines: Annotated[
        LineSpan, Field("The section's lines, its heading included, in the version the edit was made for.")
    ]


@tool("modify", serves="RD-decided-refuse")
def edit_section(given: EditSection, context: ToolContext) -> EditSectionResult:
    """Change one section, found by its headings: replace the text under the heading, or add to the section's start or
    end. The heading itself stays. Refused if no section or more than one has these headings, or if the section changed
    since you read it."""
    place, basis = target_basis(given, given.version, context)
    document = basis.then
    if not given.heading or not all(part.strip("# \t") for part in given.heading):
        raise Refused("Name the section's heading.", field="heading")
    if document.format not in ("markdown", "text"):
        message = f"{place.path} has no headings; edit it by lines."
        raise Refused(message, code="unsupported_file_type", path=place.path)
    section = find_section(document, given.heading)
    carried = carry(basis, [_section_edit(given, document, section)], context)
    title = f"{given.operation.capitalize()} in the section {' > '.join(section.titles)} of {place.path}"
    done = carry_out(context, title, carried.edit, dry_run=given.dry_run)
    lines: LineSpan = {"start": section.start, "end": section.end - 1}
    return edit_result(place, done, carried, headings=list(section.titles), lines=lines)


def _section_edit(given: EditSection, document: Document, section: SectionSpan) -> Edit:
    check_range(document, section.start, section.end - 1)
    if not given.content and given.operation != "replace":
        raise Refused("There is nothing to add.", code="content_required", field="content")
    if given.operation == "prepend":
        return paragraph_insertion(document, skip_blank_line(document, section.body, section.end), given.content)
    last = section.end
    while last > section.body and is_blank(document, last - 1):
        last -= 1
    if given.operation == "append":
        return paragraph_insertion(document, last, given.content)
    first = skip_blank_line(document, section.body, last)
    if first >= last:
        nothing = Edit(document.text.line_start(last), "", "")
        return paragraph_insertion(document, last, given.content) if given.content else nothing
    edit = replacement(document, first, last, given.content)
    # Text directly below its heading stays there; a following heading needs a line of its own.
    glued = last == section.end < document.text.line_count and given.content
    return Edit(edit.at, edit.old, edit.new + newline_of(document)) if glued else edit
