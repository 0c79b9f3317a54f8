"""What the agent keeps in mind from one job to the next: three plain files that the person can read and edit.

`preferences.md` and `corrections.md` are the person's, in every folder; `workspace.md` belongs to one. They lie with
the state, outside every folder, so no document and no tool reaches them: a preference is written by the person, a
correction when they reject what an agent wrote. The newest notes are told to the model, the oldest drop out when a
file is full.
"""

from __future__ import annotations

import os
from typing import Literal

from redraft.files.writing import write_private

Kind = Literal["preferences", "corrections", "workspace"]
KINDS: tuple[Kind, ...] = ("preferences", "corrections", "workspace")
MAX_NOTES = 50
MAX_NOTE = 500
TOLD_CHARACTERS = 8000
FOLDER = "memory"


class Memory:
    """The notes of one person about one folder."""

    def __init__(self, state: str) -> None:
        shared = os.path.join(os.path.dirname(state), FOLDER)
        own = os.path.join(state, FOLDER)
        self.paths: dict[Kind, str] = {
            kind: os.path.join(own if kind == "workspace" else shared, f"{kind}.md") for kind in KINDS
        }

    def notes(self, kind: Kind) -> list[str]:
        """The notes of a file, the oldest first. Every line that says something is one, however it is marked."""
        try:
            with open(self.paths[kind], encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError:
            return []
        return [line.strip().removeprefix("-").strip() for line in lines if line.strip(" -") and line[0] != "#"]

    def note(self, kind: Kind, text: str) -> None:
        """Keep a note; one that is there already moves to the end."""
        said = " ".join(text.split())[:MAX_NOTE]
        if not said:
            return
        kept = [each for each in self.notes(kind) if each != said][-(MAX_NOTES - 1) :]
        path = self.paths[kind]
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_private(path, f"# {kind.capitalize()}\n\n" + "".join(f"- {each}\n" for each in [*kept, said]))

    def rejected(self, path: str, proposed: str, kept: str) -> None:
        """Learn from a rejection: what was proposed, and what the person has instead."""
        self.note("corrections", f"{path}: not {_quoted(proposed)}, the person kept {_quoted(kept)}")

    def told(self, *kinds: Kind) -> str:
        """The notes as the model reads them, the newest that fit. Corrections quote documents, so they are data and
        must not be told in our own voice."""
        parts: list[str] = []
        room = TOLD_CHARACTERS
        for kind in kinds:
            lines: list[str] = []
            for note in self.notes(kind)[::-1]:
                room -= len(note)
                if room < 0:
                    break
                lines.append(f"- {note}")
            if lines:
                parts.append("\n".join([f"{kind.capitalize()}:", *lines[::-1]]))
        return "\n".join(parts)


def _quoted(text: str) -> str:
    said = " ".join(text.split())
    return f'"{said[:150]}…"' if len(said) > 150 else f'"{said}"'
