"""The application: routes, the page, MCP, and the one shape of every failure, behind `bodies` and the gate.

`described` makes it without a folder, for its description alone.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.routing import WebSocketRoute

from redraft import __version__
from redraft.errors import RedraftError, Refused
from redraft.server.bodies import Bodies
from redraft.server.gate import Gate
from redraft.server.live.socket import live as live_socket
from redraft.server.mcp_mount import MCP_PATH, McpMount
from redraft.server.pages import ROUTES, plain_page
from redraft.server.replies import JSON, failure, status_of
from redraft.server.routes import (
    about,
    agent,
    blame,
    checkpoints,
    documents,
    events,
    export,
    images,
    jobs,
    live,
    macros,
    review,
    rich,
    searching,
    settings,
    tabs,
    tools,
    turns,
)
from redraft.server.routes.answering import ErrorShape, allowed

if TYPE_CHECKING:
    from redraft.server.keys import Keys
    from redraft.server.replies import Application, Receive, Scope, Send
    from redraft.server.served import Served

LOG = logging.getLogger("redraft.server")
# They are asked in this order, one after the other: those that agents and editors call all the time come first.
ROUTERS = (
    tools.router,
    tabs.router,
    documents.router,
    searching.router,
    about.router,
    settings.router,
    review.router,
    rich.router,
    images.router,
    export.router,
    turns.router,
    blame.router,
    agent.router,
    jobs.router,
    macros.router,
    events.router,
    checkpoints.router,
    live.router,
)


def described() -> FastAPI:
    """The routes and how they are described."""
    app = FastAPI(
        title="Redraft",
        version=__version__,
        summary="One folder of documents that people and agents write together.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        dependencies=[Depends(allowed)],
        generate_unique_id_function=lambda route: route.name,
        separate_input_output_schemas=False,
    )
    for router in ROUTERS:
        app.include_router(router)
    # Without the dependencies of the routes, which are for requests: the gate has judged the caller, the room the role.
    app.router.routes.append(WebSocketRoute("/api/live/{path:path}", live_socket))
    app.router.routes.extend(ROUTES)
    app.add_exception_handler(RedraftError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(Exception, _mistaken)
    return app


def description() -> dict[str, Any]:
    """The API, as OpenAPI describes one."""
    found = described().openapi()
    found["components"]["schemas"][ErrorShape.__name__] = TypeAdapter(ErrorShape).json_schema()
    return found


async def _refused(_: Request, error: Any) -> Response:
    return Response(failure(error), status_of(error), media_type=JSON)


async def _invalid(_: Request, error: Any) -> Response:
    """What was sent is not as it should be; it is not quoted, for it may be anything."""
    first: dict[str, Any] = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:200]
    message = f"{where or 'The body'}: {first['msg']}."
    return Response(failure(Refused(message, field=where or "body")), 422, media_type=JSON)


async def _unrouted(_: Request, error: Any) -> Response:
    """No route, another method, or a body that is no JSON."""
    status: int = 422 if error.status_code == 400 else error.status_code
    code = "not_found" if status == 404 else "invalid_argument"
    known = Refused(f"{error.detail}.".replace("..", "."), code=code)
    return Response(failure(known), status, headers=error.headers, media_type=JSON)


async def _mistaken(request: Request, error: Any) -> Response:
    """A mistake of ours: the log says what, the client only that."""
    number: str = request.scope.get("state", {}).get("request", "")
    LOG.error("mistake", exc_info=error, extra={"request": number})
    return Response(
        failure(RedraftError("Something went wrong here; the log says what.", request=number)), 500, media_type=JSON
    )


class Front:
    """Everything behind the gate: MCP, which has rules of its own, and the rest."""

    def __init__(self, served: Served, app: FastAPI) -> None:
        self.mcp = McpMount(served)
        self._app = app
        self._bodies = Bodies(app, served.answers, served.aside)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == MCP_PATH:
            await self.mcp(scope, receive, send)
        elif scope["type"] == "http":
            await self._bodies(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def application(served: Served, keys: Keys, origins: dict[str, str], *, team: bool, secure: bool) -> tuple[Gate, Front]:
    """The whole, to be served: nothing of it is reached but through the gate."""
    app = described()
    app.state.served = served
    app.state.keys = keys
    app.state.description = cache(description)
    front = Front(served, app)
    inner: Application = front
    return Gate(inner, keys, origins, page=plain_page("team.html" if team else "enter.html"), secure=secure), front
