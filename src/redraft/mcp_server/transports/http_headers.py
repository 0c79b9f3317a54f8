"""The headers of one HTTP request, and whether they agree with the message that they came with."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from redraft.mcp_server.protocol import (
    BAD_PARAMETERS,
    HEADER_MISMATCH,
    VERSION_KEY,
    ProtocolError,
    as_object,
    envelope_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.mcp_server.protocol import Message

# What a header repeats of a request, so that whoever stands between need not read the request itself.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
ROUTING = ("mcp-protocol-version", "mcp-method", "mcp-name")


class Headers:
    """By name, in lower case."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._all: dict[str, list[str]] = {}
        for name, value in raw:
            self._all.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())

    def all(self, name: str) -> list[str]:
        return self._all.get(name, [])

    def one(self, name: str) -> str:
        """The value; empty where there is none, or more than one: then nobody knows which is meant."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""

    def accepts(self, kind: str) -> bool:
        """Whether an answer of this kind may be sent. Who says nothing takes anything."""
        wanted = [part.partition(";")[0].strip().lower() for value in self.all("accept") for part in value.split(",")]
        return not wanted or bool({kind, kind.partition("/")[0] + "/*", "*/*"} & set(wanted))


def check_envelope(message: Message, headers: Headers) -> ProtocolError | None:
    """What is wrong where a request's headers and its envelope do not say the same."""
    envelope = envelope_of(message)
    if envelope is None:
        return ProtocolError(BAD_PARAMETERS, f"params._meta lacks {VERSION_KEY}.")
    version = envelope.get(VERSION_KEY)
    method: Any = message.get("method")
    for name in ROUTING:
        if len(headers.all(name)) > 1:
            return ProtocolError(HEADER_MISMATCH, f"The header {name} was sent more than once.")
    if version is not None and headers.one("mcp-protocol-version") != version:
        return ProtocolError(
            HEADER_MISMATCH, "The header mcp-protocol-version does not match the version in the request."
        )
    if headers.one("mcp-method") != method:
        return ProtocolError(HEADER_MISMATCH, "The header mcp-method does not match the method of the request.")
    key = NAMED_BY.get(str(method))
    named = as_object(message.get("params")).get(key) if key else None
    if named is not None and decode_header(headers.one("mcp-name")) != named:
        return ProtocolError(HEADER_MISMATCH, f"The header mcp-name does not match the {key} in the request.")
    return None


def decode_header(value: str) -> str | None:
    """A header's value, which is written in base64 where it is no plain ASCII; None where that is broken."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
