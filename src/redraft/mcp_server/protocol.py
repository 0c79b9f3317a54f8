"""The protocol: its versions, codes and reserved names, its messages as bytes, and what a client says of itself. Pure.

There are two eras. In the first a client shakes hands (`initialize`) and is then known by its connection; the server
may put questions to it. In the second every request says for itself who sends it and what they can do, in an envelope
(`_meta`); a question is an answer of its own, and the client repeats its request with what the person said.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from redraft import __version__
from redraft.errors import Refused
from redraft.history.turns import Author, agent_author

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.tools.registry import Tool


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
    "Redraft holds a folder of documents. Read before you edit: every edit names the version it was made "
    "for, and is applied where that text is now, or refused with what changed. Every change is a turn that "
    "the person can see and"
    " undo. Prefer small edits (edit_text, replace_lines) to whole-document writes, and `batch` for edits that belong"
    " together."
)

# What the envelope's era wants to be told about keeping: nothing may be kept, a document changes at any moment.
KEPT_BY_NOBODY: Message = {"ttlMs": 0, "cacheScope": "private"}


class ProtocolError(Exception):
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
    """A message of JSON-RPC; a `ProtocolError` where it is none."""
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_REQUEST, "A message must be one JSON object.")
    found = cast("Message", value)
    if found.get("jsonrpc", "2.0") != "2.0":
        raise ProtocolError(INVALID_REQUEST, "A message must be JSON-RPC 2.0.")
    return found


def number_of(request: Message) -> str | int:
    """The id of a request; a `ProtocolError` where it can be none."""
    number = request["id"]
    if not isinstance(number, str | int) or isinstance(number, bool):
        raise ProtocolError(INVALID_REQUEST, "A request's id must be a string or an integer.")
    return number


def envelope_of(message: Any) -> Message | None:
    """What a request says about its sender, if it is of the envelope's era."""
    meta = as_object(as_object(as_object(message).get("params")).get("_meta"))
    return meta if VERSION_KEY in meta or CAPABILITIES_KEY in meta else None


# Messages as bytes, and bytes as messages.
#
# `orjson` does the work once it is loaded. That takes as long as a third of the whole start, so the handshake and the
# list of tools go without it, and it is fetched when they are out. What it will not take (half of a surrogate pair,
# which models do send) the standard library reads, so that the call gets an answer in words and not silence.


# A document may have 64 MB, and its text grows when it is written as a JSON string.
MAX_MESSAGE = 128 * 1024 * 1024


class _Fast:
    """The functions of `orjson`, once it is there."""

    loads: Callable[[bytes], Any] | None = None
    dumps: Callable[[Any], bytes] | None = None


def load_orjson() -> None:
    """Load the faster encoder."""
    import orjson

    _Fast.loads, _Fast.dumps = orjson.loads, orjson.dumps


def decode(data: bytes) -> Any:
    try:
        if _Fast.loads is not None:
            return _Fast.loads(data)
    except ValueError:
        pass
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "The message is not JSON in UTF-8.") from None


def encode(message: Message) -> bytes:
    """One message, without a line break in it."""
    whole = {"jsonrpc": "2.0", **message}
    try:
        if _Fast.dumps is not None:
            return _Fast.dumps(whole)
    except TypeError:
        pass
    return json.dumps(whole, separators=(",", ":")).encode()


def as_text(value: Any) -> str:
    """A JSON value as the text of an answer."""
    try:
        if _Fast.dumps is not None:
            return _Fast.dumps(value).decode()
    except TypeError:
        pass
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# A tool as the protocol lists it, and its answer as the protocol carries it: the document's text once.
#
# An answer has two places in a result: `content`, which every client reads, and `structuredContent`, which some
# prefer. A client that is known to read the one is sent just that one; a client that we do not know is sent both,
# since leaving one out would leave some of them with nothing. See docs/decisions/0007.


ELSEWHERE = "The answer is the structured content."


