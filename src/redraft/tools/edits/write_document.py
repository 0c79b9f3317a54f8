"""Edits of a whole document: rewrite it, or add to its ends, at a heading or at a line."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from redraft.errors import Refused
from redraft.text.edits import Edit
from redraft.tools.context import DRY_RUN, CallOutcome, EditResult, ToolContext, carry_out, edit_result, review_edit
from redraft.tools.edits.lines import insertion
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import (
    CarriedEdits,
    EditBasis,
    Target,
    TargetDocument,
    VersionedEdit,
    carry,
    check_lines_known,
    find_section,
    match_newlines,
    newline_of,
    require_old_text,
    target_basis,
)
from redraft.workspace.document import Document

CONTENT = ("text", "new_content")
# From how many characters on a document should not be written anew for a few changes.
MIN_REWRITE = 1000
ALLOW_SHRINK = Field("Set true to remove more than half of the text. Otherwise such a write is refused.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDocument(VersionedEdit):
    """What `write_document` takes."""

    content: Annotated[
        str | None, Field("The complete new text. Required unless restore_version is given.", CONTENT)
    ] = None
    restore_version: Annotated[
        str | None,
        Field(
            "Instead of content: an earlier version of this document, from a read, an edit or show_turn, to restore."
        ),
    ] = None
    allow_shrink: Annotated[bool, ALLOW_SHRINK] = False


class WrittenLines(TypedDict):
    """How many lines there were and are."""

    previous: int
    current: int


class WriteDocumentResult(EditResult):
    """The answer of `write_document`."""

    lines_affected: WrittenLines
    advice: NotRequired[Annotated[str, Field("How to change as much with less risk.")]]


@tool("modify", "tabs", "default", serves="TK-write", idempotent=True)
def write_document(given: WriteDocument, context: ToolContext) -> WriteDocumentResult:
    """Replace the ENTIRE text of a document. Use it sparingly: for a part, insert_lines, replace_lines or edit_text are
    safer. Send the complete text, never a shortened one, or name the earlier version to restore."""
    place, basis = target_basis(given, given.version, context)
    document = require_current(basis)
    content = _new_content(given, document, context)
    done = _write(context, place, document, content, allow_shrink=given.allow_shrink)
    current = 0 if done.document is None else done.document.text.line_count
    affected: WrittenLines = {"previous": document.text.line_count, "current": current}
    advice = None if given.content is None else _advise(context, str(document.text), content)
    more: dict[str, Any] = {} if advice is None else {"advice": advice}
    return edit_result(place, done, lines_affected=affected, **more)


def _advise(context: ToolContext, old: str, new: str) -> str | None:
    """What to say of a rewrite that changes a few places of a document."""
    review = review_edit(context, old, new) if len(old) >= MIN_REWRITE else None
    if review is None or not review.hunks or sum(len(hunk.base) for hunk in review.hunks) > len(old) // 2:
        return None
    places = "one place" if len(review.hunks) == 1 else f"{len(review.hunks)} places"
    advice = f"This rewrote the whole document to change {places}; edit_text, or batch for several, changes them alone."
    found = ", ".join(f"{label.replace('_', ' ')} ({number})" for label, number in review.label_counts().items())
    return f"{advice} Check that these were meant: {found}." if found else advice


def _new_content(given: WriteDocument, document: Document, context: ToolContext) -> str:
    """Content that is sent gets the document's newlines; content that is restored stays as it was."""
    if (given.content is None) == (given.restore_version is None):
        raise Refused("Give either `content` or `restore_version`.", code="content_required", field="content")
    if given.content is not None:
        return match_newlines(given.content, document)
    return str(require_old_text(context, document, given.restore_version or ""))


def require_current(basis: EditBasis) -> Document:
    """The document, for an edit that replaces all of it: any change since it was read would be lost."""
    if not basis.is_current:
        raise basis.stale_error(f"{basis.now.path} changed since it was read, and this call would overwrite all of it.")
    return basis.now


