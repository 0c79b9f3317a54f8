"""The types of `shapes`, in a module of their own: the server describes its API with them, and the command line starts
without them."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class AuthorShape(TypedDict):
    """Who made a turn."""

    kind: Literal["person", "agent", "system", "outside"]
    name: str


class TurnShape(TypedDict):
    """One turn. `source` is the turn that it takes back or decides; `folders`: all that it made, if only those."""

    turn: int
    author: AuthorShape
    kind: str
    mode: str
    title: str
    state: str
    created: float
    source: int | None
    pruned: bool
    paths: list[str]
    folders: list[str]


class HunkShape(TypedDict):
    """One decision. Lines count from 1; `turn` is the proposal that it belongs to, `warning` what to mind about it.
    `labels` say what an agent changed in it that should be looked at first: `paragraph_removed`, `number_changed`,
    `date_changed`, `link_changed`, `code_changed`, `quotation_changed`, `name_changed`, `condition_changed`.

    Where it lies in the working text is told twice, in code points from 0: `working_at` counts from the beginning of
    the text, its newlines as they are in the file; `working_column` from that of the line, for an editor that counts
    newlines or characters in another way.
    """

    hunk_id: str
    kind: str
    author: str
    conflict: bool
    oversized_hunk: bool
    labels: list[str]
    turn: int | None
    base: str
    proposed: str
    working: str
    start_line: int
    working_start_line: int
    working_column: int
    working_at: int
    warning: NotRequired[str]


class UnsavedShape(TypedDict):
    """Typing that saving would write and that no hunk shows."""

    old_start: int
    new_start: int
    old_text: str
    new_text: str


class DraftShape(TypedDict):
    """A document with something pending or unsaved, and everything that can be decided about it."""

    path: str
    base_path: str | None
    kind: Literal["created", "deleted", "moved", "modified"]
    pending: bool
    unsaved: bool
    base_file_hash: str | None
    hunks: list[HunkShape]
    unsaved_edits: list[UnsavedShape]


class CommentMessageShape(TypedDict):
    """What somebody said in a thread; `turn` is the turn that came of it, if one did."""

    id: str
    by: str
    at: str
    says: str
    mentions: list[str]
    turn: int | None


class CommentShape(TypedDict):
    """A thread about a passage. `start` and `end` count code points of the text that people see, `line` from 1; all
    three are null where the passage is gone."""

    id: str
    path: str
    quote: str
    start: int | None
    end: int | None
    line: int | None
    orphaned: bool
    resolved: bool
    messages: list[CommentMessageShape]
