"""How turns and documents under review look as JSON, for the command line and HTTP alike. The keys are stable. Pure and
cheap to import: every command starts with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.history.turns import TurnRecord
    from redraft.workspace.comments import CommentThread
    from redraft.workspace.document import Draft
    from redraft.workspace.shape_types import CommentShape, DraftShape, HunkShape, TurnShape


def turn_shape(turn: TurnRecord) -> TurnShape:
    return {
        "turn": turn.id,
        "author": {"kind": turn.author.kind, "name": turn.author.name},
        "kind": turn.kind,
        "mode": turn.mode,
        "title": turn.title,
        "state": str(turn.state),
        "created": turn.created,
        "source": turn.source,
        "pruned": turn.pruned,
        "paths": list(turn.paths),
        "folders": list(turn.folders),
    }


def comment_shape(thread: CommentThread) -> CommentShape:
    return {
        "id": thread.id,
        "path": thread.document,
        "quote": thread.passage.quote,
        "start": None if thread.span is None else thread.span.start,
        "end": None if thread.span is None else thread.span.end,
        "line": None if thread.line is None else thread.line + 1,
        "orphaned": thread.orphaned,
        "resolved": thread.resolved,
        "messages": [
            {
                "id": entry.id,
                "by": entry.by,
                "at": entry.at,
                "says": entry.says,
                "mentions": entry.mentions,
                "turn": entry.turn,
            }
            for entry in thread.messages
        ],
    }


def draft_shape(draft: Draft, turns: Mapping[str, int]) -> DraftShape:
    """A document with something pending or unsaved, and everything that can be decided about it."""
    from redraft.workspace.document import content_hash

    return {
        "path": draft.key,
        "base_path": draft.base_path,
        "kind": draft.kind,
        "pending": draft.pending,
        "unsaved": draft.dirty,
        "base_file_hash": None if draft.saved is None else content_hash(draft.saved),
        "hunks": _add_warning([*_file_hunks(draft, turns), *_hunks(draft, turns)], warning_of(draft)),
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


def warning_of(draft: Draft) -> str:
    """A warning about an agent's change of this document; usually empty."""
    from redraft.files.paths import is_agent_instructions

    if draft.pending and any(is_agent_instructions(path) for path in (draft.path, draft.base_path) if path):
        return f"Agents take instructions from {draft.key}: read this change before you accept it."
    return ""


def is_decided_whole(draft: Draft) -> bool:
    """Whether one decision covers the whole document."""
    return draft.kind == "created"


def _add_warning(hunks: list[HunkShape], warning: str) -> list[HunkShape]:
    """The hunks, with the warning on those of agents if there is one."""
    return [{**hunk, "warning": warning} if warning and hunk["author"] != "user" else hunk for hunk in hunks]


def _file_hunks(draft: Draft, turns: Mapping[str, int]) -> list[HunkShape]:
    """The decision about the document itself, if there is one. For a created document it covers everything."""
    from redraft.text.diff.hunk_limits import is_oversized

    hunk = draft.file_hunk()
    if hunk is None:
        return []
    review, whole, deleted = draft.review, is_decided_whole(draft), draft.kind == "deleted"
    # A move or deletion belongs to the turn that made it; a decision about the whole to every turn with a word in it.
    tokens = {draft.turn, *(part.turn for part in review.parts if whole)}
    return [
        {
            "hunk_id": hunk["hunk_id"],
            "kind": draft.kind,
            "author": hunk["author"],
            "conflict": draft.kind != "deleted" and any(each.conflict for each in review.hunks),
            "oversized_hunk": (whole or deleted) and is_oversized(review.base, review.working if whole else ""),
            "labels": [],
            "turn": max((turns[token] for token in tokens if token in turns), default=None),
            "base": review.base if whole or deleted else "",
            "proposed": review.proposed if whole else "",
            "working": review.working if whole else "",
            "start_line": 1,
            "working_start_line": 1,
            "working_column": 0,
            "working_at": 0,
        }
    ]


def _hunks(draft: Draft, turns: Mapping[str, int]) -> list[HunkShape]:
    hunks = () if is_decided_whole(draft) else draft.review.hunks
    labels = draft.review.labels if hunks else {}
    shapes: list[Any] = [
        {
            **hunk.as_json(),
            "kind": "modified",
            "labels": list(labels.get(hunk.id, ())),
            "turn": turns.get(hunk.turn),
        }
        for hunk in hunks
    ]
    return shapes
