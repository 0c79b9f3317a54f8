"""The door of a server that has the folder open: what is written goes through it, and appears there at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from redraft.errors import Busy, RedraftError, Stale
from redraft.server.running import find
from redraft.sessions.doors import Changed, Seen
from redraft.text.lines import newline_style

if TYPE_CHECKING:
    from redraft.server.running import Running
    from redraft.sessions.doors import OwnDoor

WINDOW = 1_048_576


class Silent(Busy):
    """The server runs and does not answer."""


@dataclass(frozen=True, slots=True)
class ServerDoor:
    """A running server. `own` is the way past it, for what it cannot take byte for byte."""

    running: Running
    own: OwnDoor

    def read(self, path: str) -> Seen:
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
                return Seen("".join(pieces), version)

    def shown(self, path: str) -> str:
        return self.own.shown(path)  # the server would show it as to the person

    def check(self) -> None:
        self.own.check()

    def write(self, path: str, text: str, version: str, title: str) -> Changed:
        if newline_style(text) == "mixed":  # the tool gives every line the ending that prevails
            return self.own.write(path, text, version, title)
        # `apply`, not `merge`: what changes in between is merged by whoever knows the base, never by the server.
        query = f"mode=apply&author={quote(self.own.author.name, safe='')}"
        body = {"path": path, "content": text, "version": version, "allow_shrink": True}
        done = self._ask("POST", f"/api/tools/write_document?{query}", body)
        return Changed(text, done["state"], done["turn"])

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        try:
            return self.running.ask(method, path, body)
        except Busy as error:
            raise Silent(error.message) from error
        except RedraftError as error:
            if error.code == "version_mismatch":
                raise Stale(error.message) from error
            raise


def server_door(state: str, own: OwnDoor) -> ServerDoor | None:
    """The door of the folder's server, if one runs."""
    running = find(state)
    return None if running is None else ServerDoor(running, own)
