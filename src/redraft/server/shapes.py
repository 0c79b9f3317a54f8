"""How turns and documents under review are told as JSON. The keys are stable, and those of the command line.

Each shape is a type, from which the description of the API is made, and a function that makes one.
"""

from typing import Any, Literal

from typing_extensions import TypedDict

from redraft.agent.events import iso
from redraft.history.turns import TurnRecord
from redraft.text.diff import invert
from redraft.text.patch import format_patch, patch_hunk
from redraft.workspace.decisions import Decided
from redraft.workspace.document import content_hash
from redraft.workspace.draft import Draft
from redraft.workspace.rollback import TakenBack
from redraft.workspace.workspace import Workspace

MAX_PATCH = 200_000


class AuthorShape(TypedDict):
    """Who made a turn."""

    kind: Literal["person", "agent", "system"]
    name: str


class TurnShape(TypedDict):
    """One turn. `source` is the turn that it takes back or decides."""

    turn: int
    author: AuthorShape
    kind: str
    mode: str
    title: str
    state: str
    created: float
    created_at: str
    source: int | None
    pruned: bool
    paths: list[str]


def turn_shape(turn: TurnRecord) -> TurnShape:
    return {
        "turn": turn.id,
        "author": {"kind": turn.author.kind, "name": turn.author.name},
        "kind": turn.kind,
        "mode": turn.mode,
        "title": turn.title,
        "state": str(turn.state),
        "created": turn.created,
        "created_at": iso(turn.created),
        "source": turn.source,
        "pruned": turn.pruned,
        "paths": list(turn.paths),
    }


class TurnHunkShape(TypedDict):
    """A part of what a turn did. `reverse_patch` takes it back."""

    hunk_id: str
    file_path: str
    patch: str
    reverse_patch: str


class TurnPatchShape(TypedDict):
    """What a turn did to one document, as a unified diff."""

    path: str
    patch: str
    truncated: bool


class TurnDetail(TypedDict):
    """A turn, with what it changed. Nothing is left to show of one that is `pruned`."""

    turn: TurnShape
    documents: list[TurnPatchShape]
    hunks: list[TurnHunkShape]


def turn_detail(workspace: Workspace, number: int) -> TurnDetail:
    turn = workspace.show(number)
    texts = () if turn.pruned else workspace.turn_texts(number)
    return {
        "turn": turn_shape(turn),
        "documents": [_patch(turn, path, before, after) for path, before, after in texts],
        "hunks": [] if turn.pruned else turn_hunks(workspace, number),
    }


def _patch(turn: TurnRecord, path: str, before: str, after: str) -> TurnPatchShape:
    actions = {step.path: step.action for step in turn.files}
    old = None if actions.get(path) == "created" else before
    patch = format_patch(path, old, None if actions.get(path) == "deleted" else after)
    return {"path": path, "patch": patch[:MAX_PATCH], "truncated": len(patch) > MAX_PATCH}


def turn_hunks(workspace: Workspace, number: int) -> list[TurnHunkShape]:
    texts = {path: (before, after) for path, before, after in workspace.turn_texts(number)}
    return [
        {
            "hunk_id": found.id,
            "file_path": found.path,
            "patch": patch_hunk(found.hunk, texts[found.path][0]),
            "reverse_patch": patch_hunk(invert([found.hunk])[0], texts[found.path][1]),
        }
        for found in workspace.turn_hunks(number)
    ]


class ClashShape(TypedDict):
    """Something that could not be taken back, and why."""

    path: str
    hunk_id: str
    reason: str


class TakenBackShape(TypedDict):
    """The turn that took something back (null: nothing could be), and what stood in the way."""

    turn: TurnShape | None
    conflicts: list[ClashShape]


def taken_back(taken: TakenBack) -> TakenBackShape:
    return {
        "turn": None if taken.turn is None else turn_shape(taken.turn),
        "conflicts": [
            {"path": clash.path, "hunk_id": clash.hunk_id, "reason": clash.reason} for clash in taken.conflicts
        ],
    }


class HunkShape(TypedDict):
    """One decision. Lines count from 1; `turn` is the proposal that it belongs to."""

    hunk_id: str
    kind: str
    author: str
    conflict: bool
    oversized_hunk: bool
    turn: int | None
    base: str
    proposed: str
    working: str
    start_line: int
    working_start_line: int


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


def draft_shape(draft: Draft, turns: dict[str, int]) -> DraftShape:
    """`turns` are the proposals' numbers by the tokens that their hunks carry."""
    return {
        "path": draft.key,
        "base_path": draft.base_path,
        "kind": draft.kind,
        "pending": draft.pending,
        "unsaved": draft.dirty,
        "base_file_hash": None if draft.saved is None else content_hash(draft.saved),
        "hunks": [*_file_hunks(draft, turns), *_hunks(draft, turns)],
        "unsaved_edits": [
            {
                "old_start": typed.old.start + 1,
                "new_start": typed.new.start + 1,
                "old_text": typed.old_text,
                "new_text": typed.new_text,
            }
            for typed in draft.unsaved
        ],
    }


def proposals(workspace: Workspace) -> dict[str, int]:
    return {turn.token: turn.id for turn in workspace.engine.turns.proposed()}


def _file_hunks(draft: Draft, turns: dict[str, int]) -> list[HunkShape]:
    """The decision about the document itself, if there is one. It stands for all of a created or deleted one."""
    hunk = draft.file_hunk()
    if hunk is None:
        return []
    review, whole = draft.review, draft.kind in ("created", "deleted")
    tokens = {part.turn for part in review.parts} | {draft.turn}
    return [
        {
            "hunk_id": hunk["hunk_id"],
            "kind": draft.kind,
            "author": hunk["author"],
            "conflict": any(each.conflict for each in review.hunks),
            "oversized_hunk": False,
            "turn": max((turns[token] for token in tokens if token in turns), default=None),
            "base": review.base if whole else "",
            "proposed": review.proposed if whole else "",
            "working": review.working if whole else "",
            "start_line": 1,
            "working_start_line": 1,
        }
    ]


def _hunks(draft: Draft, turns: dict[str, int]) -> list[HunkShape]:
    hunks = () if draft.kind in ("created", "deleted") else draft.review.hunks
    shapes: list[Any] = [{**hunk.as_json(), "kind": "modified", "turn": turns.get(hunk.turn)} for hunk in hunks]
    return shapes


class DecidedShape(TypedDict):
    """What a decision did: the turn it became, and per document how many hunks were decided and how many are left."""

    turn: TurnShape | None
    decided: dict[str, int]
    left: dict[str, int]


def decided_shape(decided: Decided) -> DecidedShape:
    turn = None if decided.turn is None else turn_shape(decided.turn)
    return {"turn": turn, "decided": decided.counts, "left": decided.left}
