"""The version that a call was made for: its text, and where the call's edits go in the document as it is now.

A place (lines, offsets, a section, a quoted passage) is looked up in the text that the caller read. If the document has
changed since, the edits are carried forward through all changes, and land where that text is now, or are refused with
what changed. See `workspace.turns.change_log` for how.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.errors import RedraftError, Refused, Stale
from redraft.text.diff.line_diff import diff_lines
from redraft.text.edits import Change
from redraft.workspace.turns.change_log import KnownChange, carry_forward, follow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redraft.text.edits import Edit
    from redraft.text.text import Text
    from redraft.tools.context import ToolContext
    from redraft.workspace.document import Document
    from redraft.workspace.turns.turn import Turn

# The refusal of a stale version, with what the caller needs to continue: the lines that changed since it read.


MAX_PLACES = 20
MAX_CHARACTERS = 400


def explain_stale(error: Stale, context: ToolContext) -> Stale:
    """The same refusal with both versions, and, if the old text is known, with the lines in which the new one
    differs."""
    path = error.details.get("path")
    if not isinstance(path, str) or "changed_lines" in error.details:
        return error
    try:
        now = context.peek(path)
    except RedraftError:
        return error
    details = {"current_version": now.version, **error.details}
    if "your_version" not in details and (seen := context.last_seen(path)) is not None:
        details["your_version"] = seen.version
    places = _changed_places(now, details.get("your_version"), context)
    return Stale(error.message, code=error.code, **details, **places)


def _changed_places(now: Document, version: Any, context: ToolContext) -> dict[str, Any]:
    try:
        then = old_text(context, now, version) if isinstance(version, str) else None
    except RedraftError:
        return {}
    if then is None:
        return {}
    places = line_changes(then, now.text)
    return {"changed_lines": places[:MAX_PLACES], "changed_places": len(places)}


def old_text(context: ToolContext, document: Document, version: str) -> Text | None:
    """The text of an old version of a document: as the caller saw it, as the open turn had it, or as the folder's
    history has it. `document` is its current state."""
    path, workspace = document.path, context.workspace
    known = context.seen_text(path, version)
    before_turn = document
    if known is None and context.turn is not None and (staged := context.turn.staged_at(path)) is not None:
        known, before_turn = staged.text_of(version), staged.first or document
    if known is None:
        known = workspace.changes.text_of(path, version, before_turn.text, before_turn.version)
    if known is None:
        return workspace.text_of_version(path, version)
    workspace.check_past(path, version, known)
    return known


def require_old_text(context: ToolContext, document: Document, version: str) -> Text:
    """The same; refused if it is no longer known."""
    try:
        text = old_text(context, document, version)
    except RedraftError:
        text = None
    if text is None:
        path = document.path
        message = f"The text of version {version[:40]!a} of {path} is not available: read the current one."
        raise Refused(message, code="not_found", version=version[:40], path=path)
    return text


def line_changes(then: Text, now: Text) -> list[dict[str, Any]]:
    """Where two texts differ, in lines of the newer one: from 0, inclusive; `end_line` is one less than `start_line` if
    lines were only removed."""
    old, new = str(then), str(now)
    return [
        {
            "start_line": region.new_start,
            "end_line": region.new_end - 1,
            "old_start_line": region.old_start,
            "old_end_line": region.old_end - 1,
            "old": shorten(old[region.at : region.until]),
            "new": shorten(new[region.new_at : region.new_until]),
        }
        for region in diff_lines(old, new)
    ]


def shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + "…"


class EditBasis(NamedTuple):
    """A document as the caller of a tool read it, at `version`, and as it is `now`."""

    then: Document
    now: Document
    version: str

    @property
    def is_current(self) -> bool:
        return self.then is self.now

    def stale_error(self, message: str = "") -> Stale:
        return stale_error(self.now, self.version, message)


class CarriedEdits(NamedTuple):
    """Edits that were `asked` for, of the basis, and the same edits for the document as it is now."""

    basis: EditBasis
    asked: Change
    change: Change

    def edit(self, turn: Turn) -> Document:
        """Stage them."""
        now = self.basis.now
        return turn.edit(now.path, self.change, now.version, asked=self.asked, made_for=self.basis.version)

    @property
    def landed(self) -> dict[str, Any]:
        """For the answer: where edits landed that were made for an earlier version; lines from 0, inclusive, as the
        call left them. `end_line` is before `start_line` if nothing is left."""
        if self.basis.is_current or not self.change.edits:
            return {}
        text = self.basis.now.text
        first, last = self.change.edits[0], self.change.edits[-1]
        growth = sum(edit.growth for edit in self.change.edits[:-1])
        after = self.change.apply_to(text)
        until = last.at + growth + len(last.new)
        start = after.line_at(first.at)
        end = after.line_at(until - 1) if until > first.at else start - 1
        return {"landed": {"start_line": start, "end_line": end, "made_for": self.basis.version}}


def stale_error(document: Document, version: str, message: str = "") -> Stale:
    return Stale(
        message or f"{document.path} changed since it was read, at the place this call changes.",
        path=document.path,
        your_version=version,
        current_version=document.version,
    )


def basis_of(document: Document, version: str | None, context: ToolContext) -> EditBasis:
    """What a call was made for: the version that it names, else what its caller last read."""
    known = None if version else context.last_seen(document.path)
    wanted = version or (document.version if known is None else known.version)
    if wanted == document.version:
        return EditBasis(document, document, wanted)
    try:
        text = old_text(context, document, wanted)
    except RedraftError:
        text = None
    if text is None:
        staged = None if context.turn is None else context.turn.staged_at(document.path)
        if staged is None or staged.seen is not None or staged.first is None:
            message = f"The text of version {wanted[:40]!a} of {document.path} is not available: read it again."
            raise stale_error(document, wanted, message)
        # Created in this same turn, so its caller could not know a version: it means what it wrote there.
        text, wanted = staged.first.text, staged.first.version
    return EditBasis(replace(document, text=text), document, wanted)


def refresh(basis: EditBasis, context: ToolContext) -> EditBasis:
    """The same with the document as it is now, after others could use the workspace."""
    now = context.peek(basis.now.path)
    return basis if now.version == basis.now.version else basis._replace(now=now)


def check_lines_known(
    basis: EditBasis, edit_of: Callable[[Document], Edit], version: str | None, context: ToolContext
) -> None:
    """Refuse a line number without a version if it is unclear whether the caller counted before or after its own edits:
    their answers did not show the text."""
    read = context.last_read(basis.now.path)
    if version or read is None or read.version == basis.version:
        return
    before = basis_of(basis.now, read.version, context)
    try:
        same = (
            carry(before, [edit_of(before.then)], context).change == carry(basis, [edit_of(basis.then)], context).change
        )
    except Refused:
        same = False
    if not same:
        message = f"You have changed {basis.now.path} since you read it: give the `version` that your lines refer to."
        raise stale_error(basis.now, read.version, message)


def carry(basis: EditBasis, edits: Iterable[Edit], context: ToolContext) -> CarriedEdits:
    """Edits of the text that was read, as edits of the current one; raises `Stale` if that is impossible."""
    asked = Change(tuple(edits))
    if basis.is_current:
        return CarriedEdits(basis, asked, asked)
    change = carry_forward(asked, basis.version, basis.then.text, _known_changes(basis, context), context.is_own)
    if change is None:
        raise basis.stale_error()
    return CarriedEdits(basis, asked, change)


def _known_changes(basis: EditBasis, context: ToolContext) -> list[KnownChange]:
    """The known changes: in the folder until the open turn began, and in that turn."""
    changes, now = context.workspace.changes, basis.now
    staged = None if context.turn is None else context.turn.staged_at(now.path)
    if staged is None or staged.first is None:
        return [KnownChange(changes.since(now.path, basis.version, now.version), now.text)]
    if staged.text_of(basis.version) is not None:
        return [KnownChange(follow(staged.steps, basis.version, now.version), now.text)]
    first = staged.first
    return [
        KnownChange(changes.since(now.path, basis.version, first.version), first.text),
        KnownChange(staged.steps, now.text),
    ]
