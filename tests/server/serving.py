"""A real server process on a temporary folder, and a client of it by the standard library alone."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from tests.speaking.forking import start_program
from tests.speaking.lines import PATIENCE, STARTED, environment

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path


class Answer(NamedTuple):
    """What came back for a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Client:
    """Requests to a server, with a token. `sent` are headers that go with each."""

    port: int
    token: str = ""
    sent: dict[str, str] = field(default_factory=dict[str, str])

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
    ) -> Answer:
        usual = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            usual["Content-Type"] = "application/json"
        given = {**usual, **self.sent, **(headers or {})}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            where = path + ("?" + urlencode(query) if query else "")
            connection.request(method, where, data, {name: value for name, value in given.items() if value})
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, told, response.read())
        finally:
            connection.close()

    def get(self, path: str, /, **query: Any) -> Any:
        """The answer to a read that must succeed."""
        answer = self.request("GET", path, query=query)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def post(self, path: str, body: Any = None, /, *, method: str = "POST", **query: Any) -> Any:
        """The answer to a write that must succeed."""
        answer = self.request(method, path, body, query=query)
        assert answer.status in (200, 201), (answer.status, answer.body)
        return answer.json

    def refused(self, method: str, path: str, body: Any = None, status: int = 409, /, **query: Any) -> Any:
        """The failure of a request that must fail with this status, in the one shape of failures."""
        answer = self.request(method, path, body, query=query)
        assert answer.status == status, (answer.status, answer.body)
        versions = {"your_version", "current_version"} if answer.json["error"] == "version_mismatch" else set[str]()
        assert set(answer.json) <= {"error", "message", "suggestion", "recoverable", "details", *versions}
        return answer.json

    def tool(self, name: str, /, *, mode: str = "propose", **arguments: Any) -> Any:
        return self.post(f"/api/tools/{name}", arguments, mode=mode)


@dataclass(slots=True)
class Server(Client):
    """A running server, and what it said when it began."""

    process: subprocess.Popen[str] | None = None
    folder: Path | None = None
    told: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def state(self) -> Path:
        assert self.folder is not None
        [found] = [path for path in (self.folder.parent / "state" / "redraft").iterdir() if len(path.name) == 32]
        return found

    def cookie(self) -> str:
        """Come in as a browser does; the cookie as it is sent."""
        path = self.post("/api/visit")["path"]
        answer = Client(self.port).request("GET", path)
        assert (answer.status, answer.headers["location"]) == (303, "/")
        return answer.headers["set-cookie"].partition(";")[0]


def settled(client: Client, job: str, answered: str = "") -> dict[str, Any]:
    """A job once it is not at work any more: over, under review, or waiting for another answer than `answered`."""
    end = time.monotonic() + PATIENCE
    while True:
        found = client.get(f"/api/agent/jobs/{job}")
        asked: str = found["question"]["question_id"] if found["question"] else ""
        if found["status"] not in ("queued", "running") and (not asked or asked != answered):
            return found
        assert time.monotonic() < end, found
        time.sleep(0.02)


def command(folder: Path, *options: str, verb: str = "serve") -> list[str]:
    return [sys.executable, "-W", "error", "-m", "redraft", verb, str(folder), "--json", "--no-browser", *options]


def begun(folder: Path, *options: str, verb: str = "serve", **variables: str) -> Server:
    """Start a server and wait until it says where it is."""
    process = start_program(
        command(folder, *options, verb=verb),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**environment(folder), "REDRAFT_MODEL_CALLS": "refuse", **variables},
    )
    STARTED.append(process)
    assert process.stdout is not None
    assert process.stderr is not None
    said = ""
    for line in process.stdout:
        said += line
        if line == "}\n":
            break
    if not said:
        raise AssertionError(process.communicate(timeout=PATIENCE)[1])
    told = json.loads(said)
    server = Server(told["port"], "", process=process, folder=folder, told=told)
    server.token = json.loads((server.state / "server.json").read_text(encoding="utf-8"))["secret"]
    return server


def ended(server: Server, number: int = signal.SIGINT) -> str:
    """Stop a server, which must end content; what it said on the standard error."""
    process = server.process
    assert process is not None
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, ""), (process.returncode, out, err)
    return err


@contextmanager
def serving(folder: Path, *options: str, **variables: str) -> Generator[Server]:
    server = begun(folder, *options, **variables)
    try:
        yield server
    except BaseException:
        assert server.process is not None
        server.process.kill()
        server.process.communicate()
        raise
    assert ended(server) == ""
