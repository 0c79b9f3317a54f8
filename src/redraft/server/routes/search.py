"""Searching every document for a person, by words or by meaning: where each match is, for an editor to go there."""

from typing import Annotated, Literal

from fastapi import Query, Response
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.search.globs import path_filter
from redraft.search.hits import Hit
from redraft.search.index import Index
from redraft.search.pattern import Pattern, compile_query
from redraft.search.text_search import find_all
from redraft.server.routes.responses import Here, answer, gives, new_router
from redraft.workspace.folder.scan import Drafts
from redraft.workspace.workspace import Workspace

router = new_router("/api/search", "documents")
MAX_TEXT, BEFORE = 400, 100
Asked = Annotated[str, Query(min_length=1, max_length=1000)]
Glob = Annotated[str | None, Query(min_length=1, max_length=1000)]


class LineHit(TypedDict):
    """A line with a match. Lines and columns count from 0; columns and lengths are in code points. For a long line
    `text` is a part that begins at the column `text_start`."""

    path: str
    line: int
    column: int
    length: int
    text: str
    text_start: int


class LineHits(TypedDict):
    """The matching lines, by document."""

    hits: list[LineHit]
    truncated: bool


@router.get("/lines", **gives(LineHits))
async def search_lines(
    desk: Here,
    query: Asked,
    regex: bool = False,
    case_sensitive: bool = False,
    whole_word: bool = False,
    glob: Glob = None,
    limit: Annotated[int, Query(ge=1, le=2000)] = 500,
) -> Response:
    """Find lines with these words or matching this pattern, in the whole folder or in files that match a glob."""

    how = {"regex": regex, "case_sensitive": case_sensitive, "whole_word": whole_word}
    pattern = compile_query(query, **how)
    index, drafts = await desk.work(_index_and_drafts)

    def look() -> LineHits:
        found = index.search(query, glob=glob, limit=limit + 1, drafts=drafts, **how)
        return {"hits": [line_hit(hit, pattern) for hit in found[:limit]], "truncated": len(found) > limit}

    return answer(await desk.run_long(look))


def _index_and_drafts(workspace: Workspace) -> tuple[Index, Drafts]:
    """What a search needs of the workspace; it is made without it."""
    return Index.of(workspace), workspace.working_drafts()


def line_hit(hit: Hit, pattern: Pattern) -> LineHit:
    length = next((end - start for start, end in find_all(hit.text, pattern) if start == hit.column), 0)
    first = max(0, hit.column - BEFORE) if len(hit.text) > MAX_TEXT else 0
    return {
        "path": hit.path,
        "line": hit.line,
        "column": hit.column,
        "length": length,
        "text": hit.text[first : first + MAX_TEXT],
        "text_start": first,
    }


class MeaningHit(TypedDict):
    """A matching passage: its first line, from 0, and its text. The best has the highest score."""

    path: str
    line: int
    score: float
    text: str


class MeaningHits(TypedDict):
    """The best passages of all documents. While `indexing`, some were ranked by words only: search again later. If
    `truncated`, the folder has more text than can be searched."""

    hits: list[MeaningHit]
    status: Literal["ready", "indexing"]
    truncated: bool


@router.get("/meaning", **gives(MeaningHits, 409))
async def search_meaning(
    desk: Here, query: Asked, glob: Glob = None, limit: Annotated[int, Query(ge=1, le=100)] = 20
) -> Response:
    """Find passages with a similar meaning, in the whole folder or in files that match a glob."""
    from redraft.providers.embeddings import load_embedder
    from redraft.search.passages.folder_passages import SECONDS, WORTH

    if not query.strip():
        raise Refused("The query is empty.", code="content_required", field="query")
    settings = desk.served.workspace.settings
    wanted = path_filter(glob)
    index, drafts = await desk.work(_index_and_drafts)

    def judge() -> MeaningHits:
        # The first search by meaning loads what it takes, and no other request waits for that.
        model = load_embedder(settings.embeddings)
        found = index.rank(
            query, drafts, model, limit=limit, wanted=wanted if glob else None, seconds=SECONDS, least=WORTH
        )
        hits: list[MeaningHit] = [
            {"path": path, "line": passage.line, "score": round(passage.score, 4), "text": passage.text[:MAX_TEXT]}
            for path, passage in found.passages
        ]
        return {"hits": hits, "status": found.status, "truncated": found.truncated}

    return answer(await desk.run_long(judge))
