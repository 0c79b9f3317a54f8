"""A job in few words: a line for each call, and what there is to show when a budget is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from redraft.agent.budget import CHARACTERS_A_TOKEN
from redraft.text.matching import changed_lines
from redraft.workspace.document import content_hash

if TYPE_CHECKING:
    from redraft.providers.contract import ToolCall, ToolResult
    from redraft.workspace.turn import Staged, Turn

COUNTED = ("results", "files", "documents", "matches", "edits", "turns", "hits")
LIMITS = {
    "tool_calls": "the tool calls",
    "actions": "the actions of one turn",
    "iterations": "the steps",
    "tokens": "the tokens",
    "cents": "the money",
    "seconds": "the time",
}


def action_line(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    """What an event and the chat tell of a call."""
    place = next((call.arguments[name] for name in ("path", "file_path", "tab_id") if name in call.arguments), "")
    said = f"{call.name} {place}".strip()[:300]
    told_back = result.result if result.ok else result.error
    tokens = round((len(str(call.arguments)) + len(str(told_back))) / CHARACTERS_A_TOKEN)
    if not result.ok:
        error = result.error or {}
        words = f"{said}: {error.get('message', 'failed')}"[:500]
        return {"ok": False, "error": error.get("error"), "summary": words, "tokens": tokens}
    told = cast("dict[str, Any]", result.result)
    if told.get("success") is False:  # the editor's tool tells a failure in its answer
        return {"ok": False, "summary": f"{said}: {told.get('error', 'failed')}"[:500], "tokens": tokens}
    counts = {f"{name[:-1]}_count": len(told[name]) for name in COUNTED if isinstance(told.get(name), list)}
    return {"ok": True, "summary": said, "tokens": tokens, **counts}


def changes_of(turn: Turn) -> list[dict[str, str]]:
    """What a turn would do, document by document."""
    found: list[dict[str, str]] = []
    sources = set(turn.moved.values())
    for path, staged in turn.staged.items():
        if path in turn.moved:
            found.append({"path": str(path), "action": "moved", "moved_from": str(turn.moved[path])})
        elif staged.now is None:
            if path not in sources:
                found.append({"path": str(path), "action": "deleted"})
        elif staged.seen is None:
            found.append({"path": str(path), "action": "created"})
        elif staged.now != staged.seen:
            found.append({"path": str(path), "action": "modified"})
    return found


def proposed_edits(turn: Turn) -> list[dict[str, Any]]:
    """The edits that a turn consists of, in the plan's canonical form: lines from 1, inclusive, with their hash."""
    edits: list[dict[str, Any]] = []
    for change in changes_of(turn):
        staged = next(each for path, each in turn.staged.items() if path == change["path"])
        if change["action"] == "modified":
            edits += _line_edits(change["path"], staged)
        else:
            edits.append({"file_path": change["path"], "operation": change["action"]})
    return [{"edit_id": f"e_{number}", **edit} for number, edit in enumerate(edits, start=1)]


def _line_edits(path: str, staged: Staged) -> list[dict[str, Any]]:
    old = "" if staged.seen is None else str(staged.seen.text)
    new = "" if staged.now is None else str(staged.now.text)
    found: list[dict[str, Any]] = []
    for region in changed_lines(old, new):
        removed, added = old[region.at : region.until], new[region.new_at : region.new_until]
        found.append(
            {
                "file_path": path,
                "operation": "insert" if not removed else "replace" if added else "delete",
                "start_line": region.old_start + 1,
                "end_line": region.old_end,
                "new_text": added,
                "expected_hash": content_hash(removed.encode()),
            }
        )
    return found


def summed_up(turn: Turn, spent: str) -> str:
    """Our own words where a budget is spent: what stands, and that it is not all."""
    lines = [f"I stopped here: {LIMITS.get(spent, spent)} of this job are used up."]
    changes = changes_of(turn)
    lines += [f"- {change['action']} {change['path']}" for change in changes]
    lines.append("What I did waits for your decision." if changes else "Nothing was changed.")
    return "\n".join(lines)
