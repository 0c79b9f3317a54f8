"""Who wrote which line of a document."""

from typing import Any

from fastapi import APIRouter, Response
from typing_extensions import TypedDict

from redraft.server.routes.answering import Here, PathQuery, answer, gives
from redraft.server.shapes import TurnShape, turn_shape
from redraft.workspace.blame import blame
from redraft.workspace.workspace import Workspace

router = APIRouter(prefix="/api", tags=["history"])


class BlamedShape(TypedDict):
    """Lines that are from one turn; `turn` is null where no turn of the history wrote them. `start_line` counts
    from 1."""

    start_line: int
    lines: int
    turn: int | None


class Blame(TypedDict):
    """A document as it stands, cut into lines of one turn each, and the turns that they name."""

    path: str
    text: str
    blame: list[BlamedShape]
    turns: list[TurnShape]


@router.get("/blame", **gives(Blame, 404, 415))
async def blame_of(desk: Here, path: PathQuery) -> Response:
    """What was proposed by an agent and accepted is the agent's. Long histories are followed through their latest
    turns."""

    def act(workspace: Workspace) -> dict[str, Any]:
        document = workspace.read(path)
        found = blame(workspace.engine, document.path, str(document.text))
        numbers = sorted({stretch.turn for stretch in found if stretch.turn is not None})
        return {
            "path": document.path,
            "text": str(document.text),
            "blame": [{"start_line": each.start + 1, "lines": each.lines, "turn": each.turn} for each in found],
            "turns": [turn_shape(workspace.show(number)) for number in numbers],
        }

    return answer(await desk.work(act))
