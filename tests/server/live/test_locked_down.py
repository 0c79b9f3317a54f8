"""Nobody opens a websocket of a real server who should not, and a viewer reads along and no more."""

from __future__ import annotations

import asyncio
import http.client
from typing import TYPE_CHECKING

import pytest

from redraft.server.auth.callers import Users
from redraft.server.live.connection import LOOK_SECONDS
from tests.server.live.people import Person, expect_same, story
from tests.server.serving import begun, ended
from tests.server.test_locked_down import HOSTS, ORIGINS, WEBSOCKETS
from tests.server.test_team import TEAM, admitted, client
from tests.speaking.lines import PATIENCE
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def handshake(server: Server, headers: dict[str, str], path: str) -> int:
    """The status with which a websocket is answered; 101 is an open one."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.request("GET", path + "?epoch=x", headers={**UPGRADE, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def test_no_websocket_of_a_real_server_opens_without_the_right_proofs(standing: Server):
    token = {"Authorization": f"Bearer {standing.token}"}
    cookie = {"Cookie": standing.cookie()}
    strangers = [{}, {"Authorization": "Bearer x"}, {"Cookie": "redraft=x"}, cookie]
    strangers += [{**token, "Host": host.format(port=standing.port) or " "} for host in HOSTS]
    strangers += [
        {**proof, "Origin": origin.format(port=standing.port)} for origin in ORIGINS for proof in (token, cookie)
    ]
    strangers += [{**token, "Sec-Fetch-Site": site} for site in ("cross-site", "same-site")]
    for path in (*WEBSOCKETS, "/api/live/", "/none", "/mcp", "/"):
        for headers in strangers:
            assert handshake(standing, headers, path) in (400, 403), (path, headers)
    for path in WEBSOCKETS:
        assert handshake(standing, token, path) == 101
        assert handshake(standing, {**cookie, "Origin": standing.url}, path) == 101


def test_a_viewer_reads_along_and_types_nothing_and_who_is_removed_is_out(folder: Path):
    tokens = [admitted(folder, *each) for each in (("anna", "editor"), ("vera", "viewer"))]
    server = begun(folder, *TEAM)
    editor, viewer = (client(server, token) for token in tokens)

    async def told() -> None:
        anna, vera = await Person(editor, "story.md").join(), await Person(viewer, "story.md").join()
        anna.type(0, "By Anna. ")
        anna.type(0, "", 3)
        await expect_same(anna, vera)
        await vera.leave()
        await vera.join()  # what is deleted is told again by whoever comes back, which changes nothing
        assert str(vera) == "Anna. " + STORY
        vera.type(0, "By Vera. ")
        assert (await vera.ended())[0] == 4403
        vera.begin_anew()
        await vera.join()
        vera.type(0, "", 3)
        assert (await vera.ended())[0] == 4403
        assert await expect_same(anna) == "Anna. " + STORY
        Users(str(server.state)).remove("anna")
        await asyncio.sleep(LOOK_SECONDS + 0.1)
        anna.type(0, "Too late. ")
        assert (await anna.ended())[0] == 1008

    story(told())
    assert ended(server) == ""
