"""Edits by lines: insert, replace, delete. Lines are counted from 0 and both ends of a range are included."""

from dataclasses import dataclass
from typing import Annotated, TypedDict

from redraft.errors import Refused
from redraft.text.edits import Edit
from redraft.text.lines import count_lines
from redraft.tools.context import DRY_RUN, EditResult, ToolContext, carry_out, edit_result
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import (
    VersionedEdit,
    carry,
    check_anchor,
    find_anchored_line,
    match_newlines,
    newline_of,
    target_basis,
)
from redraft.workspace.document import Document

START = Field("First line of the range, counted from 0.", ("from_line",))
END = Field("Last line of the range, counted from 0, inclusive.", ("to_line",))
MATCH = Field(
    "To confirm the range: an exact passage that begins in it and occurs once in the document.",
    ("anchor", "anchor_text"),
)
CONTENT_ALIASES = ("text", "new_text", "new_content")


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertLines(VersionedEdit):
    """What `insert_lines` takes."""

    after_line: Annotated[
        int, Field("Insert after this line, counted from 0; -1 inserts at the start.", ("line", "after"))
    ]
    content: Annotated[str, Field("The lines to insert.", CONTENT_ALIASES)]
    dry_run: Annotated[bool, DRY_RUN] = False
    match_text: Annotated[
        str | None,
        Field("Insert after the line with this exact text instead; it must occur once.", ("anchor", "anchor_text")),
    ] = None


class NewLines(TypedDict):
    """Lines from 0, inclusive."""

    start: int
    end: int


class InsertedRange(TypedDict):
    """Where lines went in."""

    after_line: int
    lines_added: int
    new_lines: NewLines


class InsertLinesResult(EditResult):
    """The answer of `insert_lines`."""

    inserted_at: InsertedRange


