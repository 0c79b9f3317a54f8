"""What an app that stays open needs: where to join a live document, and what changed meanwhile.

The room itself is the websocket `/api/live/{path}`; see `redraft.server.live`.
"""

from fastapi import Response
from typing_extensions import TypedDict

from redraft.server.change_feed import CHANGES
from redraft.server.routes.events import EventStream, LastEventId, last_number, streams_events
from redraft.server.routes.responses import Here, PathQuery, answer, gives, new_router
from redraft.workspace.workspace import Workspace

router = new_router("/api", "live")


class LiveShape(TypedDict):
    """A document's room. Connect to the websocket `/api/live/{path}?epoch={epoch}`; `length` is in code points."""

    path: str
    epoch: str
    version: str
    length: int


@router.get("/live", **gives(LiveShape, 404, 415))
async def join_live(desk: Here, path: PathQuery) -> Response:
    """Open a document for live editing with others; for an editor its tab is opened, too."""

    def act(workspace: Workspace) -> str:
        if desk.caller.may("editor"):
            return workspace.open_tab(path, confirmed=desk.confirmed).path
        return workspace.read(path, confirmed=desk.confirmed).path  # who only looks leaves nothing behind

    await desk.run_aside(desk.served.watching.start)
    found = await desk.work(act)
    room = await desk.served.live.room(found)
    return answer({"path": found, "epoch": room.epoch, "version": room.version, "length": room.length})


@router.get("/changes/stream", **streams_events())
async def changes_stream(desk: Here, last_event_id: LastEventId = None) -> Response:
    """A stream of the folder's changes, as `text/event-stream`: `{seq, kind, path?, version?, turn?, job_id?}` says
    what to fetch again. `kind` is `document`, `review`, `turn`, `tabs`, `tree`, `job` or `notice`, or `all` if more
    happened since `Last-Event-ID` than the server remembers."""
    served = desk.served
    await desk.run_aside(served.watching.start)
    last = None if last_event_id is None else last_number(last_event_id)
    return EventStream(served.change_streams, CHANGES, served.changes.begin(last))
