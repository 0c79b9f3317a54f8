"""An HTTP endpoint on the loopback that plays prepared answers in order and keeps what it was asked.

Recorded exchanges with real providers are played through it, so that what is tested is the whole way: socket, HTTP,
event stream, library, adapter.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

import yaml

from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


@dataclass(slots=True)
class Answer:
    """One prepared answer. `seconds` is how long it keeps the caller waiting, while the endpoint is there; `together`
    keeps it back until enough callers wait for it, and `release` until it is set; `break_off` ends it after that many
    bytes, with the connection; `hold` keeps back what follows a stream's first event until it is set."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    together: threading.Barrier | None = None
    release: threading.Event | None = None
    break_off: int | None = None
    hold: threading.Event | None = None


@dataclass(slots=True)
class Asked:
    """One request that arrived."""

    path: str
    headers: dict[str, str]
    body: Any
    at: float


def answer(value: object, status: int = 200, **headers: str) -> Answer:
    """A JSON answer; header names are written with underscores."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(json.dumps(value).encode(), status, headers=named)


def stream(*events: object, names: bool = False) -> Answer:
    """Server-sent events, each with its type as the event's name where `names`."""
    lines = [f"event: {event['type']}\n" if names else "" for event in events]  # type: ignore[index]
    body = "".join(f"{line}data: {json.dumps(event)}\n\n" for line, event in zip(lines, events, strict=True))
    return Answer(body.encode(), content_type="text/event-stream")


def recorded(path: Path) -> list[tuple[dict[str, Any], Answer]]:
    """The exchanges of a recording: what was sent then, and the answer to play again."""
    found: list[tuple[dict[str, Any], Answer]] = []
    for exchange in yaml.safe_load(path.read_text(encoding="utf-8"))["interactions"]:
        response = exchange["response"]
        text = response["body"]["string"] if "body" in response else json.dumps(response["parsed_body"])
        body = text if isinstance(text, bytes) else text.encode()
        kind = response["headers"].get("content-type", ["application/json"])[0]
        request: dict[str, Any] = {
            "uri": exchange["request"]["uri"],
            "body": exchange["request"].get("parsed_body") or {"model": None},
        }
        found.append((request, Answer(body, response["status"]["code"], kind)))
    return found


class Endpoint:
    """The server, with its queue of answers; the last one is played again for whoever asks once more."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[Asked] = []
        self.arrived = threading.Event()
        self._over = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                pass

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.play(self, Asked(self.path, dict(self.headers), json.loads(raw or b"null"), time.monotonic()))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def choose(self, asked: Asked) -> Answer:
        """The answer to a request: the next that was prepared."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def play(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        with self._lock:
            self.asked.append(asked)
            self.arrived.set()
            chosen = self.choose(asked)
        self._over.wait(chosen.seconds)
        if chosen.together is not None:
            chosen.together.wait(PATIENCE)
        if chosen.release is not None:
            chosen.release.wait(PATIENCE)
        try:
            handler.send_response(chosen.status)
            for name, value in {"Content-Type": chosen.content_type, **chosen.headers}.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(chosen.body)))
            handler.end_headers()
            shown = 0
            if chosen.hold is not None:
                shown = chosen.body.index(b"\n\n") + 2
                handler.wfile.write(chosen.body[:shown])
                handler.wfile.flush()
                chosen.hold.wait(60)
            handler.wfile.write(chosen.body[shown : chosen.break_off])
            if chosen.break_off is not None:
                handler.wfile.flush()
                handler.close_connection = True
        except (BrokenPipeError, ConnectionResetError):
            pass  # the caller gave up waiting, which is what the test is about

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
