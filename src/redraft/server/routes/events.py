"""What a job reported: by cursor, as the agent-sidebar plan says, and the same events as a stream."""

from typing import Annotated, Any

from fastapi import Header, Query, Response
from starlette.types import Receive, Scope, Send
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.server.event_streams import EventStreams
from redraft.server.routes.jobs import JobId, Status
from redraft.server.routes.responses import MAX_NUMBER, Here, answer, gives, new_router

router = new_router("/api/agent", "agent")


class EventShape(TypedDict):
    """An event of a job."""

    cursor: int
    type: str
    ts: str
    data: dict[str, Any]


class EventsResponse(TypedDict):
    """The events after a cursor, in order; pass `next_cursor` to the next request."""

    job_id: str
    status: Status
    next_cursor: int
    events: list[EventShape]


@router.get("/jobs/{job_id}/events", **gives(EventsResponse, 404))
async def events(desk: Here, job_id: JobId, cursor: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0) -> Response:
    """Poll every two seconds, or listen to the same events at `/events/stream`."""

    def act() -> dict[str, Any]:
        desk.served.agent.store.jobs.get(job_id)
        return desk.served.agent.masked_events.page(job_id, cursor)

    return answer(await desk.run_aside(act))


class EventStream(Response):
    """A stream of events: a job's, or the folder's changes."""

    def __init__(self, streams: EventStreams, name: str, cursor: int) -> None:
        super().__init__()
        self._streams = streams
        self._name = name
        self._cursor = cursor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._streams.serve(self._name, self._cursor, receive, send)


def streams_events(*errors: int) -> dict[str, Any]:
    """Describe a route that answers with a stream."""
    good: dict[str, Any] = {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "The stream of events.",
    }
    responses = {**gives({"type": "string"}, *errors)["responses"], 200: good}
    return {"responses": responses, "response_model": None}


STREAM: dict[str, Any] = streams_events(404)
LastEventId = Annotated[
    str | None, Header(max_length=20, description="The last event that a reconnecting client has seen.")
]


def last_number(last_event_id: str) -> int:
    """The number in a `Last-Event-ID`."""
    if not (last_event_id.isascii() and last_event_id.isdigit() and int(last_event_id) <= MAX_NUMBER):
        raise Refused("Last-Event-ID must be the cursor of an event.", field="Last-Event-ID")
    return int(last_event_id)


@router.get("/jobs/{job_id}/events/stream", **STREAM)
async def stream(
    desk: Here,
    job_id: JobId,
    cursor: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
    last_event_id: LastEventId = None,
) -> Response:
    """The events of `/events` as they happen, as `text/event-stream`; each has its cursor as `id`. The stream continues
    after the job has ended, with what happens to its changes, until the client disconnects."""
    if last_event_id is not None:
        cursor = last_number(last_event_id)
    await desk.run_aside(desk.served.agent.store.jobs.get, job_id)  # refuses a job that there is not
    return EventStream(desk.served.streams, job_id, cursor)
