"""Finding documents: by words and names across the whole folder."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, NamedTuple, NotRequired, TypedDict

from redraft.errors import Refused
from redraft.search.index import Hit, Index
from redraft.tools.context import ToolContext
from redraft.tools.listing import existing_folder, working_view
from redraft.tools.registry import tool
from redraft.tools.schema import Says

SNIPPETS = 3
SNIPPET_CHARACTERS = 100
MAX_DOCUMENTS = 200
# Lines asked of the index: enough that a document with many matches does not hide the others.
MAX_LINES = 5000
AROUND = 4
MAX_LINE = 500
MIN_WORD = 3
# So many files take the index a second or so.
WORTH_TELLING = 1000
_SPECIAL = re.compile(r"([*?\[\]{}\\!])")


@contextmanager
def index_of(context: ToolContext) -> Generator[Index]:
    """The index that the surface keeps, else one for this call alone."""
    if context.index is not None:
        yield context.index
        return
    with Index.open(context.workspace) as index:
        yield index


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocuments:
    """What `search_documents` takes."""

    query: Annotated[str, Says("Words in the name or the text; letter case does not count.", ("text", "search"))]
    search_content: Annotated[bool, Says("Whether to search the text too, not only the names.")] = True
    folder: Annotated[str | None, Says("Only documents in this folder.", ("path", "directory"))] = None
    limit: Annotated[int, Says("How many documents to return at most.", minimum=1, maximum=MAX_DOCUMENTS)] = 50


class FoundDocument(TypedDict):
    """A document, with up to three of the lines that match; none where only its name does."""

    path: str
    name: str
    matches: list[str]


class IndexingNow(TypedDict):
    """How far the folder's index has come. The answer is whole all the same; it only took longer."""

    files_done: int
    files_total: int


class DocumentsFound(TypedDict):
    """The answer of `search_documents`."""

    query: str
    results: list[FoundDocument]
    count: int
    truncated: bool
    indexing: NotRequired[Annotated[IndexingNow, Says("Only while the folder's index is still being made.")]]


@tool("read", "workspace", "default", serves="ML-search")
def search_documents(given: SearchDocuments, context: ToolContext) -> DocumentsFound:
    """Search all documents by name and by content, in the whole workspace or in one folder. Letter case does not count.
    Returns paths with some of the matching lines; to find the exact places in one of them, use search_document."""
    if not given.query.strip():
        raise Refused("There is nothing to search for.", code="content_required", field="query")
    folder = existing_folder(given.folder, context)
    folded = given.query.casefold()
    kinds = working_view(context, folder)
    found: dict[str, list[str]] = {
        path: [] for path in sorted(kinds) if kinds[path] == "file" and folded in path.rpartition("/")[2].casefold()
    }
    more = False
    if given.search_content:
        hits, more = _hits(context, given.query, _beneath(folder))
        for hit in hits:
            lines = found.setdefault(hit.path, [])
            if len(lines) < SNIPPETS:
                lines.append(hit.text.strip()[:SNIPPET_CHARACTERS])
    chosen = list(found.items())[: given.limit]
    results: list[FoundDocument] = [
        {"path": path, "name": path.rpartition("/")[2], "matches": lines} for path, lines in chosen
    ]
    more = more or len(found) > len(chosen)
    answer: DocumentsFound = {"query": given.query, "results": results, "count": len(results), "truncated": more}
    indexing = _indexing(context)
    if indexing is not None:
        answer["indexing"] = indexing
    return answer


def _indexing(context: ToolContext) -> IndexingNow | None:
    """What there is to say of an index in the making, unless it will be done in a moment."""
    now = None if context.index is None else context.index.indexing
    return None if now is None or now.total < WORTH_TELLING else {"files_done": now.done, "files_total": now.total}


def _beneath(folder: str) -> str | None:
    """The glob for everything in a folder, whatever its name looks like."""
    return "/" + _SPECIAL.sub(r"\\\1", folder) + "/**" if folder else None


