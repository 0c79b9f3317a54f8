"""Find a place in one document: by its outline, by meaning, by exact text, by a pattern."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict

from redraft.errors import Refused
from redraft.formats.outline.outline import Outline, outline
from redraft.providers.embeddings import Embedder, is_installed, load_embedder
from redraft.search.text_search import Match, search_text
from redraft.text.text import Text
from redraft.tools.context import ToolContext
from redraft.tools.parameters import Field
from redraft.tools.queries.read_document import count_tokens
from redraft.tools.registry import tool
from redraft.tools.target import Target, outline_format, resolve_target
from redraft.workspace.document import Document

if TYPE_CHECKING:
    from redraft.search.passages.hybrid import PassageResults


MAX_RESULTS = 100
LINES_BEFORE, LINES_AFTER = 5, 10
PREVIEW = 120
MAX_LINE = 2000
MAX_ENTRIES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class GetOutline(Target):
    """What `get_outline` takes."""

    max_depth: Annotated[int, Field("How many heading levels to include.", minimum=1, maximum=10)] = 3
    detect_chapters: Annotated[bool, Field("For plain text: whether to detect chapters.")] = True


class OutlineEntryInfo(TypedDict):
    """One section. Lines count from 0, inclusive; `line_end` is null if it reaches the end."""

    title: str
    level: int
    line_start: int
    line_end: int | None
    detected_by: NotRequired[str]
    confidence: NotRequired[str]
    quoted: NotRequired[Annotated[bool, Field("True for a heading inside a block quote.")]]
    children: NotRequired[Annotated[list[dict[str, Any]], Field("Its subsections, in the same form.")]]


class GetOutlineResult(TypedDict):
    """The answer of `get_outline`."""

    tab_id: str | None
    path: str
    version: str
    file_type: str
    detection_method: Literal["headings", "keys", "heuristic", "none"]
    detection_confidence: NotRequired[str]
    outline: list[OutlineEntryInfo]
    note: NotRequired[str]
    suggestion: NotRequired[str]
    parse_error: NotRequired[dict[str, Any]]


@tool("read", "tabs", "default", serves="TK-outline", slow=True)
def get_outline(given: GetOutline, context: ToolContext) -> GetOutlineResult:
    """Show a document's structure with line numbers: headings of markdown (those inside block quotes are marked as
    quoted), keys of JSON and YAML, chapters of plain text as far as detected. Lines are counted from 0;
    line_end is null if a section runs to the end. Use it to find the lines to read or edit."""
    place = resolve_target(given, context)
    document = context.read(place.path)
    with context.release_guard():
        found = outline(
            str(document.text),
            outline_format(document),
            max_depth=given.max_depth,
            detect_chapters=given.detect_chapters,
            quoted=True,
        )
    answer: Any = {
        "tab_id": place.tab_id,
        "path": place.path,
        "version": document.version,
        "file_type": document.file_type,
        **_fit_outline(found, context.limits.read_tokens),
    }
    return answer


def _fit_outline(found: Outline, tokens: int) -> dict[str, Any]:
    """The outline with as many entries as fit into the size of a document's first window."""
    most = MAX_ENTRIES
    while True:
        cut = found.truncate(most)
        shape = cut.as_json()
        used = count_tokens(json.dumps(shape["outline"], ensure_ascii=False))
        shown = sum(1 for _ in cut.walk())
        if used <= tokens or shown <= 1:
            return shape
        most = min(shown - 1, shown * tokens // used)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocument(Target):
    """What `search_document` takes."""

    query: Annotated[
        str, Field("What to find: a description, exact text, or a pattern.", ("text", "pattern", "search"))
    ]
    match_type: Annotated[
        Literal["semantic", "exact", "regex"], Field("By meaning, by the exact text, or by a regular expression (RE2).")
    ] = "semantic"
    max_results: Annotated[int, Field("The maximum number of matches.", ("limit",), minimum=1, maximum=MAX_RESULTS)] = 5
    include_context: Annotated[bool, Field("Whether to include the lines around each match.")] = True
    case_sensitive: Annotated[bool, Field("Whether case matters, for exact and regex.", ("match_case",))] = True


class MatchContext(TypedDict):
    """The lines around a match, from 0, inclusive."""

    start_line: int
    end_line: int
    line_count: int
    content: str


class DocumentMatch(TypedDict):
    """One match."""

    line: Annotated[int, Field("The line, counted from 0, as in the line tools.")]
    score: Annotated[float, Field("From 0 to 1; by meaning, relative to the document's best match.")]
    preview: str
    context: NotRequired[MatchContext]


class SearchDocumentResult(TypedDict):
    """The answer of `search_document`."""

    tab_id: str | None
    path: str
    version: str
    embedding_status: Annotated[
        Literal["ready", "indexing", "unavailable"],
        Field("indexing: not all passages are indexed by meaning yet; search again for more."),
    ]
    matches: list[DocumentMatch]
    total_matches: int
    more_matches: NotRequired[Annotated[bool, Field("True if there are more than were counted.")]]


@tool("read", "tabs", "default", serves="TK-search", slow=True)
def search_document(given: SearchDocument, context: ToolContext) -> SearchDocumentResult:
    """Find content in one document, by meaning (semantic, the default), by its exact text, or by a regular expression.
    Returns line numbers, counted from 0, and the lines around each match; the returned version can be used for an edit.
    To search all documents, use search_documents."""
    place = resolve_target(given, context)
    document = context.read(place.path)
    answer: SearchDocumentResult = {
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


def _add_by_meaning(
    answer: SearchDocumentResult, document: Document, given: SearchDocument, context: ToolContext
) -> None:
    """Every passage matches a description a little; only the best are returned and counted."""
    found = search_by_meaning(document, given.query, given.max_results, context)
    answer["embedding_status"] = found.status
    for each in found.passages:
        text = " ".join(each.text.split())
        preview = text[:PREVIEW] + ("..." if len(text) > PREVIEW else "")
        score = round(each.score, 4)
        answer["matches"].append(
            _match_info(document.text, each.line, score, preview, with_context=given.include_context)
        )
    answer["total_matches"] = len(answer["matches"])


def _add_matches(answer: SearchDocumentResult, document: Document, given: SearchDocument, context: ToolContext) -> None:
    with context.release_guard():
        found = search_text(
            str(document.text),
            given.query,
            regex=given.match_type == "regex",
            case_sensitive=given.case_sensitive,
            limit=given.max_results,
        )
    answer["embedding_status"] = embedding_status(context)
    answer["matches"] = [
        _match_info(document.text, match.line, 1.0, _preview(match), with_context=given.include_context)
        for match in found.items
    ]
    answer["total_matches"] = found.total
    if not found.counted_all:
        answer["more_matches"] = True


def _match_info(text: Text, line: int, score: float, preview: str, *, with_context: bool) -> DocumentMatch:
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
    """The match within its line, cut on both sides if the line is long."""
    line = match.lines[0] if match.lines else ""
    start = max(0, match.column - PREVIEW // 2)
    end = start + PREVIEW
    return ("..." if start else "") + line[start:end].strip() + ("..." if end < len(line) else "")


# What tools need to search by meaning: the model that the settings name, and the workspace's cached vectors.
#
# The first search imports everything heavy; a program that never searches by meaning never loads a model.


def search_by_meaning(document: Document, query: str, limit: int, context: ToolContext) -> "PassageResults":
    """The passages of a document that answer a description best; embeds the document first if necessary. It may take a
    while, during which others can use the workspace."""
    if not query.strip():
        raise Refused("The query is empty.", code="content_required", field="query", query="")
    workspace = context.workspace
    with context.release_guard():
        model = _embedder(context)
        from redraft.search.passages.hybrid import passage_index
        from redraft.search.passages.vector_cache import VectorCache

        ready = passage_index(str(document.text), outline_format(document), model)
        with VectorCache(workspace.state, workspace.now()) as cache:
            return ready.search(query, cache, limit=limit)


def available_embedder(context: ToolContext) -> Embedder | None:
    """The model, or None for a search that works without one."""
    return _embedder(context) if embedding_status(context) == "ready" else None


def embedding_status(context: ToolContext) -> Literal["ready", "unavailable"]:
    """Whether search by meaning is available; nothing is loaded to find out."""
    if context.embedder is not None or is_installed(context.workspace.settings.embeddings):
        return "ready"
    return "unavailable"


def _embedder(context: ToolContext) -> Embedder:
    if context.embedder is not None:
        return context.embedder
    return load_embedder(context.workspace.settings.embeddings)
