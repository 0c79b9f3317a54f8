"""Find documents across the whole folder: by words and meaning, by exact phrases, by name."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, NotRequired, TypedDict

from redraft.errors import Refused
from redraft.search.globs import path_filter
from redraft.search.index import Hit, Index
from redraft.search.stems import terms
from redraft.tools.context import ToolContext
from redraft.tools.parameters import Field
from redraft.tools.queries.list_folder import find_existing_folder, working_files
from redraft.tools.queries.search_document import available_embedder
from redraft.tools.registry import tool
from redraft.workspace.folder.scan import Drafts

SNIPPETS = 3
SNIPPET_CHARACTERS = 100
MAX_DOCUMENTS = 200
# Lines requested from the index: enough that a document with many matches does not hide the others.
MAX_LINES = 5000
# Passages requested beyond one per document: some documents show two or three, some may be hidden from this caller.
MORE_PASSAGES = 20
# An agent rather waits for the whole answer than asks again.
SECONDS = 10.0
AROUND = 4
MAX_LINE = 500
# The index needs about a second for this many files.
WORTH_TELLING = 1000
_SPECIAL = re.compile(r"([*?\[\]{}\\!])")
_QUOTED = re.compile(r'"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»')


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDocuments:
    """What `search_documents` takes."""

    query: Annotated[
        str,
        Field(
            'A question or some words; case does not matter. "In quotation marks": an exact phrase in every result.',
            ("text", "search"),
        ),
    ]
    search_content: Annotated[bool, Field("Whether to search the text too, not only names.")] = True
    folder: Annotated[str | None, Field("Only documents in this folder.", ("path", "directory"))] = None
    limit: Annotated[int, Field("The maximum number of documents.", minimum=1, maximum=MAX_DOCUMENTS)] = 20


class FoundDocument(TypedDict):
    """A document, with up to three matching lines; none if only its name matches."""

    path: str
    name: str
    matches: list[str]
    line: NotRequired[Annotated[int, Field("The line of the first one, counted from 0 as in read_document.")]]
    by_meaning: NotRequired[Annotated[bool, Field("True if it shares no word with the query: it may be unrelated.")]]


class IndexProgressInfo(TypedDict):
    """The progress of the folder's index. The answer is complete all the same; it only took longer."""

    files_done: int
    files_total: int


class SearchDocumentsResult(TypedDict):
    """The answer of `search_documents`."""

    query: str
    results: Annotated[list[FoundDocument], Field("Best first.")]
    count: int
    truncated: bool
    indexing: NotRequired[Annotated[IndexProgressInfo, Field("Only while the folder's index is being built.")]]
    incomplete: NotRequired[
        Annotated[bool, Field("True if there was no time to read every document: search again for more.")]
    ]


class _Found(NamedTuple):
    """A document that was found: the lines to show, and where the first of them is."""

    lines: list[str]
    line: int | None
    by_meaning: bool = False

    def add(self, text: str) -> None:
        line = text.strip()[:SNIPPET_CHARACTERS].rstrip()
        if line and len(self.lines) < SNIPPETS:
            self.lines.append(line)


@tool("read", "workspace", "default", serves="ML-search", needs="index")
def search_documents(given: SearchDocuments, context: ToolContext) -> SearchDocumentsResult:
    """Find documents in the whole workspace, or in one folder, that answer a question: by words and meaning, best
    first; documents with the exact query in name or text come before the rest. Put a phrase in quotation marks to get
    only documents that contain it exactly. The result is empty if nothing matches by words or meaning. Returns paths
    with some matching lines; to find places in one of them, use search_document."""
    phrases, question = parse_query(given.query)
    if not phrases and not question:
        raise Refused("The query is empty.", code="content_required", field="query", query="")
    folder = find_existing_folder(given.folder, context)
    drafts = context.workspace.working_drafts()
    search = _Search(context, drafts, _folder_glob(folder), given.limit)
    names = working_files(context, folder, Index.of(context.workspace).files())
    found = {path: _Found([], None) for path in sorted(_match_names(names, [*phrases, question]))}
    if given.search_content:
        # From here on the workspace is not needed, and others may use it.
        with context.release_guard():
            search.find(phrases, question)
        found |= {path: each for path, each in search.found.items() if path not in found or search.has_words(path)}
    allowed = [(path, each) for path, each in found.items() if not each.lines or context.can_read(path)]
    results = [_describe_document(path, each) for path, each in allowed[: given.limit]]
    more = search.more or len(allowed) > len(results)
    answer: SearchDocumentsResult = {"query": given.query, "results": results, "count": len(results), "truncated": more}
    indexing = _index_progress(context)
    if indexing is not None:
        answer["indexing"] = indexing
    if search.incomplete:
        answer["incomplete"] = True
    return answer