def _write(
    context: ToolContext,
    place: TargetDocument,
    document: Document,
    content: str,
    *,
    allow_shrink: bool,
    dry_run: bool = False,
) -> CallOutcome:
    if 2 * len(content) < len(document.text) and not allow_shrink:
        raise Refused(
            f"{place.path} has {len(document.text)} characters and would have {len(content)}.",
            code="drops_text",
            path=place.path,
            beforeLength=len(document.text),
            afterLength=len(content),
        )
    title, version = f"Write {place.path}", document.version
    return carry_out(context, title, lambda turn: turn.write(place.path, content, version), dry_run=dry_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where `edit_document` inserts."""

    after_heading: Annotated[str | None, Field("The title of the heading to insert under.")] = None
    line_number: Annotated[
        int | None, Field("The line, counted from 1, for the content to start on; the rest moves down.", minimum=1)
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDocument(Target):
    """What `edit_document` takes."""

    operation: Annotated[
        Literal["replace", "append", "prepend", "insert"],
        Field("replace: the content becomes the whole document. append, prepend: add it. insert: see position."),
    ]
    content: Annotated[str, Field("The text to add or to replace with, in markdown.", ("text", "new_content"))]
    position: Annotated[Position | None, Field("For insert: after_heading or line_number.")] = None
    version: Annotated[str | None, Field("The version that the edit is made for. Default: what you last read.")] = None
    allow_shrink: Annotated[bool, ALLOW_SHRINK] = False
    dry_run: Annotated[bool, DRY_RUN] = False


class EditDocumentResult(EditResult):
    """The answer of `edit_document`."""

    operation: str
    beforeLength: int  # noqa: N815 - the specification's names
    afterLength: int  # noqa: N815


@tool("modify", "workspace", serves="ML-edit")
def edit_document(given: EditDocument, context: ToolContext) -> EditDocumentResult:
    """Edit an existing document: replace all of it, append to its end, prepend to its start, or insert under a heading
    or at a line. Added text is separated by a blank line. If the document changed since you read it, a replacement is
    refused; other edits are moved, unless that place itself changed."""
    place, basis = target_basis(given, given.version, context)
    carried: CarriedEdits | None = None
    if given.operation == "replace":
        document = require_current(basis)
        new = match_newlines(given.content, document)
        done = _write(context, place, document, new, allow_shrink=given.allow_shrink, dry_run=given.dry_run)
        after = len(new)
    else:
        document = basis.now
        if given.position is not None and given.position.line_number is not None:
            check_lines_known(basis, partial(_addition, given), given.version, context)
        carried = carry(basis, [_addition(given, basis.then)], context)
        after = len(document.text) + carried.change.edits[0].growth
        title = f"{given.operation.capitalize()} to {place.path}"
        done = carry_out(context, title, carried.edit, dry_run=given.dry_run)
    return edit_result(
        place, done, carried, operation=given.operation, beforeLength=len(document.text), afterLength=after
    )


def _addition(given: EditDocument, document: Document) -> Edit:
    if not given.content:
        raise Refused("There is nothing to add.", code="content_required", field="content")
    if given.operation == "append":
        return paragraph_insertion(document, document.text.line_count, given.content)
    if given.operation == "prepend":
        return paragraph_insertion(document, 0, given.content)
    position = given.position or Position()
    if position.after_heading is not None and position.line_number is None:
        section = find_section(document, (position.after_heading,))
        return paragraph_insertion(document, skip_blank_line(document, section.body, section.end), given.content)
    if position.line_number is None or position.after_heading is not None:
        raise Refused("To insert, set after_heading or line_number in `position`.", field="position")
    line, total = position.line_number - 1, document.text.line_count
    if line > total:
        message = f"There is no line {position.line_number}: the document has {total} lines."
        raise Refused(message, code="invalid_line_range", requested_start=position.line_number, document_lines=total)
    return insertion(document, line, given.content)


def skip_blank_line(document: Document, line: int, end: int) -> int:
    """Skip the blank line below a heading, so that it stays above the inserted text."""
    return line + 1 if line < end and is_blank(document, line) else line


def is_blank(document: Document, line: int) -> bool:
    return not document.text.line(line).strip()


def paragraph_insertion(document: Document, line: int, content: str) -> Edit:
    """The edit that inserts lines before line number `line` as a separate paragraph, with blank lines around it."""
    edit = insertion(document, line, content)
    newline = newline_of(document)
    before = newline if line > 0 and not is_blank(document, line - 1) else ""
    follows = line < document.text.line_count and not is_blank(document, line)
    return Edit(edit.at, "", before + edit.new + (newline if follows else ""))
