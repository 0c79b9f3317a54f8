"""Edits by lines: insert, replace, delete. Lines are counted from 0 and both ends of a range are included."""

from dataclasses import dataclass
from typing import Annotated, TypedDict

from redraft.errors import Refused
from redraft.text.lines import count_lines
from redraft.tools.anchors import anchored_line, anchored_range
from redraft.tools.context import ToolContext
from redraft.tools.editing import (
    DRY_RUN,
    Edited,
    VersionedEdit,
    carry_out,
    check_range,
    edited,
    insertion,
    replacement,
    target_document,
)
from redraft.tools.registry import tool
from redraft.tools.schema import Says

START = Says("First line of the range, counted from 0.", ("from_line",))
END = Says("Last line of the range, counted from 0, inclusive.", ("to_line",))
MATCH = Says(
    "An exact passage that stands once in the document and begins within the range. If lines have shifted since you "
    "read it, the edit moves with this text; if it is missing or occurs twice, the edit is refused.",
    ("anchor", "anchor_text"),
)
CONTENT_ALIASES = ("text", "new_text", "new_content")


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertLines(VersionedEdit):
    """What `insert_lines` takes."""

    after_line: Annotated[
        int, Says("Insert after this line, counted from 0; -1 puts the content first.", ("line", "after"))
    ]
    content: Annotated[str, Says("The lines to insert.", CONTENT_ALIASES)]
    dry_run: Annotated[bool, DRY_RUN] = False
    match_text: Annotated[
        str | None,
        Says(
            "Insert after the line that holds this exact text instead; it must occur once.", ("anchor", "anchor_text")
        ),
    ] = None


class NewLines(TypedDict):
    """Lines from 0, inclusive."""

    start: int
    end: int


class InsertedAt(TypedDict):
    """Where lines went in."""

    after_line: int
    lines_added: int
    new_lines: NewLines


class Inserted(Edited):
    """The answer of `insert_lines`."""

    inserted_at: InsertedAt


@tool("modify", "tabs", "default", serves="TK-insert")
def insert_lines(given: InsertLines, context: ToolContext) -> Inserted:
    """Insert new lines after a line without removing anything. Use after_line=-1 for the start of the document and
    lines.total - 1 for its end. Needs the version from read_document; returns the next one."""
    place, document = target_document(given, context)
    if not given.content:
        raise Refused("There is nothing to insert.", code="content_required", field="content")
    if given.match_text:
        after, version = anchored_line(document, given.match_text, given.version, context), document.version
    else:
        after, version = given.after_line, context.checked(document, given.version)
    total = document.text.line_count
    if not -1 <= after < total:
        raise Refused(
            f"There is no line {after} to insert after: the document has {total} lines.",
            code="invalid_line_range",
            requested_start=after,
            document_lines=total,
        )
    edit = insertion(document, after + 1, given.content)
    title = f"Insert lines into {place.path}"
    done = carry_out(context, title, lambda turn: turn.edit(place.path, [edit], version), dry_run=given.dry_run)
    added = count_lines(given.content)
    return edited(
        place,
        done,
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
    content: Annotated[str, Says("The new lines; empty text deletes the range.", CONTENT_ALIASES)]
    dry_run: Annotated[bool, DRY_RUN] = False
    match_text: Annotated[str | None, MATCH] = None


class LinesReplaced(TypedDict):
    """How many lines came and went."""

    removed: int
    added: int
    net_change: int


class Replaced(Edited):
    """The answer of `replace_lines`."""

    lines_affected: LinesReplaced


@tool("modify", "tabs", "default", serves="TK-replace")
def replace_lines(given: ReplaceLines, context: ToolContext) -> Replaced:
    """Replace a range of lines with new content. Both start_line and end_line are replaced. Needs the version from
    read_document; returns the next one. To add lines without removing any, use insert_lines."""
    place, document = target_document(given, context)
    start, end = given.start_line, given.end_line
    if given.match_text:
        version = document.version
        start, end = anchored_range(document, start, end, given.match_text, given.version, context)
    else:
        version = context.checked(document, given.version)
        check_range(document, start, end)
    edit = replacement(document, start, end + 1, given.content)
    title = f"Replace lines {start} to {end} of {place.path}"
    done = carry_out(context, title, lambda turn: turn.edit(place.path, [edit], version), dry_run=given.dry_run)
    removed, added = end - start + 1, count_lines(edit.new)
    affected: LinesReplaced = {"removed": removed, "added": added, "net_change": added - removed}
    return edited(place, done, lines_affected=affected)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteLines(VersionedEdit):
    """What `delete_lines` takes."""

    start_line: Annotated[int, START]
    end_line: Annotated[int, END]
    dry_run: Annotated[bool, DRY_RUN] = False


class LinesDeleted(Edited):
    """The answer of `delete_lines`."""

    lines_deleted: int


@tool("modify", "tabs", "default", serves="TK-delete")
def delete_lines(given: DeleteLines, context: ToolContext) -> LinesDeleted:
    """Delete a range of lines. Both start_line and end_line are deleted. Needs the version from read_document; returns
    the next one."""
    place, document = target_document(given, context)
    version = context.checked(document, given.version)
    check_range(document, given.start_line, given.end_line)
    edit = replacement(document, given.start_line, given.end_line + 1, "")
    title = f"Delete lines {given.start_line} to {given.end_line} of {place.path}"
    done = carry_out(context, title, lambda turn: turn.edit(place.path, [edit], version), dry_run=given.dry_run)
    return edited(place, done, lines_deleted=given.end_line - given.start_line + 1)
