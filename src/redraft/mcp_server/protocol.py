"""The words of the protocol: its versions, codes and reserved names, and the faults of those who misuse them. Pure.

There are two eras. In the first a client shakes hands (`initialize`) and is then known by its connection; the server
may put questions to it. In the second every request says for itself who sends it and what they can do, in an envelope
(`_meta`); a question is an answer of its own, and the client repeats its request with what the person said.
"""

from __future__ import annotations

from typing import Any, cast

from redraft import __version__

Message = dict[str, Any]

# The newest first: a client that asks for one we do not know is offered that.
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
ENVELOPE_VERSIONS = ("2026-07-28",)
# Before these, no tool had an output schema, nor an answer other than its content.
UNSTRUCTURED_VERSIONS = ("2025-03-26", "2024-11-05")

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, BAD_PARAMETERS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_FOUND = -32002
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_RESERVED = "io.modelcontextprotocol/"
VERSION_KEY = _RESERVED + "protocolVersion"
CLIENT_KEY = _RESERVED + "clientInfo"
CAPABILITIES_KEY = _RESERVED + "clientCapabilities"
SERVER_KEY = _RESERVED + "serverInfo"
SUBSCRIPTION_KEY = _RESERVED + "subscriptionId"

SERVER: Message = {"name": "redraft", "title": "Redraft", "version": __version__}
CAPABILITIES: Message = {
    "tools": {},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
}
INSTRUCTIONS = (
    "Redraft holds a folder of documents. Read before you edit: every edit names the version it was made for, and a"
    " stale one is refused with what changed. Every change is a turn that the person can see and undo. Prefer small"
    " edits (edit_text, replace_lines) to whole-document writes, and `batch` for edits that belong together."
)

# What the envelope's era wants to be told about keeping: nothing may be kept, a document changes at any moment.
KEPT_BY_NOBODY: Message = {"ttlMs": 0, "cacheScope": "private"}


class Fault(Exception):
    """A message that cannot be answered as it stands."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data

    def as_error(self, number: str | int | None) -> Message:
        error: Message = {"code": self.code, "message": str(self)}
        return {"id": number, "error": error if self.data is None else {**error, "data": self.data}}


def as_object(value: Any) -> Message:
    """A JSON object, or an empty one in its place."""
    return cast("Message", value) if isinstance(value, dict) else {}


def as_message(value: Any) -> Message:
    """A message of JSON-RPC; a `Fault` where it is none."""
    if not isinstance(value, dict):
        raise Fault(INVALID_REQUEST, "A message is one JSON object.")
    found = cast("Message", value)
    if found.get("jsonrpc", "2.0") != "2.0":
        raise Fault(INVALID_REQUEST, "The messages here are those of JSON-RPC 2.0.")
    return found


def number_of(request: Message) -> str | int:
    """The id of a request; a `Fault` where it can be none."""
    number = request["id"]
    if not isinstance(number, str | int) or isinstance(number, bool):
        raise Fault(INVALID_REQUEST, "A request's id is a string or a whole number.")
    return number


def envelope_of(message: Any) -> Message | None:
    """What a request says about its sender, if it is of the envelope's era."""
    meta = as_object(as_object(as_object(message).get("params")).get("_meta"))
    return meta if VERSION_KEY in meta or CAPABILITIES_KEY in meta else None
