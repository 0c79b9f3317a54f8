"""Where the hunks of a review are in the text that an editor shows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.lsp_server.mirror import to_plain
from redraft.text.edits import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.workspace.shape_types import HunkShape

MAX_WORDS = 40


@dataclass(frozen=True, slots=True)
class PlacedHunk:
    """A hunk, and where its new words are."""

    hunk: HunkShape
    span: Span


def is_open(hunk: HunkShape) -> bool:
    """Whether there is something to decide. A person's own typing stays as it is."""
    return hunk["conflict"] or hunk["author"] in ("agent", "mixed")


def open_hunks(hunks: Sequence[HunkShape]) -> list[HunkShape]:
    """What is to be decided: the document itself, if it is one decision, or its hunks."""
    found = [hunk for hunk in hunks if is_open(hunk)]
    return [hunk for hunk in found if hunk["kind"] == "created"] or found


def place_hunks(hunks: Sequence[HunkShape], text: str) -> Iterator[PlacedHunk]:
    """The hunks that are in a text where the server says, every line break one character long."""
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    for hunk in open_hunks(hunks):
        if hunk["kind"] != "modified":
            yield PlacedHunk(hunk, Span(0, 0))
            continue
        line, words = hunk["working_start_line"] - 1, to_plain(hunk["working"])
        if line < len(starts) and text.startswith(words, start := starts[line] + hunk["working_column"]):
            yield PlacedHunk(hunk, Span(start, start + len(words)))


def describe(hunk: HunkShape) -> str:
    """A hunk in one line."""
    if hunk["kind"] != "modified":
        return {"created": "new document", "deleted": "delete the document"}.get(hunk["kind"], "move the document")
    old, new = (_shorten(text) for text in (hunk["base"], hunk["proposed" if hunk["conflict"] else "working"]))
    if not old:
        return f"+ {new}"
    return f"{old} → {new}" if new else f"− {old}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_WORDS else f"{line[: MAX_WORDS - 1]}…"