def describe_tool(tool: Tool, *, output: bool = False, always: bool = False) -> Message:
    """A tool as it is listed. Models read this with every request, so it says nothing that they do not need: hints only
    where they differ from the protocol's defaults, `output` schemas for whoever asked for them, and `always`, which
    keeps a client from putting the tool off until the model has searched for it, for the client that knows the word."""
    hints: Message = {"readOnlyHint": True} if tool.risk == "read" else {"destructiveHint": tool.risk == "destroy"}
    if tool.idempotent and tool.risk != "read":
        hints["idempotentHint"] = True
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": {**hints, "openWorldHint": False},
        **({"_meta": {"anthropic/alwaysLoad": True}} if always else {}),
        **({"outputSchema": tool.output_schema} if output else {}),
    }


def tool_result(answer: dict[str, Any], form: Form) -> Message:
    """The result of a call that was done."""
    if form == "structured":
        return {"content": [_text(ELSEWHERE)], "structuredContent": answer, "isError": False}
    result: Message = {"content": [_text(as_text(answer))], "isError": False}
    return result if form == "text" else {**result, "structuredContent": answer}


def tool_error(told: dict[str, Any]) -> Message:
    """The result of a call that was refused: the model reads it and knows what to do next. Every client reads it in
    the content, and no output schema promises its shape."""
    return {"content": [_text(as_text(told))], "isError": True}


def _text(text: str) -> Message:
    return {"type": "text", "text": text}


# What the client says about itself. Nothing here is proven, and nothing is allowed because of it.


Form = Literal["structured", "text", "both"]
FORMS: tuple[Form, ...] = get_args(Form)
MAX_NAME = 64

# What each client shows its model, found by looking at what the model was sent (tests/mcp/test_real_clients.py).
READS: dict[str, Form] = {
    "claude-code": "structured",
    "codex-mcp-client": "structured",
    "gemini-cli-mcp-client": "text",
    "opencode": "text",
}


@dataclass(frozen=True, slots=True)
class McpClient:
    """A client, before it has said anything or as it was last heard. `user` is the owner of its token, if there are
    several users: only that is proven."""

    name: str = ""
    protocol: str = HANDSHAKE_VERSIONS[0]
    capabilities: Message = field(default_factory=dict[str, Any])
    user: str = ""

    @staticmethod
    def from_handshake(parameters: Message, user: str = "") -> McpClient:
        wanted = parameters.get("protocolVersion")
        protocol = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
        return McpClient(_name(parameters.get("clientInfo")), protocol, as_object(parameters.get("capabilities")), user)

    @staticmethod
    def from_envelope(meta: Message, user: str = "") -> McpClient:
        """The sender of one request; a `ProtocolError` where the envelope is not whole or of a version unknown here."""
        missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
        if missing:
            raise ProtocolError(BAD_PARAMETERS, f"params._meta lacks {', '.join(missing)}.")
        wanted = meta[VERSION_KEY]
        if not isinstance(wanted, str):
            raise ProtocolError(BAD_PARAMETERS, f"{VERSION_KEY} must be a string.")
        if wanted not in ENVELOPE_VERSIONS:
            data = {"supported": list(ENVELOPE_VERSIONS), "requested": wanted}
            raise ProtocolError(UNSUPPORTED_VERSION, "This protocol version is not supported.", data)
        return McpClient(_name(meta.get(CLIENT_KEY)), wanted, as_object(meta[CAPABILITIES_KEY]), user)

    @property
    def by_request(self) -> bool:
        """Whether every request carries its own metadata."""
        return self.protocol in ENVELOPE_VERSIONS

    @property
    def defers_tools(self) -> bool:
        """Whether it keeps tools from the model until the model has searched for them, unless it is told not to."""
        return self.name.startswith("claude")

    @property
    def author(self) -> Author:
        name = self.name or "agent"
        return Author("agent", f"{name} for {self.user}" if self.user else name)

    @property
    def can_be_asked(self) -> bool:
        """Whether the client can show the person a form."""
        able = self.capabilities.get("elicitation")
        return isinstance(able, dict) and (not able or "form" in able)

    @property
    def reads(self) -> Form:
        """Which form of an answer reaches the model; both, for a client that we do not know."""
        if self.protocol in UNSTRUCTURED_VERSIONS:
            return "text"
        return READS.get(self.name, "both")


def _name(told: Any) -> str:
    name = as_object(told).get("name")
    if not isinstance(name, str):
        return ""
    try:
        return agent_author(name[:MAX_NAME]).name
    except Refused:  # somebody else's name: a client cannot be asked for another
        return ""
