"""Searching every document for a person, by words or by meaning: where each match is, for an editor to go there."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.search.hits import Hit
from redraft.search.pattern import Pattern, compile_query
from redraft.search.within import find_all
from redraft.server.routes.answering import Here, answer, gives
from redraft.workspace.workspace import Workspace

router = APIRouter(prefix="/api/search", tags=["documents"])
MAX_TEXT, BEFORE = 400, 100
Asked = Annotated[str, Query(min_length=1, max_length=1000)]
Glob = Annotated[str | None, Query(min_length=1, max_length=1000)]


class LineHit(TypedDict):
    """A line with a match. Lines and columns count from 0; columns and lengths are in code points. Of a long line
    `text` is a part, which begins at the column `text_start`."""

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
    """Lines that hold these words or fit this pattern, in the whole folder or in the files that fit a glob."""

    def act(_: Workspace) -> dict[str, Any]:
        how = {"regex": regex, "case_sensitive": case_sensitive, "whole_word": whole_word}
        found = desk.served.index().search(query, glob=glob, limit=limit + 1, **how)
        pattern = compile_query(query, **how)
        return {"hits": [line_hit(hit, pattern) for hit in found[:limit]], "truncated": len(found) > limit}

    return answer(await desk.work(act))


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
    """A passage that answers: the line, from 0, on which it begins, and its words. The best has the highest score."""

    path: str
    line: int
    score: float
    text: str


class MeaningHits(TypedDict):
    """The best passages of all documents. While `indexing`, some were judged by their words alone: ask again. Where it
    is `truncated`, the folder holds more text than can be judged."""

    hits: list[MeaningHit]
    status: Literal["ready", "indexing"]
    truncated: bool


@router.get("/meaning", **gives(MeaningHits, 409))
async def search_meaning(
    desk: Here, query: Asked, glob: Glob = None, limit: Annotated[int, Query(ge=1, le=100)] = 20
) -> Response:
    """Passages that mean something like this, in the whole folder or in the files that fit a glob."""
    # The first search by meaning loads what it takes, and no other request waits for that.
    from redraft.providers.embeddings import embedder
    from redraft.search.everywhere import read_folder, search_everywhere
    from redraft.search.vectors import VectorCache

    if not query.strip():
        raise Refused("There is nothing to search for.", code="content_required", field="query")
    engine = desk.served.workspace.engine
    model = await desk.aside(embedder, engine.settings.embeddings)
    read = await desk.work(lambda _: read_folder(engine, glob))

    def judge() -> MeaningHits:
        with VectorCache(engine.state, engine.clock()) as cache:
            found = search_everywhere(read, query, model, cache, limit=limit)
        hits: list[MeaningHit] = [
            {"path": path, "line": passage.line, "score": round(passage.score, 4), "text": passage.text[:MAX_TEXT]}
            for path, passage in found.passages
        ]
        return {"hits": hits, "status": found.status, "truncated": read.truncated}

    return answer(await desk.aside(judge))
