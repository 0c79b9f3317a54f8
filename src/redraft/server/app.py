"""The application: routes, the page, MCP, and error responses, behind the gate.

`described` makes it without a folder, for its description alone.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.routing import WebSocketRoute

from redraft import __version__
from redraft.config import MODE_WIDTH, PROFILES
from redraft.errors import RedraftError, Refused
from redraft.mcp_server.protocol import FORMS, Form
from redraft.mcp_server.transports.streamable_http import asgi_app
from redraft.server.auth.callers import OWNER_NAME
from redraft.server.auth.gate import Gate
from redraft.server.idempotency import RequestBodies
from redraft.server.live.connection import serve_live
from redraft.server.replies import JSON, failure, refuse, status_of
from redraft.server.routes import (
    about,
    agent,
    blame,
    checkpoints,
    comments,
    documents,
    events,
    export,
    images,
    jobs,
    live,
    macros,
    models,
    review,
    rich,
    search,
    secrets,
    settings,
    tabs,
    tools,
    turns,
)
from redraft.server.routes.pages import ROUTES, plain_page
from redraft.server.routes.responses import ErrorShape, LazyRoute

if TYPE_CHECKING:
    from redraft.mcp_server.transports.streamable_http import McpApp
    from redraft.server.auth.callers import Caller, Keys
    from redraft.server.folder_state import FolderState
    from redraft.server.replies import Application, Receive, Scope, Send

# MCP at `/mcp`, for callers with an editor's token: their turns and the log name them.
#
# Query parameters can restrict a client: `?profile=` to a set of tools, `?answers=` to a form of answers, `?mode=` to a
# stricter mode than the workspace's; they never allow more.


MCP_PATH = "/mcp"
CHOICES = {"profile": PROFILES, "answers": FORMS, "mode": tuple(MODE_WIDTH)}


class McpOptions(NamedTuple):
    """What a client asks for."""

    profile: str = "all"
    answers: Form | None = None
    mode: str | None = None


def parse_mcp_options(query: bytes) -> McpOptions:
    """Parse the query; `Refused` if it is not understood, because a misspelt limit is no limit."""
    given = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    for name, values in given.items():
        if name not in CHOICES:
            raise Refused(f"{name!a} is not a parameter here.", field="query")
        if len(values) != 1 or values[0] not in CHOICES[name]:
            raise Refused(f"{name} must be one of {', '.join(CHOICES[name])}.", field=name)
    chosen: dict[str, Any] = {name: values[0] for name, values in given.items()}
    return McpOptions(**chosen)


class McpMount:
    """One application per set of options and user, created on first use."""

    def __init__(self, served: FolderState) -> None:
        self._served = served
        self._apps: dict[tuple[McpOptions, str], McpApp] = {}

    def close(self) -> None:
        for app in self._apps.values():
            app.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope["state"]["caller"]
        try:
            if caller.by_cookie or not caller.may("editor"):
                raise Refused("MCP needs the token of an editor.", code="not_allowed")
            app = self._app(parse_mcp_options(scope["query_string"]), "" if caller.name == OWNER_NAME else caller.name)
        except RedraftError as error:
            await refuse(send, error)
            return
        await app(scope, receive, send)

    def _app(self, wish: McpOptions, user: str) -> McpApp:
        if (wish, user) not in self._apps:
            tools = self._served.tools.profile(wish.profile)
            endpoint = self._served.endpoint.narrow(tools, form=wish.answers, most=wish.mode)
            self._apps[wish, user] = asgi_app(endpoint, user)
        return self._apps[wish, user]


LOG = logging.getLogger("redraft.server")
# They are asked in this order, one after the other: those that agents and editors call all the time come first.
ROUTERS = (
    tools.router,
    tabs.router,
    documents.router,
    secrets.router,
    search.router,
    about.router,
    settings.router,
    models.router,
    review.router,
    comments.router,
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


def build_app() -> FastAPI:
    """The routes and how they are described."""
    app = FastAPI(
        title="Redraft",
        version=__version__,
        summary="One folder of documents that people and agents write together.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    # As they are: FastAPI would analyse those of an included router once more when they are first called.
    app.router.routes.extend(route for router in ROUTERS for route in router.routes)
    # Without the dependencies of the routes, which are for requests: the gate has judged the caller, the room the role.
    app.router.routes.append(WebSocketRoute("/api/live/{path:path}", serve_live))
    app.router.routes.extend(ROUTES)
    app.add_exception_handler(RedraftError, _handle_refusal)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_unrouted)
    app.add_exception_handler(Exception, _handle_mistake)
    return app


def description() -> dict[str, Any]:
    """The API, as OpenAPI describes one."""
    app = build_app()
    app.router.routes[:] = [route.describe() if isinstance(route, LazyRoute) else route for route in app.routes]
    found = app.openapi()
    found["components"]["schemas"][ErrorShape.__name__] = TypeAdapter(ErrorShape).json_schema()
    return found


async def _handle_refusal(_: Request, error: Any) -> Response:
    return Response(failure(error), status_of(error), media_type=JSON)


async def _handle_invalid(_: Request, error: Any) -> Response:
    """The request is not valid; it is not quoted, because it may be anything."""
    first: dict[str, Any] = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:200]
    message = f"{where or 'The body'}: {first['msg']}."
    return Response(failure(Refused(message, field=where or "body")), 422, media_type=JSON)


async def _handle_unrouted(_: Request, error: Any) -> Response:
    """No route, a wrong method, or a body that is not JSON."""
    status: int = 422 if error.status_code == 400 else error.status_code
    code = "not_found" if status == 404 else "invalid_argument"
    known = Refused(f"{error.detail}.".replace("..", "."), code=code)
    return Response(failure(known), status, headers=error.headers, media_type=JSON)


async def _handle_mistake(request: Request, error: Any) -> Response:
    """A bug of ours: the log has the details, the client only an error."""
    number: str = request.scope.get("state", {}).get("request", "")
    LOG.error("mistake", exc_info=error, extra={"request": number})
    return Response(
        failure(RedraftError("Something went wrong; see the server's log.", request=number)), 500, media_type=JSON
    )


class GatedApp:
    """Everything behind the gate: MCP, which has its own rules, and the rest."""

    def __init__(self, served: FolderState, app: FastAPI) -> None:
        self.mcp = McpMount(served)
        self._app = app
        self._bodies = RequestBodies(app, served.answers, served.run_aside)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == MCP_PATH:
            await self.mcp(scope, receive, send)
        elif scope["type"] == "http":
            await self._bodies(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def build_application(
    served: FolderState, keys: Keys, origins: dict[str, str], *, team: bool, secure: bool
) -> tuple[Gate, GatedApp]:
    """The complete application: everything is behind the gate."""
    app = build_app()
    app.state.served = served
    app.state.keys = keys
    app.state.description = cache(description)
    front = GatedApp(served, app)
    inner: Application = front
    return Gate(inner, keys, origins, page=plain_page("team.html" if team else "enter.html"), secure=secure), front
