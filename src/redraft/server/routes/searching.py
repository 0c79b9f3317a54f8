"""Searching every document by line, for a person: where each match is, so that an editor can go there."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from typing_extensions import TypedDict

from redraft.search.hits import Hit
from redraft.search.pattern import Pattern, compile_query
from redraft.search.within import find_all
from redraft.server.routes.answering import Here, answer, gives
from redraft.workspace.workspace import Workspace

router = APIRouter(prefix="/api/search", tags=["documents"])
MAX_TEXT, BEFORE = 400, 100


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
    query: Annotated[str, Query(min_length=1, max_length=1000)],
    regex: bool = False,
    case_sensitive: bool = False,
    whole_word: bool = False,
    glob: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
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
