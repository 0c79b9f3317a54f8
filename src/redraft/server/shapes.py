"""How turns and decisions are told over HTTP, beyond what the command line tells of them: see `workspace.shapes`.

Each shape is a type, from which the description of the API is made, and a function that makes one.
"""

from typing_extensions import TypedDict

from redraft.agent.events import iso
from redraft.history.turns import TurnRecord
from redraft.text.diff import invert
from redraft.text.patch import format_patch, patch_hunk
from redraft.workspace import shape_types, shapes
from redraft.workspace.decisions import Decided
from redraft.workspace.rollback import TakenBack
from redraft.workspace.workspace import Workspace

MAX_PATCH = 200_000


class TurnShape(shape_types.TurnShape):
    """One turn. `source` is the turn that it takes back or decides."""

    created_at: str


def turn_shape(turn: TurnRecord) -> TurnShape:
    return {**shapes.turn_shape(turn), "created_at": iso(turn.created)}


class TurnHunkShape(TypedDict):
    """A part of what a turn did. `reverse_patch` takes it back."""

    hunk_id: str
    file_path: str
    patch: str
    reverse_patch: str


class TurnPatchShape(TypedDict):
    """What a turn did to one document, as a unified diff. `lines` is how many the document had then."""

    path: str
    patch: str
    truncated: bool
    lines: int


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
    lines = after.count("\n") + (after[-1:] not in ("", "\n"))  # as a patch counts them
    return {"path": path, "patch": patch[:MAX_PATCH], "truncated": len(patch) > MAX_PATCH, "lines": lines}


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


class DecidedShape(TypedDict):
    """What a decision did: the turn it became, and per document how many hunks were decided and how many are left."""

    turn: TurnShape | None
    decided: dict[str, int]
    left: dict[str, int]


def decided_shape(decided: Decided) -> DecidedShape:
    turn = None if decided.turn is None else turn_shape(decided.turn)
    return {"turn": turn, "decided": decided.counts, "left": decided.left}
