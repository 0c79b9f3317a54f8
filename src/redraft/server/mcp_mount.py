"""MCP at `/mcp`, for callers with a token of an editor's: who they are is in their turns and in the log.

A client may ask for less than there is, in the address: `?profile=` for the tools of one set, `?answers=` for how
answers are written, `?mode=` for a narrower mode than the workspace's; never for more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

from redraft.config import MODE_WIDTH
from redraft.errors import RedraftError, Refused
from redraft.mcp_server.client import FORMS, Form
from redraft.mcp_server.http import asgi_app
from redraft.server.callers import OWNER_NAME
from redraft.server.replies import refuse
from redraft.tools.profiles import PROFILES

if TYPE_CHECKING:
    from redraft.mcp_server.http import App
    from redraft.server.callers import Caller
    from redraft.server.replies import Receive, Scope, Send
    from redraft.server.served import Served

MCP_PATH = "/mcp"
CHOICES = {"profile": PROFILES, "answers": FORMS, "mode": tuple(MODE_WIDTH)}


class Wish(NamedTuple):
    """What a client asks for."""

    profile: str = "all"
    answers: Form | None = None
    mode: str | None = None


def wish_of(query: bytes) -> Wish:
    """The wish in an address; `Refused` where it is not understood: a misspelt limit is no limit."""
    given = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    for name, values in given.items():
        if name not in CHOICES:
            raise Refused(f"{name!a} cannot be asked for here.", field="query")
        if len(values) != 1 or values[0] not in CHOICES[name]:
            raise Refused(f"{name} is one of {', '.join(CHOICES[name])}.", field=name)
    chosen: dict[str, Any] = {name: values[0] for name, values in given.items()}
    return Wish(**chosen)


class McpMount:
    """An application for each wish and each user, made when it is first asked for."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._apps: dict[tuple[Wish, str], App] = {}

    def close(self) -> None:
        for app in self._apps.values():
            app.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope["state"]["caller"]
        try:
            if caller.by_cookie or not caller.may("editor"):
                raise Refused("MCP takes a token of an editor.", code="not_allowed")
            app = self._app(wish_of(scope["query_string"]), "" if caller.name == OWNER_NAME else caller.name)
        except RedraftError as error:
            await refuse(send, error)
            return
        await app(scope, receive, send)

    def _app(self, wish: Wish, user: str) -> App:
        if (wish, user) not in self._apps:
            tools = self._served.tools.profile(wish.profile)
            endpoint = self._served.endpoint.narrowed(tools, form=wish.answers, most=wish.mode)
            self._apps[wish, user] = asgi_app(endpoint, user)
        return self._apps[wish, user]
