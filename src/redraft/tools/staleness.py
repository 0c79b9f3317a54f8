"""A refusal for a stale version, with what the caller needs to go on: the lines that changed since it read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError, Refused, Stale
from redraft.text.matching import changed_lines
from redraft.workspace.recall import text_of_version

if TYPE_CHECKING:
    from redraft.text.text import Text
    from redraft.tools.context import ToolContext

MAX_PLACES = 20
MAX_CHARACTERS = 400


def explained(error: Stale, context: ToolContext) -> Stale:
    """The same refusal; where the text of the old version is known, with the lines in which the new one differs."""
    path, version = error.details.get("path"), error.details.get("your_version")
    if not isinstance(path, str) or not isinstance(version, str) or "changed_lines" in error.details:
        return error
    try:
        now = context.look(path).text
        then = old_text(context, path, version)
    except RedraftError:
        return error
    if then is None:
        return error
    places = changes(then, now)
    shown = {"changed_lines": places[:MAX_PLACES], "changed_places": len(places)}
    return Stale(error.message, code=error.code, **error.details, **shown)


def old_text(context: ToolContext, path: str, version: str) -> Text | None:
    """The text that a version was issued for: as the caller was shown it, as the open turn found it, or as the history
    has it."""
    known = context.remembered(path, version)
    if known is None and context.turn is not None:
        first = [staged.seen for staged in context.turn.staged.values() if staged.seen is not None]
        known = next((seen.text for seen in first if (seen.path, seen.version) == (path, version)), None)
    return text_of_version(context.workspace.engine, path, version) if known is None else known


def known_text(context: ToolContext, path: str, version: str) -> Text:
    """The same; refused where it is not known any more."""
    try:
        text = old_text(context, path, version)
    except RedraftError:
        text = None
    if text is None:
        message = f"The text of version {version[:40]!a} of {path} is not known (any more): read it as it is now."
        raise Refused(message, code="not_found", path=path)
    return text


def changes(then: Text, now: Text) -> list[dict[str, Any]]:
    """Where two texts differ, in lines of the newer one: from 0, inclusive; `end_line` is one less than `start_line`
    where lines were only removed."""
    old, new = str(then), str(now)
    return [
        {
            "start_line": region.new_start,
            "end_line": region.new_end - 1,
            "old_start_line": region.old_start,
            "old_end_line": region.old_end - 1,
            "old": short(old[region.at : region.until]),
            "new": short(new[region.new_at : region.new_until]),
        }
        for region in changed_lines(old, new)
    ]


def short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + "…"
