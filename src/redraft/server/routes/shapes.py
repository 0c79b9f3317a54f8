"""How turns and decisions are told over HTTP, beyond what the command line tells of them: see `workspace.shapes`.

Each shape is a type, from which the description of the API is made, and a function that makes one.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired, cast

from fastapi import Query
from typing_extensions import TypedDict

from redraft.agent.store.events import iso
from redraft.files.tree import TreeEntry
from redraft.history.turns import TurnRecord
from redraft.text.diff.hunks import invert
from redraft.text.patch.unified_diff import format_hunk, format_patch
from redraft.workspace import shape_types, shapes
from redraft.workspace.document import Document
from redraft.workspace.tabs import Tab
from redraft.workspace.turns.decisions import DecisionResult
from redraft.workspace.undo.history_view import StepView
from redraft.workspace.undo.rollback import RollbackResult, TurnContent, TurnHunk

# How many characters one patch has at most, and all the patches of an answer; how many hunks an answer has.
MAX_PATCH, MAX_ANSWER, MAX_HUNKS = 200_000, 2_000_000, 1_000
HunkLimit = Annotated[int, Query(ge=1, le=MAX_HUNKS, description="The maximum number of hunks.")]


class TurnResponse(shape_types.TurnShape):
    """One turn. `source` is the turn that it undoes or decides."""

    created_at: str


def turn_response(turn: TurnRecord) -> TurnResponse:
    return {**shapes.turn_shape(turn), "created_at": iso(turn.created)}


class TurnHunkShape(TypedDict):
    """One hunk of a turn. `reverse_patch` undoes it. If `truncated` is present, very long lines are shown only around
    the change, or the end of a very large patch is left out: such a patch is only for display."""

    hunk_id: str
    file_path: str
    patch: str
    reverse_patch: str
    truncated: NotRequired[bool]


class HunkPage(TypedDict):
    """One page of hunks and the total count; `next_offset` is the start of the next page, null at the end."""

    total_hunks: int
    next_offset: int | None


class TurnPatchShape(TypedDict):
    """What a turn did to one document, as a unified diff. `lines` is the document's line count then."""

    path: str
    patch: str
    truncated: bool
    lines: int


class FileShape(TypedDict):
    """What happened, or would happen, to one document."""

    path: str
    action: Literal["created", "modified", "moved", "deleted"]
    moved_from: str | None


class StepShape(FileShape):
    """The same, with its text as a unified diff."""

    patch: str
    truncated: bool


class TurnDetail(HunkPage):
    """A turn, with what it changed. A `pruned` turn has no content left. `files` also has what changed no text: a
    document that was moved, created empty or deleted."""

    turn: TurnResponse
    files: list[FileShape]
    documents: list[TurnPatchShape]
    hunks: list[TurnHunkShape]


def turn_detail(content: TurnContent, offset: int, limit: int) -> TurnDetail:
    """It may take seconds: for who does not hold the guard."""
    documents: list[TurnPatchShape] = []
    room = MAX_ANSWER
    for path, before, after in content.texts:
        documents.append(_patch(content.turn, path, before, after, min(room, MAX_PATCH)))
        room -= len(documents[-1]["patch"])
    hunks, page = turn_hunks(content, offset, limit)
    files = file_shapes(content.turn)
    return {"turn": turn_response(content.turn), "files": files, "documents": documents, "hunks": hunks, **page}


def file_shapes(turn: TurnRecord) -> list[FileShape]:
    """What a turn did to whole documents. That a moved one is gone from its old place is told by the move."""
    sources = {step.moved_from for step in turn.files if step.moved_from is not None}
    shown = [step for step in turn.files if not (step.after is None and step.path in sources)]
    return [{"path": step.path, "action": cast("Any", step.action), "moved_from": step.moved_from} for step in shown]


def step_shapes(steps: Iterable[StepView]) -> list[StepShape]:
    """With their diffs, as far as there is room. It may take seconds: for who does not hold the guard."""
    shapes: list[StepShape] = []
    room = MAX_ANSWER
    for step in steps:
        old = None if step.action == "created" else step.before
        new = None if step.action == "deleted" else step.after
        patch = format_patch(step.path, old, new, old_path=step.moved_from) if room > 0 else ""
        kept = patch[: min(MAX_PATCH, max(0, room))]
        room -= len(patch)
        shapes.append(
            {
                "path": step.path,
                "action": cast("Any", step.action),
                "moved_from": step.moved_from,
                "patch": kept,
                "truncated": room <= 0 or len(kept) < len(patch),
            }
        )
    return shapes


