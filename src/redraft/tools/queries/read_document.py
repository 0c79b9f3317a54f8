"""Read the list of open tabs, and documents by lines, in windows that fit a model."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired, TypedDict

from redraft.errors import Refused
from redraft.text.text import Text
from redraft.tools.context import ToolContext
from redraft.tools.edits.lines import check_range
from redraft.tools.parameters import Field
from redraft.tools.registry import tool
from redraft.tools.target import Target, front_document, outline_format, relative_path, resolve_target
from redraft.workspace.document import Document, content_hash
from redraft.workspace.tabs import Tab

BYTES_PER_TOKEN = 4  # of UTF-8, for average prose; also about right where a character has three bytes
MAX_READ_TOKENS = 100_000
SAMPLE = 65536
MAX_SLIPS = 50
MAX_FILE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NoArguments:
    """Nothing."""


class TabInfo(TypedDict):
    """One open tab."""

    tab_id: str
    title: str
    path: str
    file_type: str
    version: str | None
    is_active: bool
    is_dirty: bool
    size_chars: int
    line_count: int


class ListTabsResult(TypedDict):
    """The open tabs."""

    tabs: list[TabInfo]
    active_tab_id: str | None


@tool("read", "tabs", "default", serves="TK-tabs")
def list_tabs(_given: NoArguments, context: ToolContext) -> ListTabsResult:
    """List the documents that are open in tabs, with their ids, versions and sizes, which one is active and which have
    unsaved changes. Use this to find out what the person is working on."""
    found: list[Any] = [_visible_tab(tab, context).as_json() for tab in context.workspace.tabs()]
    front = front_document(context)
    active = None if front is None else front.tab_id
    if front is None and len(found) == 1:
        active = found[0]["tab_id"]
    listed: list[Any] = [{**tab, "is_active": tab["tab_id"] == active} for tab in found]
    return {"tabs": listed, "active_tab_id": active}


def _visible_tab(tab: Tab, context: ToolContext) -> Tab:
    """A tab as this caller may see it: if it may not read the document, only its name, as for a file that is not
    text."""
    return tab if context.can_read(tab.path) else replace(tab, document=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocument(Target):
    """What `read_document` takes."""

    start_line: Annotated[int, Field("First line to read, counted from 0.", ("from_line", "offset"))] = 0
    end_line: Annotated[
        int | None, Field("Last line to read, counted from 0, inclusive. Default: as many as fit.", ("to_line",))
    ] = None
    max_tokens: Annotated[
        int | None, Field("The approximate maximum of tokens.", minimum=1, maximum=MAX_READ_TOKENS)
    ] = None
    check: Annotated[
        bool,
        Field(
            "Also report common mistakes (unclosed marks, broken links and tables, skipped heading levels; "
            "syntax errors in JSON and YAML) as slips."
        ),
    ] = False


class LintFindingInfo(TypedDict):
    """What is probably wrong in one place."""

    line: Annotated[int, Field("The line, counted from 0.")]
    rule: str
    message: str


class LineWindow(TypedDict):
    """Lines from 0, inclusive; `end` is -1 in an empty document."""

    start: int
    end: int
    total: int


class TokenCounts(TypedDict):
    """Estimates."""

    returned: int
    total_estimate: int


class ReadDocumentResult(TypedDict):
    """A window of a document."""

    tab_id: str | None
    path: str
    version: str
    file_type: str
    content: str
    lines: LineWindow
    tokens: TokenCounts
    has_more: bool
    continuation_hint: NotRequired[str]
    line_truncated: NotRequired[Annotated[bool, Field("True if the one line returned is truncated.")]]
    slips: NotRequired[Annotated[list[LintFindingInfo], Field("The first 50 mistakes found by check; empty if none.")]]


@tool("read", "tabs", "workspace", "default", serves="TK-read ML-read")
def read_document(given: ReadDocument, context: ToolContext) -> ReadDocumentResult:
    """Read a document, or a range of its lines. Lines are counted from 0 and both ends are included. A long document
    comes in parts: while has_more is true, call again with the start_line in continuation_hint. The editing tools take
    the returned version. To find something by its words or meaning, use search_document; to find a section's lines,
    get_outline."""
    place = resolve_target(given, context)
    document = context.read(place.path)
    text = document.text
    total = text.line_count
    last = total - 1 if given.end_line is None else given.end_line
    if total or given.start_line or given.end_line is not None:
        check_range(document, given.start_line, last)
    room = (given.max_tokens or context.limits.read_tokens) * BYTES_PER_TOKEN
    content, count = window(text, given.start_line, last + 1, room)
    end = given.start_line + count - 1
    cut = count == 1 and len(content) < text.line_start(end + 1) - text.line_start(end)
    answer: ReadDocumentResult = {
        "tab_id": place.tab_id,
        "path": place.path,
        "version": document.version,
        "file_type": document.file_type,
        "content": content,
        "lines": {"start": given.start_line, "end": end, "total": total},
        "tokens": {"returned": count_tokens(content), "total_estimate": estimate_tokens(text)},
        "has_more": end + 1 < total,
    }
    if answer["has_more"]:
        answer["continuation_hint"] = f"Call read_document with start_line={end + 1} to continue"
    if cut:
        answer["line_truncated"] = True
        more = (
            f"Line {end} is truncated: call read_document with start_line={end} and a larger max_tokens to see "
            "more of it"
        )
        answer["continuation_hint"] = "; ".join(filter(None, (more, answer.get("continuation_hint"))))
    if given.check:
        from redraft.tools.queries.lint import lint  # rarely used, and every import delays start-up

        with context.release_guard():
            found = lint(str(text), outline_format(document))[:MAX_SLIPS]
        answer["slips"] = [{"line": each.line, "rule": each.rule, "message": each.message} for each in found]
    return answer


def window(text: Text, start: int, stop: int, room: int) -> tuple[str, int]:
    """As many whole lines from `start` on as fit into `room` bytes, at least one; a single line that is longer than
    that is cut, since it would not fit a model either."""
    if start >= stop:
        return "", 0
    at, until = text.line_start(start), text.line_start(stop)
    if until - at <= room:  # often all of it fits, and nothing has to be counted
        content = text.slice(at, until)
        if len(content.encode()) <= room:
            return content, stop - start
    ahead = text.slice(at, min(at + room + 1, until)).encode()[: room + 1]
    fits = text.line_at(at + len(ahead[:room].decode(errors="ignore"))) - start
    if fits < 1:
        first = text.slice(at, min(at + room, text.line_start(start + 1)))
        return first.encode()[:room].decode(errors="ignore"), 1
    return text.slice(at, text.line_start(start + fits)), fits


def count_tokens(content: str) -> int:
    return -(-len(content.encode()) // BYTES_PER_TOKEN)


def estimate_tokens(text: Text) -> int:
    """The estimate for a whole text. A long one is estimated from its beginning: encoding 10 MB takes longer than
    everything else in a read."""
    sample = text.slice(0, min(len(text), SAMPLE))
    if not sample:
        return 0
    return -(-len(sample.encode()) * len(text) // (len(sample) * BYTES_PER_TOKEN))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """What `read_file` takes."""

    file_path: Annotated[str, Field("The file's path relative to the project root.", ("path", "file"))]
    start_line: Annotated[int, Field("First line, counted from 1.", minimum=1)] = 1
    end_line: Annotated[int | None, Field("Last line, counted from 1, inclusive.", minimum=1)] = None
    max_bytes: Annotated[
        int | None, Field("The maximum number of bytes. Default: 65536.", minimum=1, maximum=MAX_FILE_BYTES)
    ] = None


class ReadFileResult(TypedDict):
    """Lines of a file."""

    file_path: str
    content: str
    start_line: int
    end_line: int
    total_lines: int
    truncated: bool
    content_hash: Annotated[str, Field("The expected_hash of exactly these lines, for propose_edits.")]
    version: str


@tool("read", "project", serves="SB-tool-read SB-limit-read SB-retrieve-full-read")
def read_file(given: ReadFile, context: ToolContext) -> ReadFileResult:
    """Read lines of a file in the project. Lines are counted from 1 and both ends are included. Returns at most 800
    lines and 64 KB unless end_line and max_bytes say otherwise; truncated says whether more lines follow. content_hash
    is the expected_hash of exactly the returned lines."""
    document = context.read(relative_path(given.file_path, context))
    text = document.text
    start = given.start_line - 1
    if start > max(text.line_count - 1, 0):
        raise _range_error(document, given)
    wanted = start + context.limits.read_lines if given.end_line is None else given.end_line
    if wanted < given.start_line:
        raise _range_error(document, given)
    room = given.max_bytes or context.limits.read_bytes
    content, count = window(text, start, min(wanted, text.line_count), room)
    return {
        "file_path": document.path,
        "content": content,
        "start_line": given.start_line,
        "end_line": start + count,
        "total_lines": text.line_count,
        "truncated": start + count < text.line_count
        or len(content) < text.line_start(start + count) - text.line_start(start),
        "content_hash": content_hash(content.encode()),
        "version": document.version,
    }


def _range_error(document: Document, given: ReadFile) -> Refused:
    details: dict[str, Any] = {"requested_start": given.start_line, "requested_end": given.end_line}
    total = document.text.line_count
    message = f"{document.path} has {total} lines; it has no range from {given.start_line} to {given.end_line}."
    return Refused(message, code="invalid_line_range", **details, document_lines=total)
