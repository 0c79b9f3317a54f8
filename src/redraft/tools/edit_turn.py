"""What all writing tools have in common: one turn per call, dry runs, and the answer about the outcome.

A call within an open turn (`batch`) is only staged; alone it is a turn of its own, proposed or applied as the mode
says. The answer's `state` says which, because a model has to know whether the person still decides.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from redraft.errors import RedraftError, Refused
from redraft.review.review import Review
from redraft.text.edits import Edit
from redraft.tools.context import ToolContext
from redraft.tools.parameters import Field
from redraft.tools.target import (
    CarriedEdits,
    EditBasis,
    Target,
    TargetDocument,
    basis_of,
    match_newlines,
    newline_of,
    resolve_target,
)
from redraft.workspace.document import Document
from redraft.workspace.turns.turn import Turn

MAX_TITLE = 200
# Longer texts are not compared for an answer's sake.
MAX_COMPARED = 200_000
State = Literal["applied", "proposed", "staged", "unchanged", "dry_run"]


class ChangeResult(TypedDict):
    """The common fields of every writing tool's answer."""

    state: Annotated[State, Field("applied: on disk. proposed: the person decides. staged: part of an open batch.")]
    turn: Annotated[int | None, Field("The turn to show or undo; null if nothing was recorded.")]
    conflicts: NotRequired[list[str]]


class LandedLines(TypedDict):
    """Lines from 0, inclusive, as the edit left them; `end_line` is before `start_line` if nothing is left there."""

    start_line: int
    end_line: int
    made_for: Annotated[str, Field("The version the edit was made for.")]


class EditResult(ChangeResult):
    """The same for an edit of one document."""

    tab_id: str | None
    path: str
    version: Annotated[str, Field("The version for the next edit.")]
    status: Literal["success"]
    landed: NotRequired[Annotated[LandedLines, Field("Only if the document had changed: where the edit was applied.")]]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedEdit(Target):
    """An edit of a document that was read."""

    version: Annotated[
        str,
        Field("From read_document or the last edit; line numbers refer to it."),
    ]


DRY_RUN = Field("Only check the call; change nothing.")


class CallOutcome(NamedTuple):
    """The outcome of a call: the document as it is now, and the answer's common fields."""

    document: Document | None
    changed: dict[str, Any]


def carry_out(
    context: ToolContext, title: str, act: Callable[[Turn], Document | None], *, dry_run: bool = False
) -> CallOutcome:
    """Run `act` in the open turn, or in a new one."""
    if context.turn is not None:
        if dry_run:
            return _dry_run(context, context.turn, act)
        document = act(context.turn)
        if document is not None:
            context.note_staged(document)
        return CallOutcome(document, {"state": "staged", "turn": None})
    with context.begin(title[:MAX_TITLE]) as turn:
        document = act(turn)
        if dry_run:
            turn.discard()
            now = None if document is None else context.peek(document.path)
            return CallOutcome(now, {"state": "dry_run", "turn": None})
        context.plan_ahead(turn)
    return CallOutcome(None if document is None else read_after_commit(context, document), turn_result(turn))


def _dry_run(context: ToolContext, turn: Turn, act: Callable[[Turn], Document | None]) -> CallOutcome:
    """Run `act` in an open turn and revert it: afterwards the turn contains what it did before."""
    before = turn.state()
    try:
        document = act(turn)
    finally:
        turn.restore(before)
    now = None if document is None else context.peek(document.path)
    return CallOutcome(now, {"state": "dry_run", "turn": None})


def read_after_commit(context: ToolContext, staged: Document) -> Document:
    """A document as it is now: a merge may have added to what was staged. The commit is done, so whatever happens to
    the file next must not make this call look like a failure."""
    with contextlib.suppress(RedraftError):
        staged = context.peek(staged.path)
    context.mark_seen(staged, own=True)
    return staged


def review_edit(context: ToolContext, old: str, new: str) -> Review | None:
    """An edit as a reviewer would see it, with its labels; None if the texts are too long. It may take half a second,
    in which others use the workspace."""
    if max(len(old), len(new)) > MAX_COMPARED:
        return None
    with context.release_guard():
        review = Review.between(old, new, new)
        _ = review.labels  # kept in the review
        return review


def turn_result(turn: Turn) -> dict[str, Any]:
    """The common fields of an answer about a committed turn."""
    outcome = turn.outcome
    if outcome is None or outcome.turn is None:
        return {"state": "unchanged", "turn": None}
    conflicts = {"conflicts": outcome.conflicts} if outcome.conflicts else {}
    return {"state": "applied" if outcome.applied else "proposed", "turn": outcome.turn.id, **conflicts}


def edit_result(place: TargetDocument, done: CallOutcome, carried: CarriedEdits | None = None, **more: Any) -> Any:
    """The answer of a tool that edited one document."""
    version = "" if done.document is None else done.document.version
    return {
        "tab_id": place.tab_id,
        "path": place.path,
        "version": version,
        "status": "success",
        **more,
        **({} if carried is None else carried.landed),
        **done.changed,
    }


def target_document(target: Target, context: ToolContext) -> tuple[TargetDocument, Document]:
    """The document to edit. This does not count as reading it: the caller's versions stay as they were."""
    place = resolve_target(target, context)
    return place, context.peek(place.path)


def target_basis(target: Target, version: str | None, context: ToolContext) -> tuple[TargetDocument, EditBasis]:
    """The same, with the text that the call was made for."""
    place, document = target_document(target, context)
    return place, basis_of(document, version, context)


def whole_lines(content: str, document: Document, *, at_end: bool) -> str:
    """Content as whole lines: what follows must not be joined to it. At the end of a text without a final newline, new
    text without one gets none either."""
    content = match_newlines(content, document)
    unended = content and content[-1] not in "\r\n"
    if unended and not (at_end and not has_final_newline(document)):
        content += newline_of(document)
    return content


def has_final_newline(document: Document) -> bool:
    """Whether the last line has its terminator."""
    length = len(document.text)
    return length > 0 and document.text.slice(length - 1, length) in "\r\n"


def insertion(document: Document, line: int, content: str) -> Edit:
    """The edit that inserts whole lines before line number `line`, or after the last."""
    text = document.text
    at_end = line == text.line_count
    new = whole_lines(content, document, at_end=at_end)
    at = text.line_start(line)
    if at_end and at > 0 and not has_final_newline(document):
        new = newline_of(document) + new
    return Edit(at, "", new)


def replacement(document: Document, start: int, end: int, content: str) -> Edit:
    """The edit that replaces the lines from `start` up to `end` with whole lines."""
    text = document.text
    at, until = text.line_start(start), text.line_start(end)
    old = text.slice(at, until)
    return Edit(at, old, keep_last_newline(old, whole_lines(content, document, at_end=end == text.line_count)))


def keep_last_newline(old: str, new: str) -> str:
    """`new` with its last line ended like that of `old`: if newlines are mixed, the edit must not change that one."""
    here, there = _last_newline(new), _last_newline(old)
    return new.removesuffix(here) + there if here and there else new


def _last_newline(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else text[-1:] if text.endswith(("\r", "\n")) else ""


def check_range(document: Document, start: int, end: int) -> None:
    """Refuse lines (from 0, inclusive) that the document does not have."""
    total = document.text.line_count
    if 0 <= start <= end < total:
        return
    fault = "ends before it starts" if end < start else f"exceeds document length of {total} lines"
    raise Refused(
        f"Line range {start}-{end} {fault}",
        code="invalid_line_range",
        requested_start=start,
        requested_end=end,
        document_lines=total,
    )
