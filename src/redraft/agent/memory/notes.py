"""What the agent remembers from one job to the next: plain files that the person can read and edit.

`preferences.md` is the person's, for every folder; `corrections.md` and `workspace.md` belong to one folder. They are
stored with the state, outside every folder, so no document and no tool reaches them. Preferences and notes about the
folder are what the person wrote after `/remember`; a correction is written when they reject an agent's text. On a
server every user has their own files. Where a folder allows only a local model, nothing said or quoted there reaches
another model: corrections and notes stay with the folder, and a preference goes into `preferences-local.md`, which
only such folders read. The model gets the newest notes; the oldest are dropped when a file is full.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.errors import Refused
from redraft.files.atomic_write import write_private
from redraft.history.turns import PERSON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.history.turns import Author

Kind = Literal["preferences", "corrections", "workspace"]
KINDS: tuple[Kind, ...] = ("preferences", "corrections", "workspace")
MAX_NOTES = 50
MAX_NOTE = 500
TOLD_CHARACTERS = 8000
FOLDER = "memory"
USERS = "users"
REMEMBER, FORGET, HERE = "/remember", "/forget", "here:"


def user_of(author: Author) -> str:
    """The name under which somebody's notes are stored; empty for the person at their own machine."""
    return "" if author.name == PERSON.name else author.name


class RejectedHunk(NamedTuple):
    """An agent's hunk that the person rejected."""

    path: str
    proposed: str
    kept: str


class AgentMemory:
    """The notes of one person about one folder. `local` says that its documents must not leave this machine."""

    def __init__(self, state: str, user: str = "", *, local: bool = False) -> None:
        below = os.path.join(FOLDER, USERS, user) if user else FOLDER
        everywhere, own = os.path.join(os.path.dirname(state), below), os.path.join(state, below)
        self._everywhere = os.path.join(everywhere, "preferences.md")
        preferences = os.path.join(everywhere, "preferences-local.md") if local else self._everywhere
        # Where new notes go.
        self.paths: dict[Kind, str] = {
            "preferences": preferences,
            "corrections": os.path.join(own, "corrections.md"),
            "workspace": os.path.join(own, "workspace.md"),
        }

    def notes(self, kind: Kind) -> list[str]:
        """The notes of a kind, oldest first."""
        own = _read_notes(self.paths[kind])
        if kind == "preferences" and self.paths[kind] != self._everywhere:
            return [*_read_notes(self._everywhere), *own]
        return own

    def note(self, kind: Kind, *texts: str) -> None:
        """Add notes in one write; a note that exists already moves to the end."""
        newest_first = dict.fromkeys(" ".join(text.split())[:MAX_NOTE] for text in reversed(texts))
        added = [each for each in reversed(newest_first) if each]
        if added:
            existing = [each for each in _read_notes(self.paths[kind]) if each not in newest_first]
            _write_notes(self.paths[kind], kind, [*existing, *added][-MAX_NOTES:])

    def forget(self, text: str) -> int:
        """Delete the notes with exactly this text, of any kind; returns how many there were."""
        note = " ".join(text.split())
        removed = 0
        for kind in KINDS:
            for path in {self.paths[kind], self._everywhere if kind == "preferences" else self.paths[kind]}:
                notes = _read_notes(path)
                rest = [each for each in notes if each != note]
                if len(rest) < len(notes):
                    _write_notes(path, kind, rest)
                    removed += len(notes) - len(rest)
        return removed

    def note_rejected(self, rejected: Iterable[RejectedHunk]) -> None:
        """Note a rejection: what was proposed, and what the person has instead."""
        self.note(
            "corrections",
            *(f"{path}: not {_quote(proposed)}, the person kept {_quote(kept)}" for path, proposed, kept in rejected),
        )

    def render(self, *kinds: Kind) -> str:
        """The newest notes that fit, as the model reads them. Corrections quote documents, so they are data and must
        never be part of our own instructions."""
        parts: list[str] = []
        characters_left = TOLD_CHARACTERS
        for kind in kinds:
            lines: list[str] = []
            for note in self.notes(kind)[::-1]:
                characters_left -= len(note)
                if characters_left < 0:
                    break
                lines.append(f"- {note}")
            if lines:
                parts.append("\n".join([f"{kind.capitalize()}:", *lines[::-1]]))
        return "\n\n".join(parts)  # also rendered as markdown, where a line right below a list would belong to it


class MemoryCommand(NamedTuple):
    """A command to the memory instead of a request to the agent."""

    word: str
    text: str

    def execute(self, memory: AgentMemory) -> str:
        """Execute it; returns the reply."""
        if self.word == FORGET:
            if not self.text:
                raise Refused(f"Say what to forget: {FORGET} and the note as {REMEMBER} lists it.", field="instruction")
            return "Forgotten." if memory.forget(self.text) else "There is no such note."
        if not self.text:
            return memory.render(*KINDS) or "There are no notes."
        if self.text.casefold().startswith(HERE):
            memory.note("workspace", self.text[len(HERE) :])
            return "I will remember that in this folder."
        memory.note("preferences", self.text)
        return "I will remember that."


def parse_memory_command(instruction: str) -> MemoryCommand | None:
    """`/remember ...`, `/remember here: ...`, `/remember` alone, `/forget ...`; None for a request to the agent."""
    word, _, text = instruction.strip().partition(" ")
    return MemoryCommand(word, text.strip()) if word in (REMEMBER, FORGET) else None


def _read_notes(path: str) -> list[str]:
    """Every line with text is a note, whatever its list marker."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    return [line.strip().removeprefix("-").strip() for line in lines if line.strip(" -") and line[0] != "#"]


def _write_notes(path: str, kind: Kind, notes: list[str]) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    write_private(path, f"# {kind.capitalize()}\n\n" + "".join(f"- {each}\n" for each in notes))


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line[:150]}…"' if len(line) > 150 else f'"{line}"'