def parse_query(query: str) -> tuple[list[str], str]:
    """The phrases in quotation marks, and the rest."""
    phrases = [" ".join("".join(groups).split()) for groups in _QUOTED.findall(query)]
    return [phrase for phrase in phrases if phrase], " ".join(_QUOTED.sub(" ", query).split())


def _match_names(paths: Iterable[str], parts: Iterable[str]) -> list[str]:
    """Documents whose names contain everything that is searched for, literally."""
    wanted = [part.casefold() for part in parts if part]
    return [path for path in paths if all(part in path.rpartition("/")[2].casefold() for part in wanted)]


def _describe_document(path: str, found: _Found) -> FoundDocument:
    answer: FoundDocument = {"path": path, "name": path.rpartition("/")[2], "matches": found.lines}
    if found.line is not None:
        answer["line"] = found.line
    if found.by_meaning:
        answer["by_meaning"] = True
    return answer


class _Search:
    """One search of the texts, without the guard: `found` are the documents, best first."""

    def __init__(self, context: ToolContext, drafts: Drafts, glob: str | None, limit: int) -> None:
        self._index = Index.of(context.workspace)
        self._context = context
        self._drafts = drafts
        self._glob = glob
        self._limit = limit
        self.found: dict[str, _Found] = {}
        self._exact: dict[str, _Found] = {}
        self._words: set[str] = set()
        self.more = False
        self.incomplete = False

    def find(self, phrases: Sequence[str], question: str) -> None:
        """Documents that contain all phrases, ranked by the question if there is one. Without phrases, those that
        contain the question literally, ranked, and then the others, ranked."""
        exact = self._exact = self._find_exact(phrases or [question])
        self._words = set(terms(question))
        if not question:
            self.found = exact
            return
        ranked = self._rank(question, set(exact) if phrases else None)
        for path in [*(path for path in ranked if path in exact), *exact]:
            self.found.setdefault(path, exact[path])
        if not phrases:
            for path, each in ranked.items():
                self.found.setdefault(path, each)

    def has_words(self, path: str) -> bool:
        """Whether a document's text matches the question, and not only its name."""
        return path in self._exact or any(not self._words.isdisjoint(terms(line)) for line in self.found[path].lines)

    def _find_exact(self, phrases: Iterable[str]) -> dict[str, _Found]:
        """The documents that contain every one of these, in folder order."""
        found: dict[str, _Found] | None = None
        for phrase in phrases:
            hits = self._index.search(
                phrase, case_sensitive=False, glob=self._glob, limit=MAX_LINES, drafts=self._drafts
            )
            self.more = self.more or len(hits) >= MAX_LINES
            here: dict[str, _Found] = {}
            for hit in hits:
                if found is None or hit.path in found:
                    before = here.get(hit.path) or (found or {}).get(hit.path) or _Found([], hit.line)
                    before.add(_excerpt(hit.text, hit.column))
                    here[hit.path] = before
            found = here
        return found or {}

    def _rank(self, question: str, among: set[str] | None) -> dict[str, _Found]:
        from redraft.search.passages.folder_passages import WORTH

        fits = path_filter(self._glob)

        def is_wanted(path: str) -> bool:
            return fits(path) and (among is None or path in among)

        ranking = self._index.rank(
            question,
            self._drafts,
            available_embedder(self._context),
            limit=self._limit + MORE_PASSAGES,
            each=SNIPPETS,
            wanted=is_wanted if self._glob or among is not None else None,
            seconds=SECONDS,
            least=0.0 if among is not None else WORTH,
            sentences=True,
        )
        self.more = self.more or ranking.truncated or len(ranking.passages) >= self._limit + MORE_PASSAGES
        self.incomplete = ranking.status == "indexing"
        words = {path for path, passage in ranking.passages if not passage.by_meaning}
        found: dict[str, _Found] = {}
        for path, passage in ranking.passages:
            found.setdefault(path, _Found([], passage.line, path not in words)).add(passage.text)
        return found


