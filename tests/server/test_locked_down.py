"""Nobody gets in who should not: every route, every websocket, with every wrong proof and every foreign sender."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from starlette.routing import Route, WebSocketRoute

from redraft.server.app import MCP_PATH, build_app
from redraft.server.auth.callers import Caller, Keys, Users
from redraft.server.auth.gate import ENTER, Gate, loopback_origins, public_origin
from redraft.server.replies import GUARDS
from redraft.server.routes.responses import LazyRoute
from tests.server.serving import Client, Server, begun, ended

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from starlette.websockets import WebSocket


def routes() -> list[tuple[str, str]]:
    """Every method and path that the server knows; what stands in braces is filled in."""
    found: list[tuple[str, str]] = []
    for route in build_app().routes:
        if isinstance(route, WebSocketRoute):
            continue  # see `WEBSOCKETS`
        assert isinstance(route, Route), f"the walk does not know {route}"
        path = re.sub(r"\{\w+\}", "1", route.path)
        found += [(method, path) for method in sorted(route.methods or ())]
    return [*found, *((method, MCP_PATH) for method in ("GET", "POST", "DELETE"))]


ROUTES = routes()
WEBSOCKETS = [
    re.sub(r"\{\w+(:path)?\}", "story.md", route.path)
    for route in build_app().routes
    if isinstance(route, WebSocketRoute)
]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One server for all walks; none of them gets far enough to change anything."""
    folder = tmp_path_factory.mktemp("locked") / "notes"
    folder.mkdir()
    (folder / "story.md").write_text("Nobody reads this.\n", encoding="utf-8")
    server = begun(folder)
    yield server
    assert ended(server) == ""
    assert (folder / "story.md").read_text(encoding="utf-8") == "Nobody reads this.\n"


def turned_away(client: Client, status: set[int], headers: dict[str, str]) -> list[tuple[str, str, int]]:
    """The routes that did anything else."""
    wrong: list[tuple[str, str, int]] = []
    for method, path in ROUTES:
        body = None if method in ("GET", "HEAD") else b"{}"
        answer = client.request(method, path, body, headers)
        if path == "/api/health" and (answer.status, answer.body) == (200, b'{"status":"ok"}') and 401 in status:
            continue  # anybody may ask that, and is told no more
        if answer.status not in status or b"Nobody reads" in answer.body:
            wrong.append((method, path, answer.status))
        assert "access-control-allow-origin" not in answer.headers
    return wrong


def test_the_walk_sees_the_routes():
    assert len(ROUTES) > 50
    assert {("GET", "/api/documents"), ("POST", "/api/agent/run"), ("POST", "/mcp"), ("GET", "/")} <= set(ROUTES)


def test_no_route_answers_without_a_token(standing: Server):
    # After some thirty failures a stranger is told to wait, which is no answer either.
    assert turned_away(Client(standing.port), {401, 429}, {}) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer " + "x" * 43},
        {"Authorization": "Basic eDp5"},
        {"Authorization": "Bearer"},
        {"Cookie": "redraft=x"},
    ],
)
def test_no_route_answers_to_a_wrong_token(standing: Server, headers: dict[str, str]):
    assert turned_away(Client(standing.port), {401, 429}, headers) == []


def test_no_route_answers_to_a_forged_cookie(standing: Server):
    name, _, value = standing.cookie().partition("=")
    who, until, signature = value.split(".")
    forged = [f"{who}.{until}.{'0' * 64}", f"{who}.{int(until) + 1}.{signature}", f"YW5uYQ.{until}.{signature}"]
    for each in forged:
        assert turned_away(Client(standing.port), {401, 429}, {"Cookie": f"{name}={each}"}) == []


HOSTS = [
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:{port}",
    "",
    "127.0.0.1:{port}.evil.example",
]


@pytest.mark.parametrize("host", HOSTS)
def test_no_route_answers_for_a_foreign_host(standing: Server, host: str):
    sent = {"Host": host.format(port=standing.port) or " "}
    assert turned_away(standing, {400, 403}, sent) == []


