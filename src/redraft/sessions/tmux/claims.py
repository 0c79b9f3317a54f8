"""Which document belongs to which pane: keep the registry correct, choose a pane, type a command into it.

The registry may have come with the folder. So a pane is used only if it is alive, a window only if a living pane is in
it, and what is typed is one word that no shell splits, whatever the file is called.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from redraft.errors import Refused
from redraft.sessions.tmux import registry
from redraft.sessions.tmux.registry import PaneEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from redraft.sessions.project import AgentDocFiles, Project
    from redraft.sessions.tmux.panes import Pane

Position = Literal["left", "right", "top", "bottom"]
POSITIONS: tuple[Position, ...] = get_args(Position)
SESSION = "claude"  # the tmux session in which agents live
CLAIMS = "claims.log"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def command_for(project: Project) -> str:
    """What is typed for a document. Claude reads it as one of its commands; if there is a shell instead, it sees one
    quoted word and finds no such program."""
    name = os.path.relpath(project.file, project.root)
    if _CONTROL.search(name):
        raise Refused(f"A name with line breaks or control characters cannot be typed: {name!r}.", code="invalid_path")
    return f"/agent-doc {shlex.quote(f'./{name}' if name.startswith('-') else name)}"


def prune(agent_files: AgentDocFiles, live: Mapping[str, Pane]) -> dict[str, PaneEntry]:
    """Remove registry entries whose pane is gone; returns them."""
    removed = {key: entry for key, entry in registry.load(agent_files).items() if entry.pane not in live}
    if removed:
        registry.save(agent_files, dict.fromkeys(removed))
    return removed


@dataclass(frozen=True, slots=True)
class Claim:
    """A document and its pane, since when."""

    project: Project
    session: str
    pane: Pane
    stamp: str

    @property
    def file(self) -> str:
        return os.path.relpath(self.project.file, self.project.root)

    def register(self, agent_files: AgentDocFiles) -> None:
        """The last call wins. Other documents of the pane keep theirs: one agent may work on several."""
        entry = PaneEntry(self.pane.id, self.pane.pid, self.project.root, self.stamp, self.file, self.pane.window)
        registry.save(agent_files, {self.session: entry})

    def log(self, agent_files: AgentDocFiles) -> None:
        """Leave a message for the session in the pane, which shows it next time."""
        line = f"Claimed {_CONTROL.sub(' ', self.file)} for pane {self.pane.id}\n"
        agent_files.write(CLAIMS, (agent_files.read(CLAIMS) or b"") + line.encode("utf-8", "surrogateescape"))


def find_window(name: str, live: Collection[Pane]) -> str | None:
    """The id of a live window, by its id (`@3`), by its session and number (`claude:1`), or by its number alone."""
    for pane in live:
        if name in (pane.window, f"{pane.session}:{pane.number}"):
            return pane.window
    numbered = {pane.window for pane in live if pane.number == name}
    preferred = {pane.window for pane in live if pane.number == name and pane.session == SESSION}
    found = preferred or numbered
    return found.pop() if len(found) == 1 else None


def effective_window(wanted: str | None, root: str, agent_files: AgentDocFiles, live: Mapping[str, Pane]) -> str | None:
    """The window to work in: the named one, else a live one of the same project; None if there is none."""
    if wanted is None:
        return None
    found = find_window(wanted, live.values())
    if found is not None:
        return found
    others = (entry.window for entry in registry.load(agent_files).values() if entry.cwd == root and entry.window)
    return next((known for window in others if (known := find_window(window, live.values()))), None)


def pane_at_position(position: Position, window: str | None, here: str | None, live: Mapping[str, Pane]) -> Pane:
    """The pane at an edge of a window: the named one, else the one of `here`, else the one in front."""
    if window is None:
        front = live.get(here or "") or front_pane(live.values())
        window = None if front is None else front.window
    inside = [pane for pane in live.values() if pane.window == window]
    if not inside:
        raise Refused("There is no tmux window to choose a pane from.", code="not_found")
    first = min(inside, key=lambda pane: (pane.left, pane.top) if position == "left" else (pane.top, pane.left))
    last = max(inside, key=lambda pane: (pane.right, -pane.top) if position == "right" else (pane.bottom, -pane.left))
    return first if position in ("left", "top") else last


def front_pane(live: Iterable[Pane], session: str | None = None) -> Pane | None:
    """The active pane of a session; if none is named, of the agents' session, else of any."""
    active = [pane for pane in live if pane.active]
    own = [pane for pane in active if pane.session == (session or SESSION)]
    return next(iter(own or ([] if session else active)), None)