def _hits(
    context: ToolContext, query: str, glob: str | None, *, regex: bool = False, around: int = 0
) -> tuple[list[Hit], bool]:
    """The matching lines that this caller may be shown, and whether there may be more than were looked for."""
    with index_of(context) as index:
        found = index.search(query, regex=regex, case_sensitive=False, glob=glob, limit=MAX_LINES, context=around)
    allowed = {path: context.may_read(path) for path in {hit.path for hit in found}}
    return [hit for hit in found if allowed[hit.path]], len(found) >= MAX_LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProject:
    """What `search_project` takes."""

    query: Annotated[str, Says("The words to find. Letter case does not count.", ("text", "search", "pattern"))]
    glob: Annotated[str, Says("Which files: *.md by name, docs/**/*.md by path.", ("include",))] = "**/*"
    limit: Annotated[
        int | None,
        Says("How many results to return: 20, and 50 at most, unless set otherwise.", ("max_results",), minimum=1),
    ] = None


class Snippet(TypedDict):
    """Matching lines with those around them. Lines are counted from 1, inclusive."""

    file_path: str
    start_line: int
    end_line: int
    snippet: str


class ProjectSearched(TypedDict):
    """The answer of `search_project`."""

    results: list[Snippet]
    truncated: bool
    indexing: NotRequired[Annotated[IndexingNow, Says("Only while the folder's index is still being made.")]]


class _Passage(NamedTuple):
    """Lines of a file, from 0, and the words of the query that are in them."""

    path: str
    start: int
    lines: list[str]
    words: set[str]


@tool("read", "project", serves="SB-tool-search SB-limit-search SB-retrieve")
def search_project(given: SearchProject, context: ToolContext) -> ProjectSearched:
    """Search the files of the project for words and return snippets with their file and lines, counted from 1. The
    words are looked for as they stand; where they stand nowhere together, the passages with most of them come first.
    Read more around a result with read_file."""
    if not given.query.strip():
        raise Refused("There is nothing to search for.", code="content_required", field="query")
    words = [word for word in re.findall(r"\w+", given.query.casefold()) if len(word) >= MIN_WORD]
    most = context.limits.search_snippet_lines
    around = min(AROUND, (most - 1) // 2)
    hits, _ = _hits(context, given.query.strip(), given.glob, around=around)
    if not hits and len(words) > 1:
        hits, _ = _hits(context, "|".join(map(re.escape, words)), given.glob, regex=True, around=around)
        passages = sorted(_passages(hits, words, most), key=lambda passage: -len(passage.words))
    else:
        passages = _passages(hits, words, most)
    limit = min(given.limit or context.limits.search_results, context.limits.search_results_cap)
    results: list[Snippet] = [
        {
            "file_path": passage.path,
            "start_line": passage.start + 1,
            "end_line": passage.start + len(passage.lines),
            "snippet": "\n".join(line[:MAX_LINE] for line in passage.lines),
        }
        for passage in passages[:limit]
    ]
    answer: ProjectSearched = {"results": results, "truncated": len(passages) > limit}
    indexing = _indexing(context)
    if indexing is not None:
        answer["indexing"] = indexing
    return answer


def _passages(hits: Sequence[Hit], words: list[str], most: int) -> list[_Passage]:
    """Hits that lie close together as one passage, of at most so many lines."""
    found: list[_Passage] = []
    for hit in hits:
        here = {word for word in words if word in hit.text.casefold()}
        start = hit.line - len(hit.before)
        lines: list[str] = [*hit.before, hit.text, *hit.after]
        last = found[-1] if found else None
        if last is not None and last.path == hit.path and start <= last.start + len(last.lines):
            joined = last.lines[: start - last.start] + lines
            if len(joined) <= most:
                last.lines[:] = joined
                last.words.update(here)
                continue
        found.append(_Passage(hit.path, start, lines, here))
    return found
