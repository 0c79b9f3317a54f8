"""Writes through a server that has the folder open, so that changes appear there at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from redraft.errors import Busy, RedraftError, Stale
from redraft.server.discovery import find_server
from redraft.sessions.document_store import StoredChange, StoredText
from redraft.text.lines import newline_style

if TYPE_CHECKING:
    from redraft.server.discovery import RunningServer
    from redraft.sessions.document_store import WorkspaceStore

WINDOW = 1_048_576


class ServerUnresponsive(Busy):
    """The server is running but does not answer."""


@dataclass(frozen=True, slots=True)
class ServerStore:
    """A running server. `own` is the way past it, for what it cannot take byte for byte."""

    running: RunningServer
    own: WorkspaceStore

    def read(self, path: str) -> StoredText:
        pieces: list[str] = []
        version, offset = "", 0
        while True:
            found = self._ask("GET", f"/api/documents?path={quote(path)}&offset={offset}&limit={WINDOW}")
            if pieces and found["version"] != version:
                pieces, offset = [], 0  # it changed between two windows
                continue
            version = found["version"]
            pieces.append(found["content"])
            offset = found["next_offset"]
            if offset is None:
                return StoredText("".join(pieces), version)

    def read_as_agent(self, path: str) -> str:
        return self.own.read_as_agent(path)  # the server would show it as to the person

    def check(self) -> None:
        self.own.check()

    def write(self, path: str, text: str, version: str, title: str) -> StoredChange:
        if newline_style(text) == "mixed":  # the tool gives every line the ending that prevails
            return self.own.write(path, text, version, title)
        # `apply`, not `merge`: what changes in between is merged by whoever knows the base, never by the server.
        query = f"mode=apply&author={quote(self.own.author.name, safe='')}"
        body = {"path": path, "content": text, "version": version, "allow_shrink": True}
        done = self._ask("POST", f"/api/tools/write_document?{query}", body)
        return StoredChange(text, done["state"], done["turn"])

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        try:
            return self.running.ask(method, path, body)
        except Busy as error:
            raise ServerUnresponsive(error.message) from error
        except RedraftError as error:
            if error.code == "version_mismatch":
                raise Stale(error.message) from error
            raise


def find_server_store(state: str, own: WorkspaceStore) -> ServerStore | None:
    """The door of the folder's server, if one runs."""
    running = find_server(state)
    return None if running is None else ServerStore(running, own)
