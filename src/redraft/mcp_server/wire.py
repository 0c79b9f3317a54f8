"""Messages as bytes, and bytes as messages.

`orjson` does the work once it is loaded. That takes as long as a third of the whole start, so the handshake and the
list of tools go without it, and it is fetched when they are out. What it will not take (half of a surrogate pair, which
models do send) the standard library reads, so that the call gets an answer in words and not silence.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from redraft.mcp_server.protocol import PARSE_ERROR, Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.mcp_server.protocol import Message

# A document may have 64 MB, and its text grows when it is written as a JSON string.
MAX_MESSAGE = 128 * 1024 * 1024


class _Fast:
    """The functions of `orjson`, once it is there."""

    loads: Callable[[bytes], Any] | None = None
    dumps: Callable[[Any], bytes] | None = None


def hasten() -> None:
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
        raise Fault(PARSE_ERROR, "This is not JSON in UTF-8.") from None


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
