"""What the client says about itself. Nothing here is proven, and nothing is allowed because of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from redraft.errors import Refused
from redraft.history.turns import Author
from redraft.mcp_server.protocol import (
    BAD_PARAMETERS,
    CAPABILITIES_KEY,
    CLIENT_KEY,
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    UNSTRUCTURED_VERSIONS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    ProtocolError,
    as_object,
)
from redraft.workspace.authors import agent_author

if TYPE_CHECKING:
    from redraft.mcp_server.protocol import Message

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
