"""Who wrote which line of a document."""

from typing import Any

from fastapi import Response
from typing_extensions import TypedDict

from redraft.server.routes.responses import Here, PathQuery, answer, gives, new_router
from redraft.server.routes.shapes import TurnResponse, turn_response

router = new_router("/api", "history")


class BlameStretchInfo(TypedDict):
    """Lines that come from one turn; `turn` is null if no turn in the history wrote them. `start_line` counts from
    1."""

    start_line: int
    lines: int
    turn: int | None


class BlameResponse(TypedDict):
    """The current document as stretches of lines from one turn each, and those turns."""

    path: str
    text: str
    blame: list[BlameStretchInfo]
    turns: list[TurnResponse]


@router.get("/blame", **gives(BlameResponse, 404, 415))
async def blame_of(desk: Here, path: PathQuery) -> Response:
    """Accepted proposals count as the agent's. In a long history only the latest turns are followed."""

    document = await desk.work(lambda workspace: workspace.read(path))

    def act() -> dict[str, Any]:
        workspace = desk.served.workspace
        found = workspace.blame(document.path, str(document.text))
        numbers = sorted({stretch.turn for stretch in found if stretch.turn is not None})
        return {
            "path": document.path,
            "text": str(document.text),
            "blame": [{"start_line": each.start + 1, "lines": each.lines, "turn": each.turn} for each in found],
            "turns": [turn_response(workspace.show(number)) for number in numbers],
        }

    return answer(await desk.run_long(act))