def _patch(turn: TurnRecord, path: str, before: str, after: str, room: int) -> TurnPatchShape:
    actions = {step.path: step.action for step in turn.files}
    old = None if actions.get(path) == "created" else before
    patch = format_patch(path, old, None if actions.get(path) == "deleted" else after) if room else ""
    lines = after.count("\n") + (after[-1:] not in ("", "\n"))  # as a patch counts them
    return {"path": path, "patch": patch[:room], "truncated": not room or len(patch) > room, "lines": lines}


def turn_hunks(content: TurnContent, offset: int, limit: int) -> tuple[list[TurnHunkShape], HunkPage]:
    """A page of a turn's hunks: at most as many as asked for, fewer if they are large."""
    found = content.hunks()
    texts = {path: (before, after) for path, before, after in content.texts}
    shapes: list[TurnHunkShape] = []
    room = MAX_ANSWER
    for each in found[offset : offset + limit]:
        shapes.append(_hunk(each, *texts[each.path]))
        room -= len(shapes[-1]["patch"]) + len(shapes[-1]["reverse_patch"])
        if room <= 0:
            break
    end = offset + len(shapes)
    return shapes, {"total_hunks": len(found), "next_offset": end if shapes and end < len(found) else None}


def _hunk(found: TurnHunk, before: str, after: str) -> TurnHunkShape:
    [inverse] = invert([found.hunk])
    patch, reverse = format_hunk(found.hunk.edit, before), format_hunk(inverse.edit, after)
    shape: TurnHunkShape = {
        "hunk_id": found.id,
        "file_path": found.path,
        "patch": patch.text[:MAX_PATCH],
        "reverse_patch": reverse.text[:MAX_PATCH],
    }
    if patch.shortened or reverse.shortened or max(len(patch.text), len(reverse.text)) > MAX_PATCH:
        shape["truncated"] = True
    return shape


class ClashShape(TypedDict):
    """A place that could not be undone, and why."""

    path: str
    hunk_id: str
    reason: str


class TakenBackShape(TypedDict):
    """The turn that did the undo (null if nothing could be undone), and the conflicts."""

    turn: TurnResponse | None
    conflicts: list[ClashShape]


def rollback_shape(taken: RollbackResult) -> TakenBackShape:
    return {
        "turn": None if taken.turn is None else turn_response(taken.turn),
        "conflicts": [
            {"path": clash.path, "hunk_id": clash.hunk_id, "reason": clash.reason} for clash in taken.conflicts
        ],
    }


class DecidedShape(TypedDict):
    """The outcome of a decision: its turn, and per document how many hunks were decided and are left."""

    turn: TurnResponse | None
    decided: dict[str, int]
    left: dict[str, int]


def shape_decision(decided: DecisionResult) -> DecidedShape:
    turn = None if decided.turn is None else turn_response(decided.turn)
    return {"turn": turn, "decided": decided.counts, "left": decided.left}


# How documents, tabs and the folder are told as JSON; documents in windows, for one may be of any length.


class TabShape(TypedDict):
    """An open document. `version` is null if the file cannot be read right now."""

    tab_id: str
    title: str
    path: str
    file_type: str
    version: str | None
    is_dirty: bool
    size_chars: int
    line_count: int


def tab_shape(tab: Tab) -> TabShape:
    shape: Any = tab.as_json()
    return shape


class EntryShape(TypedDict):
    """One entry of the folder. A symbolic link is listed but never followed."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int
    modified: str


def entry_shape(entry: TreeEntry) -> EntryShape:
    return {"path": entry.path, "kind": entry.kind, "size": entry.size, "modified": iso(entry.mtime_ns / 1e9)}


class DocumentShape(TypedDict):
    """A window of a document. Offsets are in characters (code points); `next_offset` is null at the end."""

    path: str
    version: str
    format: str
    newline: str
    bom: bool
    size_chars: int
    line_count: int
    offset: int
    start_line: int
    content: str
    next_offset: int | None


def document_shape(document: Document, offset: int, limit: int) -> DocumentShape:
    """Lines count from 1."""
    text = document.text
    start = min(offset, len(text))
    end = min(start + limit, len(text))
    return {
        "path": document.path,
        "version": document.version,
        "format": document.format,
        "newline": document.newline,
        "bom": document.bom,
        "size_chars": len(text),
        "line_count": text.line_count,
        "offset": start,
        "start_line": text.line_at(start) + 1,
        "content": text.slice(start, end),
        "next_offset": end if end < len(text) else None,
    }
