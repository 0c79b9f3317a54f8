"""A client that speaks the protocol over HTTP with a real process of the program, by the standard library alone."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.speaking.forking import start_program
from tests.speaking.lines import ENVELOPE_VERSION, PATIENCE, environment, program

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    Message = dict[str, Any]

NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Answer(NamedTuple):
    """What came back for a request of HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Message:
        return json.loads(self.body)

    @property
    def events(self) -> list[Message]:
        return [json.loads(line[6:]) for line in self.body.decode().splitlines() if line.startswith("data: ")]


@dataclass(slots=True)
class Server:
    """A running server, and what it takes to be let in."""

    process: subprocess.Popen[str]
    port: int
    token: str
    said: list[str] = field(default_factory=list[str])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def headers(self, **more: str) -> dict[str, str]:
        """Those of a client that is in order; a value of "" leaves one out."""
        usual = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        given = {name.replace("_", "-"): value for name, value in more.items()}
        return {name: value for name, value in {**usual, **given}.items() if value}

    @contextmanager
    def sent(
        self, method: str, body: bytes | None, headers: Mapping[str, str], path: str = "/mcp"
    ) -> Generator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers))
            yield connection.getresponse()
        finally:
            connection.close()

    def exchange(self, method: str, body: bytes | None, headers: Mapping[str, str], path: str = "/mcp") -> Answer:
        with self.sent(method, body, headers, path) as response:
            told = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, told, response.read())

    def post(self, message: Any, **headers: str) -> Answer:
        return self.exchange("POST", json.dumps(message).encode(), self.headers(**headers))

    def enveloped(self, method: str, meta: Message, number: int = 1, **parameters: Any) -> Answer:
        """A request of the newer era, with the headers that belong to it."""
        message = request(number, method, **parameters, _meta=meta)
        name = parameters.get(NAMED_BY.get(method, ""), "")
        return self.post(message, MCP_Protocol_Version=ENVELOPE_VERSION, MCP_Method=method, MCP_Name=name)

    def session(self, **capabilities: Any) -> str:
        """Shake hands; the session's name."""
        information = {"name": "tester", "version": "1"}
        answer = self.post(
            request(0, "initialize", protocolVersion="2025-06-18", capabilities=capabilities, clientInfo=information)
        )
        name = answer.headers["mcp-session-id"]
        assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, MCP_Session_Id=name).status == 202
        return name


def request(number: int, method: str, /, **parameters: Any) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def events(response: http.client.HTTPResponse) -> Iterator[Message]:
    """The events of a stream, one by one as they come."""
    while line := response.readline():
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


@contextmanager
def serving(folder: Path, *options: str, **variables: str) -> Generator[Server]:
    """The program as a server; it must end content when it is told to."""
    process = start_program(
        program(folder, "--http", *options),
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**environment(folder), **variables},
    )
    assert process.stderr is not None
    try:
        said = [process.stderr.readline() for _ in range(3)]
        found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", "".join(said))
        assert found is not None, said + process.stderr.readlines()
        yield Server(process, int(found[1]), said[2].rpartition("Bearer ")[2].strip(), said)
    finally:
        process.terminate()
        rest = process.stderr.read()
        status = process.wait(PATIENCE)
        process.stderr.close()
    assert rest == "", rest
    assert status == 0, status