@tool("modify", "tabs", "default", serves="TK-insert")
def insert_lines(given: InsertLines, context: ToolContext) -> InsertLinesResult:
    """Insert new lines after a line without removing anything. Use after_line=-1 for the start of the document and
    lines.total - 1 for its end."""
    place, basis = target_basis(given, given.version, context)
    document = basis.then
    if not given.content:
        raise Refused("There is nothing to insert.", code="content_required", field="content")
    after = find_anchored_line(document, given.match_text) if given.match_text else given.after_line
    total = document.text.line_count
    if not -1 <= after < total:
        raise Refused(
            f"There is no line {after} to insert after: the document has {total} lines.",
            code="invalid_line_range",
            requested_start=after,
            document_lines=total,
        )
    carried = carry(basis, [insertion(document, after + 1, given.content)], context)
    done = carry_out(context, f"Insert lines into {place.path}", carried.edit, dry_run=given.dry_run)
    added = count_lines(given.content)
    if not basis.is_current:
        after += basis.now.text.line_at(carried.change.edits[0].at) - document.text.line_at(carried.asked.edits[0].at)
    return edit_result(
        place,
        done,
        carried,
        inserted_at={
            "after_line": after,
            "lines_added": added,
            "new_lines": {"start": after + 1, "end": after + added},
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceLines(VersionedEdit):
    """What `replace_lines` takes."""

    start_line: Annotated[int, START]
    end_line: Annotated[int, END]
    content: Annotated[str, Field("The new lines; empty text deletes the range.", CONTENT_ALIASES)]
    dry_run: Annotated[bool, DRY_RUN] = False
    match_text: Annotated[str | None, MATCH] = None


class ReplacedLines(TypedDict):
    """How many lines were added and removed."""

    removed: int
    added: int
    net_change: int


class ReplaceLinesResult(EditResult):
    """The answer of `replace_lines`."""

    lines_affected: ReplacedLines


@tool("modify", "tabs", "default", serves="TK-replace")
def replace_lines(given: ReplaceLines, context: ToolContext) -> ReplaceLinesResult:
    """Replace a range of lines with new content. Both start_line and end_line are replaced. To add lines without
    removing any, use insert_lines."""
    place, basis = target_basis(given, given.version, context)
    document, start, end = basis.then, given.start_line, given.end_line
    check_range(document, start, end)
    if given.match_text:
        check_anchor(document, start, end, given.match_text)
    carried = carry(basis, [replacement(document, start, end + 1, given.content)], context)
    title = f"Replace lines {start} to {end} of {place.path}"
    done = carry_out(context, title, carried.edit, dry_run=given.dry_run)
    removed, added = end - start + 1, count_lines(carried.asked.edits[0].new)
    affected: ReplacedLines = {"removed": removed, "added": added, "net_change": added - removed}
    return edit_result(place, done, carried, lines_affected=affected)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteLines(VersionedEdit):
    """What `delete_lines` takes."""

    start_line: Annotated[int, START]
    end_line: Annotated[int, END]
    dry_run: Annotated[bool, DRY_RUN] = False


class DeleteLinesResult(EditResult):
    """The answer of `delete_lines`."""

    lines_deleted: int


@tool("modify", "tabs", "default", serves="TK-delete")
def delete_lines(given: DeleteLines, context: ToolContext) -> DeleteLinesResult:
    """Delete a range of lines. Both start_line and end_line are deleted."""
    place, basis = target_basis(given, given.version, context)
    check_range(basis.then, given.start_line, given.end_line)
    carried = carry(basis, [replacement(basis.then, given.start_line, given.end_line + 1, "")], context)
    title = f"Delete lines {given.start_line} to {given.end_line} of {place.path}"
    done = carry_out(context, title, carried.edit, dry_run=given.dry_run)
    return edit_result(place, done, carried, lines_deleted=given.end_line - given.start_line + 1)


# Edits of whole lines, for every tool that edits by lines.


def whole_lines(content: str, document: Document, *, at_end: bool) -> str:
    """Content as whole lines: what follows must not be joined to it. At the end of a text without a final newline, new
    text without one gets none either."""
    content = match_newlines(content, document)
    unended = content and content[-1] not in "\r\n"
    if unended and not (at_end and not has_final_newline(document)):
        content += newline_of(document)
    return content


def has_final_newline(document: Document) -> bool:
    """Whether the last line has its terminator."""
    length = len(document.text)
    return length > 0 and document.text.slice(length - 1, length) in "\r\n"


def insertion(document: Document, line: int, content: str) -> Edit:
    """The edit that inserts whole lines before line number `line`, or after the last."""
    text = document.text
    at_end = line == text.line_count
    new = whole_lines(content, document, at_end=at_end)
    at = text.line_start(line)
    if at_end and at > 0 and not has_final_newline(document):
        new = newline_of(document) + new
    return Edit(at, "", new)


def replacement(document: Document, start: int, end: int, content: str) -> Edit:
    """The edit that replaces the lines from `start` up to `end` with whole lines."""
    text = document.text
    at, until = text.line_start(start), text.line_start(end)
    old = text.slice(at, until)
    return Edit(at, old, keep_last_newline(old, whole_lines(content, document, at_end=end == text.line_count)))


def keep_last_newline(old: str, new: str) -> str:
    """`new` with its last line ended like that of `old`: if newlines are mixed, the edit must not change that one."""
    here, there = _last_newline(new), _last_newline(old)
    return new.removesuffix(here) + there if here and there else new


def _last_newline(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else text[-1:] if text.endswith(("\r", "\n")) else ""


def check_range(document: Document, start: int, end: int) -> None:
    """Refuse lines (from 0, inclusive) that the document does not have."""
    total = document.text.line_count
    if 0 <= start <= end < total:
        return
    fault = "ends before it starts" if end < start else f"exceeds document length of {total} lines"
    raise Refused(
        f"Line range {start}-{end} {fault}",
        code="invalid_line_range",
        requested_start=start,
        requested_end=end,
        document_lines=total,
    )