ORIGINS = [
    "http://evil.example",
    "null",
    "http://127.0.0.1:1",
    "https://127.0.0.1:{port}",
    "http://localhost:{port}",
    "file://",
]


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("proof", ["token", "cookie"])
def test_no_route_answers_to_a_foreign_origin(standing: Server, origin: str, proof: str):
    client = standing if proof == "token" else Client(standing.port, sent={"Cookie": standing.cookie()})
    assert turned_away(client, {403}, {"Origin": origin.format(port=standing.port)}) == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_no_route_answers_to_another_site(standing: Server, site: str):
    client = Client(standing.port, sent={"Cookie": standing.cookie()})
    assert turned_away(client, {403}, {"Sec-Fetch-Site": site}) == []


def test_no_route_that_writes_answers_to_a_form(standing: Server):
    """A form of another page: the browser sends the cookie, an origin or none, and one of three kinds of content."""
    client = Client(standing.port, sent={"Cookie": standing.cookie()})
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"):
        for method, path in ROUTES:
            if method not in ("GET", "HEAD"):
                sent = {"Content-Type": kind}
                assert client.request(method, path, b'{"all": true}', sent).status == 403
                own = {**sent, "Origin": standing.url}
                assert client.request(method, path, b'{"all": true}', own).status in (403, 405, 415)


