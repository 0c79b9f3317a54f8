"""Edits by words: a quoted passage, or a section under its headings. Neither needs line numbers."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from redraft.errors import Refused
from redraft.text.edits import Edit
from redraft.tools.anchors import find_once
from redraft.tools.context import ToolContext
from redraft.tools.editing import (
    DRY_RUN,
    Edited,
    carry_out,
    check_range,
    edited,
    in_style,
    newline_of,
    replacement,
    target_document,
)
from redraft.tools.registry import tool
from redraft.tools.schema import Says
from redraft.tools.sections import Section, find_section
from redraft.tools.target import Target
from redraft.tools.whole import after_blank, is_blank, set_off
from redraft.workspace.document import Document

VERSION = Says("The version that the edit is made for. Default: what you last read of it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditText(Target):
    """What `edit_text` takes."""

    old_text: Annotated[
        str,
        Says(
            "The passage to replace, exactly as it stands in the document, where it occurs once.",
            ("old_string", "old", "old_str", "find", "search"),
        ),
    ]
    new_text: Annotated[
        str, Says("What stands there afterwards; empty text deletes.", ("new_string", "new", "new_str", "replace"))
    ]
    version: Annotated[str | None, Says("Refuse the edit unless the document still has this version.")] = None
    dry_run: Annotated[bool, DRY_RUN] = False


class LineSpan(TypedDict):
    """Lines from 0, inclusive."""

    start: int
    end: int


class TextEdited(Edited):
    """The answer of `edit_text`."""

    lines: Annotated[LineSpan, Says("The lines that the passage stood on.")]


@tool("modify", "default", serves="RD-decided-refuse")
def edit_text(given: EditText, context: ToolContext) -> TextEdited:
    """Replace one passage, quoted exactly as it stands in the document. It must occur there once: quote enough around
    it to make it so. Refused if it is missing (with passages that come near) or occurs more than once (with the
    places). The safest way to change a few words; no line numbers needed."""
    place, document = target_document(given, context)
    version = document.version if given.version is None else context.checked(document, given.version)
    if not given.old_text:
        raise Refused("Quote the passage to replace.", code="content_required", field="old_text")
    at = find_once(document, given.old_text)
    old, new = in_style(given.old_text, document), in_style(given.new_text, document)
    title = f"Edit a passage of {place.path}"
    done = carry_out(
        context, title, lambda turn: turn.edit(place.path, [Edit(at, old, new)], version), dry_run=given.dry_run
    )
    text = document.text
    lines: LineSpan = {"start": text.line_at(at), "end": text.line_at(at + len(old) - 1)}
    return edited(place, done, lines=lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditSection(Target):
    """What `edit_section` takes."""

    heading: Annotated[
        tuple[str, ...],
        Says(
            'The section\'s headings, outermost first; as few as tell it apart: ["Chapter 2", "The Storm"].',
            ("headings", "section", "heading_path"),
        ),
    ]
    content: Annotated[str, Says("The text for the section, without its heading.", ("text", "new_text"))]
    operation: Annotated[
        Literal["replace", "append", "prepend"],
        Says(
            "replace: all that stands under the heading, subsections included. append: add at the section's end. "
            "prepend: add right under the heading."
        ),
    ] = "replace"
    version: Annotated[str | None, VERSION] = None
    dry_run: Annotated[bool, DRY_RUN] = False


class SectionEdited(Edited):
    """The answer of `edit_section`."""

    headings: list[str]
    lines: Annotated[LineSpan, Says("The section's lines before the edit, its heading included.")]


@tool("modify", serves="RD-decided-refuse")
def edit_section(given: EditSection, context: ToolContext) -> SectionEdited:
    """Change one section, found by its headings: replace what stands under the heading, or add to the section's start
    or end. The heading itself stays. Refused if no section or more than one has these headings, or if the document
    changed since you read it."""
    place, document = target_document(given, context)
    version = context.checked(document, given.version)
    if not given.heading or not all(part.strip("# \t") for part in given.heading):
        raise Refused("Name the section's heading.", field="heading")
    if document.format not in ("markdown", "text"):
        message = f"{place.path} has no headings; edit it by lines."
        raise Refused(message, code="unsupported_file_type", path=place.path)
    section = find_section(document, given.heading)
    edit = _section_edit(given, document, section)
    title = f"{given.operation.capitalize()} in the section {' > '.join(section.titles)} of {place.path}"
    done = carry_out(context, title, lambda turn: turn.edit(place.path, [edit], version), dry_run=given.dry_run)
    lines: LineSpan = {"start": section.start, "end": section.end - 1}
    return edited(place, done, headings=list(section.titles), lines=lines)


def _section_edit(given: EditSection, document: Document, section: Section) -> Edit:
    check_range(document, section.start, section.end - 1)
    if not given.content and given.operation != "replace":
        raise Refused("There is nothing to add.", code="content_required", field="content")
    if given.operation == "prepend":
        return set_off(document, after_blank(document, section.body, section.end), given.content)
    last = section.end
    while last > section.body and is_blank(document, last - 1):
        last -= 1
    if given.operation == "append":
        return set_off(document, last, given.content)
    first = after_blank(document, section.body, last)
    if first >= last:
        nothing = Edit(document.text.line_start(last), "", "")
        return set_off(document, last, given.content) if given.content else nothing
    edit = replacement(document, first, last, given.content)
    # Text directly under its heading stays so; a heading that follows needs a line of its own.
    glued = last == section.end < document.text.line_count and given.content
    return Edit(edit.at, edit.old, edit.new + newline_of(document)) if glued else edit
