"""Finding a place in one document: by its outline, by meaning, by exact text, by a pattern."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from redraft.formats.outline import outline
from redraft.search.within import Match, search_text
from redraft.text.text import Text
from redraft.tools.context import ToolContext
from redraft.tools.meaning import by_meaning, embedding_status
from redraft.tools.registry import tool
from redraft.tools.schema import Says
from redraft.tools.sections import outline_format
from redraft.tools.target import Target, place_of
from redraft.workspace.document import Document

MAX_RESULTS = 100
LINES_BEFORE, LINES_AFTER = 5, 10
PREVIEW = 120
MAX_LINE = 2000
MAX_ENTRIES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class GetOutline(Target):
    """What `get_outline` takes."""

    max_depth: Annotated[int, Says("How many levels of headings to include.", minimum=1, maximum=10)] = 3
    detect_chapters: Annotated[bool, Says("For plain text: whether to look for chapters.")] = True


class OutlineEntry(TypedDict):
    """One section. Lines are counted from 0, inclusive; `line_end` is null where it reaches to the end."""

    title: str
    level: int
    line_start: int
    line_end: int | None
    detected_by: NotRequired[str]
    confidence: NotRequired[str]
    children: NotRequired[Annotated[list[dict[str, Any]], Says("The sections within it, of the same shape.")]]


class OutlineShown(TypedDict):
    """The answer of `get_outline`."""

    tab_id: str | None
    path: str
    version: str
    file_type: str
    detection_method: Literal["headings", "keys", "heuristic", "none"]
    detection_confidence: NotRequired[str]
    outline: list[OutlineEntry]
    note: NotRequired[str]
    suggestion: NotRequired[str]
    parse_error: NotRequired[dict[str, Any]]


@tool("read", "tabs", "default", serves="TK-outline")
def get_outline(given: GetOutline, context: ToolContext) -> OutlineShown:
    """Show a document's structure with line numbers: headings of markdown, keys of JSON and YAML, chapters of plain
    text as far as they can be told. Lines are counted from 0; line_end is null where a section reaches to the end. Use
    it to find the lines to read or edit."""
    place = place_of(given, context)
    document = context.read(place.path)
    found = outline(
        str(document.text),
        outline_format(document),
        max_depth=given.max_depth,
        detect_chapters=given.detect_chapters,
    )
    answer: Any = {
        "tab_id": place.tab_id,
        "path": place.path,
        "version": document.version,
        "file_type": document.format,
        **found.within(MAX_ENTRIES).as_json(),
    }
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocument(Target):
    """What `search_document` takes."""

    query: Annotated[str, Says("What to find: a description, exact text, or a pattern.", ("text", "pattern", "search"))]
    match_type: Annotated[
        Literal["semantic", "exact", "regex"], Says("By meaning, by the exact text, or by a regular expression (RE2).")
    ] = "semantic"
    max_results: Annotated[
        int, Says("How many matches to return at most.", ("limit",), minimum=1, maximum=MAX_RESULTS)
    ] = 5
    include_context: Annotated[bool, Says("Whether the lines around each match come with it.")] = True
    case_sensitive: Annotated[bool, Says("Whether letter case counts, for exact and regex.", ("match_case",))] = True


class MatchContext(TypedDict):
    """The lines around a match, from 0, inclusive."""

    start_line: int
    end_line: int
    line_count: int
    content: str


class DocumentMatch(TypedDict):
    """One match."""

    line: Annotated[int, Says("The line, counted from 0, as the line tools take it.")]
    score: Annotated[float, Says("From 0 to 1; by meaning, as a share of the best that the document has.")]
    preview: str
    context: NotRequired[MatchContext]


class DocumentSearched(TypedDict):
    """The answer of `search_document`."""

    tab_id: str | None
    path: str
    version: str
    embedding_status: Annotated[
        Literal["ready", "indexing", "unavailable"],
        Says("By meaning, indexing: not all passages are judged by meaning yet, search again for more."),
    ]
    matches: list[DocumentMatch]
    total_matches: int
    more_matches: NotRequired[Annotated[bool, Says("True where there are more than were counted.")]]


@tool("read", "tabs", "default", serves="TK-search")
def search_document(given: SearchDocument, context: ToolContext) -> DocumentSearched:
    """Find content in one document, by meaning (semantic, the default), by its exact text, or by a regular expression.
    Returns line numbers, counted from 0, and the lines around each match; the returned version is good for an edit. To
    search all documents, use search_documents."""
    place = place_of(given, context)
    document = context.read(place.path)
    answer: DocumentSearched = {
        "tab_id": place.tab_id,
        "path": place.path,
        "version": document.version,
        "embedding_status": "ready",
        "matches": [],
        "total_matches": 0,
    }
    if given.match_type == "semantic":
        _add_by_meaning(answer, document, given, context)
    else:
        _add_matches(answer, document, given, context)
    return answer


def _add_by_meaning(answer: DocumentSearched, document: Document, given: SearchDocument, context: ToolContext) -> None:
    """Every passage answers a description a little; the best are the matches, and they are all that is counted."""
    found = by_meaning(document, given.query, given.max_results, context)
    answer["embedding_status"] = found.status
    for each in found.passages:
        text = " ".join(each.text.split())
        preview = text[:PREVIEW] + ("..." if len(text) > PREVIEW else "")
        score = round(each.score, 4)
        answer["matches"].append(_shown(document.text, each.line, score, preview, with_context=given.include_context))
    answer["total_matches"] = len(answer["matches"])


def _add_matches(answer: DocumentSearched, document: Document, given: SearchDocument, context: ToolContext) -> None:
    found = search_text(
        str(document.text),
        given.query,
        regex=given.match_type == "regex",
        case_sensitive=given.case_sensitive,
        limit=given.max_results,
    )
    answer["embedding_status"] = embedding_status(context)
    answer["matches"] = [
        _shown(document.text, match.line, 1.0, _preview(match), with_context=given.include_context)
        for match in found.items
    ]
    answer["total_matches"] = found.total
    if not found.counted_all:
        answer["more_matches"] = True


def _shown(text: Text, line: int, score: float, preview: str, *, with_context: bool) -> DocumentMatch:
    last = max(text.line_count - 1, 0)
    line = min(line, last)
    shown: DocumentMatch = {"line": line, "score": score, "preview": preview}
    if with_context:
        start, end = max(0, line - LINES_BEFORE), min(last, line + LINES_AFTER)
        lines = text.lines(start, min(end + 1, text.line_count))
        shown["context"] = {
            "start_line": start,
            "end_line": end,
            "line_count": len(lines),
            "content": "".join(each if len(each) <= MAX_LINE else each[:MAX_LINE] + "…\n" for each in lines),
        }
    return shown


def _preview(match: Match) -> str:
    """The match within its line, cut on both sides where the line is long."""
    line = match.lines[0] if match.lines else ""
    start = max(0, match.column - PREVIEW // 2)
    end = start + PREVIEW
    return ("..." if start else "") + line[start:end].strip() + ("..." if end < len(line) else "")