def test_every_answer_has_the_headers_that_guard_a_page(standing: Server):
    told = {name.decode(): value.decode() for name, value in GUARDS}
    for client, path in (
        (standing, "/"),
        (standing, "/api/version"),
        (standing, "/none"),
        (Client(standing.port), "/"),
    ):
        headers = client.request("GET", path).headers
        # The app's page alone lets its own style elements count, by a mark that is new each time.
        headers["content-security-policy"] = re.sub(r" 'nonce-[\w-]{22}'", "", headers["content-security-policy"])
        assert {name: headers[name] for name in told if name != "cache-control"} == {
            name: value for name, value in told.items() if name != "cache-control"
        }
        assert "server" not in headers
    policy = told["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy


def test_the_page_for_a_browser_that_is_not_let_in_loads_nothing_and_only_its_own_style_counts(server: Server):
    # A server of its own: after too many requests without a token no page is shown for a while.
    answer = Client(server.port).request("GET", "/", headers={"Accept": "text/html"})
    [style] = re.findall(r"<style>(.*?)</style>", answer.body.decode(), re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    allowed = dict(each.strip().split(" ", 1) for each in answer.headers["content-security-policy"].split(";"))
    assert (answer.status, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert (allowed["default-src"], allowed["style-src"]) == ("'none'", f"'sha256-{digest}'")
    assert allowed.keys() == {"default-src", "style-src", "form-action", "base-uri", "frame-ancestors"}
    assert not re.search(rb"\b(?:src|href|style|url|import)\b\s*[=(]|<script", answer.body)


def test_an_address_lets_a_browser_in_once(standing: Server):
    path = standing.post("/api/visit")["path"]
    stranger = Client(standing.port)
    first = stranger.request("GET", path)
    assert (first.status, first.headers["location"], first.body) == (303, "/", b"")
    cookie = first.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert stranger.request("GET", path).status in (401, 429)
    inside = Client(standing.port, sent={"Cookie": f'other={{}}"; {cookie.partition(";")[0]}'})
    assert inside.get("/api/workspace")["caller"] == {"name": "you", "role": "admin", "at_home": True}


def test_a_cookie_does_not_open_mcp(standing: Server):
    client = Client(standing.port, sent={"Cookie": standing.cookie(), "Origin": standing.url})
    assert client.request("POST", MCP_PATH, {}).status == 403


def test_tokens_are_in_no_log_and_no_error(standing: Server):
    path = standing.post("/api/visit")["path"]
    Client(standing.port).request("GET", path)
    answer = standing.request("GET", "/api/none", query={"token": standing.token})
    assert standing.token.encode() not in answer.body
    log = (standing.state / "server.log").read_text(encoding="utf-8")
    assert path.partition("=")[2] not in log
    assert standing.token not in log
    assert '"path": "/enter"' in log


@pytest.mark.parametrize("name", ["server.json", "server-key", "server.log", "server.db"])
def test_what_the_server_keeps_is_its_owners_alone(standing: Server, name: str):
    assert (standing.state / name).stat().st_mode & 0o077 == 0


# Websockets, in this process: the gate stands before whatever is behind it


async def _talk(gate: Gate, headers: dict[str, str], path: str = "/ws") -> list[str]:
    """What a websocket is told: `websocket.accept`, or a close."""
    said: list[str] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        said.append(message["type"])

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "websocket", "path": path, "headers": raw, "query_string": b"", "client": ("127.0.0.1", 1)}
    await gate({**scope, "subprotocols": [], "root_path": "", "scheme": "ws"}, receive, send)
    return said


@pytest.fixture
def gated(tmp_path: Path) -> tuple[Gate, str]:
    """The gate before an application with a websocket, and the cookie that opens it."""
    app = build_app()

    async def websocket(socket: WebSocket) -> None:
        await socket.accept()

    app.router.routes.append(WebSocketRoute("/ws", websocket))
    keys = Keys(str(tmp_path), Users(str(tmp_path)), "secret" * 8, cookie="redraft-1")
    return Gate(app, keys, loopback_origins(1), page=b""), f"redraft-1={keys.cookie_for(Caller('you', 'admin'))}"


GOOD_HOST = {"Host": "127.0.0.1:1"}
GOOD_ORIGIN = {"Origin": "http://127.0.0.1:1"}
TOKEN = {"Authorization": "Bearer " + "secret" * 8}


def test_a_websocket_opens_with_the_right_proofs(gated: tuple[Gate, str]):
    gate, cookie = gated
    assert asyncio.run(_talk(gate, {**GOOD_HOST, **GOOD_ORIGIN, "Cookie": cookie})) == ["websocket.accept"]
    assert asyncio.run(_talk(gate, {**GOOD_HOST, **TOKEN})) == ["websocket.accept"]


@pytest.mark.parametrize(
    "headers",
    [
        {**GOOD_HOST, **GOOD_ORIGIN},
        {**GOOD_HOST, "Cookie": "COOKIE"},
        {"Host": "evil.example", **GOOD_ORIGIN, "Cookie": "COOKIE"},
        {"Host": "evil.example", **TOKEN},
        {**GOOD_HOST, "Origin": "null", "Cookie": "COOKIE"},
        {**GOOD_HOST, "Origin": "http://127.0.0.1:2", "Cookie": "COOKIE"},
        {**GOOD_HOST, "Origin": "http://evil.example", **TOKEN},
        {**GOOD_HOST, **GOOD_ORIGIN, "Sec-Fetch-Site": "cross-site", "Cookie": "COOKIE"},
        {**GOOD_HOST, "Authorization": "Bearer x"},
    ],
)
@pytest.mark.parametrize("path", ["/ws", "/none", *WEBSOCKETS])
def test_no_websocket_opens_otherwise(gated: tuple[Gate, str], headers: dict[str, str], path: str):
    gate, cookie = gated
    sent = {name: value.replace("COOKIE", cookie) for name, value in headers.items()}
    assert asyncio.run(_talk(gate, sent, path)) == ["websocket.close"]


def test_no_websocket_is_there_that_the_walk_does_not_know():
    assert {type(route) for route in build_app().routes} <= {Route, LazyRoute, WebSocketRoute}
    assert WEBSOCKETS == ["/api/live/story.md"]


# What is ours


@pytest.mark.parametrize(
    "url", ["redraft.example.org", "ftp://x", "https://", "https://a/b", "https://u@h", "https://[", "https://h?x"]
)
def test_an_address_that_is_none_is_refused(url: str):
    with pytest.raises(Exception, match="not an address"):
        public_origin(url)


def test_an_address_is_a_host_and_an_origin():
    assert public_origin("https://Redraft.example.org:8443/") == (
        "redraft.example.org:8443",
        "https://redraft.example.org:8443",
    )
    assert ENTER == "/enter"
