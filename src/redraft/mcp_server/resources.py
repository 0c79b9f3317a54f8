"""Documents as resources: their addresses, and the list of them page by page."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from redraft.errors import Refused
from redraft.mcp_server.protocol import BAD_PARAMETERS, Fault

if TYPE_CHECKING:
    from redraft.mcp_server.protocol import Message

SCHEME = "redraft://documents/"
PAGE = 500
KINDS = {"md": "text/markdown", "json": "application/json", "yaml": "application/yaml", "yml": "application/yaml"}


def address_of(path: str) -> str:
    return SCHEME + quote(path)


def path_of(uri: Any) -> str:
    """The path that an address names; whether it may be read is for the workspace to say."""
    if not isinstance(uri, str) or not uri.startswith(SCHEME):
        raise Refused(f"A document's address begins with {SCHEME}.", code="not_found")
    return unquote(uri.removeprefix(SCHEME))


def kind_of(path: str) -> str:
    return KINDS.get(path.rpartition(".")[2].lower(), "text/plain")


def page_of(documents: list[str], cursor: Any) -> Message:
    """The documents after the one at which the page before ended, as they are now.

    A cursor names that document, so that what comes and goes meanwhile makes no page repeat or leave out another.
    """
    start = 0 if cursor is None else bisect_right(documents, _named(cursor))
    chosen = documents[start : start + PAGE]
    listed = [{"uri": address_of(path), "name": path, "mimeType": kind_of(path)} for path in chosen]
    more = {"nextCursor": _cursor(chosen[-1])} if start + PAGE < len(documents) else {}
    return {"resources": listed, **more}


def _cursor(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).decode()


def _named(cursor: Any) -> str:
    try:
        return base64.b64decode(str(cursor).encode("ascii"), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError):
        raise Fault(BAD_PARAMETERS, "This cursor is none of ours.") from None
