"""Find and replace within one document. Patterns run on an engine that cannot be made to hang."""

import re
import time
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, NotRequired, TypedDict

from redraft.errors import Refused
from redraft.search.pattern import compile_query
from redraft.search.text_search import find_all
from redraft.text.edits import Edit
from redraft.tools.context import EditResult, ToolContext, carry_out, edit_result
from redraft.tools.edits.lines import check_range
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import VersionedEdit, carry, match_newlines, refresh, shorten, target_basis
from redraft.workspace.document import Document

PREVIEWED = 20
MAX_MATCHES = 200_000
PATIENCE_SECONDS = 5.0
_REFERENCE = re.compile(r"\\(?:[0-9]|g<\w+>)|\$(?:[0-9]|\{\w+\})")
# What may contain a parenthesis that opens no group: quoted text, an escape, a class.
_NO_GROUP = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\((?!\?)|\(\?P?<")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A range of lines, from 0, inclusive."""

    start_line: Annotated[int, Field("First line, counted from 0.")] = 0
    end_line: Annotated[int | None, Field("Last line, counted from 0, inclusive. Default: the last.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindAndReplace(VersionedEdit):
    """What `find_and_replace` takes."""

    find: Annotated[str, Field("The text or pattern to find.", ("search", "pattern", "old_text", "query"))]
    replace: Annotated[
        str,
        Field(
            "The literal replacement: $1 and \\1 do not refer to groups.",
            ("replacement", "new_text", "replace_with"),
        ),
    ]
    is_regex: Annotated[bool, Field("Whether find is a regular expression (RE2).", ("regex", "use_regex"))] = False
    case_sensitive: Annotated[bool, Field("Whether case matters.", ("match_case",))] = True
    whole_word: Annotated[bool, Field("Whether only whole words match.")] = False
    max_replacements: Annotated[
        int | None, Field("Replace only the first N matches.", ("count", "limit"), minimum=1)
    ] = None
    preview: Annotated[bool, Field("If true, show the matches and change nothing.", ("dry_run",))] = False
    scope: Annotated[Scope | None, Field("Only these lines.")] = None


class PreviewEntry(TypedDict):
    """One match: its line, and that line before and after."""

    line: int
    before: str
    after: str


class FindAndReplaceResult(EditResult):
    """The answer of `find_and_replace`."""

    matches_found: int
    replacements_made: int
    preview: list[PreviewEntry]
    preview_truncated: NotRequired[bool]


@tool("modify", "tabs", "default", serves="TK-far", slow=True)
def find_and_replace(given: FindAndReplace, context: ToolContext) -> FindAndReplaceResult:
    """Replace every occurrence of a text or pattern in a document, or in a range of its lines. Use preview=true first
    to see the matches without changing anything; the same version works for the replacement."""
    place, basis = target_basis(given, given.version, context)
    document = basis.then
    _check_no_group_reference(given)
    with context.release_guard():
        found = find_matches(given, document)
        new = match_newlines(given.replace, document)
        content = str(document.text)
        chosen = [Edit(start, content[start:end], new) for start, end in found[: given.max_replacements]]
        _check_size(len(content) + sum(edit.growth for edit in chosen), context)
    basis = refresh(basis, context)
    carried = carry(basis, (edit for edit in chosen if edit.old != edit.new), context)
    title = f"Replace {shorten(given.find)[:60]!r} in {place.path}"
    done = carry_out(context, title, carried.edit, dry_run=given.preview)
    cut = {"preview_truncated": True} if len(found) > PREVIEWED else {}
    return edit_result(
        place,
        done,
        carried,
        matches_found=len(found),
        replacements_made=0 if given.preview else len(chosen),
        preview=[_preview_entry(document, start, end, new) for start, end in found[:PREVIEWED]],
        **cut,
    )


def _check_size(characters: int, context: ToolContext) -> None:
    """Refuse what would be too large before it is built: a long replacement, repeated often enough, fills any
    memory."""
    limit = context.limits.document_bytes
    if characters > limit:
        raise Refused(f"A document may have at most {limit} bytes; this one would be larger.", code="too_large")


def _check_no_group_reference(given: FindAndReplace) -> None:
    """The replacement is literal text. If it looks like a group reference, refuse rather than write `$1` into the
    document everywhere."""
    reference = _REFERENCE.search(given.replace)
    if given.is_regex and reference and _GROUP.search(_NO_GROUP.sub("", given.find)):
        raise Refused(
            f"The replacement is literal: {reference[0]} does not refer to a group. If you mean the text "
            f"{reference[0]}, write the groups of `find` as (?:...); otherwise use edit_text in a batch.",
            field="replace",
        )


def find_matches(given: FindAndReplace, document: Document) -> list[tuple[int, int]]:
    """All matches as spans of code points; refused if that would take too long."""
    text = document.text
    first, last = 0, text.line_count - 1
    if given.scope is not None:
        first, last = given.scope.start_line, last if given.scope.end_line is None else given.scope.end_line
        check_range(document, first, last)
    offset = text.line_start(first)
    found: list[tuple[int, int]] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    for start, end in _spans(given, text.slice(offset, text.line_start(last + 1))):
        found.append((offset + start, offset + end))
        if len(found) > MAX_MATCHES or time.monotonic() > deadline:
            raise Refused("There is too much to replace at once: limit it with `scope`.", code="limit_exceeded")
    return found


def _spans(given: FindAndReplace, content: str) -> Iterator[tuple[int, int]]:
    """The matches in `content`. A pattern must mean the same whatever the line endings, so it runs on "\\n" alone."""
    flat = content.replace("\r\n", "\n").replace("\r", "\n")
    query = given.find if given.is_regex else given.find.replace("\r\n", "\n").replace("\r", "\n")
    pattern = compile_query(
        query, regex=given.is_regex, case_sensitive=given.case_sensitive, whole_word=given.whole_word
    )
    # Where in the flat text a "\n" stands for two characters.
    pieces = content.split("\r\n")
    shortened = [end + number for number, end in enumerate(accumulate(map(len, pieces[:-1])))]
    for start, end in find_all(flat, pattern):
        if start == end == len(flat) and flat.endswith("\n"):
            return  # there is no line after the last one
        yield start + bisect_left(shortened, start), end + bisect_left(shortened, end)


def _preview_entry(document: Document, start: int, end: int, new: str) -> PreviewEntry:
    """A match with the rest of its lines."""
    text = document.text
    line, last = text.line_at(start), text.line_at(max(start, end - 1))
    line = min(line, max(text.line_count - 1, 0))
    at, until = text.line_start(line), text.line_start(min(last + 1, text.line_count))
    before = text.slice(at, until)
    after = before[: start - at] + new + before[end - at :]
    return {"line": line, "before": shorten(before.rstrip("\r\n")), "after": shorten(after.rstrip("\r\n"))}
