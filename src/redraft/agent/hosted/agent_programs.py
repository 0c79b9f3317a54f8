"""Which agent programs a person has: those of their settings, and the known ones that are installed."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from redraft.agent.memory.state_file import StateFile
from redraft.config import ProgramEntry
from redraft.errors import RedraftError, Refused
from redraft.history.turns import agent_author

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# How the known ones are started so that they speak the protocol.
KNOWN = {
    "claude": ("claude-agent-acp",),
    "codex": ("codex-acp",),
    "gemini": ("gemini", "--acp"),
    "opencode": ("opencode", "acp"),
}


def _no_places(_name: str, _more: Sequence[str]) -> Sequence[str]:
    return ()


def _no_variables(_temporary: str, _folder: str) -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class AgentPrograms:
    """`places` returns where a program may write beside its view, by its name and what its settings add; `variables`
    what it finds in its environment, by its temporary folder and its view. A folder has no say in any of it."""

    entries: Mapping[str, ProgramEntry] = field(default_factory=dict[str, ProgramEntry])
    places: Callable[[str, Sequence[str]], Sequence[str]] = _no_places
    variables: Callable[[str, str], dict[str, str]] = _no_variables

    def names(self) -> list[str]:
        """Those that can be asked."""
        return sorted({*self.entries, *(name for name, command in KNOWN.items() if shutil.which(command[0]))})

    def find(self, name: str) -> ProgramEntry:
        agent_author(name)
        if name in self.entries:
            return self.entries[name]
        if name in KNOWN and shutil.which(KNOWN[name][0]):
            return ProgramEntry(KNOWN[name])
        known = ", ".join(self.names()) or "none"
        raise Refused(f"There is no agent {name[:60]!r} here; known: {known}.", code="not_found", agent=name[:60])


class KnownPrograms:
    """What each program offered when it last began a session here, so that the person can choose before the next."""

    def __init__(self, state: str) -> None:
        self._file = StateFile(state, "agent-offers.json")

    def all(self) -> dict[str, dict[str, Any]]:
        try:
            found = self._file.read()
        except (OSError, ValueError):
            return {}
        return cast("dict[str, dict[str, Any]]", found) if isinstance(found, dict) else {}

    def remember(self, name: str, offered: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError, RedraftError), self._file.lock():  # it is only a convenience
            self._file.write({**self.all(), name: dict(offered)})