def _excerpt(line: str, column: int) -> str:
    """The part of a long line with the match."""
    start = max(0, column - SNIPPET_CHARACTERS // 3) if len(line) > SNIPPET_CHARACTERS else 0
    return line[start:]


def _index_progress(context: ToolContext) -> IndexProgressInfo | None:
    """The progress of an index that is being built, unless it will be done in a moment."""
    now = Index.of(context.workspace).indexing
    return None if now is None or now.total < WORTH_TELLING else {"files_done": now.done, "files_total": now.total}


def _folder_glob(folder: str) -> str | None:
    """The glob for everything in a folder, whatever its name looks like."""
    return "/" + _SPECIAL.sub(r"\\\1", folder) + "/**" if folder else None


def _search_lines(
    context: ToolContext, query: str, glob: str | None, *, regex: bool = False, around: int = 0
) -> tuple[list[Hit], bool]:
    """The matching lines that this caller may see, and whether there may be more than were requested."""
    drafts = context.workspace.working_drafts()
    index = Index.of(context.workspace)
    with context.release_guard():
        found = index.search(
            query, regex=regex, case_sensitive=False, glob=glob, limit=MAX_LINES, context=around, drafts=drafts
        )
    allowed = {path: context.can_read(path) for path in {hit.path for hit in found}}
    return [hit for hit in found if allowed[hit.path]], len(found) >= MAX_LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProject:
    """What `search_project` takes."""

    query: Annotated[str, Field("The words to find. Case does not matter.", ("text", "search", "pattern"))]
    glob: Annotated[str, Field("Which files: *.md by name, docs/**/*.md by path.", ("include",))] = "**/*"
    limit: Annotated[
        int | None,
        Field(
            "How many results to return: 20 by default, at most 50, unless set otherwise.", ("max_results",), minimum=1
        ),
    ] = None


class Snippet(TypedDict):
    """Matching lines with those around them. Lines are counted from 1, inclusive."""

    file_path: str
    start_line: int
    end_line: int
    snippet: str


class SearchProjectResult(TypedDict):
    """The answer of `search_project`."""

    results: list[Snippet]
    truncated: bool
    indexing: NotRequired[Annotated[IndexProgressInfo, Field("Only while the folder's index is being built.")]]


class _FileLines(NamedTuple):
    """Lines of a file, from 0."""

    path: str
    start: int
    lines: list[str]


@tool("read", "project", serves="SB-tool-search SB-limit-search SB-retrieve", needs="index")
def search_project(given: SearchProject, context: ToolContext) -> SearchProjectResult:
    """Search the files of the project and return snippets with their file and lines, counted from 1. Searches for the
    exact query first; if it occurs nowhere, returns the passages that match it best by words and meaning, or none. Read
    more around a result with read_file."""
    phrases, question = parse_query(given.query)
    if not phrases and not question:
        raise Refused("The query is empty.", code="content_required", field="query", query="")
    most = context.limits.search_snippet_lines
    around = min(AROUND, (most - 1) // 2)
    limit = min(given.limit or context.limits.search_results, context.limits.search_results_cap)
    quoted = len(phrases) == 1 and not question
    hits, _ = _search_lines(context, phrases[0] if quoted else given.query.strip(), given.glob, around=around)
    passages = _passages(hits, most) if hits or quoted else _rank_passages(context, given, limit + 1, most)
    results: list[Snippet] = [
        {
            "file_path": passage.path,
            "start_line": passage.start + 1,
            "end_line": passage.start + len(passage.lines),
            "snippet": "\n".join(line[:MAX_LINE] for line in passage.lines),
        }
        for passage in passages[:limit]
    ]
    answer: SearchProjectResult = {"results": results, "truncated": len(passages) > limit}
    indexing = _index_progress(context)
    if indexing is not None:
        answer["indexing"] = indexing
    return answer


def _passages(hits: Sequence[Hit], most: int) -> list[_FileLines]:
    """Hits that are close together as one passage, of at most `most` lines."""
    found: list[_FileLines] = []
    for hit in hits:
        start = hit.line - len(hit.before)
        lines: list[str] = [*hit.before, hit.text, *hit.after]
        last = found[-1] if found else None
        if last is not None and last.path == hit.path and start <= last.start + len(last.lines):
            joined = last.lines[: start - last.start] + lines
            if len(joined) <= most:
                last.lines[:] = joined
                continue
        found.append(_FileLines(hit.path, start, lines))
    return found


def _rank_passages(context: ToolContext, given: SearchProject, limit: int, most: int) -> list[_FileLines]:
    """The best passages for a query that occurs nowhere literally."""
    drafts = context.workspace.working_drafts()
    index = Index.of(context.workspace)
    with context.release_guard():
        found = index.rank(
            given.query,
            drafts,
            available_embedder(context),
            limit=limit,
            wanted=path_filter(given.glob),
            seconds=SECONDS,
            least=0.0,
        )
    return [
        _FileLines(path, passage.line, passage.text.splitlines()[:most])
        for path, passage in found.passages
        if context.can_read(path)
    ]
