"""A walk through everything that a server gives, in search of a word that it must not give.

The walk knows the routes and tools by their descriptions, and nothing of how secrets are told from documents.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.serving import Answer, Client, Server

CANARY = "c4n4ry7f3a"
DESCRIPTION = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


@dataclass(slots=True)
class Walk:
    """The server, whoever asks, and what the paths that lead to secrets are."""

    server: Server
    clients: dict[str, Client]
    paths: list[str]
    canary: str = CANARY
    asked: int = 0
    leaks: list[str] = field(default_factory=list[str])

    def ask(self, role: str, method: str, path: str, body: Any = None, /, **query: Any) -> Answer:
        answer = self.clients[role].request(method, path, body, query=query or None)
        self.look(f"{role} {method} {path} {query} {body}", answer.body, str(answer.headers).encode())
        assert answer.status != 500, (method, path, query, body, answer.body)
        return answer

    def look(self, what: str, *answers: bytes) -> None:
        self.asked += 1
        if any(self.canary.encode() in answer for answer in answers):
            self.leaks.append(what)

    def join(self, role: str) -> dict[str, int | None]:
        """Join each document as the editor does, and listen until the server ends it: with which code, by path."""
        return asyncio.run(self._join_each(role))

    async def _join_each(self, role: str) -> dict[str, int | None]:
        client = self.clients[role]
        sent = {"Authorization": f"Bearer {client.token}"}
        ends: dict[str, int | None] = {}
        for path in self.paths:
            url = f"ws://127.0.0.1:{client.port}/api/live/{quote(path)}?epoch=x"
            async with connect(url, additional_headers=sent, compression=None) as socket:
                with suppress(ConnectionClosed):
                    while True:
                        data = await asyncio.wait_for(socket.recv(), PATIENCE)
                        self.look(f"{role} websocket {path}", data if isinstance(data, bytes) else data.encode())
                self.look(f"{role} websocket {path}", (socket.close_reason or "").encode())
                ends[path] = socket.close_code
        return ends


# The routes


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Those of the published description, which takes no server a quarter of a second to make."""
    described = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    return [
        (method.upper(), path, {**operation, "schemas": described["components"]["schemas"]})
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


PLACES = ("path", "file_path", "document", "glob", "prefix", "folder")
STREAMS = ("/api/changes/stream", "/api/agent/jobs/{job_id}/events/stream")


def value(name: str, schema: dict[str, Any], secret: str, schemas: dict[str, Any]) -> Any:
    """Something that fits a schema; a place is the secret's."""
    schema = _resolved(schema, schemas)
    if name in PLACES:
        return secret
    if name == "to":
        return "html" if "enum" in schema else f"out/{secret.replace('/', '-').strip('.')}.md"
    if name in ("query", "pattern", "old_text", "text", "anchor", "find", "search"):
        return "hunter"
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        known = schema.get("properties", {})
        return {each: value(each, known[each], secret, schemas) for each in known if _wanted(each, schema)}
    if kind == "array":
        return [value(name, schema.get("items", {}), secret, schemas)] if name in ("paths", "calls") else []
    return {"integer": 1, "number": 1, "boolean": name in ("agree", "allow", "regex")}.get(kind or "", "hunter")


def _wanted(name: str, schema: dict[str, Any]) -> bool:
    return name in schema.get("required", ()) or name in (*PLACES, "to", "turn")


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema or "anyOf" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema["anyOf"][0]
    return schema


def calls(walk: Walk, method: str, path: str, operation: dict[str, Any], secrets: list[str]) -> Iterator[Any]:
    """Every call of an operation that makes a difference: with each secret where it takes a place, with each turn."""
    schemas = operation["schemas"]
    parameters = operation.get("parameters", [])
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    body_fields: dict[str, Any] = {} if content is None else _resolved(content, schemas).get("properties", {})
    queries = [each for each in parameters if each["in"] == "query"]
    takes = any(each["name"] in PLACES for each in queries) or not set(PLACES).isdisjoint(body_fields)
    addresses = _addresses(walk, path)
    for secret in secrets if takes else secrets[:1]:
        for where in addresses:
            query = {
                each["name"]: value(each["name"], each["schema"], secret, schemas)
                for each in queries
                if each.get("required") or each["name"] in PLACES
            }
            yield where, None if content is None else value("", content, secret, schemas), query


def _addresses(walk: Walk, path: str) -> list[str]:
    """The path with everything in its braces that the server knows; only that is asked for."""
    owner = walk.clients["owner"]
    if "{checkpoint_id}" in path or "{number}" in path:
        numbers = range(1, owner.get("/api/turns", limit=1)["turns"][0]["turn"] + 1)
        return [re.sub(r"\{\w+\}", str(number), path) for number in numbers]
    if "{tab_id}" in path:
        return [path.replace("{tab_id}", tab["tab_id"]) for tab in owner.get("/api/tabs")["tabs"]]
    for name, kind in (("{job_id}", "jobs"), ("{session_id}", "sessions")):
        if name in path:
            known = [each[name[1:-1]] for each in owner.get(f"/api/agent/{kind}")[kind]] or ["x"]
            return [path.replace(name, each) for each in known]
    return [re.sub(r"\{act\}", "reject", path) if "{act}" in path else re.sub(r"\{\w+\}", "x", path)]


class Listening:
    """Who listens to a stream: what changes, unless it is told another."""

    def __init__(self, client: Client, stream: str = "/api/changes/stream") -> None:
        self._heard: list[bytes] = []
        self._connection = HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
        self._connection.request("GET", stream, headers={"Authorization": f"Bearer {client.token}"})
        self._response = self._connection.getresponse()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        try:
            while data := self._response.read1():
                self._heard.append(data)
        except (OSError, ValueError, HTTPException):
            return

    def wait_for(self, word: bytes) -> None:
        until = time.monotonic() + PATIENCE
        while word not in b"".join(self._heard):
            assert time.monotonic() < until, self._heard
            time.sleep(0.02)

    def end(self) -> bytes:
        self._connection.sock.shutdown(2)
        self._thread.join(PATIENCE)
        self._connection.close()
        assert self._heard
        return b"".join(self._heard)
